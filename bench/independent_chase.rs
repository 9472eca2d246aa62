//! A random pointer chase that shares nothing with memgauge: compiled Rust, volatile reads, a shuffle of its own. What it finds
//! is what `latency_check.py` beside it holds memgauge's figures against.
//!
//! `rustc -O bench/independent_chase.rs && ./independent_chase 32768 1048576` prints a line for each size: bytes, and the median
//! over nine runs of the nanoseconds that a load takes.

use std::hint::black_box;
use std::time::Instant;

/// One line of the cache.
#[repr(C, align(64))]
#[derive(Clone)]
struct Node {
    next: *const Node,
    rest: [usize; 7],
}

/// Runs of a size.
const RUNS: usize = 9;

/// Loads of a run: at least so many, and so many times all nodes.
const FEWEST_LOADS: usize = 4_000_000;

/// Marsaglia's xorshift generator.
fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// A cycle through all of `nodes` by Sattolo's shuffle.
fn link(nodes: &mut [Node], state: &mut u64) {
    let mut next: Vec<usize> = (0..nodes.len()).collect();
    for last in (1..next.len()).rev() {
        let other = (random(state) % last as u64) as usize;
        next.swap(last, other);
    }
    let start = nodes.as_ptr();
    for (node, &to) in nodes.iter_mut().zip(&next) {
        node.next = start.wrapping_add(to);
        node.rest = [1; 7];
    }
}

/// Follows the pointers from `node` for `loads` loads, a multiple of 8.
fn chase(mut node: *const Node, loads: usize) -> *const Node {
    for _ in 0..loads / 8 {
        for _ in 0..8 {
            // SAFETY: every pointer leads to a node of the vector, which lives longer than the walk.
            node = unsafe { std::ptr::read_volatile(&raw const (*node).next) };
        }
    }
    node
}

/// Asks for base pages only, where the system knows other ones.
fn base_pages_only() {
    #[cfg(target_os = "linux")]
    {
        unsafe extern "C" {
            fn prctl(option: i32, a: usize, b: usize, c: usize, d: usize) -> i32;
        }
        const PR_SET_THP_DISABLE: i32 = 41;
        // SAFETY: the call takes numbers only and changes how this process gets its memory.
        unsafe { prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) };
    }
}

fn main() {
    base_pages_only();
    let mut state = 0x2545_F491_4F6C_DD1D;
    for size in std::env::args().skip(1) {
        let bytes: usize = size.parse().expect("a number of bytes");
        let mut nodes = vec![Node { next: std::ptr::null(), rest: [0; 7] }; (bytes / 64).max(1)];
        link(&mut nodes, &mut state);
        let loads = (FEWEST_LOADS / 8 * 8).max(nodes.len().min(FEWEST_LOADS * 2) / 8 * 8);
        // Twice through everything before the first run: all of it is where it belongs.
        let mut at = chase(nodes.as_ptr(), nodes.len() * 2 / 8 * 8 + 8);
        let mut nanos: Vec<f64> = (0..RUNS)
            .map(|_| {
                let start = Instant::now();
                at = black_box(chase(at, loads));
                start.elapsed().as_secs_f64() * 1e9 / loads as f64
            })
            .collect();
        nanos.sort_by(f64::total_cmp);
        println!("{} {:.4}", nodes.len() * 64, nanos[RUNS / 2]);
    }
}
