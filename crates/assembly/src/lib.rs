//! Writes the measured instructions of every instruction set as assembly.
//!
//! A [`Contract`] says once, for all instruction sets, what a streaming kernel does to memory. The
//! module of an architecture describes its instruction sets: registers, widths, instructions, and
//! operations that are impossible. The module's generator makes kernels from contracts and these
//! descriptions. The build script of the crate `kernels` calls [`rust_source`] for its target. This
//! crate executes no kernel, so it can print the kernels of every architecture on every machine
//! (`cargo run -p memgauge-assembly --example listing`).
//!
//! Generators use exhaustive `match` over the parts of a contract. So an architecture that lacks an
//! operation or an order does not compile.

#![forbid(unsafe_code)]

mod architecture;
mod contract;
mod instruction;
mod source;
mod targets;
mod text;

mod aarch64;
mod arm;
mod riscv64;
mod x86;

pub use architecture::{Architecture, Call, Listed, MAX_WALKERS};
pub use contract::{
    AccessOrder, BLOCK_BYTES, CONTRACTS, CodeOrigin, Contract, Does, Family, Operation, Policy,
};
pub use instruction::{Instruction, Timing};
pub use source::rust_source;
pub use targets::for_target;
