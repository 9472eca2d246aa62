//! Effect of every contract, in plain Rust: the tests compare each kernel with it.

use super::contract::Does;
use super::{AccessOrder, Contract};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Does to `words` (all streams one after another) what one pass of `contract` does; returns the
/// sum of words loaded where the contract adds them up, else 0. The order of blocks makes no
/// difference to what a pass leaves.
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

/// The 512-byte blocks of a stream of `blocks` blocks in the order in which `turns` turns from turn
/// `first` on visit them. Orders by a table are the table's.
pub fn visit(visits: AccessOrder, blocks: usize, first: usize, turns: usize) -> Vec<usize> {
    let turn = |turn: usize| match visits {
        AccessOrder::Backward => blocks - 1 - turn % blocks,
        _ => turn % blocks,
    };
    (first..first + turns).map(turn).collect()
}
