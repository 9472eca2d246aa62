//! Tests each streaming kernel against its contract, on short windows and from every first block.
//! Also tests which bytes the scalar kernels access.

use crate::tests::{executable, memory};
use crate::{
    AccessOrder, BLOCK_BYTES, Contract, Does, IndexTable, Operation, SetId, StreamKernel,
    StreamWalk, all_rows, oracle,
};
use stats::SplitMix64;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const WORDS: usize = BLOCK_BYTES as usize / 8;
const PATTERN: u64 = 0x4008_1234_5678_9abc;

/// Changes `words` as `blocks` blocks of `contract` do, from block `first` on. Returns the sum of
/// the loaded words. With an index table, blocks are counted in its order.
fn expected(
    contract: &Contract,
    words: &mut [u64],
    order: &[usize],
    (first, blocks): (usize, usize),
) -> u64 {
    let stream = words.len() / contract.streams() as usize;
    let piece = if contract.visits == AccessOrder::Lines {
        8
    } else {
        WORDS
    };
    let per_block = WORDS / piece;
    let mut sum = 0u64;
    for turn in first * per_block..(first + blocks) * per_block {
        let start = order[turn % order.len()] * piece;
        let place = |i: usize| i / piece * stream + start + i % piece;
        let one: Vec<AtomicU64> = (0..piece * contract.streams() as usize)
            .map(|i| AtomicU64::new(words[place(i)]))
            .collect();
        sum = sum.wrapping_add(oracle(contract, &one, PATTERN));
        one.iter()
            .enumerate()
            .for_each(|(i, word)| words[place(i)] = word.load(Relaxed));
    }
    sum
}

/// The pieces of a stream of `blocks` blocks in the order of `contract`. The order of an index
/// table is shuffled.
fn order_of(contract: &Contract, blocks: usize, random: &mut SplitMix64) -> Vec<usize> {
    let pieces = if contract.visits == AccessOrder::Lines {
        8 * blocks
    } else {
        blocks
    };
    let mut order: Vec<usize> = (0..pieces).collect();
    match contract.visits {
        AccessOrder::Forward => {}
        AccessOrder::Backward => order.reverse(),
        AccessOrder::Lines | AccessOrder::Chunks => {
            (1..pieces)
                .rev()
                .for_each(|i| order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize));
        }
    }
    order
}

fn check(kernel: &StreamKernel, blocks: usize, run: (usize, usize)) {
    let contract = kernel.contract();
    let mut random = SplitMix64::new(blocks as u64);
    let order = order_of(contract, blocks, &mut random);
    let length = blocks * BLOCK_BYTES as usize * contract.streams() as usize;
    let window = memory(length + 64);
    // The part ends right at the guard.
    let start = window.len() - length;
    let end = window.len();
    let mut words: Vec<u64> = window
        .words()
        .iter()
        .map(|_| random.next_u64() >> 2)
        .collect();
    window
        .words()
        .iter()
        .zip(&words)
        .for_each(|(place, word)| place.store(*word, Relaxed));
    let sum = expected(contract, &mut words[start / 8..], &order, run);
    let stream = (length / contract.streams() as usize) as u64;
    let table = contract.by_table().then(|| {
        let bytes = IndexTable::bytes_for(contract.visits, stream) as usize;
        IndexTable::new(memory(bytes), contract.visits, stream, |i| {
            order[i as usize] as u64
        })
        .unwrap()
    });
    let mut walk = match &table {
        Some(table) => StreamWalk::by_table(contract, &window, start..end, table),
        None => StreamWalk::new(contract, &window, start..end),
    }
    .unwrap();
    let step = match contract.visits {
        AccessOrder::Lines => 32,
        AccessOrder::Chunks => 4,
        AccessOrder::Forward | AccessOrder::Backward => BLOCK_BYTES as usize,
    };
    walk.set_pattern(PATTERN);
    walk.resume_at(run.0 * step);
    kernel.run(&mut walk, run.1 as u64);
    let what = || format!("{} over {blocks} blocks, {run:?}", kernel.name());
    assert_eq!(walk.offset(), (run.0 + run.1) % blocks * step, "{}", what());
    assert_eq!(walk.checksum(), sum, "{}", what());
    for (i, (place, word)) in window.words().iter().zip(&words).enumerate() {
        assert_eq!(
            place.load(Relaxed),
            *word,
            "word {i} of {}: {}",
            words.len(),
            what()
        );
    }
}

#[test]
fn every_row_does_what_its_contract_says() {
    for kernel in all_rows().into_iter().filter_map(|row| row.kernel().ok()) {
        for blocks in [1, 2, 3, 8, 9] {
            for first in 0..blocks {
                for count in [0, 1, blocks, blocks + 2] {
                    check(&kernel, blocks, (first, count));
                }
            }
        }
    }
}

#[test]
fn both_sets_are_complete_where_they_are_present() {
    for row in all_rows().iter().filter(|row| row.set.available().is_ok()) {
        let here =
            row.kernel().is_ok() || row.unsupported().is_some() || row.needs().contains("Zicboz");
        assert!(here, "{}: {:?}", row.name(), row.kernel());
    }
}

/// Offsets of all 64-bit loads (or stores) of general registers at `t6` in `body`.
fn offsets(body: &[u8], stores: bool) -> Vec<i32> {
    const T6: u32 = 31;
    let words = body
        .chunks_exact(4)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    let found = words.filter_map(
        |word| match (word & 0x7f, word >> 12 & 7, word >> 15 & 31) {
            (0x03, 3, T6) if !stores => Some((word as i32) >> 20),
            (0x23, 3, T6) if stores => Some((word as i32) >> 25 << 5 | (word >> 7 & 31) as i32),
            _ => None,
        },
    );
    found.collect()
}

/// Loads leave nothing out and load nothing twice, in the order of addresses. Results cannot show
/// this.
#[test]
fn the_loads_of_a_block_are_all_of_it_once_and_in_order() {
    let up: Vec<i32> = (0..64).map(|i| 8 * i).collect();
    let down: Vec<i32> = (1..=64).map(|i| -8 * i).collect();
    let lines: Vec<i32> = (0..8).map(|i| 64 * i).collect();
    let plain = |c: &Contract| !c.by_table() || c.visits == AccessOrder::Chunks;
    for (row, _) in executable()
        .into_iter()
        .filter(|(row, _)| row.set.id == SetId::Scalar)
    {
        let contract = row.operation.contract();
        let body = row.code().unwrap();
        // If a block has several iterations, only one iteration is checked here. Other tests check
        // the offset after a run, which shows that all iterations are done.
        let all = match (row.operation, contract.visits, contract.does) {
            (Operation::ReadUnroll64, ..) => &up[..8],
            (Operation::ReadUnroll256, ..) => &up[..32],
            (
                Operation::ReadUnroll128 | Operation::WriteUnroll128 | Operation::CopyUnroll128,
                ..,
            ) => &up[..16],
            (_, _, Does::Touch) => &lines[..],
            (_, AccessOrder::Backward, _) => &down[..],
            _ => &up[..],
        };
        if contract.loads > 0 && plain(contract) && !contract.on_doubles() {
            assert_eq!(offsets(&body, false), all, "{}", row.name());
        }
        if contract.loads == 0 && plain(contract) && contract.does == Does::Store {
            assert_eq!(offsets(&body, true), all, "{}", row.name());
        }
    }
}

/// Compressed instructions and the assembler's own NOPs would make the code depend on the target's
/// defaults.
#[test]
fn bodies_hold_no_short_instructions_and_no_padding() {
    for (row, _) in executable() {
        for (i, word) in row.code().unwrap().chunks_exact(4).enumerate() {
            assert!(
                word[0] & 3 == 3 && word != [0x13, 0, 0, 0],
                "{}: instruction {i} is {word:x?}",
                row.name()
            );
        }
    }
}
