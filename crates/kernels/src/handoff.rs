//! A cache line handed to and fro between two threads: the kernels of core-to-core latency.

use super::abi::kernel_fn;
use super::locks::SharedLine;
use super::native;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::atomic::AtomicU64;
use units::ParseError;

/// Arguments and results of the assembly; the layout is part of every skeleton: words of the
/// machine's own width.
#[repr(C)]
#[derive(Debug)]
pub(super) struct HandOffCall {
    /// Address of the word.
    pub word: usize,
    /// Value to wait for first; it is answered with the next one, and the one after that is waited
    /// for.
    pub expected: usize,
    /// Answers to give.
    pub turns: usize,
    /// Looks at the word at most while waiting for one value.
    pub patience: usize,
}

/// The machine code of one hand-off kernel: it leaves in `turns` how many answers it did not give,
/// in `expected` what it would have waited for next.
pub(super) type HandOffCode = kernel_fn!(&mut HandOffCall);

/// How a value is taken and answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HandOff {
    /// Load until the value is there, then store the answer.
    StoreLoad,
    /// Compare and swap the value for the answer until that succeeds.
    CompareAndSwap,
    /// Load until the value is there, then exchange it for the answer.
    Exchange,
}

impl HandOff {
    /// Every one, in the order of lists and tables.
    pub const ALL: [HandOff; 3] = [Self::StoreLoad, Self::CompareAndSwap, Self::Exchange];

    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoreLoad => "store-load",
            Self::CompareAndSwap => "compare-and-swap",
            Self::Exchange => "exchange",
        }
    }

    /// One line for help and lists.
    pub fn help(self) -> &'static str {
        match self {
            Self::StoreLoad => "wait for a value by loads, answer it with a store",
            Self::CompareAndSwap => "compare and swap a value for its answer until that succeeds",
            Self::Exchange => "wait for a value by loads, exchange it for its answer",
        }
    }

    pub(super) fn assembly(self) -> HandOffCode {
        match self {
            Self::StoreLoad => native::HANDOFF.store_load,
            Self::CompareAndSwap => native::HANDOFF.compare_and_swap,
            Self::Exchange => native::HANDOFF.exchange,
        }
    }

    /// The name in `memgauge list kernels`.
    pub fn kernel_name(self) -> String {
        format!("hand-off/{self}")
    }

    /// Its machine code.
    pub fn code(self) -> Option<Vec<u8>> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::body_of(self.assembly() as *const u8) }
    }

    /// Digest of its machine code.
    pub fn digest(self) -> Option<String> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::digest_of(self.assembly() as *const u8) }
    }

    /// Waits for `expected` in the word of `line`, answers with `expected` + 1, waits for
    /// `expected` + 2, and so on, until `turns` answers are given, or the value did not come within
    /// `patience` looks. Returns the answers given.
    ///
    /// Two threads that call it with values one apart hand the line to and fro. The body of this
    /// call is timed.
    pub fn run(self, line: &SharedLine, expected: usize, turns: usize, patience: usize) -> usize {
        let word = (&raw const line.word) as usize;
        let call = HandOffCall {
            word,
            expected,
            turns,
            patience,
        };
        // SAFETY: the word of the line is borrowed, aligned and atomic.
        unsafe { self.call(call) }
    }

    /// The same with a word in mapped memory, the only word of its line that is used. On machines
    /// with words below 8 bytes it is the first of them.
    pub fn run_on(self, word: &AtomicU64, expected: usize, turns: usize, patience: usize) -> usize {
        let word = word.as_ptr() as usize;
        let call = HandOffCall {
            word,
            expected,
            turns,
            patience,
        };
        // SAFETY: the word is borrowed, aligned and atomic, and no shorter than what the code
        // accesses.
        unsafe { self.call(call) }
    }

    /// Carries out `call`; the answers given.
    ///
    /// # Safety
    /// The word that the call names must be aligned, alive and atomic to everybody else.
    unsafe fn call(self, mut call: HandOffCall) -> usize {
        let turns = call.turns;
        if turns == 0 {
            return 0;
        }
        call.patience = call.patience.max(1);
        // SAFETY: the code accesses the word, which the caller answers for, by atomic instructions
        // or single aligned loads and stores; baseline instructions only; it ends when its patience
        // does.
        unsafe { (self.assembly())(&mut call) };
        turns - call.turns.min(turns)
    }
}

/// The rows of an architecture.
#[derive(Debug)]
pub(super) struct HandOffRows {
    pub store_load: HandOffCode,
    pub compare_and_swap: HandOffCode,
    pub exchange: HandOffCode,
}

impl fmt::Display for HandOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for HandOff {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let found = Self::ALL.into_iter().find(|h| h.name() == text.trim());
        found.ok_or_else(|| {
            let names: Vec<&str> = Self::ALL.iter().map(|h| h.name()).collect();
            ParseError::unknown_name(text.trim(), &names, "hand-offs")
        })
    }
}
