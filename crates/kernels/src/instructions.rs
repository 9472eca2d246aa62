//! Instructions timed alone: how many a core executes per cycle, and how long one takes until the
//! next can use its result.

use super::abi::kernel_fn;
use super::native;
use super::row::lacks;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use units::ParseError;

/// Bytes of scratch memory for loads, stores and pushes of instruction kernels.
const SCRATCH_BYTES: usize = 4096;

/// Arguments of the assembly. The layout is part of every skeleton.
#[repr(C)]
#[derive(Debug)]
pub(super) struct InstructionCall {
    /// Iterations of the loop, at least 1.
    pub turns: usize,
    /// Address of `SCRATCH_BYTES` bytes, aligned to 64.
    pub scratch: usize,
}

/// The machine code of one instruction kernel.
pub(super) type InstructionCode = kernel_fn!(&mut InstructionCall);

/// Timing of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Independent instructions, as many as the core can execute.
    Throughput,
    /// Each instruction needs the result of the previous one.
    Latency,
}

impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Timing::Throughput => "throughput",
            Timing::Latency => "latency",
        })
    }
}

impl FromStr for Timing {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "throughput" => Ok(Timing::Throughput),
            "latency" => Ok(Timing::Latency),
            other => Err(ParseError::unknown_name(
                other,
                &["throughput", "latency"],
                "timings",
            )),
        }
    }
}

/// Row of an architecture for one instruction and one timing.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "not every architecture has rows of every kind")]
pub(super) enum InstructionRow {
    /// Machine code, number of timed instructions in an iteration of its loop, and the instruction
    /// in assembly.
    Code(InstructionCode, u32, &'static str),
    /// Code as above, and features that the processor and the system must have: their check, and
    /// their name.
    Needs(
        fn() -> bool,
        &'static str,
        InstructionCode,
        u32,
        &'static str,
    ),
    /// There is no code; the reason.
    Unsupported(&'static str),
}

/// Defines the table of instructions: their names, and a field for each in the rows of an
/// architecture.
macro_rules! instructions {
    ($($variant:ident, $field:ident, $name:literal, $group:literal, $help:literal;)*) => {
        /// An instruction by its effect. Its name differs between architectures.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Instruction {
            $(#[doc = $help] #[serde(rename = $name)] $variant,)*
        }

        impl Instruction {
            /// Every instruction, in the order of lists and tables.
            pub const ALL: [Instruction; [$($name),*].len()] = [$(Instruction::$variant),*];

            /// Name that users type.
            pub fn name(self) -> &'static str {
                match self {
                    $(Instruction::$variant => $name,)*
                }
            }

            /// Group of the instruction, such as `registers`, `vectors`, `stack`.
            pub fn group(self) -> &'static str {
                match self {
                    $(Instruction::$variant => $group,)*
                }
            }

            /// One line for help and lists.
            pub fn help(self) -> &'static str {
                match self {
                    $(Instruction::$variant => $help,)*
                }
            }
        }

        /// Throughput and latency of every instruction. An architecture without one of them does
        /// not compile.
        #[derive(Debug)]
        pub(super) struct InstructionRows {
            $(pub $field: [InstructionRow; 2],)*
        }

        impl InstructionRows {
            fn rows(&self, instruction: Instruction) -> [InstructionRow; 2] {
                match instruction {
                    $(Instruction::$variant => self.$field,)*
                }
            }
        }
    };
}

instructions! {
    Move, move_register, "move", "registers", "copy a general register to another";
    Add, add, "add", "registers", "add a general register to another";
    Increment, increment, "increment", "registers", "add 1 to a general register";
    Multiply, multiply, "multiply", "registers", "multiply a general register by another";
    Load, load, "load", "memory", "load a general register from L1; latency: the address is what \
         was loaded";
    Store, store, "store", "memory",
        "store a general register to L1; latency: to be loaded again (store forwarding)";
    IncrementMemory, increment_memory, "increment-memory", "memory",
        "add 1 to words in L1; latency: to one word";
    Push, push, "push", "stack", "push a general register";
    Pop, pop, "pop", "stack", "pop a general register";
    PushPop, push_pop, "push-pop", "stack", "push a general register and pop it; latency: through \
         the stack";
    LoadString8, load_string_8, "load-string-8", "memory", "load the next byte of a string (lods)";
    LoadString16, load_string_16, "load-string-16", "memory", "load the next 16 bits of a string \
         (lods)";
    LoadString32, load_string_32, "load-string-32", "memory", "load the next 32 bits of a string \
         (lods)";
    LoadString64, load_string_64, "load-string-64", "memory", "load the next 64 bits of a string \
         (lods)";
    ToVector32, to_vector_32, "to-vector-32", "vectors",
        "move 32 bits of a general register to a vector register";
    ToVector64, to_vector_64, "to-vector-64", "vectors",
        "move 64 bits of a general register to a vector register";
    FromVector32, from_vector_32, "from-vector-32", "vectors",
        "move 32 bits of a vector register to a general register";
    FromVector64, from_vector_64, "from-vector-64", "vectors",
        "move 64 bits of a vector register to a general register";
    ToVectorAndBack, to_vector_and_back, "to-vector-and-back", "vectors",
        "move a general register to a vector register and back; latency: of both moves together";
    Insert8, insert_8, "insert-8", "vectors", "put a general register's low 8 bits into a vector \
         (pinsrb)";
    Insert16, insert_16, "insert-16", "vectors",
        "put a general register's low 16 bits into a vector (pinsrw)";
    Insert32, insert_32, "insert-32", "vectors",
        "put a general register's low 32 bits into a vector (pinsrd)";
    Insert64, insert_64, "insert-64", "vectors", "put a general register's 64 bits into a vector \
         (pinsrq)";
    Extract8, extract_8, "extract-8", "vectors",
        "take 8 bits out of a vector into a general register (pextrb)";
    Extract16, extract_16, "extract-16", "vectors",
        "take 16 bits out of a vector into a general register (pextrw)";
    Extract32, extract_32, "extract-32", "vectors",
        "take 32 bits out of a vector into a general register (pextrd)";
    Extract64, extract_64, "extract-64", "vectors",
        "take 64 bits out of a vector into a general register (pextrq)";
    VectorMove64, vector_move_64, "vector-move-64", "vectors",
        "copy the low 64 bits of a vector register to another";
    VectorMove128, vector_move_128, "vector-move-128", "vectors", "copy a 128-bit vector register \
         to another";
    VectorMove256, vector_move_256, "vector-move-256", "vectors", "copy a 256-bit vector register \
         to another";
    VectorMove512, vector_move_512, "vector-move-512", "vectors", "copy a 512-bit vector register \
         to another";
    VectorMoveAny, vector_move_any, "vector-move-any", "vectors",
        "copy a vector register of the processor's own length";
    VectorAdd128, vector_add_128, "vector-add-128", "vectors", "add 128-bit vectors of integers";
    VectorAdd256, vector_add_256, "vector-add-256", "vectors", "add 256-bit vectors of integers";
    VectorAdd512, vector_add_512, "vector-add-512", "vectors", "add 512-bit vectors of integers";
    VectorAddAny, vector_add_any, "vector-add-any", "vectors",
        "add vectors of integers of the processor's own length";
    FenceLoad, fence_load, "fence-load", "fences", "order loads (lfence, dmb ishld, fence r,r)";
    FenceStore, fence_store, "fence-store", "fences", "order stores (sfence, dmb ishst, fence w,w)";
    FenceFull, fence_full, "fence-full", "fences", "order loads and stores (mfence, dmb ish, \
         fence rw,rw)";
    FenceLocked, fence_locked, "fence-locked", "fences",
        "order loads and stores by an atomic operation on the stack";
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Instruction {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let names: Vec<&str> = Self::ALL.iter().map(|i| i.name()).collect();
        let found = Self::ALL.into_iter().find(|i| i.name() == text.trim());
        found.ok_or_else(|| ParseError::unknown_name(text.trim(), &names, "instructions"))
    }
}

/// An instruction kernel in a list. This processor may be unable to execute it.
#[derive(Debug, Clone, Copy)]
pub struct ListedInstruction {
    /// The instruction.
    pub instruction: Instruction,
    /// Timing of the instruction.
    pub timing: Timing,
    row: InstructionRow,
}

/// Every instruction of this architecture with both timings.
pub fn all_instructions() -> Vec<ListedInstruction> {
    let rows = |instruction: Instruction| {
        let [throughput, latency] = native::INSTRUCTIONS.rows(instruction);
        [(Timing::Throughput, throughput), (Timing::Latency, latency)].map(|(timing, row)| {
            ListedInstruction {
                instruction,
                timing,
                row,
            }
        })
    };
    Instruction::ALL.into_iter().flat_map(rows).collect()
}

/// The kernel for `instruction` with `timing`, or the reason why there is none here.
pub fn instruction(instruction: Instruction, timing: Timing) -> Result<InstructionKernel, String> {
    let [throughput, latency] = native::INSTRUCTIONS.rows(instruction);
    let row = if timing == Timing::Throughput {
        throughput
    } else {
        latency
    };
    ListedInstruction {
        instruction,
        timing,
        row,
    }
    .kernel()
}

impl ListedInstruction {
    /// Name: `add/latency`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.instruction, self.timing)
    }

    /// The instruction in this architecture's assembly; `None` for an unsupported row.
    pub fn assembly(&self) -> Option<&'static str> {
        match self.row {
            InstructionRow::Code(_, _, text) | InstructionRow::Needs(_, _, _, _, text) => {
                Some(text)
            }
            InstructionRow::Unsupported(_) => None,
        }
    }

    /// Features that the processor and the system must support, in words; empty for the baseline.
    pub fn needs(&self) -> &'static str {
        if let InstructionRow::Needs(_, needs, ..) = self.row {
            needs
        } else {
            ""
        }
    }

    /// Reason why there is no such kernel; `None` if there is one.
    pub fn unsupported(&self) -> Option<&'static str> {
        if let InstructionRow::Unsupported(reason) = self.row {
            Some(reason)
        } else {
            None
        }
    }

    /// The machine code; `None` for an unsupported row.
    pub fn code(&self) -> Option<Vec<u8>> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::body_of(self.address()?) }
    }

    /// Digest of the machine code; `None` for an unsupported row.
    pub fn digest(&self) -> Option<String> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::digest_of(self.address()?) }
    }

    /// Address of the machine code; `None` for an unsupported row.
    pub(super) fn address(&self) -> Option<*const u8> {
        match self.row {
            InstructionRow::Code(code, ..) | InstructionRow::Needs(_, _, code, ..) => {
                Some(code as *const u8)
            }
            InstructionRow::Unsupported(_) => None,
        }
    }

    /// The kernel, or the reason why it cannot run here.
    pub fn kernel(&self) -> Result<InstructionKernel, String> {
        let listed = *self;
        match self.row {
            InstructionRow::Code(code, per_turn, _) => Ok(InstructionKernel {
                listed,
                code,
                per_turn,
            }),
            InstructionRow::Needs(present, _, code, per_turn, _) if present() => {
                Ok(InstructionKernel {
                    listed,
                    code,
                    per_turn,
                })
            }
            InstructionRow::Needs(_, needs, ..) => Err(lacks(needs)),
            InstructionRow::Unsupported(reason) => Err(reason.to_owned()),
        }
    }
}

/// An instruction kernel that this processor and operating system can run.
#[derive(Debug, Clone, Copy)]
pub struct InstructionKernel {
    listed: ListedInstruction,
    code: InstructionCode,
    per_turn: u32,
}

/// Memory for instruction kernels.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Scratch([u8; SCRATCH_BYTES]);

impl Scratch {
    /// Memory filled with zeros.
    pub fn new() -> Box<Self> {
        Box::new(Self([0; SCRATCH_BYTES]))
    }
}

impl InstructionKernel {
    /// Name: instruction and timing.
    pub fn name(&self) -> String {
        self.listed.name()
    }

    /// Digest of the machine code.
    pub fn digest(&self) -> Option<String> {
        self.listed.digest()
    }

    /// Number of timed instructions in one iteration of the loop.
    pub fn per_turn(&self) -> u64 {
        u64::from(self.per_turn)
    }

    /// Executes `turns` iterations. The body of this call is timed.
    pub fn run(&self, scratch: &mut Scratch, turns: u64) {
        let mut left = turns;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX);
            let mut call = InstructionCall {
                turns: part,
                scratch: scratch.0.as_mut_ptr() as usize,
            };
            // SAFETY: the code touches its own stack and the scratch memory, which is borrowed and
            // has the expected size and alignment. `kernel` found that its instructions can be
            // executed. `turns` is at least 1.
            unsafe { (self.code)(&mut call) };
            left -= part as u64;
        }
    }
}
