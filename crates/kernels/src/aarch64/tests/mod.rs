//! Tests that kernels preserve the caller's registers, which only machine code can get wrong.

mod flow;
mod registers;

use host::memory::{Mapping, PageMode, Window};
use units::Bytes;

pub(crate) use flow::step;

/// Base pages between guards, at least `bytes` in all.
fn memory(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
    mapping.take(0..mapping.len()).unwrap()
}
