//! Tests of machine code: the caller's registers, and the effect of a single row on memory.

mod flow;
mod registers;
mod streams;

use crate::stream_call::StreamCode;
use crate::{KernelRow, all_rows};
use host::memory::{Mapping, PageMode, Window};
use units::Bytes;

pub(crate) use flow::step;

/// Base pages between guards, at least `bytes` in all.
fn memory(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
    mapping.take(0..mapping.len()).unwrap()
}

/// Every streaming kernel that can be executed here, with its code.
fn executable() -> Vec<(KernelRow, StreamCode)> {
    let code = |row: KernelRow| {
        row.kernel()
            .ok()
            .and(row.row.assembly())
            .map(|code| (row, code))
    };
    all_rows().into_iter().filter_map(code).collect()
}
