//! Traces of storage, our own and what blkparse prints: read or refused in a line, in order, and
//! written back as they were.
#![no_main]

use libfuzzer_sys::fuzz_target;
use storage::{Recorded, parse_trace};
use report::{TraceFormat, TraceRecord, TraceWriter, read_trace};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// What is said of a trace is a sentence, whatever stands in the trace.
const LONGEST_REFUSAL: usize = 600;

fuzz_target!(|data: &[u8]| {
    // What is no text is refused before it gets here.
    let Ok(text) = std::str::from_utf8(data) else { return };
    match read_trace(text) {
        Ok(records) => {
            for format in [TraceFormat::Csv, TraceFormat::JsonLines] {
                written_again(format, &records);
            }
        }
        Err((line, why)) => {
            assert!(line > 0 && line <= text.lines().count() + 1, "line {line}");
            sentence(&why);
        }
    }
    match parse_trace(Path::new("trace"), text) {
        Ok(recorded) => look_at(&recorded),
        Err(why) => sentence(&why.to_string()),
    }
});

fn sentence(why: &str) {
    assert!(!why.is_empty() && why.chars().count() <= LONGEST_REFUSAL, "{why}");
}

/// What was read can be written, and read again the same.
fn written_again(format: TraceFormat, records: &[TraceRecord]) {
    let out = Shared::default();
    let mut writer = TraceWriter::new(format, Box::new(out.clone()));
    // As windows are written: one after another.
    for part in records.chunks(2) {
        writer.write(part).expect("memory takes everything");
    }
    let bytes = std::mem::take(&mut *out.0.lock().expect("one thread"));
    let text = String::from_utf8(bytes).expect("a trace is text");
    assert_eq!(read_trace(&text).as_deref(), Ok(records), "{format:?}");
}

/// Every operation is one that can be done, and none comes before the one above it.
fn look_at(recorded: &Recorded) {
    let steps = &recorded.steps;
    assert_eq!(steps.first().map(|step| step.recorded), Some(Some(0)));
    assert!(steps.is_sorted_by_key(|step| step.recorded));
    assert_eq!(steps.last().and_then(|step| step.recorded).map(|nanos| nanos as f64), Some(recorded.duration().0));
    assert!(steps.iter().all(|step| step.bytes > 0 && step.bytes <= 1 << 30));
    let files = steps.iter().map(|step| step.file + 1).max().unwrap_or(0);
    match recorded.paths(&[]) {
        Ok(own) => assert_eq!(own.len(), files),
        // blkparse knows devices, and files have to be named for them.
        Err(why) => sentence(&why.to_string()),
    }
    let named = vec![PathBuf::from("disk"); files];
    assert_eq!(recorded.paths(&named).expect("a name for each"), named);
    sentence(&recorded.paths(&vec![PathBuf::from("disk"); files + 1]).expect_err("one too many").to_string());
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("one thread").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
