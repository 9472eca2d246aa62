//! The measured instructions: kernels as machine code for the target, and the only safe ways to run
//! them.
//!
//! The crate `assembly` writes the kernels of every architecture as assembly. The build script gets
//! the kernels of the target from `assembly`, and the module `native` includes them. A [`Contract`]
//! defines once, for all instruction sets, what a kernel does to memory. A [`Set`] is one register
//! width of one instruction set, with a table row for every contract. The row of an operation that
//! the set cannot do is an explicit `Row::Unsupported` with the reason.

mod abi;
mod calibrate;
mod catalogue;
mod chase;
mod digest;
#[cfg_attr(target_arch = "aarch64", path = "features/aarch64.rs")]
#[cfg_attr(target_arch = "arm", path = "features/arm.rs")]
#[cfg_attr(target_arch = "riscv64", path = "features/riscv64.rs")]
#[cfg_attr(
    any(target_arch = "x86", target_arch = "x86_64"),
    path = "features/x86.rs"
)]
mod features;
mod handoff;
mod instructions;
mod libc;
mod lines;
mod locks;
mod mixer;
mod native;
mod oracle;
mod row;
mod select;
mod sets;
mod stream;
mod stream_call;
mod table;
#[cfg(test)]
mod tests;

pub use assembly::{
    AccessOrder, BLOCK_BYTES, CONTRACTS, CodeOrigin, Contract, Does, Family, Instruction,
    MAX_WALKERS, Operation, Policy, Timing,
};
pub use calibrate::{CoreReference, REFERENCE_INSTRUCTIONS_PER_BLOCK, dependent_adds};
pub use catalogue::{Listing, catalogue};
pub use chase::{
    Chain, ClosedPart, HOPS_PER_BLOCK, UnverifiedChain, Walk, chase_code, chase_digest, chase_name,
    hops_per_block,
};
pub use handoff::HandOff;
pub use instructions::{
    InstructionKernel, ListedInstruction, Scratch, all_instructions, instruction,
};
pub use locks::{ListedLock, LockKernel, LockOperation, SharedLine, all_locks, lock};
pub use mixer::Mixer;
pub use oracle::{apply as oracle, visit};
pub use select::{Width, all_rows, select, sets};
pub use sets::{KernelRow, Set, SetId};
pub use stream::{StreamKernel, StreamWalk};
pub use stream_call::PREFETCH_DISTANCE;
pub use table::{IndexTable, LINE_BYTES, LONGEST_ORDERED};
