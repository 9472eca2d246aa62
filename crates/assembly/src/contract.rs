//! Contracts of the streaming kernels: their effect on memory, defined once for all instruction
//! sets.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
#[cfg(feature = "names")]
use serde::{Deserialize, Serialize};
use std::fmt;
#[cfg(feature = "names")]
use std::str::FromStr;
#[cfg(feature = "names")]
use units::ParseError;

/// Bytes of each stream in a block, the unit of work on every instruction set. An iteration of most
/// loops covers one block.
pub const BLOCK_BYTES: u64 = 512;

/// Operation on each word of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Load the word.
    Load,
    /// Load the word and add it to the checksum.
    Sum,
    /// Load one word of each cache line (64 B).
    Touch,
    /// Store the pattern, a word that is an argument of the kernel.
    Store,
    /// Store the low byte of the pattern to every byte.
    StoreByte,
    /// Store zeros.
    StoreZero,
    /// Load, combine with the pattern by exclusive or, and store to the same word.
    Update,
    /// Load from the first stream, store to the second.
    Move,
    /// Doubles: second = pattern x first.
    Scale,
    /// Doubles: third = first + second.
    Add,
    /// Doubles: third = first + pattern x second. The result is rounded twice, like that of STREAM
    /// compiled without fused multiply-add.
    Triad,
}

/// How loads and stores treat the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "names",
    derive(Serialize, Deserialize),
    serde(rename_all = "kebab-case")
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub enum Policy {
    /// Ordinary loads and stores. A store that misses first reads its line (write-allocate).
    Temporal,
    /// Non-temporal loads, or non-temporal stores: whole lines bypass the caches.
    NonTemporal,
    /// Stores by an instruction for whole cache lines. The processor need not read these lines
    /// first.
    WholeLine,
    /// Copies by an instruction that loads and stores a whole cache line. The store bypasses the
    /// caches.
    Direct,
}

impl Policy {
    /// True if the kernel stores by instructions for whole cache lines. Few instruction sets have
    /// such instructions.
    pub fn stores_whole_lines(self) -> bool {
        matches!(self, Self::WholeLine | Self::Direct)
    }
}

/// Reason why only x86 has a kernel of [`Policy::Direct`].
pub const NO_DIRECT_COPIES: &str = "only x86 has an instruction that copies a line past the caches";

/// Order in which a kernel visits the blocks of its streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccessOrder {
    /// From low to high addresses, then from the start again.
    Forward,
    /// From high to low addresses, then from the end again. Accesses within a block also descend.
    Backward,
    /// Pieces of 64 B in the order of an index table, eight in each block.
    Lines,
    /// Blocks of 512 B in the order of an index table.
    Chunks,
}

/// Origin of the instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CodeOrigin {
    /// Assembly of this program. The timed instructions are the same in every build.
    Own,
    /// The C library of the system. Such a kernel is a reference kernel and has no digest.
    CLibrary,
}

/// Family of kernels that answer the same question. The register width `best` selects the fastest
/// kernel of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Load every byte of the window.
    Read,
    /// Store every byte of the window.
    Write,
    /// Copy every byte of one half of the window to the other half.
    Copy,
    /// Load, change and store every byte of the window.
    Update,
    /// STREAM's scale.
    Scale,
    /// STREAM's add.
    Add,
    /// STREAM's triad.
    Triad,
    /// Load one word of each cache line.
    Touch,
}

/// Contract of a streaming kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contract {
    /// The operation.
    pub operation: Operation,
    /// Name that users type.
    pub name: &'static str,
    /// Number of streams that are loaded. They precede the stored streams in memory.
    pub loads: u32,
    /// Number of streams that are stored. The only stream of `update` is both loaded and stored.
    pub stores: u32,
    /// Operation on each word.
    pub does: Does,
    /// How loads and stores treat the caches.
    pub policy: Policy,
    /// Order in which blocks are visited.
    pub visits: AccessOrder,
    /// Bytes of each stream in an iteration of the loop: [`BLOCK_BYTES`] or a divisor of it. The
    /// length of every stream is a multiple of this number.
    pub iteration: u64,
    /// True if the kernel prefetches lines ahead. The distance is an argument of the kernel.
    pub prefetches: bool,
    /// Origin of the instructions.
    pub origin: CodeOrigin,
    /// Family of the kernel: the question that it answers.
    pub family: Family,
    /// One line for help and lists.
    pub help: &'static str,
}

/// The properties of a contract without its name and help. Methods of a shape return changed
/// copies.
#[derive(Debug, Clone, Copy)]
struct Shape {
    does: Does,
    family: Family,
    loads: u32,
    stores: u32,
    policy: Policy,
    visits: AccessOrder,
    iteration: u64,
    prefetches: bool,
    origin: CodeOrigin,
}

impl Shape {
    const fn new(does: Does, family: Family, loads: u32, stores: u32) -> Self {
        Self {
            does,
            family,
            loads,
            stores,
            policy: Policy::Temporal,
            visits: AccessOrder::Forward,
            iteration: BLOCK_BYTES,
            prefetches: false,
            origin: CodeOrigin::Own,
        }
    }

    const fn with_streams(mut self, loads: u32) -> Self {
        self.loads = loads;
        self
    }

    const fn non_temporal(mut self) -> Self {
        self.policy = Policy::NonTemporal;
        self
    }

    const fn whole_lines(mut self) -> Self {
        self.policy = Policy::WholeLine;
        self
    }

    const fn direct(mut self) -> Self {
        self.policy = Policy::Direct;
        self
    }

    const fn in_order(mut self, visits: AccessOrder) -> Self {
        self.visits = visits;
        self
    }

    const fn iterations_of(mut self, bytes: u64) -> Self {
        self.iteration = bytes;
        self
    }

    const fn prefetched(mut self) -> Self {
        self.prefetches = true;
        self
    }

    const fn by_c_library(mut self) -> Self {
        self.origin = CodeOrigin::CLibrary;
        self
    }
}

const LOAD: Shape = Shape::new(Does::Load, Family::Read, 1, 0);
const SUM: Shape = Shape::new(Does::Sum, Family::Read, 1, 0);
const TOUCH: Shape = Shape::new(Does::Touch, Family::Touch, 1, 0);
const STORE: Shape = Shape::new(Does::Store, Family::Write, 0, 1);
const STORE_BYTE: Shape = Shape::new(Does::StoreByte, Family::Write, 0, 1);
const STORE_ZERO: Shape = Shape::new(Does::StoreZero, Family::Write, 0, 1);
const UPDATE: Shape = Shape::new(Does::Update, Family::Update, 1, 1);
const MOVE: Shape = Shape::new(Does::Move, Family::Copy, 1, 1);
const SCALE: Shape = Shape::new(Does::Scale, Family::Scale, 1, 1);
const ADD: Shape = Shape::new(Does::Add, Family::Add, 2, 1);
const TRIAD: Shape = Shape::new(Does::Triad, Family::Triad, 2, 1);

use AccessOrder::{Backward, Chunks, Lines};

/// Defines [`Operation`] and [`CONTRACTS`] from a table. A row has the variant, the name that users
/// type, the shape and the help.
macro_rules! contracts {
    ($($variant:ident, $name:literal, $shape:expr, $help:literal;)*) => {
        /// A streaming operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[cfg_attr(feature = "names", derive(Serialize, Deserialize))]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Operation {
            $(#[doc = $help] #[cfg_attr(feature = "names", serde(rename = $name))] $variant,)*
        }

        /// Every streaming contract, in the order of lists and tables.
        pub static CONTRACTS: [Contract; [$($name),*].len()] = [$({
            let shape: Shape = $shape;
            Contract {
                operation: Operation::$variant,
                name: $name,
                loads: shape.loads,
                stores: shape.stores,
                does: shape.does,
                policy: shape.policy,
                visits: shape.visits,
                iteration: shape.iteration,
                prefetches: shape.prefetches,
                origin: shape.origin,
                family: shape.family,
                help: $help,
            }
        },)*];
    };
}

contracts! {
    Read, "read", LOAD,
        "load every byte";
    ReadSum, "read-sum", SUM,
        "load every byte and add up the 64-bit words (proof that all were loaded)";
    ReadNt, "read-nt", LOAD.non_temporal(),
        "load every byte with non-temporal loads";
    ReadNta, "read-nta", LOAD.non_temporal().prefetched(),
        "load every byte with non-temporal loads, lines prefetched past the caches";
    ReadPrefetch, "read-prefetch", LOAD.prefetched(),
        "load every byte, lines prefetched into the caches";
    Read4, "read-4", LOAD.with_streams(4),
        "load every byte, from four streams at once";
    ReadUnroll64, "read-unroll-64", LOAD.iterations_of(64),
        "load every byte, 64 B in each iteration instead of 512";
    ReadUnroll128, "read-unroll-128", LOAD.iterations_of(128),
        "load every byte, 128 B in each iteration instead of 512";
    ReadUnroll256, "read-unroll-256", LOAD.iterations_of(256),
        "load every byte, 256 B in each iteration instead of 512";
    Touch, "touch", TOUCH,
        "load one word of each cache line";
    TouchPrefetch, "touch-prefetch", TOUCH.prefetched(),
        "load one word of each cache line, lines prefetched into the caches";
    Write, "write", STORE,
        "store every byte with ordinary stores";
    WriteNt, "write-nt", STORE.non_temporal(),
        "store every byte with non-temporal stores, one store fence at the end";
    WriteUnroll128, "write-unroll-128", STORE.iterations_of(128),
        "store every byte, 128 B in each iteration instead of 512";
    WriteRep, "write-rep", STORE_BYTE.whole_lines(),
        "store every byte with the processor's string instructions (rep stosb; setp, setm, sete)";
    WriteZero, "write-zero", STORE_ZERO.whole_lines(),
        "set every byte to zero with the instruction that zeroes cache lines (dc zva, cbo.zero)";
    WriteLibc, "write-libc", STORE_BYTE.by_c_library(),
        "store every byte with the C library's memset (reference kernel, not this program's instructions)";
    Update, "update", UPDATE,
        "load, change and store every byte in place";
    Copy, "copy", MOVE,
        "load from one half and store to the other with ordinary stores";
    CopyNt, "copy-nt", MOVE.non_temporal(),
        "load from one half and store to the other with non-temporal stores";
    CopyUnroll128, "copy-unroll-128", MOVE.iterations_of(128),
        "load from one half and store to the other, 128 B of each in each iteration instead of 512";
    CopyRep, "copy-rep", MOVE.whole_lines(),
        "copy one half to the other with the processor's string instructions (rep movsb; cpyfp, cpyfm, cpyfe)";
    CopyDirect, "copy-direct", MOVE.direct(),
        "copy one half to the other by an instruction that copies a line past the caches (movdir64b)";
    CopyLibc, "copy-libc", MOVE.by_c_library(),
        "copy one half to the other with the C library's memcpy (reference kernel, not this program's instructions)";
    CopyPrefetch, "copy-prefetch", MOVE.prefetched(),
        "load from one half and store to the other, loaded lines prefetched into the caches";
    Scale, "scale", SCALE,
        "STREAM scale of doubles: b = q x a";
    ScaleNt, "scale-nt", SCALE.non_temporal(),
        "STREAM scale of doubles with non-temporal stores";
    Add, "add", ADD,
        "STREAM add of doubles: c = a + b";
    AddNt, "add-nt", ADD.non_temporal(),
        "STREAM add of doubles with non-temporal stores";
    Triad, "triad", TRIAD,
        "STREAM triad of doubles: c = a + q x b";
    TriadNt, "triad-nt", TRIAD.non_temporal(),
        "STREAM triad of doubles with non-temporal stores";
    TriadPrefetch, "triad-prefetch", TRIAD.prefetched(),
        "STREAM triad of doubles, loaded lines prefetched into the caches";
    ReadReverse, "read-reverse", LOAD.in_order(Backward),
        "load every byte from the end to the start";
    WriteReverse, "write-reverse", STORE.in_order(Backward),
        "store every byte from the end to the start";
    CopyReverse, "copy-reverse", MOVE.in_order(Backward),
        "copy one half to the other from the end to the start";
    ReadNtReverse, "read-nt-reverse", LOAD.non_temporal().in_order(Backward),
        "load every byte with non-temporal loads from the end to the start";
    WriteNtReverse, "write-nt-reverse", STORE.non_temporal().in_order(Backward),
        "store every byte with non-temporal stores from the end to the start";
    CopyNtReverse, "copy-nt-reverse", MOVE.non_temporal().in_order(Backward),
        "copy one half to the other with non-temporal stores from the end to the start";
    ReadLines, "read-lines", LOAD.in_order(Lines),
        "load pieces of 64 B in the order of a table";
    WriteLines, "write-lines", STORE.in_order(Lines),
        "store pieces of 64 B in the order of a table";
    CopyLines, "copy-lines", MOVE.in_order(Lines),
        "copy pieces of 64 B from one half to the other in the order of a table";
    ReadNtLines, "read-nt-lines", LOAD.non_temporal().in_order(Lines),
        "load pieces of 64 B in the order of a table with non-temporal loads";
    WriteNtLines, "write-nt-lines", STORE.non_temporal().in_order(Lines),
        "store pieces of 64 B in the order of a table with non-temporal stores";
    CopyNtLines, "copy-nt-lines", MOVE.non_temporal().in_order(Lines),
        "copy pieces of 64 B from one half to the other in the order of a table with non-temporal stores";
    ReadChunks, "read-chunks", LOAD.in_order(Chunks),
        "load pieces of 512 B in the order of a table";
    WriteChunks, "write-chunks", STORE.in_order(Chunks),
        "store pieces of 512 B in the order of a table";
    CopyChunks, "copy-chunks", MOVE.in_order(Chunks),
        "copy pieces of 512 B from one half to the other in the order of a table";
    ReadNtChunks, "read-nt-chunks", LOAD.non_temporal().in_order(Chunks),
        "load pieces of 512 B in the order of a table with non-temporal loads";
    WriteNtChunks, "write-nt-chunks", STORE.non_temporal().in_order(Chunks),
        "store pieces of 512 B in the order of a table with non-temporal stores";
    CopyNtChunks, "copy-nt-chunks", MOVE.non_temporal().in_order(Chunks),
        "copy pieces of 512 B from one half to the other in the order of a table with non-temporal stores";
}

impl Contract {
    /// Number of streams, into which the working set is divided. `update` has one stream, because
    /// it stores to the stream that it loads.
    pub fn streams(&self) -> u32 {
        if self.does == Does::Update {
            1
        } else {
            self.loads + self.stores
        }
    }

    /// Bytes that the operation loads and stores per byte of a stream: 2 for a copy. For `touch`,
    /// all bytes of a cache line count, because whole lines are transferred.
    pub fn payload_factor(&self) -> u64 {
        u64::from(self.loads + self.stores)
    }

    /// Bytes transferred on the memory bus per byte of a stream, if nothing stays in a cache. An
    /// ordinary store that misses first reads its line, which is written back later. This is an
    /// estimate, because some processors detect stores of whole lines and do not read the lines
    /// first.
    pub fn bus_factor(&self) -> u64 {
        let reads_first = self.policy == Policy::Temporal && self.does != Does::Update;
        self.payload_factor()
            + if reads_first {
                u64::from(self.stores)
            } else {
                0
            }
    }

    /// True if the kernel returns the wrapping sum of all loaded 64-bit words.
    pub fn sums(&self) -> bool {
        self.does == Does::Sum
    }

    /// The contract that answers the same question for streams of `stream` bytes. This is `self` if
    /// `stream` is a multiple of its iteration. Otherwise it is the contract with the longest
    /// iteration that divides `stream`; `None` if there is none.
    pub fn for_streams(&'static self, stream: u64) -> Option<&'static Contract> {
        let fits = |c: &&Contract| stream >= c.iteration && stream.is_multiple_of(c.iteration);
        let same = CONTRACTS
            .iter()
            .filter(|c| c.visits == self.visits && c.does_the_same(self));
        Some(self)
            .filter(fits)
            .or_else(|| same.filter(fits).max_by_key(|c| c.iteration))
    }

    /// The contract that does the same as `self` to every byte, but in the order `visits`; `None`
    /// if there is none.
    pub fn in_order(&'static self, visits: AccessOrder) -> Option<&'static Contract> {
        let same = || {
            CONTRACTS
                .iter()
                .filter(|c| c.visits == visits && c.does_the_same(self))
        };
        Some(self)
            .filter(|c| c.visits == visits)
            .or_else(|| same().max_by_key(|c| c.iteration))
    }

    /// True if `self` and `other` do the same to every byte. The order of visits and the length of
    /// iterations may differ.
    fn does_the_same(&self, other: &Contract) -> bool {
        let promise = |c: &Contract| {
            (
                c.family,
                c.loads,
                c.stores,
                c.does,
                c.policy,
                c.prefetches,
                c.origin,
            )
        };
        promise(self) == promise(other)
    }

    /// True if the kernel computes with doubles. The streams must then contain normal numbers, with
    /// which processors compute at full speed.
    pub fn on_doubles(&self) -> bool {
        matches!(self.does, Does::Scale | Does::Add | Does::Triad)
    }

    /// True if blocks are visited in the order of an index table.
    pub fn by_table(&self) -> bool {
        matches!(self.visits, AccessOrder::Lines | AccessOrder::Chunks)
    }
}

impl Operation {
    /// Contract of the operation.
    pub fn contract(self) -> &'static Contract {
        // One macro makes the table and the variants, so their order is the same.
        &CONTRACTS[self as usize]
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.contract().name)
    }
}

#[cfg(feature = "names")]
impl FromStr for Operation {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = CONTRACTS.iter().find(|c| c.name == text.trim());
        found.map(|c| c.operation).ok_or_else(|| {
            let names: Vec<&str> = CONTRACTS.iter().map(|c| c.name).collect();
            ParseError::unknown_name(text.trim(), &names, "operations")
        })
    }
}

#[cfg(all(test, feature = "names"))]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_variants() {
        for (i, contract) in CONTRACTS.iter().enumerate() {
            assert_eq!(contract.operation as usize, i);
            assert_eq!(contract.name.parse(), Ok(contract.operation));
            assert!(contract.streams() >= 1 && contract.bus_factor() >= contract.payload_factor());
            let json = serde_json::to_string(&contract.operation).unwrap();
            assert_eq!(json, format!("\"{}\"", contract.name));
        }
    }

    #[test]
    fn write_allocate_is_counted_once_per_stored_byte() {
        let bus = |op: Operation| op.contract().bus_factor();
        assert_eq!(
            (
                bus(Operation::Write),
                bus(Operation::WriteNt),
                bus(Operation::WriteRep)
            ),
            (2, 1, 1)
        );
        assert_eq!((bus(Operation::Copy), bus(Operation::CopyNt)), (3, 2));
        assert_eq!((bus(Operation::Triad), bus(Operation::TriadNt)), (4, 3));
        assert_eq!(
            bus(Operation::Update),
            2,
            "the line that is stored has been loaded"
        );
    }

    #[test]
    fn streams_of_any_whole_lines_have_a_contract_where_one_has_iterations_as_short() {
        let named = |op: Operation, bytes: u64| op.contract().for_streams(bytes).map(|c| c.name);
        assert_eq!(
            [512, 4096].map(|bytes| named(Operation::Read, bytes)),
            [Some("read"); 2]
        );
        assert_eq!(
            [256, 768, 1280].map(|bytes| named(Operation::Read, bytes)),
            [Some("read-unroll-256"); 3]
        );
        assert_eq!(
            [128, 64].map(|bytes| named(Operation::Read, bytes)),
            [Some("read-unroll-128"), Some("read-unroll-64")]
        );
        assert_eq!(
            [128, 384, 640].map(|bytes| named(Operation::Copy, bytes)),
            [Some("copy-unroll-128"); 3]
        );
        assert_eq!(
            named(Operation::ReadUnroll64, 512),
            Some("read-unroll-64"),
            "what is requested is not changed"
        );
        for none in [0, 32, 100, 520] {
            assert_eq!(named(Operation::Read, none), None);
        }
        // Another policy, order or number of streams answers another question.
        for operation in [
            Operation::ReadNt,
            Operation::Read4,
            Operation::WriteRep,
            Operation::CopyReverse,
            Operation::Triad,
        ] {
            assert_eq!(named(operation, 768), None, "{operation}");
        }
    }

    #[test]
    fn six_operations_have_every_order() {
        const ORDERS: [AccessOrder; 4] = [
            AccessOrder::Forward,
            AccessOrder::Backward,
            AccessOrder::Lines,
            AccessOrder::Chunks,
        ];
        let names =
            |op: Operation| ORDERS.map(|visits| op.contract().in_order(visits).map(|c| c.name));
        let spellings = |name: &str| {
            [
                name.to_owned(),
                format!("{name}-reverse"),
                format!("{name}-lines"),
                format!("{name}-chunks"),
            ]
        };
        for operation in ["read", "write", "copy", "read-nt", "write-nt", "copy-nt"] {
            let all = names(operation.parse().unwrap()).map(|name| name.unwrap().to_owned());
            assert_eq!(all, spellings(operation));
        }
        for operation in [
            Operation::ReadNta,
            Operation::Read4,
            Operation::Update,
            Operation::WriteRep,
            Operation::CopyLibc,
        ] {
            assert_eq!(names(operation)[1..], [None; 3], "{operation}");
        }
    }

    #[test]
    fn an_update_is_one_stream_that_moves_twice() {
        let update = Operation::Update.contract();
        assert_eq!((update.streams(), update.payload_factor()), (1, 2));
    }
}
