//! Streaming kernels leave in memory what the oracle leaves, and touch nothing else.

use super::{contents, fenced};
use memgauge::host::memory::Window;
use memgauge::kernels::{BLOCK_BYTES, CONTRACTS, Contract, StreamKernel, StreamWalk, all_rows, oracle};
use memgauge::stats::SplitMix64;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

const BLOCK: usize = BLOCK_BYTES as usize;
const WORDS: usize = BLOCK / 8;
const PATTERN: u64 = 0xfeed_face_0123_4567;

/// Blocks in a stream: around the powers of two, and whole pages (8 blocks are one).
const SIZES: [usize; 12] = [1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 127, 128];

/// Every kernel that can be executed here.
fn kernels() -> Vec<StreamKernel> {
    let kernels: Vec<StreamKernel> = all_rows().into_iter().filter_map(|row| row.kernel().ok()).collect();
    assert!(kernels.len() >= CONTRACTS.len(), "every processor has one set at least");
    kernels
}

/// Does to `words` (all streams one after another) what `blocks` blocks from block `start` on do, one block after the
/// other by the oracle; returns the sum of the words loaded where the contract adds them up.
fn expect_blocks(contract: &Contract, words: &mut [u64], start: usize, blocks: usize) -> u64 {
    let stream = words.len() / contract.streams() as usize;
    let mut sum = 0u64;
    for block in (0..stream / WORDS).cycle().skip(start).take(blocks) {
        let place = |i: usize| i / WORDS * stream + block * WORDS + i % WORDS;
        let piece: Vec<AtomicU64> =
            (0..WORDS * contract.streams() as usize).map(|i| AtomicU64::new(words[place(i)])).collect();
        sum = sum.wrapping_add(oracle(contract, &piece, PATTERN));
        for (i, word) in piece.iter().enumerate() {
            words[place(i)] = word.load(Relaxed);
        }
    }
    sum
}

/// A window with random words in it, and the words.
fn random_window(bytes: usize, seed: u64) -> (Window, Vec<u64>) {
    let window = fenced(bytes);
    let mut random = SplitMix64::new(seed);
    let words: Vec<u64> = window.words().iter().map(|_| random.next_u64()).collect();
    (window, words)
}

fn fill(window: &Window, words: &[u64]) {
    for (place, word) in window.words().iter().zip(words) {
        place.store(*word, Relaxed);
    }
}

/// Where in `window` a part of `length` bytes is tried: flush against each guard, and amid memory that is watched,
/// with a page boundary that is no boundary of a block.
fn places(window: &Window, length: usize) -> [Range<usize>; 3] {
    [0, 4096 - 64, window.len() - length].map(|start| start..start + length)
}

/// Runs `kernel` over `part` for `blocks` blocks from block `start` on and compares all of the window with what was to
/// be expected.
fn assert_as_expected(kernel: &StreamKernel, window: &Window, part: &Range<usize>, (start, blocks): (usize, usize)) {
    let contract = kernel.contract();
    let mut expected = contents(window);
    let sum = expect_blocks(contract, &mut expected[part.start / 8..part.end / 8], start, blocks);

    let mut walk = StreamWalk::new(contract, window, part.clone()).expect("a walk");
    let pass = part.len() / BLOCK / contract.streams() as usize;
    assert_eq!(walk.blocks_per_pass(), pass as u64);
    walk.set_pattern(PATTERN);
    walk.resume_at(start * BLOCK);
    kernel.run(&mut walk, blocks as u64);

    let what = || format!("{}, bytes {part:?} of {}, {blocks} blocks from {start}", kernel.name(), window.len());
    assert_eq!(walk.offset(), (start + blocks) % pass * BLOCK, "offset of {}", what());
    assert_eq!(walk.checksum(), sum, "checksum of {}", what());
    let found = contents(window);
    if let Some(odd) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
        panic!("word {odd}: {:#x}, should be {:#x}: {}", found[odd], expected[odd], what());
    }
}

#[test]
fn every_kernel_does_what_the_oracle_does() {
    for kernel in kernels() {
        for pass in SIZES {
            let length = pass * BLOCK * kernel.contract().streams() as usize;
            let (window, words) = random_window(length + 2 * 4096, pass as u64);
            for part in places(&window, length) {
                // Less than a pass, exactly one, two and a half; then from every kind of place on.
                for walk in [(0, pass.div_ceil(2)), (0, pass), (0, 2 * pass + pass / 2), (pass - 1, 2)] {
                    fill(&window, &words);
                    assert_as_expected(&kernel, &window, &part, walk);
                }
            }
        }
    }
}

#[test]
fn parts_may_fill_a_mapping_from_guard_to_guard() {
    for kernel in kernels() {
        for pages in [2, 4, 6] {
            let (window, words) = random_window(pages * 4096, 11);
            fill(&window, &words);
            let pass = window.len() / BLOCK / kernel.contract().streams() as usize;
            assert_as_expected(&kernel, &window, &(0..window.len()), (0, pass + 1));
        }
    }
}

#[test]
fn one_pass_by_blocks_is_the_pass_of_the_oracle() {
    for contract in &CONTRACTS {
        let (window, words) = random_window(4096, 5);
        fill(&window, &words);
        let mut by_blocks = words.clone();
        let sum = expect_blocks(contract, &mut by_blocks, 0, window.len() / BLOCK / contract.streams() as usize);
        assert_eq!((oracle(contract, window.words(), PATTERN), contents(&window)), (sum, by_blocks), "{contract:?}");
        // The contract by hand, so that the oracle is held to something too.
        let (first, second) = words.split_at(words.len() / 2);
        let left = match (contract.loads, contract.stores) {
            (1, 0) => [first, second].concat(),
            (0, 1) => vec![PATTERN; words.len()],
            _ => [first, first].concat(),
        };
        assert_eq!(contents(&window), left, "{contract:?}");
        let total = words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
        assert_eq!(sum, if contract.sums { total } else { 0 });
    }
}

#[test]
fn a_walk_goes_on_where_it_stopped() {
    for kernel in kernels() {
        let contract = kernel.contract();
        let (window, words) = random_window(9 * BLOCK * contract.streams() as usize, 3);
        fill(&window, &words);
        let part = 0..9 * BLOCK * contract.streams() as usize;
        let mut expected = words;
        let mut walk = StreamWalk::new(contract, &window, part.clone()).expect("a walk");
        walk.set_pattern(PATTERN);
        let mut at = 0;
        for blocks in [0, 1, 4, 9, 0, 13, 8, 27, 1] {
            let sum = expect_blocks(contract, &mut expected[part.start / 8..part.end / 8], at, blocks);
            kernel.run(&mut walk, blocks as u64);
            at = (at + blocks) % 9;
            assert_eq!((walk.offset(), walk.checksum()), (at * BLOCK, sum), "{} after {blocks}", kernel.name());
            assert_eq!(contents(&window), expected, "{} after {blocks}", kernel.name());
        }
    }
}

#[test]
fn a_walk_resumes_on_a_block_of_its_window_or_at_its_start() {
    let window = fenced(4096);
    for contract in &CONTRACTS {
        let mut walk = StreamWalk::new(contract, &window, 0..4 * BLOCK).expect("a walk");
        let end = walk.blocks_per_pass() as usize * BLOCK;
        for (asked, got) in
            [(512, 512), (end - 512, end - 512), (end, 0), (512, 512), (520, 0), (usize::MAX, 0), (0, 0)]
        {
            walk.resume_at(asked);
            assert_eq!(walk.offset(), got, "{}: {asked}", contract.name);
        }
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn parts_that_are_no_walk_are_refused() {
    let window = fenced(4096);
    let end = window.len();
    for contract in &CONTRACTS {
        let one = BLOCK * contract.streams() as usize;
        for wrong in [
            0..0,
            one..one,
            one..0,
            0..one - 64,
            0..one + 64,
            0..BLOCK / 2,
            8..one + 8,
            32..one + 32,
            63..one + 63,
            end - one + 64..end + 64,
            0..end + one,
            end..end + one,
            usize::MAX - 511..usize::MAX,
            0..usize::MAX,
        ] {
            let message = StreamWalk::new(contract, &window, wrong.clone()).expect_err(contract.name).to_string();
            assert!(message.contains(contract.name) && !message.contains('\n'), "{wrong:?}: {message}");
        }
        for right in [0..one, 64..one + 64, end - one..end, 0..end] {
            assert!(StreamWalk::new(contract, &window, right.clone()).is_ok(), "{}: {right:?}", contract.name);
        }
        let odd = StreamWalk::new(contract, &window, 0..3 * BLOCK);
        assert_eq!(odd.is_ok(), contract.streams() == 1, "three blocks are no two streams");
    }
}

#[test]
#[should_panic(expected = "a walk belongs to the contract it was made for")]
fn a_walk_of_another_contract_is_not_run() {
    let window = fenced(4096);
    let [copy, copy_nt] = ["copy", "copy-nt"].map(|name| kernels().into_iter().find(|k| k.contract().name == name));
    let mut walk = StreamWalk::new(copy.expect("a copy").contract(), &window, 0..4096).expect("a walk");
    copy_nt.expect("a copy").run(&mut walk, 1);
}
