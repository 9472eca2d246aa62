//! Engines and targets on real files. Tests that need a missing tool or right print so.

// The tests make FIFOs, links and processes.
#![cfg(unix)]

mod engines;
mod failing;
mod safety;
mod targets;

use super::*;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Seed of the initial data of tests.
const SEED: u64 = 7;

fn pattern(seed: u64) -> Pattern {
    Pattern::new(Filler::Incompressible, seed)
}

/// A temporary folder next to this test program, which usually lies on a disk. The system's
/// temporary folder may lie in memory.
fn folder() -> TempDir {
    let near = std::env::current_exe()
        .unwrap()
        .parent()
        .unwrap()
        .to_path_buf();
    tempfile::tempdir_in(near).unwrap()
}

/// A file with `bytes` bytes of the [`pattern`] with [`SEED`].
fn data_file(folder: &TempDir, bytes: usize) -> PathBuf {
    let path = folder.path().join("data");
    let mut data = vec![0; bytes];
    pattern(SEED).fill(&mut data, 0);
    std::fs::write(&path, data).unwrap();
    path
}

fn opening(access: Access, direct: bool) -> Opening {
    Opening {
        access,
        direct,
        pattern: pattern(SEED),
        ..Opening::default()
    }
}

/// A created file without a name in `folder`.
fn created(folder: &TempDir, bytes: u64, direct: bool) -> Target {
    let opening = opening(Access::Create { bytes, keep: false }, direct);
    Target::open(&folder.path().join("created"), &opening).unwrap()
}

fn settings(depth: usize, block: usize) -> EngineSettings {
    EngineSettings {
        depth,
        block,
        ..EngineSettings::default()
    }
}

/// Engines that can be used here; prints the others with the reason.
fn usable() -> Vec<&'static EngineRow> {
    let usable = |row: &&EngineRow| match (row.availability)() {
        Ok(()) => true,
        Err(why) => {
            println!("skipped: engine {}: {why}", row.name);
            false
        }
    };
    IO_ENGINES.iter().filter(usable).collect()
}

/// A request for block number `number`.
fn block_request(block: usize, number: usize, transfer: Transfer) -> IoRequest {
    IoRequest {
        tag: number as u64,
        target: 0,
        slot: 0,
        offset: (number * block) as u64,
        bytes: block,
        transfer,
    }
}

/// Carries out all requests. One request is in flight for each slot, and slots are assigned here.
/// `look` gets each request with its completion and buffer. Fails if a request is completed twice
/// or never.
fn drive(
    engine: &mut dyn IoEngine,
    requests: &[IoRequest],
    mut prepare: impl FnMut(&IoRequest, &mut [u8]),
    mut look: impl FnMut(&IoRequest, &IoCompletion, &[u8]),
) {
    let mut free: Vec<usize> = (0..engine.buffers().slots()).collect();
    let mut running: HashMap<u64, IoRequest> = HashMap::new();
    let mut next = 0;
    let mut done = 0;
    let mut idle = 0;
    let mut completions = Vec::new();
    while done < requests.len() {
        let count = free.len().min(requests.len() - next);
        let mut batch = Vec::new();
        for (request, slot) in requests[next..next + count].iter().zip(&free) {
            let request = IoRequest {
                slot: *slot,
                ..*request
            };
            prepare(
                &request,
                engine.buffers().slot_mut(*slot).expect("an idle slot"),
            );
            batch.push(request);
        }
        let taken = engine.submit(&batch).unwrap();
        assert!(taken <= batch.len());
        for request in &batch[..taken] {
            free.retain(|slot| *slot != request.slot);
            assert!(
                running.insert(request.tag, *request).is_none(),
                "tag {} is in flight already",
                request.tag
            );
        }
        next += taken;
        completions.clear();
        engine
            .reap(usize::from(!running.is_empty()), &mut completions)
            .unwrap();
        for completion in &completions {
            let request = running
                .remove(&completion.tag)
                .expect("something in flight");
            look(
                &request,
                completion,
                engine.buffers().slot(request.slot).expect("an idle slot"),
            );
            free.push(request.slot);
            done += 1;
        }
        idle = if taken == 0 && completions.is_empty() {
            idle + 1
        } else {
            0
        };
        assert!(idle < 3, "no progress");
    }
    completions.clear();
    engine.reap(0, &mut completions).unwrap();
    assert!(completions.is_empty(), "told twice: {completions:?}");
}

/// Reads the whole target in blocks and compares it with the expected data.
fn verify(row: &EngineRow, target: &Target, block: usize, expected: &Pattern) {
    let mut engine = (row.open)(std::slice::from_ref(target), &settings(8, block)).unwrap();
    let blocks = (target.size() as usize).div_ceil(block);
    let requests: Vec<_> = (0..blocks)
        .map(|number| block_request(block, number, Transfer::Read))
        .collect();
    let nothing = |_: &IoRequest, _: &mut [u8]| {};
    drive(
        engine.as_mut(),
        &requests,
        nothing,
        |request, completion, data| {
            let bytes = completion.result.unwrap();
            assert_eq!(
                bytes as u64,
                (target.size() - request.offset).min(block as u64)
            );
            expected
                .verify(&data[..bytes], request.offset)
                .unwrap_or_else(|wrong| panic!("{}: {wrong}", row.name));
        },
    );
}

/// Message of the expected error.
fn refused(path: &Path, opening: &Opening) -> String {
    let text = Target::open(path, opening)
        .expect_err("a refusal")
        .to_string();
    assert!(
        !text.contains('\n') && text.contains("; "),
        "one line that says what to do: {text}"
    );
    text
}
