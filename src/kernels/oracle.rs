//! What every contract does, in plain Rust: the tests compare each kernel with it.

use super::Contract;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Does to `words` (all streams one after another) what one pass of `contract` does; returns the sum of words loaded
/// where the contract adds them up, else 0.
pub fn apply(contract: &Contract, words: &[AtomicU64], pattern: u64) -> u64 {
    let stream = words.len() / contract.streams() as usize;
    let mut sum = 0u64;
    for i in 0..stream {
        let loaded = if contract.loads > 0 { words[i].load(Relaxed) } else { pattern };
        if contract.sums {
            sum = sum.wrapping_add(loaded);
        }
        if contract.stores > 0 {
            words[i + stream * contract.loads as usize].store(loaded, Relaxed);
        }
    }
    sum
}
