//! A random pointer chase that shares nothing with memgauge: compiled Rust, volatile reads, a shuffle of its own. What it finds
//! is what `latency_check.py` beside it holds memgauge's figures against.
//!
//! `rustc -O bench/independent_chase.rs && ./independent_chase --allocations 5 --seconds 1 32768 1048576` prints a line for each
//! size: bytes, the median nanoseconds that a load takes, and the lower quartile. The memory is made of base pages; it is
//! allocated as often as asked, all of it at once, since caches behind the first are filled by where the pages lie.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// One line of the cache.
#[repr(C, align(64))]
struct Node {
    next: *const Node,
    rest: [usize; 7],
}

/// A run, and the loads that tell how many it is of.
const RUN: Duration = Duration::from_millis(1);
const TRIAL: usize = 4096;

/// Runs in a row.
const RUNS: usize = 8;

/// Times that all nodes are read in the order of addresses before a run, where they are no more than this.
const PASSES: usize = 4;
const CACHED: usize = 1 << 18;

/// Marsaglia's xorshift generator.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A cycle through all of `nodes` by Sattolo's shuffle.
fn link(nodes: &mut [Node], state: &mut u64) {
    let mut next: Vec<u32> = (0..nodes.len() as u32).collect();
    for last in (1..next.len()).rev() {
        let other = (random(state) % last as u64) as usize;
        next.swap(last, other);
    }
    let start = nodes.as_ptr();
    for (node, &to) in nodes.iter_mut().zip(&next) {
        node.next = start.wrapping_add(to as usize);
        node.rest = [1; 7];
    }
}

/// Follows the pointers from `node` for `loads` loads, a multiple of 8.
fn chase(mut node: *const Node, loads: usize) -> *const Node {
    for _ in 0..loads / 8 {
        for _ in 0..8 {
            // SAFETY: every pointer leads to a node of the memory, which lives longer than the walk.
            node = unsafe { std::ptr::read_volatile(&raw const (*node).next) };
        }
    }
    node
}

/// Memory for `count` nodes in base pages, never given back.
#[cfg(target_os = "linux")]
fn memory(count: usize) -> &'static mut [Node] {
    unsafe extern "C" {
        fn mmap(address: *mut u8, length: usize, protection: i32, flags: i32, file: i32, offset: i64) -> *mut u8;
        fn madvise(address: *mut u8, length: usize, advice: i32) -> i32;
    }
    const READ_WRITE: i32 = 3;
    const PRIVATE_ANONYMOUS: i32 = 0x22;
    const NO_HUGE_PAGES: i32 = 15;
    let length = count * size_of::<Node>();
    // SAFETY: a new mapping of zeros, which are valid nodes; nobody else has it, and it is never unmapped.
    unsafe {
        let start = mmap(std::ptr::null_mut(), length, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        assert!(start as isize != -1, "no memory for {length} B");
        // A kernel without huge pages refuses, and gives none.
        madvise(start, length, NO_HUGE_PAGES);
        std::slice::from_raw_parts_mut(start.cast(), count)
    }
}

#[cfg(not(target_os = "linux"))]
fn memory(count: usize) -> &'static mut [Node] {
    (0..count).map(|_| Node { next: std::ptr::null(), rest: [0; 7] }).collect::<Vec<Node>>().leak()
}

/// Reads all `nodes` by rising address, so that caches hold of them what they can.
fn read_all(nodes: &[Node]) {
    for _ in 0..PASSES {
        // SAFETY: references are good to read from.
        nodes.iter().for_each(|node| _ = unsafe { std::ptr::read_volatile(&raw const node.next) });
    }
}

/// `loads` loads from `at`: where they end, and what they took.
fn timed(at: *const Node, loads: usize) -> (*const Node, f64) {
    let start = Instant::now();
    let at = black_box(chase(at, loads));
    (at, start.elapsed().as_secs_f64())
}

/// Nanoseconds that a load takes in runs of a millisecond through `nodes` for `seconds`.
fn measure(nodes: &[Node], seconds: f64, nanos: &mut Vec<f64>) {
    let mut at = nodes.as_ptr();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        if nodes.len() <= CACHED {
            read_all(nodes);
        }
        at = chase(at, nodes.len().min(CACHED).next_multiple_of(8));
        let mut took;
        (at, took) = timed(at, TRIAL);
        let loads = ((RUN.as_secs_f64() / took * TRIAL as f64) as usize).max(64) / 8 * 8;
        for _ in 0..RUNS {
            (at, took) = timed(at, loads);
            nanos.push(took * 1e9 / loads as f64);
        }
    }
}

fn main() {
    let (mut allocations, mut seconds, mut sizes) = (5, 1.0, Vec::new());
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut number = || words.next().expect("a number");
        match word.as_str() {
            "--allocations" => allocations = number().parse().expect("a number of allocations"),
            "--seconds" => seconds = number().parse().expect("a number of seconds"),
            size => sizes.push(size.parse::<usize>().expect("a number of bytes")),
        }
    }
    let mut state = 0x2545_F491_4F6C_DD1D;
    for size in sizes {
        let count = (size / size_of::<Node>()).max(1);
        let mut nanos = Vec::new();
        for _ in 0..allocations {
            let nodes = memory(count);
            link(nodes, &mut state);
            measure(nodes, seconds / f64::from(allocations), &mut nanos);
        }
        nanos.sort_by(f64::total_cmp);
        println!("{} {:.4} {:.4}", count * size_of::<Node>(), nanos[nanos.len() / 2], nanos[nanos.len() / 4]);
    }
}
