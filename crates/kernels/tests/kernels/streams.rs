//! Tests that streaming kernels change memory exactly as the oracle does, and touch nothing else.

use super::{contents, fenced};
use host::memory::{Mapping, PageMode, Window};
use memgauge_kernels::{
    AccessOrder, BLOCK_BYTES, CONTRACTS, Contract, Does, IndexTable, StreamKernel, StreamWalk,
    all_rows, oracle,
};
use stats::SplitMix64;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use units::Bytes;

const BLOCK: usize = BLOCK_BYTES as usize;
const WORDS: usize = BLOCK / 8;
const PATTERN: u64 = 0xfeed_face_0123_4567;

/// Numbers of blocks in a stream: near powers of two, and whole pages (8 blocks). Other instruction
/// sets are tested in emulators, which take a hundred times longer. Their list has the small
/// numbers and only few of the larger numbers.
const SIZES: &[usize] = if cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
    &[1, 2, 3, 7, 8, 9, 16, 63, 64, 65, 127, 128]
} else {
    &[1, 2, 3, 8, 9, 17]
};

/// Every kernel that can be executed here.
fn kernels() -> Vec<StreamKernel> {
    let kernels: Vec<StreamKernel> = all_rows()
        .into_iter()
        .filter_map(|row| row.kernel().ok())
        .collect();
    assert!(
        kernels.len() >= CONTRACTS.len() / 2,
        "every processor has one set at least"
    );
    kernels
}

/// Operand that is stored, combined or multiplied with.
fn pattern(contract: &Contract) -> u64 {
    if contract.on_doubles() {
        3.3f64.to_bits()
    } else {
        PATTERN
    }
}

/// A walk of `contract` over streams of `pass` blocks, and the pieces that its iterations visit.
struct Route {
    contract: &'static Contract,
    /// Pieces of the stream in visiting order, for orders by an index table.
    order: Vec<u64>,
    table: Option<IndexTable>,
    pass: usize,
}

impl Route {
    fn new(contract: &'static Contract, pass: usize) -> Self {
        let pieces = if contract.visits == AccessOrder::Lines {
            pass * 8
        } else {
            pass
        };
        let mut order: Vec<u64> = (0..pieces as u64).collect();
        let mut random = SplitMix64::new(pass as u64);
        for i in (1..order.len()).rev() {
            order.swap(i, (random.next_u64() % (i as u64 + 1)) as usize);
        }
        let table = contract.by_table().then(|| {
            let bytes = IndexTable::bytes_for(contract.visits, (pass * BLOCK) as u64) as usize;
            let mapping =
                Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).expect("memory");
            // The last entry lies right before the guard, without padding.
            let memory = mapping
                .take(mapping.len() - bytes..mapping.len())
                .expect("a part of it");
            IndexTable::new(memory, contract.visits, (pass * BLOCK) as u64, |i| {
                order[i as usize]
            })
            .expect("a table")
        });
        Self {
            contract,
            order,
            table,
            pass,
        }
    }

    fn walk<'w>(&'w self, window: &'w Window, part: Range<usize>) -> StreamWalk<'w> {
        let walk = match &self.table {
            Some(table) => StreamWalk::by_table(self.contract, window, part, table),
            None => StreamWalk::new(self.contract, window, part),
        };
        let mut walk = walk.expect("a walk");
        walk.set_pattern(pattern(self.contract));
        walk
    }

    /// Value of `StreamWalk::offset` after `iterations` iterations from the start.
    fn offset(&self, iterations: usize) -> usize {
        let step = match self.contract.visits {
            AccessOrder::Forward | AccessOrder::Backward => BLOCK,
            AccessOrder::Lines => 32,
            AccessOrder::Chunks => 4,
        };
        iterations % self.pass * step
    }

    /// The words of a stream that iteration `turn` visits.
    fn words(&self, turn: usize) -> Vec<usize> {
        let at = turn % self.pass;
        let whole = |block: usize| block * WORDS..(block + 1) * WORDS;
        match self.contract.visits {
            AccessOrder::Forward => whole(at).collect(),
            AccessOrder::Backward => whole(self.pass - 1 - at).collect(),
            AccessOrder::Chunks => whole(self.order[at] as usize).collect(),
            AccessOrder::Lines => {
                let lines = &self.order[at * 8..at * 8 + 8];
                lines
                    .iter()
                    .flat_map(|&line| line as usize * 8..line as usize * 8 + 8)
                    .collect()
            }
        }
    }

    /// Does `iterations` iterations from iteration `start` on to `words` (all streams one after
    /// another), by the oracle. Returns the sum of the loaded words if the contract adds them up.
    fn expect(&self, words: &mut [u64], start: usize, iterations: usize) -> u64 {
        let stream = words.len() / self.contract.streams() as usize;
        let mut sum = 0u64;
        for turn in start..start + iterations {
            let visited = self.words(turn);
            let place = |i: usize| i / WORDS * stream + visited[i % WORDS];
            let count = WORDS * self.contract.streams() as usize;
            let piece: Vec<AtomicU64> = (0..count)
                .map(|i| AtomicU64::new(words[place(i)]))
                .collect();
            sum = sum.wrapping_add(oracle(self.contract, &piece, pattern(self.contract)));
            for (i, word) in piece.iter().enumerate() {
                words[place(i)] = word.load(Relaxed);
            }
        }
        sum
    }
}

/// A window with random words, and the words. For contracts on doubles, they are normal numbers
/// with random fractions.
fn random_window(contract: &Contract, bytes: usize, seed: u64) -> (Window, Vec<u64>) {
    let window = fenced(bytes);
    let mut random = SplitMix64::new(seed);
    let mut word = || match random.next_u64() {
        bits if contract.on_doubles() => (1.0f64.to_bits() | bits >> 12) ^ (bits & 1) << 63,
        bits => bits,
    };
    let words: Vec<u64> = window.words().iter().map(|_| word()).collect();
    (window, words)
}

fn fill(window: &Window, words: &[u64]) {
    for (place, word) in window.words().iter().zip(words) {
        place.store(*word, Relaxed);
    }
}

/// Ranges in `window` where a part of `length` bytes is tried: at each guard, and in the middle
/// with a page boundary inside a block.
fn places(window: &Window, length: usize) -> [Range<usize>; 3] {
    [0, 4096 - 64, window.len() - length].map(|start| start..start + length)
}

/// Runs `kernel` over `part` for `iterations` iterations from iteration `start` on, and compares
/// the whole window with the expected contents.
fn assert_as_expected(
    (kernel, route): (&StreamKernel, &Route),
    window: &Window,
    part: &Range<usize>,
    (start, iterations): (usize, usize),
) {
    let mut expected = contents(window);
    let sum = route.expect(
        &mut expected[part.start / 8..part.end / 8],
        start,
        iterations,
    );

    let mut walk = route.walk(window, part.clone());
    assert_eq!(
        walk.iterations_per_pass(),
        (route.pass * BLOCK) as u64 / route.contract.iteration
    );
    walk.resume_at(route.offset(start));
    kernel.run(&mut walk, iterations as u64);

    let what = || {
        format!(
            "{}, bytes {part:?} of {}, {iterations} iterations from {start}",
            kernel.name(),
            window.len()
        )
    };
    assert_eq!(
        walk.offset(),
        route.offset(start + iterations),
        "offset of {}",
        what()
    );
    assert_eq!(walk.checksum(), sum, "checksum of {}", what());
    let found = contents(window);
    if let Some(odd) = (0..found.len()).find(|i| found[*i] != expected[*i]) {
        panic!(
            "word {odd}: {:#x}, should be {:#x}: {}",
            found[odd],
            expected[odd],
            what()
        );
    }
}

#[test]
fn every_kernel_does_what_the_oracle_does() {
    for kernel in kernels() {
        let contract = kernel.contract();
        for &pass in SIZES {
            let route = Route::new(contract, pass);
            let length = pass * BLOCK * contract.streams() as usize;
            let (window, words) = random_window(contract, length + 2 * 4096, pass as u64);
            for part in places(&window, length) {
                // Walks of half a pass, of one pass, and of two and a half passes. The last walk
                // starts at the last block and wraps around.
                for walk in [
                    (0, pass.div_ceil(2)),
                    (0, pass),
                    (0, 2 * pass + pass / 2),
                    (pass - 1, 2),
                ] {
                    fill(&window, &words);
                    assert_as_expected((&kernel, &route), &window, &part, walk);
                }
            }
        }
    }
}

#[test]
fn parts_may_fill_a_mapping_from_guard_to_guard() {
    for kernel in kernels() {
        let contract = kernel.contract();
        for pages in [3, 6, 12] {
            let (window, words) = random_window(contract, pages * 4096, 11);
            fill(&window, &words);
            let pass = window.len() / BLOCK / contract.streams() as usize;
            assert_as_expected(
                (&kernel, &Route::new(contract, pass)),
                &window,
                &(0..window.len()),
                (0, pass + 1),
            );
        }
    }
}

/// The streams need not be whole blocks. One block of work may then wrap around its stream.
#[test]
fn streams_of_any_whole_iterations_are_walked_as_the_oracle_does() {
    let short: Vec<StreamKernel> = kernels()
        .into_iter()
        .filter(|k| k.contract().iteration < BLOCK_BYTES)
        .collect();
    assert!(short.len() >= 5, "{short:?}");
    for kernel in short {
        let contract = kernel.contract();
        let iteration = contract.iteration as usize;
        for pass in 1..=11 {
            let stream = pass * iteration;
            let length = stream * contract.streams() as usize;
            let (window, words) = random_window(contract, 4096, pass as u64);
            for part in [0..length, window.len() - length..window.len()] {
                for (first, blocks) in [(0, 0), (0, 1), (pass - 1, 1), (pass / 2, 4)] {
                    fill(&window, &words);
                    let iterations = blocks * BLOCK / iteration;
                    let mut expected = words.clone();
                    for at in (first..first + iterations).map(|i| i % pass) {
                        let place = |stream_index: usize| {
                            part.start / 8 + (stream_index * stream + at * iteration) / 8
                        };
                        let piece = |i: usize| place(i)..place(i) + iteration / 8;
                        let streams = 0..contract.streams() as usize;
                        let moved = streams
                            .clone()
                            .flat_map(|i| expected[piece(i)].to_vec())
                            .map(AtomicU64::new);
                        let moved: Vec<AtomicU64> = moved.collect();
                        oracle(contract, &moved, pattern(contract));
                        for (i, words) in streams.zip(moved.chunks(iteration / 8)) {
                            let left: Vec<u64> =
                                words.iter().map(|word| word.load(Relaxed)).collect();
                            expected[piece(i)].copy_from_slice(&left);
                        }
                    }
                    let mut walk =
                        StreamWalk::new(contract, &window, part.clone()).expect("a walk");
                    walk.set_pattern(pattern(contract));
                    walk.resume_at(first * iteration);
                    kernel.run(&mut walk, blocks as u64);
                    let what = format!(
                        "{}, {pass} iterations at {part:?}, {blocks} blocks",
                        kernel.name()
                    );
                    assert_eq!(
                        walk.offset(),
                        (first + iterations) % pass * iteration,
                        "{what}"
                    );
                    assert!(contents(&window) == expected, "{what}");
                }
            }
        }
    }
}

#[test]
fn one_pass_by_blocks_is_the_pass_of_the_oracle() {
    for contract in &CONTRACTS {
        let (window, words) = random_window(contract, 3 * 4096, 5);
        fill(&window, &words);
        let mut by_blocks = words.clone();
        let pass = window.len() / BLOCK / contract.streams() as usize;
        let sum = Route::new(contract, pass).expect(&mut by_blocks, 0, pass);
        let got = (
            oracle(contract, window.words(), pattern(contract)),
            contents(&window),
        );
        assert_eq!(got, (sum, by_blocks), "{contract:?}");
        // Computes the contract by hand, so that the oracle is tested too.
        let parts: Vec<&[u64]> = words
            .chunks(words.len() / contract.streams() as usize)
            .collect();
        let numbers = |part: &[u64]| {
            part.iter()
                .map(|w| f64::from_bits(*w))
                .collect::<Vec<f64>>()
        };
        let bits = |numbers: Vec<f64>| numbers.into_iter().map(f64::to_bits).collect::<Vec<u64>>();
        let left = match contract.does {
            Does::Load | Does::Sum | Does::Touch => words.clone(),
            Does::Store => vec![PATTERN; words.len()],
            Does::StoreByte => vec![PATTERN & 0xff | (PATTERN & 0xff) << 8; words.len()]
                .into_iter()
                .map(|w| w | w << 16)
                .map(|w| w | w << 32)
                .collect(),
            Does::StoreZero => vec![0; words.len()],
            Does::Update => words.iter().map(|w| w ^ PATTERN).collect(),
            Does::Move => [parts[0], parts[0]].concat(),
            Does::Scale => [
                parts[0].to_vec(),
                bits(numbers(parts[0]).iter().map(|a| 3.3 * a).collect()),
            ]
            .concat(),
            Does::Add | Does::Triad => {
                let q = if contract.does == Does::Add { 1.0 } else { 3.3 };
                let sums = numbers(parts[0])
                    .iter()
                    .zip(numbers(parts[1]))
                    .map(|(a, b)| a + q * b)
                    .collect();
                [parts[0].to_vec(), parts[1].to_vec(), bits(sums)].concat()
            }
        };
        assert_eq!(contents(&window), left, "{contract:?}");
        let total = words.iter().fold(0u64, |sum, word| sum.wrapping_add(*word));
        assert_eq!(sum, if contract.sums() { total } else { 0 });
    }
}

#[test]
fn a_walk_goes_on_where_it_stopped() {
    for kernel in kernels() {
        let contract = kernel.contract();
        let length = 9 * BLOCK * contract.streams() as usize;
        let (window, words) = random_window(contract, length, 3);
        fill(&window, &words);
        let mut expected = words;
        let route = Route::new(contract, 9);
        let mut walk = route.walk(&window, 0..length);
        let mut at = 0;
        for iterations in [0, 1, 4, 9, 0, 13, 8, 27, 1] {
            let sum = route.expect(&mut expected[..length / 8], at, iterations);
            kernel.run(&mut walk, iterations as u64);
            at = (at + iterations) % 9;
            assert_eq!(
                (walk.offset(), walk.checksum()),
                (route.offset(at), sum),
                "{} after {iterations}",
                kernel.name()
            );
            assert_eq!(
                contents(&window),
                expected,
                "{} after {iterations}",
                kernel.name()
            );
        }
    }
}

#[test]
fn prefetches_may_point_anywhere() {
    for kernel in kernels().into_iter().filter(|k| k.contract().prefetches) {
        let contract = kernel.contract();
        let stream = 3 * 4096 / contract.streams() as usize;
        let states = [0, 64, 100, 1 << 20, 1 << 40, u64::MAX].map(|distance| {
            let window = fenced(3 * 4096);
            let mut walk = StreamWalk::new(contract, &window, 0..window.len()).expect("a walk");
            walk.set_distance(distance);
            kernel.run(&mut walk, 17);
            assert_eq!(walk.offset(), 17 * BLOCK % stream, "{}", kernel.name());
            contents(&window)
        });
        for state in &states {
            assert_eq!(state, &states[0], "{}", kernel.name());
        }
    }
}

#[test]
fn a_walk_resumes_on_a_block_of_its_window_or_at_its_start() {
    let window = fenced(4 * 4096);
    for contract in CONTRACTS.iter().filter(|c| !c.by_table()) {
        let mut walk = StreamWalk::new(contract, &window, 0..12 * BLOCK).expect("a walk");
        let end = walk.iterations_per_pass() as usize * contract.iteration as usize;
        for (requested, got) in [
            (512, 512),
            (end - 512, end - 512),
            (end, 0),
            (512, 512),
            (520, 0),
            (usize::MAX, 0),
            (0, 0),
        ] {
            walk.resume_at(requested);
            assert_eq!(walk.offset(), got, "{}: {requested}", contract.name);
        }
    }
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn parts_that_are_no_walk_are_refused() {
    let window = fenced(3 * 4096);
    let end = window.len();
    for contract in CONTRACTS.iter().filter(|c| !c.by_table()) {
        let iteration = contract.iteration as usize;
        let one = iteration * contract.streams() as usize;
        for wrong in [
            0..0,
            one..one,
            one..0,
            0..one - 64,
            0..one + 32,
            0..iteration / 2,
            8..one + 8,
            32..one + 32,
            63..one + 63,
            end - one + 64..end + 64,
            0..end + one,
            end..end + one,
            usize::MAX - 511..usize::MAX,
            0..usize::MAX,
        ] {
            let message = StreamWalk::new(contract, &window, wrong.clone())
                .expect_err(contract.name)
                .to_string();
            assert!(
                message.contains(contract.name) && !message.contains('\n'),
                "{wrong:?}: {message}"
            );
        }
        for right in [0..one, 64..one + 64, end - one..end, 0..end] {
            assert!(
                StreamWalk::new(contract, &window, right.clone()).is_ok(),
                "{}: {right:?}",
                contract.name
            );
        }
        let odd = StreamWalk::new(contract, &window, 0..13 * iteration);
        assert_eq!(
            odd.is_ok(),
            contract.streams() == 1,
            "thirteen iterations are no two streams"
        );
    }
}

#[test]
#[should_panic(expected = "a walk belongs to the contract it was made for")]
fn a_walk_of_another_contract_is_not_run() {
    let window = fenced(4096);
    let [copy, copy_reverse] = ["copy", "copy-reverse"]
        .map(|name| kernels().into_iter().find(|k| k.contract().name == name));
    let mut walk =
        StreamWalk::new(copy.expect("a copy").contract(), &window, 0..4096).expect("a walk");
    copy_reverse.expect("a copy").run(&mut walk, 1);
}

/// Memory for an index table.
fn table_memory(bytes: u64) -> Window {
    let mapping = Mapping::new(Bytes(bytes), PageMode::Base, Bytes(0)).expect("memory");
    mapping.take(0..bytes as usize).expect("a part of it")
}

#[test]
fn a_table_names_every_piece_once() {
    let make = |order: &dyn Fn(u64) -> u64| {
        IndexTable::new(table_memory(64), AccessOrder::Chunks, 4 * 512, order)
    };
    assert!(make(&|i| i).is_ok() && make(&|i| 3 - i).is_ok() && make(&|i| i ^ 1).is_ok());
    let orders: [(&str, &dyn Fn(u64) -> u64); 3] = [
        ("twice", &|i| i / 2),
        ("not there", &|i| i + 1),
        ("far", &|_| u64::MAX),
    ];
    for (why, order) in orders {
        let message = make(order).expect_err(why).to_string();
        assert!(
            message.contains("of 4 is named twice or not there"),
            "{message}"
        );
    }
    for (visits, stream, bytes) in [
        (AccessOrder::Forward, 2048, 4096),
        (AccessOrder::Lines, 0, 4096),
        (AccessOrder::Lines, 520, 4096),
        (AccessOrder::Lines, 1 << 20, 64),
    ] {
        let message = IndexTable::new(table_memory(bytes), visits, stream, |i| i)
            .expect_err("no table")
            .to_string();
        assert!(message.contains("cannot order"), "{message}");
    }
}

#[test]
fn a_table_is_for_streams_of_its_length_and_contracts_of_its_pieces() {
    let window = fenced(4096);
    let contract = |name: &str| {
        CONTRACTS
            .iter()
            .find(|c| c.name == name)
            .expect("a contract")
    };
    let table = |visits, stream| {
        IndexTable::new(table_memory(4096), visits, stream, |i| i).expect("a table")
    };
    let lines = table(AccessOrder::Lines, 2048);
    let chunks = table(AccessOrder::Chunks, 2048);
    let walk = |name: &str, part: Range<usize>, table| {
        StreamWalk::by_table(contract(name), &window, part, table).is_ok()
    };
    assert!(walk("read-lines", 0..2048, &lines) && walk("copy-lines", 0..4096, &lines));
    assert!(walk("read-chunks", 0..2048, &chunks) && walk("copy-chunks", 0..4096, &chunks));
    assert!(
        !walk("read-lines", 0..4096, &lines) && !walk("copy-lines", 0..2048, &lines),
        "other lengths"
    );
    assert!(
        !walk("read-lines", 0..2048, &chunks) && !walk("read-chunks", 0..2048, &lines),
        "other pieces"
    );
    assert!(
        !walk("read", 0..2048, &lines) && !walk("read-reverse", 0..2048, &chunks),
        "an order of their own"
    );
    let message = StreamWalk::new(contract("read-lines"), &window, 0..2048)
        .expect_err("no table")
        .to_string();
    assert!(message.contains("without a table"), "{message}");
}
