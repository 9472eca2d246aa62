//! Contracts of the streaming kernels: their effect on memory, defined once for all instruction
//! sets.

use super::row::Row;
use super::stream_call::BLOCK_BYTES;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use units::ParseError;

/// Operation on each word of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Load.
    Load,
    /// Load and add up.
    Sum,
    /// Load one word of each cache line (64 B).
    Touch,
    /// Store the pattern.
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
    /// Doubles: third = first + pattern x second. Rounded twice, like STREAM compiled without
    /// contraction.
    Triad,
}

/// Treatment of the caches by loads and stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Ordinary loads and stores. A store that misses first reads its line (write-allocate).
    Temporal,
    /// Non-temporal loads, or non-temporal stores: whole lines bypass the caches.
    NonTemporal,
    /// Stores of whole lines by a special instruction, which need not read the lines first.
    WholeLine,
}

/// Order of the visits to the blocks of the window.
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
    /// This program, in assembly. The timed instructions are the same in every build.
    Own,
    /// The C library of the system: a reference kernel without a digest.
    CLibrary,
}

/// Kernels that answer the same question. Width `best` selects among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Load every byte of the window.
    Read,
    /// Store every byte of the window.
    Write,
    /// Store every byte of one half to the other half.
    Copy,
    /// Change every byte in place.
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
#[derive(Debug, PartialEq, Eq)]
pub struct Contract {
    /// The operation.
    pub operation: Operation,
    /// Name that users type.
    pub name: &'static str,
    /// Number of streams that are loaded. They come first in memory.
    pub loads: u32,
    /// Number of streams that are stored. The one stream of `update` is loaded and stored.
    pub stores: u32,
    /// Operation on each word.
    pub does: Does,
    /// Treatment of the caches.
    pub policy: Policy,
    /// Order of the visits to blocks.
    pub visits: AccessOrder,
    /// True if the kernel prefetches lines, at the distance of the walk.
    pub prefetches: bool,
    /// Origin of the instructions.
    pub origin: CodeOrigin,
    /// Question that the kernel answers.
    pub family: Family,
    /// One line for help and lists.
    pub help: &'static str,
}

/// Defines the table of contracts: the operations, their contracts, and a field for each in the
/// rows of a set. A set without a row for a contract does not compile.
macro_rules! contracts {
    ($($variant:ident, $field:ident, $name:literal: $family:ident, $loads:literal loads,
        $stores:literal stores,
        $does:ident, $policy:ident, $visits:ident, $origin:ident, prefetches $prefetches:literal,
            $help:literal;)*) => {
        /// A streaming operation.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum Operation {
            $(#[doc = $help] #[serde(rename = $name)] $variant,)*
        }

        /// Every streaming contract, in the order of lists and tables.
        pub static CONTRACTS: [Contract; [$($name),*].len()] = [$(Contract {
            operation: Operation::$variant,
            name: $name,
            loads: $loads,
            stores: $stores,
            does: Does::$does,
            policy: Policy::$policy,
            visits: AccessOrder::$visits,
            prefetches: $prefetches,
            origin: CodeOrigin::$origin,
            family: Family::$family,
            help: $help,
        },)*];

        /// A row for every contract. A set without one of them does not compile.
        #[derive(Debug)]
        pub(super) struct StreamRows {
            $(pub $field: Row,)*
        }

        impl StreamRows {
            /// The row of `operation`.
            pub(super) fn row(&self, operation: Operation) -> Row {
                match operation {
                    $(Operation::$variant => self.$field,)*
                }
            }
        }
    };
}

contracts! {
    Read, read, "read": Read, 1 loads, 0 stores, Load, Temporal, Forward, Own, prefetches false,
        "load every byte";
    ReadSum, read_sum, "read-sum": Read, 1 loads, 0 stores, Sum, Temporal, Forward, Own, prefetches false,
        "load every byte and add up the 64-bit words (proof that all were loaded)";
    ReadNt, read_nt, "read-nt": Read, 1 loads, 0 stores, Load, NonTemporal, Forward, Own, prefetches false,
        "load every byte with non-temporal loads";
    ReadNta, read_nta, "read-nta": Read, 1 loads, 0 stores, Load, NonTemporal, Forward, Own, prefetches true,
        "load every byte with non-temporal loads, lines prefetched past the caches";
    ReadPrefetch, read_prefetch, "read-prefetch": Read, 1 loads, 0 stores, Load, Temporal, Forward,
        Own, prefetches true,
        "load every byte, lines prefetched into the caches";
    Read4, read_4, "read-4": Read, 4 loads, 0 stores, Load, Temporal, Forward, Own, prefetches false,
        "load every byte, from four streams at once";
    ReadUnroll64, read_unroll_64, "read-unroll-64": Read, 1 loads, 0 stores, Load, Temporal,
        Forward, Own, prefetches false,
        "load every byte, 64 B in each turn of the loop instead of 512";
    ReadUnroll128, read_unroll_128, "read-unroll-128": Read, 1 loads, 0 stores, Load, Temporal,
        Forward, Own, prefetches false,
        "load every byte, 128 B in each turn of the loop instead of 512";
    ReadUnroll256, read_unroll_256, "read-unroll-256": Read, 1 loads, 0 stores, Load, Temporal,
        Forward, Own, prefetches false,
        "load every byte, 256 B in each turn of the loop instead of 512";
    Touch, touch, "touch": Touch, 1 loads, 0 stores, Touch, Temporal, Forward, Own, prefetches false,
        "load one word of each cache line";
    TouchPrefetch, touch_prefetch, "touch-prefetch": Touch, 1 loads, 0 stores, Touch, Temporal,
        Forward, Own, prefetches true,
        "load one word of each cache line, lines prefetched into the caches";
    Write, write, "write": Write, 0 loads, 1 stores, Store, Temporal, Forward, Own, prefetches false,
        "store every byte with ordinary stores";
    WriteNt, write_nt, "write-nt": Write, 0 loads, 1 stores, Store, NonTemporal, Forward, Own,
        prefetches false,
        "store every byte with non-temporal stores, one store fence at the end";
    WriteUnroll128, write_unroll_128, "write-unroll-128": Write, 0 loads, 1 stores, Store, Temporal,
        Forward, Own, prefetches false,
        "store every byte, 128 B in each turn of the loop instead of 512";
    WriteRep, write_rep, "write-rep": Write, 0 loads, 1 stores, StoreByte, WholeLine, Forward, Own,
        prefetches false,
        "store every byte with the processor's string instructions (rep stosb; setp, setm, sete)";
    WriteZero, write_zero, "write-zero": Write, 0 loads, 1 stores, StoreZero, WholeLine, Forward,
        Own, prefetches false,
        "set every byte to zero with the instruction that zeroes cache lines (dc zva, cbo.zero)";
    WriteLibc, write_libc, "write-libc": Write, 0 loads, 1 stores, StoreByte, Temporal, Forward,
        CLibrary, prefetches false,
        "store every byte with the C library's memset: a comparator, not this program's instructions";
    Update, update, "update": Update, 1 loads, 1 stores, Update, Temporal, Forward, Own, prefetches false,
        "load, change and store every byte in place";
    Copy, copy, "copy": Copy, 1 loads, 1 stores, Move, Temporal, Forward, Own, prefetches false,
        "load from one half and store to the other with ordinary stores";
    CopyNt, copy_nt, "copy-nt": Copy, 1 loads, 1 stores, Move, NonTemporal, Forward, Own, prefetches false,
        "load from one half and store to the other with non-temporal stores";
    CopyUnroll128, copy_unroll_128, "copy-unroll-128": Copy, 1 loads, 1 stores, Move, Temporal,
        Forward, Own, prefetches false,
        "load from one half and store to the other, 128 B of each in each turn of the loop instead of 512";
    CopyRep, copy_rep, "copy-rep": Copy, 1 loads, 1 stores, Move, WholeLine, Forward, Own, prefetches false,
        "copy one half to the other with the processor's string instructions (rep movsb; cpyfp, cpyfm, cpyfe)";
    CopyLibc, copy_libc, "copy-libc": Copy, 1 loads, 1 stores, Move, Temporal, Forward, CLibrary,
        prefetches false,
        "copy one half to the other with the C library's memcpy: a comparator, not this program's instructions";
    Scale, scale, "scale": Scale, 1 loads, 1 stores, Scale, Temporal, Forward, Own, prefetches false,
        "STREAM scale of doubles: b = q x a";
    ScaleNt, scale_nt, "scale-nt": Scale, 1 loads, 1 stores, Scale, NonTemporal, Forward, Own,
        prefetches false,
        "STREAM scale of doubles with non-temporal stores";
    Add, add, "add": Add, 2 loads, 1 stores, Add, Temporal, Forward, Own, prefetches false,
        "STREAM add of doubles: c = a + b";
    AddNt, add_nt, "add-nt": Add, 2 loads, 1 stores, Add, NonTemporal, Forward, Own, prefetches false,
        "STREAM add of doubles with non-temporal stores";
    Triad, triad, "triad": Triad, 2 loads, 1 stores, Triad, Temporal, Forward, Own, prefetches false,
        "STREAM triad of doubles: c = a + q x b";
    TriadNt, triad_nt, "triad-nt": Triad, 2 loads, 1 stores, Triad, NonTemporal, Forward, Own,
        prefetches false,
        "STREAM triad of doubles with non-temporal stores";
    ReadReverse, read_reverse, "read-reverse": Read, 1 loads, 0 stores, Load, Temporal, Backward,
        Own, prefetches false,
        "load every byte from the end to the start";
    WriteReverse, write_reverse, "write-reverse": Write, 0 loads, 1 stores, Store, Temporal,
        Backward, Own, prefetches false,
        "store every byte from the end to the start";
    CopyReverse, copy_reverse, "copy-reverse": Copy, 1 loads, 1 stores, Move, Temporal, Backward,
        Own, prefetches false,
        "copy one half to the other from the end to the start";
    ReadNtReverse, read_nt_reverse, "read-nt-reverse": Read, 1 loads, 0 stores, Load, NonTemporal,
        Backward, Own, prefetches false,
        "load every byte with non-temporal loads from the end to the start";
    WriteNtReverse, write_nt_reverse, "write-nt-reverse": Write, 0 loads, 1 stores, Store,
        NonTemporal, Backward, Own, prefetches false,
        "store every byte with non-temporal stores from the end to the start";
    CopyNtReverse, copy_nt_reverse, "copy-nt-reverse": Copy, 1 loads, 1 stores, Move, NonTemporal,
        Backward, Own, prefetches false,
        "copy one half to the other with non-temporal stores from the end to the start";
    ReadLines, read_lines, "read-lines": Read, 1 loads, 0 stores, Load, Temporal, Lines, Own,
        prefetches false,
        "load pieces of 64 B in the order of a table";
    WriteLines, write_lines, "write-lines": Write, 0 loads, 1 stores, Store, Temporal, Lines, Own,
        prefetches false,
        "store pieces of 64 B in the order of a table";
    CopyLines, copy_lines, "copy-lines": Copy, 1 loads, 1 stores, Move, Temporal, Lines, Own,
        prefetches false,
        "copy pieces of 64 B from one half to the other in the order of a table";
    ReadNtLines, read_nt_lines, "read-nt-lines": Read, 1 loads, 0 stores, Load, NonTemporal, Lines,
        Own, prefetches false,
        "load pieces of 64 B in the order of a table with non-temporal loads";
    WriteNtLines, write_nt_lines, "write-nt-lines": Write, 0 loads, 1 stores, Store, NonTemporal,
        Lines, Own, prefetches false,
        "store pieces of 64 B in the order of a table with non-temporal stores";
    CopyNtLines, copy_nt_lines, "copy-nt-lines": Copy, 1 loads, 1 stores, Move, NonTemporal, Lines,
        Own, prefetches false,
        "copy pieces of 64 B from one half to the other in the order of a table with non-temporal stores";
    ReadChunks, read_chunks, "read-chunks": Read, 1 loads, 0 stores, Load, Temporal, Chunks, Own,
        prefetches false,
        "load pieces of 512 B in the order of a table";
    WriteChunks, write_chunks, "write-chunks": Write, 0 loads, 1 stores, Store, Temporal, Chunks,
        Own, prefetches false,
        "store pieces of 512 B in the order of a table";
    CopyChunks, copy_chunks, "copy-chunks": Copy, 1 loads, 1 stores, Move, Temporal, Chunks, Own,
        prefetches false,
        "copy pieces of 512 B from one half to the other in the order of a table";
    ReadNtChunks, read_nt_chunks, "read-nt-chunks": Read, 1 loads, 0 stores, Load, NonTemporal,
        Chunks, Own, prefetches false,
        "load pieces of 512 B in the order of a table with non-temporal loads";
    WriteNtChunks, write_nt_chunks, "write-nt-chunks": Write, 0 loads, 1 stores, Store, NonTemporal,
        Chunks, Own, prefetches false,
        "store pieces of 512 B in the order of a table with non-temporal stores";
    CopyNtChunks, copy_nt_chunks, "copy-nt-chunks": Copy, 1 loads, 1 stores, Move, NonTemporal,
        Chunks, Own, prefetches false,
        "copy pieces of 512 B from one half to the other in the order of a table with non-temporal stores";
}

impl Contract {
    /// Number of streams. The working set is divided into as many windows. `update` stores to the
    /// stream that it loads.
    pub fn streams(&self) -> u32 {
        if self.does == Does::Update {
            1
        } else {
            self.loads + self.stores
        }
    }

    /// Bytes that the operation requests per byte of a stream. A copy counts what it reads and what
    /// it writes. `touch` counts whole lines, because they are what moves.
    pub fn payload_factor(&self) -> u64 {
        u64::from(self.loads + self.stores)
    }

    /// Bytes on the memory bus per byte of a stream if nothing stays in a cache. An ordinary store
    /// that misses reads its line before it is written back. This is an estimate, because some
    /// processors detect stores of whole lines.
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

    /// Bytes of each stream in an iteration of the loop. The length of streams is a multiple of
    /// this.
    pub fn iteration_bytes(&self) -> u64 {
        match self.operation {
            Operation::ReadUnroll64 => 64,
            Operation::ReadUnroll128 | Operation::WriteUnroll128 | Operation::CopyUnroll128 => 128,
            Operation::ReadUnroll256 => 256,
            _ => BLOCK_BYTES,
        }
    }

    /// The contract that answers the same question for streams of `stream` bytes. This is `self` if
    /// they are whole iterations of its loop. Otherwise it is the contract with the longest fitting
    /// iterations; `None` if none fits.
    pub fn for_streams(&'static self, stream: u64) -> Option<&'static Contract> {
        let fits = |c: &&Contract| {
            stream >= c.iteration_bytes() && stream.is_multiple_of(c.iteration_bytes())
        };
        let same = CONTRACTS
            .iter()
            .filter(|c| c.visits == self.visits && c.does_the_same(self));
        Some(self)
            .filter(fits)
            .or_else(|| same.filter(fits).max_by_key(|c| c.iteration_bytes()))
    }

    /// The contract that does the same to every byte in the order of `visits`; `None` if there is
    /// none.
    pub fn in_order(&'static self, visits: AccessOrder) -> Option<&'static Contract> {
        let same = || {
            CONTRACTS
                .iter()
                .filter(|c| c.visits == visits && c.does_the_same(self))
        };
        Some(self)
            .filter(|c| c.visits == visits)
            .or_else(|| same().max_by_key(|c| c.iteration_bytes()))
    }

    /// True if both do the same to every byte. The order of visits and the length of iterations may
    /// differ.
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

    /// True if the kernel calculates with doubles. Their values must be numbers that processors add
    /// and multiply at full speed.
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

#[cfg(test)]
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
