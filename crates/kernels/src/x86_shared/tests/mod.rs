//! Tests of machine code: every access to memory, and every executed instruction.

pub(crate) mod calls;
#[cfg(target_os = "linux")]
mod decode;
pub(crate) mod flow;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod trace;

use crate::stream_call::StreamCode;
use crate::{KernelRow, all_rows};
use host::memory::{Mapping, PageMode, Window};
use units::Bytes;

/// Base pages between guards, at least `bytes` in all.
pub(crate) fn memory(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
    mapping.take(0..mapping.len()).unwrap()
}

/// Every streaming kernel that can be executed here, with its code.
pub(crate) fn executable() -> Vec<(KernelRow, StreamCode)> {
    let code = |row: KernelRow| {
        row.kernel()
            .ok()
            .and(row.row.assembly())
            .map(|code| (row, code))
    };
    all_rows().into_iter().filter_map(code).collect()
}
