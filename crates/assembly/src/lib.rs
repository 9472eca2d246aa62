//! Writes the measured instructions of every instruction set as assembly.
//!
//! A [`Contract`] says once, for all instruction sets, what a streaming kernel does to memory. The
//! folder of an architecture describes its instruction sets: registers, widths, instructions, and
//! what they cannot do. From both, its generator writes every kernel and the tables that name it.
//! The build script of `kernels` calls [`rust_source`] for its target. Nothing here is executed, and
//! every kernel can be printed on every machine (`cargo run -p memgauge-assembly --example
//! listing`).
//!
//! A generator takes decisions by exhaustive `match` over the parts of a contract. So an operation
//! or order that an architecture forgets does not compile.

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
