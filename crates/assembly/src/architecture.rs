//! The data of an architecture: register sets, features and all kernels as assembly text.
//!
//! The text of a kernel has one instruction or directive per line. `<field>` stands for the offset
//! of a field in the kernel's [`Call`] structure. [`crate::rust_source`] adds the alignment of the
//! entry and the end mark.

use crate::contract::{AccessOrder, BLOCK_BYTES, CONTRACTS, Contract};
use crate::instruction::Instruction;

/// Largest number of walkers of a chase kernel. One thread moves all walkers at once.
pub const MAX_WALKERS: usize = 32;

/// A processor feature that a kernel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// The feature in words, for lists and messages.
    pub name: &'static str,
    /// Name of the function in `kernels::features` that returns true if the processor and the
    /// operating system support the feature.
    pub check: &'static str,
}

/// Width of the registers of a set.
#[derive(Debug, Clone, Copy)]
pub enum Bits {
    /// Registers of this many bits.
    Fixed(u32),
    /// Vectors whose length the processor chooses. This is the name of the function in
    /// `kernels::features` that returns their length in bits, or 0 if the processor lacks the set.
    Chosen(&'static str),
}

/// One kind of registers of an instruction set.
pub struct Set {
    /// Name of the set's variant of `kernels::SetId`.
    pub id: &'static str,
    /// Width of the registers.
    pub bits: Bits,
    /// Feature that all kernels of the set need.
    pub needs: Feature,
    /// Generates the row for a contract. [`Set::row`] calls it only for contracts that some
    /// instruction set could fulfil.
    pub generator: Box<dyn Fn(&Contract) -> Row>,
}

impl Set {
    /// The kernel of this set for `contract`, or the reason why there is none.
    pub fn row(&self, contract: &Contract) -> Row {
        let plain = contract.visits == AccessOrder::Forward && contract.iteration == BLOCK_BYTES;
        if contract.prefetches && contract.loads == 0 {
            Row::Unsupported("nothing is loaded that could be prefetched")
        } else if contract.policy.stores_whole_lines() && (contract.prefetches || !plain) {
            Row::Unsupported("instructions for whole lines go upwards, block by block")
        } else {
            (self.generator)(contract)
        }
    }
}

/// Row of a set for one contract.
#[derive(Debug)]
pub enum Row {
    /// Assembly of a kernel whose argument is [`Call::Stream`].
    Code(String),
    /// Like `Code`, for a kernel that needs a feature in addition to that of the set.
    Needs(Feature, String),
    /// The function of the C library that fulfils the contract.
    CLibrary,
    /// Reason why the set cannot do the operation.
    Unsupported(&'static str),
}

/// Entry of an architecture's table for one instruction and one timing.
#[derive(Debug)]
pub enum InstructionRow {
    /// Assembly of a kernel whose argument is [`Call::Instruction`].
    Code {
        /// Assembly of the kernel.
        text: String,
        /// Number of timed instructions in an iteration of the kernel's loop.
        per_iteration: u32,
        /// The timed instruction, as lists show it.
        shown: String,
        /// Feature that the kernel needs; `None` if the baseline suffices.
        needs: Option<Feature>,
    },
    /// Reason why there is no kernel.
    Unsupported(&'static str),
}

/// One implementation of the operations on shared words: kernels whose argument is [`Call::Lock`].
#[derive(Debug)]
pub struct Locks {
    /// Name of the implementation, as part of the names of kernels.
    pub name: &'static str,
    /// Feature that all kernels of the implementation need.
    pub needs: Feature,
    /// Atomic addition of 1.
    pub atomic_add: String,
    /// Atomic exchange.
    pub exchange: String,
    /// Load, addition of 1, and compare-and-swap until it succeeds.
    pub compare_and_swap: String,
    /// Test and test-and-set: takes the lock, adds 1 to the guarded word, releases the lock.
    pub spin_lock: String,
    /// Ordinary addition to the word, then a full fence.
    pub fence: String,
}

/// The hand-offs of a cache line between two threads: kernels whose argument is [`Call::HandOff`].
#[derive(Debug)]
pub struct HandOffs {
    /// Loads the word until it has the awaited value, then stores the answer.
    pub store_load: String,
    /// Exchanges the awaited value for the answer by compare-and-swap, until this succeeds.
    pub compare_and_swap: String,
    /// Loads the word until it has the awaited value, then exchanges the value for the answer.
    pub exchange: String,
}

/// A function without arguments that returns a property of the processor as a word, such as the
/// length of vectors. It is no kernel.
#[derive(Debug)]
pub struct Reading {
    /// Name of the function.
    pub name: &'static str,
    /// Its assembly.
    pub text: &'static str,
}

/// All kernels of an architecture, and what is needed to compile them.
pub struct Architecture {
    /// Calling convention of kernels: the string after `extern` in Rust.
    pub abi: &'static str,
    /// Directives before the code of every kernel, such as directives that enable extensions.
    pub begin: &'static str,
    /// Directives after the end mark of every kernel.
    pub end: &'static str,
    /// The register sets by rising width.
    pub sets: Vec<Set>,
    /// Chase kernels, whose argument is [`Call::Chase`]. Element i has i + 1 walkers.
    pub chases: Vec<String>,
    /// Chase kernels that also load the word after each pointer. Element i has i + 1 walkers.
    pub chases_with_payload: Vec<String>,
    /// Implementations of the operations on shared words. Programs use the last implementation that
    /// the processor supports.
    pub locks: Vec<Locks>,
    /// The hand-off kernels.
    pub hand_offs: HandOffs,
    /// The throughput and latency kernels of every instruction, in the order of
    /// [`crate::Instruction::ALL`].
    pub instructions: Vec<[InstructionRow; 2]>,
    /// Kernel `fn(blocks)` of 128 dependent additions per block. `blocks` must be at least 1.
    pub dependent_adds: String,
    /// Kernel `fn(blocks)` of 128 independent instructions per block. `blocks` must be at least 1.
    pub independent: String,
    /// Kernel `fn(count)` of `count` dependent additions. `count` must be at least 1.
    pub additions: String,
    /// Functions with which `kernels::features` reads properties of the processor.
    pub readings: Vec<Reading>,
}

/// Type of a kernel's argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// `&mut StreamCall`.
    Stream,
    /// `&mut ChaseCall`.
    Chase,
    /// `&mut LockCall`.
    Lock,
    /// `&mut HandOffCall`.
    HandOff,
    /// `&mut InstructionCall`.
    Instruction,
    /// `usize`: a number of blocks or iterations.
    Count,
}

/// A kernel of an architecture, for lists.
#[derive(Debug)]
pub struct Listed {
    /// Name of the kernel in lists and reports: `read/avx512`, `chase-2-payload`, `add/latency`.
    pub name: String,
    /// Type of the kernel's argument.
    pub call: Call,
    /// Its assembly.
    pub text: String,
}

impl Architecture {
    /// Every kernel of the architecture.
    pub fn kernels(&self) -> Vec<Listed> {
        let mut all = Vec::new();
        let mut add = |name: String, call, text: &String| {
            let text = text.clone();
            all.push(Listed { name, call, text });
        };
        for set in &self.sets {
            for contract in &CONTRACTS {
                if let Row::Code(text) | Row::Needs(_, text) = set.row(contract) {
                    let name = format!("{}/{}", contract.name, set.id.to_lowercase());
                    add(name, Call::Stream, &text);
                }
            }
        }
        for (chases, suffix) in [(&self.chases, ""), (&self.chases_with_payload, "-payload")] {
            for (walkers, text) in (1..).zip(chases) {
                let number = match walkers {
                    1 => String::new(),
                    _ => format!("-{walkers}"),
                };
                add(format!("chase{number}{suffix}"), Call::Chase, text);
            }
        }
        for (instruction, rows) in Instruction::ALL.iter().zip(&self.instructions) {
            for (timing, row) in ["throughput", "latency"].iter().zip(rows) {
                if let InstructionRow::Code { text, .. } = row {
                    add(format!("{instruction}/{timing}"), Call::Instruction, text);
                }
            }
        }
        for locks in &self.locks {
            for (operation, text) in [
                ("atomic-add", &locks.atomic_add),
                ("exchange", &locks.exchange),
                ("compare-and-swap", &locks.compare_and_swap),
                ("spin-lock", &locks.spin_lock),
                ("fence", &locks.fence),
            ] {
                add(format!("{operation}/{}", locks.name), Call::Lock, text);
            }
        }
        for (name, call, text) in [
            (
                "hand-off/store-load",
                Call::HandOff,
                &self.hand_offs.store_load,
            ),
            (
                "hand-off/compare-and-swap",
                Call::HandOff,
                &self.hand_offs.compare_and_swap,
            ),
            ("hand-off/exchange", Call::HandOff, &self.hand_offs.exchange),
            ("dependent-adds", Call::Count, &self.dependent_adds),
            ("independent", Call::Count, &self.independent),
            ("additions", Call::Count, &self.additions),
        ] {
            add(name.into(), call, text);
        }
        all
    }
}
