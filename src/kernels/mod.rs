//! The measured instructions: what each kernel promises, the rows that keep the promise on each instruction set, and
//! the only safe ways to run them.
//!
//! A [`Contract`] says once, for all instruction sets, what a kernel does to memory. A [`Set`] is one register width of
//! one instruction set; its rows are assembly in a skeleton shared by the set. `StreamRows` has a field for every
//! contract, so the compiler refuses a set that leaves one out; what an instruction set cannot do is an explicit
//! [`Row::Unsupported`] with its reason.

mod calibrate;
mod chase;
mod contract;
mod digest;
mod oracle;
mod sets;
mod stream;
mod widest;

#[cfg(not(target_arch = "x86_64"))]
compile_error!(
    "memgauge has kernels for x86-64 only so far; other instruction sets need a folder of rows in src/kernels"
);

#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "x86_64")]
use x86_64 as native;

pub use calibrate::{ADDS_PER_BLOCK, adds_digest, dependent_adds};
pub use chase::{Chain, ClosedPart, HOPS_PER_BLOCK, UnverifiedChain};
pub use contract::{CONTRACTS, Contract, Operation, Policy};
pub use oracle::apply as oracle;
pub use sets::{KernelRow, Set, SetId, Width, all_rows, select};
pub use stream::{BLOCK_BYTES, StreamKernel, StreamWalk};
pub use widest::{Vectorizable, with_widest_vectors};
