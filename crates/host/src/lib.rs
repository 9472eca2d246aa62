//! Facts about the machine, and control over its CPUs, memory and files.
//!
//! - `facts`: facts about the machine with their sources
//! - `memory`: maps memory, and asks the system which pages the memory got
//! - `pin`: places threads on CPUs
//! - `counter`: the clocks
//! - `cpu`: processor capabilities
//! - `documented`: published figures of core designs
//! - `noise`: disturbances of a thread, and system activity
//! - `interrupt`: the request to stop the session, by a signal or Ctrl-C
//! - `privilege`: whether the program has rights that its caller lacks
//! - `gpu`: devices with memory of their own, reached through their drivers
//! - `storage`: opens files and block devices, and transfers blocks from and to them
//!
//! Every system call is in `os`. Every processor instruction that needs `unsafe` is in `processor`
//! and `counter`. All other modules are safe code.

mod block_device;
pub mod counter;
pub mod cpu;
pub mod documented;
pub mod facts;
#[cfg(feature = "gpu")]
pub mod gpu;
pub mod interrupt;
pub mod memory;
pub mod noise;
mod os;
pub mod pin;
pub mod privilege;
mod processor;
mod reported;
#[cfg(feature = "storage")]
pub mod storage;
mod thread_noise;

pub use block_device::is_block_device;
pub use os::c_library;

#[cfg(test)]
mod tests {
    /// Name of a test of `module` (its `module_path!()`) for starting it in a process of its own.
    pub fn name_of(module: &str, test: &str) -> String {
        let (_, below_crate) = module.split_once("::").expect("a module below the crate");
        format!("{below_crate}::{test}")
    }
}
