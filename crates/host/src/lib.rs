//! The machine: facts about it and powers over it.
//!
//! `facts` says what there is, `memory` maps and reads back pages, `pin` places threads, `counter`
//! is the clock, `cpu` says which instructions may be used, `noise` counts what disturbed a thread
//! or happened beside a run, `interrupt` is the wish to stop, `privilege` tells borrowed rights,
//! `storage` opens files and devices and moves blocks. Every system call is in `os`, every
//! processor instruction that needs `unsafe` in `processor` and `counter`; the rest is safe code on
//! top of them.

mod block_device;
pub mod counter;
pub mod cpu;
pub mod facts;
pub mod interrupt;
pub mod memory;
mod microarchitectures;
pub mod noise;
mod os;
pub mod pin;
pub mod privilege;
mod processor;
#[cfg(feature = "storage")]
pub mod storage;
mod thread_noise;

pub use block_device::is_block_device;

#[cfg(test)]
mod tests {
    /// The name by which a test of `module` (its `module_path!()`) is started in a process of its
    /// own.
    pub fn name_of(module: &str, test: &str) -> String {
        let (_, below_crate) = module.split_once("::").expect("a module below the crate");
        format!("{below_crate}::{test}")
    }
}
