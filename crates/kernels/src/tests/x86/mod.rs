//! Branches, registers, accesses and executed instructions of both modes of x86.

mod calls;
#[cfg(target_os = "linux")]
mod decode;
pub(super) mod flow;
#[cfg(target_arch = "x86")]
mod registers_32;
#[cfg(target_arch = "x86_64")]
mod registers_64;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod trace;
