//! What each streaming kernel does to memory, once, for all instruction sets.

use crate::units::ParseError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How stores treat the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Policy {
    /// Ordinary loads and stores; a store that misses first reads its line (write-allocate).
    Temporal,
    /// Non-temporal stores: whole lines go to memory past the caches.
    NonTemporal,
}

/// A streaming operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// Load every byte.
    Read,
    /// Load every byte and add it up.
    ReadSum,
    /// Store every byte.
    Write,
    /// Store every byte past the caches.
    WriteNt,
    /// Load from one half, store to the other.
    Copy,
    /// The same, with stores past the caches.
    CopyNt,
}

/// What a streaming kernel promises.
#[derive(Debug, PartialEq, Eq)]
pub struct Contract {
    /// Which operation this is.
    pub operation: Operation,
    /// The name users type.
    pub name: &'static str,
    /// Streams that are loaded; each byte of each exactly once per pass.
    pub loads: u32,
    /// Streams that are stored; each byte of each exactly once per pass.
    pub stores: u32,
    /// What the stores do to the caches.
    pub policy: Policy,
    /// Whether the wrapping sum of all 64-bit words loaded is returned.
    pub sums: bool,
    /// One line for help and lists.
    pub help: &'static str,
}

/// Every streaming contract, in the order of lists and tables.
pub static CONTRACTS: [Contract; 6] = [
    Contract {
        operation: Operation::Read,
        name: "read",
        loads: 1,
        stores: 0,
        policy: Policy::Temporal,
        sums: false,
        help: "load every byte",
    },
    Contract {
        operation: Operation::ReadSum,
        name: "read-sum",
        loads: 1,
        stores: 0,
        policy: Policy::Temporal,
        sums: true,
        help: "load every byte and add up the 64-bit words (proof that all were loaded)",
    },
    Contract {
        operation: Operation::Write,
        name: "write",
        loads: 0,
        stores: 1,
        policy: Policy::Temporal,
        sums: false,
        help: "store every byte with ordinary stores",
    },
    Contract {
        operation: Operation::WriteNt,
        name: "write-nt",
        loads: 0,
        stores: 1,
        policy: Policy::NonTemporal,
        sums: false,
        help: "store every byte with non-temporal stores, one store fence at the end",
    },
    Contract {
        operation: Operation::Copy,
        name: "copy",
        loads: 1,
        stores: 1,
        policy: Policy::Temporal,
        sums: false,
        help: "load from one half and store to the other with ordinary stores",
    },
    Contract {
        operation: Operation::CopyNt,
        name: "copy-nt",
        loads: 1,
        stores: 1,
        policy: Policy::NonTemporal,
        sums: false,
        help: "load from one half and store to the other with non-temporal stores",
    },
];

impl Contract {
    /// Streams of the operation: the working set is this many windows.
    pub fn streams(&self) -> u32 {
        self.loads + self.stores
    }

    /// Bytes that the operation asks for per byte of window: a copy counts what it reads and what it writes.
    pub fn payload_factor(&self) -> u64 {
        u64::from(self.streams())
    }

    /// Bytes that cross the memory bus per byte of window when nothing stays in a cache: an ordinary store that
    /// misses reads its line before it writes it back. An estimate: some processors detect whole-line writes.
    pub fn bus_factor(&self) -> u64 {
        let allocate = if self.policy == Policy::Temporal { self.stores } else { 0 };
        u64::from(self.streams() + allocate)
    }
}

impl Operation {
    /// What it promises.
    pub fn contract(self) -> &'static Contract {
        // The table is in the order of the variants; a test holds it.
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
        }
    }

    #[test]
    fn write_allocate_is_counted_once_per_stored_byte() {
        let bus = |op: Operation| op.contract().bus_factor();
        assert_eq!((bus(Operation::Write), bus(Operation::WriteNt)), (2, 1));
        assert_eq!((bus(Operation::Copy), bus(Operation::CopyNt)), (3, 2));
    }
}
