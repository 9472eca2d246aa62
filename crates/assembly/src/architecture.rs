//! Everything that an architecture can run, as assembly text.
//!
//! The text of a kernel has one instruction or directive a line. `<field>` stands for the offset of
//! a field of the kernel's [`Call`]. The text has neither the end mark nor the alignment of the
//! entry: [`crate::rust_source`] adds both.

use crate::contract::{AccessOrder, BLOCK_BYTES, CONTRACTS, Contract, Policy};
use crate::instruction::Instruction;

/// Largest number of walkers of a chase.
pub const MAX_WALKERS: usize = 32;

/// A processor feature that code needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feature {
    /// The feature in words, for lists and messages.
    pub name: &'static str,
    /// Function of `kernels::features` that returns true if the processor and the operating system
    /// have the feature.
    pub check: &'static str,
}

/// Width of the registers of a set.
#[derive(Debug, Clone, Copy)]
pub enum Bits {
    /// This many bits.
    Fixed(u32),
    /// The processor chooses. The function of `kernels::features` returns the number of bits, 0
    /// without the set.
    Chosen(&'static str),
}

/// One kind of registers of an instruction set.
pub struct Set {
    /// Variant of `kernels::SetId`.
    pub id: &'static str,
    /// Width of the registers.
    pub bits: Bits,
    /// Feature that all rows need.
    pub needs: Feature,
    /// The row for a contract that makes sense; [`Set::row`] asks it.
    pub generator: Box<dyn Fn(&Contract) -> Row>,
}

impl Set {
    /// The row for `contract`.
    pub fn row(&self, contract: &Contract) -> Row {
        let plain = contract.visits == AccessOrder::Forward && contract.iteration == BLOCK_BYTES;
        if contract.prefetches && contract.loads == 0 {
            Row::Unsupported("nothing is loaded that could be prefetched")
        } else if contract.policy == Policy::WholeLine && (contract.prefetches || !plain) {
            Row::Unsupported("instructions for whole lines go upwards, block by block")
        } else {
            (self.generator)(contract)
        }
    }
}

/// Row of a set for one contract.
#[derive(Debug)]
pub enum Row {
    /// Assembly of a kernel with [`Call::Stream`].
    Code(String),
    /// Assembly that needs more than its set.
    Needs(Feature, String),
    /// The C library's function for the contract.
    CLibrary,
    /// The set cannot do the operation; the reason.
    Unsupported(&'static str),
}

/// Row of an architecture for one instruction and one timing.
#[derive(Debug)]
pub enum InstructionRow {
    /// Assembly of a kernel with [`Call::Instruction`].
    Code {
        /// The kernel.
        text: String,
        /// Number of timed instructions in an iteration of its loop.
        per_iteration: u32,
        /// The timed instruction, as lists show it.
        shown: String,
        /// Feature that it needs; `None` for the baseline.
        needs: Option<Feature>,
    },
    /// There is no code; the reason.
    Unsupported(&'static str),
}

/// One implementation of the operations on shared words, each with [`Call::Lock`].
#[derive(Debug)]
pub struct Locks {
    /// Name in the names of kernels.
    pub name: &'static str,
    /// Feature that all of them need.
    pub needs: Feature,
    /// Atomic addition of 1.
    pub atomic_add: String,
    /// Atomic exchange.
    pub exchange: String,
    /// Load, addition of 1, and compare-and-swap until it succeeds.
    pub compare_and_swap: String,
    /// Test and test-and-set: takes the lock, adds 1 to the guarded word, releases the lock.
    pub spin_lock: String,
    /// Ordinary addition, then a full fence.
    pub fence: String,
}

/// The hand-offs of a line between two threads, each with [`Call::HandOff`].
#[derive(Debug)]
pub struct HandOffs {
    /// Loads until the value is there, then stores the answer.
    pub store_load: String,
    /// Compares and swaps until it succeeds.
    pub compare_and_swap: String,
    /// Loads until the value is there, then exchanges it for the answer.
    pub exchange: String,
}

/// A function without arguments that returns a word, such as the length of vectors. It is no
/// kernel.
#[derive(Debug)]
pub struct Reading {
    /// Name of the function.
    pub name: &'static str,
    /// Its assembly.
    pub text: &'static str,
}

/// Everything that an architecture can run.
pub struct Architecture {
    /// Calling convention of kernels, as Rust names it.
    pub abi: &'static str,
    /// Directives before the code of every kernel: instruction-set extensions, for example.
    pub begin: &'static str,
    /// Directives after the end mark of every kernel.
    pub end: &'static str,
    /// The sets by rising width.
    pub sets: Vec<Set>,
    /// The chases by number of walkers, from 1 on, with [`Call::Chase`].
    pub chases: Vec<String>,
    /// The chases that also load the word behind each pointer.
    pub chases_with_payload: Vec<String>,
    /// Implementations of the operations on shared words. The last one that the processor has is
    /// used.
    pub locks: Vec<Locks>,
    /// The hand-offs.
    pub hand_offs: HandOffs,
    /// Throughput and latency of every instruction, in the order of [`crate::Instruction::ALL`].
    pub instructions: Vec<[InstructionRow; 2]>,
    /// `fn(blocks)`, at least 1: 128 dependent additions in each block.
    pub dependent_adds: String,
    /// `fn(blocks)`, at least 1: 128 independent instructions in each block.
    pub independent: String,
    /// `fn(count)`, at least 1: dependent additions, one per iteration.
    pub additions: String,
    /// Functions that features are read with.
    pub readings: Vec<Reading>,
}

/// Argument of a kernel.
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
    /// A number.
    Count,
}

/// A kernel of an architecture, for lists.
#[derive(Debug)]
pub struct Listed {
    /// Name as in reports: `read/avx512`, `chase-2-payload`, `add/latency`.
    pub name: String,
    /// Its argument.
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
