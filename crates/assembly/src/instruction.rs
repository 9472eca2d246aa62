//! Instructions that are timed alone, named by their effect.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "names")]
use serde::{Deserialize, Serialize};
use std::fmt;
#[cfg(feature = "names")]
use std::str::FromStr;
#[cfg(feature = "names")]
use units::ParseError;

/// The timed property of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "names",
    derive(Serialize, Deserialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum Timing {
    /// Throughput: the instructions are independent, so the core executes them at its highest rate.
    Throughput,
    /// Latency: each instruction needs the result of the previous instruction.
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

#[cfg(feature = "names")]
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

/// Defines [`Instruction`] from a table. A row has the variant, the name that users type, the group
/// and the help.
macro_rules! instructions {
    ($($variant:ident, $name:literal, $group:literal, $help:literal;)*) => {
        /// An instruction, identified by its effect. Its assembly name differs between
        /// architectures.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "names", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Instruction {
            $(#[doc = $help] #[cfg_attr(feature = "names", serde(rename = $name))] $variant,)*
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
    };
}

instructions! {
    Move, "move", "registers", "copy a general register to another";
    Add, "add", "registers", "add a general register to another";
    Increment, "increment", "registers", "add 1 to a general register";
    Multiply, "multiply", "registers", "multiply a general register by another";
    Load, "load", "memory", "load a general register from L1; latency: the address is what \
         was loaded";
    Store, "store", "memory",
        "store a general register to L1; latency: to be loaded again (store forwarding)";
    IncrementMemory, "increment-memory", "memory",
        "add 1 to words in L1; latency: to one word";
    Push, "push", "stack", "push a general register";
    Pop, "pop", "stack", "pop a general register";
    PushPop, "push-pop", "stack", "push a general register and pop it; latency: through \
         the stack";
    LoadString8, "load-string-8", "memory", "load the next byte of a string (lods)";
    LoadString16, "load-string-16", "memory", "load the next 16 bits of a string \
         (lods)";
    LoadString32, "load-string-32", "memory", "load the next 32 bits of a string \
         (lods)";
    LoadString64, "load-string-64", "memory", "load the next 64 bits of a string \
         (lods)";
    ToVector32, "to-vector-32", "vectors",
        "move 32 bits of a general register to a vector register";
    ToVector64, "to-vector-64", "vectors",
        "move 64 bits of a general register to a vector register";
    FromVector32, "from-vector-32", "vectors",
        "move 32 bits of a vector register to a general register";
    FromVector64, "from-vector-64", "vectors",
        "move 64 bits of a vector register to a general register";
    ToVectorAndBack, "to-vector-and-back", "vectors",
        "move a general register to a vector register and back; latency: of both moves together";
    Insert8, "insert-8", "vectors", "put a general register's low 8 bits into a vector \
         (pinsrb)";
    Insert16, "insert-16", "vectors",
        "put a general register's low 16 bits into a vector (pinsrw)";
    Insert32, "insert-32", "vectors",
        "put a general register's low 32 bits into a vector (pinsrd)";
    Insert64, "insert-64", "vectors", "put a general register's 64 bits into a vector \
         (pinsrq)";
    Extract8, "extract-8", "vectors",
        "take 8 bits out of a vector into a general register (pextrb)";
    Extract16, "extract-16", "vectors",
        "take 16 bits out of a vector into a general register (pextrw)";
    Extract32, "extract-32", "vectors",
        "take 32 bits out of a vector into a general register (pextrd)";
    Extract64, "extract-64", "vectors",
        "take 64 bits out of a vector into a general register (pextrq)";
    VectorMove64, "vector-move-64", "vectors",
        "copy the low 64 bits of a vector register to another";
    VectorMove128, "vector-move-128", "vectors", "copy a 128-bit vector register \
         to another";
    VectorMove256, "vector-move-256", "vectors", "copy a 256-bit vector register \
         to another";
    VectorMove512, "vector-move-512", "vectors", "copy a 512-bit vector register \
         to another";
    VectorMoveAny, "vector-move-any", "vectors",
        "copy a vector register of the processor's own length";
    VectorAdd128, "vector-add-128", "vectors", "add 128-bit vectors of integers";
    VectorAdd256, "vector-add-256", "vectors", "add 256-bit vectors of integers";
    VectorAdd512, "vector-add-512", "vectors", "add 512-bit vectors of integers";
    VectorAddAny, "vector-add-any", "vectors",
        "add vectors of integers of the processor's own length";
    FenceLoad, "fence-load", "fences", "order loads (lfence, dmb ishld, fence r,r)";
    FenceStore, "fence-store", "fences", "order stores (sfence, dmb ishst, fence w,w)";
    FenceFull, "fence-full", "fences", "order loads and stores (mfence, dmb ish, \
         fence rw,rw)";
    FenceLocked, "fence-locked", "fences",
        "order loads and stores by an atomic operation on the stack";
}

impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(feature = "names")]
impl FromStr for Instruction {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let names: Vec<&str> = Self::ALL.iter().map(|i| i.name()).collect();
        let found = Self::ALL.into_iter().find(|i| i.name() == text.trim());
        found.ok_or_else(|| ParseError::unknown_name(text.trim(), &names, "instructions"))
    }
}
