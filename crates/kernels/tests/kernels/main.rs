//! Tests of the kernels against the oracle, at sizes around every boundary and right at the guards.
//! Requests that the safe wrappers must refuse are tested too. Errors that only assembly can have
//! (registers, single accesses) are tested in `src`.

mod chains;
mod choice;
mod instructions;
mod locks;
mod streams;

use host::memory::{Mapping, PageMode, Window};
use std::sync::atomic::Ordering::Relaxed;
use units::Bytes;

/// All of a mapping of at least `bytes`. It starts and ends right at an inaccessible guard.
fn fenced(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).expect("memory");
    assert!(mapping.guard() > 0, "this system has no guards");
    mapping
        .take(0..mapping.len())
        .expect("all of a new mapping")
}

/// The current words of `window`.
fn contents(window: &Window) -> Vec<u64> {
    window
        .words()
        .iter()
        .map(|word| word.load(Relaxed))
        .collect()
}
