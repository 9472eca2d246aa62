//! Tests of machine code that need more than the crate's interface. They check the caller's
//! registers, every access to memory, every executed instruction, and the place of loops in lines.

mod loops;

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "arm")]
mod arm;
#[cfg(target_arch = "riscv64")]
mod riscv64;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
mod x86;

#[cfg(target_arch = "aarch64")]
use aarch64::flow::step;
#[cfg(target_arch = "arm")]
use arm::flow::step;
#[cfg(target_arch = "riscv64")]
use riscv64::flow::step;
#[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
use x86::flow::step;

use host::memory::{Mapping, PageMode, Window};
use units::Bytes;

/// Memory of at least `bytes` bytes, in base pages between guards.
fn memory(bytes: usize) -> Window {
    let mapping = Mapping::new(Bytes(bytes as u64), PageMode::Base, Bytes(0)).unwrap();
    mapping.take(0..mapping.len()).unwrap()
}

/// Every streaming kernel that can be executed here, with its code.
#[cfg(not(any(target_arch = "aarch64", target_arch = "arm")))]
fn executable() -> Vec<(crate::KernelRow, crate::stream_call::StreamCode)> {
    let code = |row: crate::KernelRow| {
        row.kernel()
            .ok()
            .and(row.row.assembly())
            .map(|code| (row, code))
    };
    crate::all_rows().into_iter().filter_map(code).collect()
}
