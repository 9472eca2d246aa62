//! The kernels against the oracle, at sizes around every boundary, flush against the guards; and
//! requests that the safe ways to run them refuse. Errors that only assembly can have (registers,
//! single accesses) are tested in `src`.

mod chains;
mod choice;
mod instructions;
mod locks;
mod streams;

use host::memory::{Mapping, PageMode, Window};
use std::sync::atomic::Ordering::Relaxed;
use units::Bytes;

/// All of a mapping of at least `bytes`: it starts and ends flush against an inaccessible guard.
fn fenced(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).expect("memory");
    assert!(mapping.guard() > 0, "this system has no guards");
    mapping
        .take(0..mapping.len())
        .expect("all of a new mapping")
}

/// The words of `window` as they are.
fn contents(window: &Window) -> Vec<u64> {
    window
        .words()
        .iter()
        .map(|word| word.load(Relaxed))
        .collect()
}
