//! The effect of every contract on memory, in plain Rust. Tests compare each kernel with it.

use super::{AccessOrder, Contract};
use assembly::Does;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Does one pass of `contract` over `words`, which hold all streams one after another. Returns the
/// wrapping sum of the loaded words if the contract adds them up, otherwise 0. The result does not
/// depend on the order of blocks.
pub fn apply(contract: &Contract, words: &[AtomicU64], pattern: u64) -> u64 {
    let stream = words.len() / contract.streams() as usize;
    let mut sum = 0u64;
    let double = f64::from_bits(pattern);
    for i in 0..stream {
        let load = |n: usize| words[i + n * stream].load(Relaxed);
        let number = |n: usize| f64::from_bits(load(n));
        let target = stream * (contract.streams() - 1) as usize + i;
        let store = |value: u64| words[target].store(value, Relaxed);
        match contract.does {
            Does::Load | Does::Touch => {}
            Does::Sum => sum = sum.wrapping_add(load(0)),
            Does::Store => store(pattern),
            Does::StoreByte => store((pattern & 0xff) * 0x0101_0101_0101_0101),
            Does::StoreZero => store(0),
            Does::Update => store(load(0) ^ pattern),
            Does::Move => store(load(0)),
            Does::Scale => store((double * number(0)).to_bits()),
            Does::Add => store((number(0) + number(1)).to_bits()),
            Does::Triad => store((number(0) + double * number(1)).to_bits()),
        }
    }
    sum
}

/// Indices of the 512-byte blocks visited by iterations `first` to `first + iterations - 1`, in a
/// stream of `blocks` blocks. Orders by an index table are not supported.
pub fn visit(visits: AccessOrder, blocks: usize, first: usize, iterations: usize) -> Vec<usize> {
    let turn = |turn: usize| match visits {
        AccessOrder::Backward => blocks - 1 - turn % blocks,
        _ => turn % blocks,
    };
    (first..first + iterations).map(turn).collect()
}
