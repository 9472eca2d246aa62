//! Kernels of core-to-core latency, which hand a cache line back and forth between two threads.

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

/// Arguments and results of hand-off kernels. The assembly in the crate `assembly` names these
/// fields. All fields have the width of a general register.
#[repr(C)]
#[derive(Debug)]
pub(super) struct HandOffCall {
    /// Address of the word through which values are handed over.
    pub word: usize,
    /// Value to wait for. The kernel answers with `expected` + 1 and then waits for `expected` + 2.
    pub expected: usize,
    /// Number of answers to give.
    pub iterations: usize,
    /// Limit for the number of polls of the word while the kernel waits for one value.
    pub max_polls: usize,
}

/// The machine code of one hand-off kernel. When the kernel returns, `iterations` is the number of
/// answers not given, and `expected` is the next value to wait for.
pub(super) type HandOffCode = kernel_fn!(&mut HandOffCall);

/// Kind of hand-off: the instructions that take a value and answer it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum HandOff {
    /// Loads the word until it has the awaited value, then stores the answer.
    StoreLoad,
    /// Exchanges the awaited value for the answer by compare-and-swap, until this succeeds.
    CompareAndSwap,
    /// Loads the word until it has the awaited value, then exchanges the value for the answer.
    Exchange,
}

impl HandOff {
    /// Every kind, in the order of lists and tables.
    pub const ALL: [HandOff; 3] = [Self::StoreLoad, Self::CompareAndSwap, Self::Exchange];

    /// Name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::StoreLoad => "store-load",
            Self::CompareAndSwap => "compare-and-swap",
            Self::Exchange => "exchange",
        }
    }

    /// Description in one line, for help and lists.
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

    /// Name in `memgauge list kernels`.
    pub fn kernel_name(self) -> String {
        format!("hand-off/{self}")
    }

    /// The machine code of this kernel; `None` if the end mark is missing.
    pub fn code(self) -> Option<Vec<u8>> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::body_of(self.assembly() as *const u8) }
    }

    /// Digest of the machine code of this kernel; `None` if the end mark is missing.
    pub fn digest(self) -> Option<String> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::digest_of(self.assembly() as *const u8) }
    }

    /// Waits for `expected` in the word of `line`, answers with `expected` + 1, waits for
    /// `expected` + 2, and so on. Ends after `iterations` answers, or when a value has not arrived
    /// after `max_polls` polls. Returns the number of answers given.
    ///
    /// Two threads hand the line back and forth if one calls this function with `expected` and the
    /// other with `expected` + 1. The body of this call is timed.
    pub fn run(
        self,
        line: &SharedLine,
        expected: usize,
        iterations: usize,
        max_polls: usize,
    ) -> usize {
        let word = (&raw const line.word) as usize;
        let call = HandOffCall {
            word,
            expected,
            iterations,
            max_polls,
        };
        // SAFETY: the word of the line is borrowed, aligned and atomic.
        unsafe { self.call(call) }
    }

    /// Like [`run`](Self::run), with a word in mapped memory. No other word of its cache line may
    /// be in use. On 32-bit machines, the kernel uses the first 4 of the 8 bytes.
    pub fn run_on(
        self,
        word: &AtomicU64,
        expected: usize,
        iterations: usize,
        max_polls: usize,
    ) -> usize {
        let word = word.as_ptr() as usize;
        let call = HandOffCall {
            word,
            expected,
            iterations,
            max_polls,
        };
        // SAFETY: the word is borrowed, aligned and atomic, and no shorter than what the code
        // accesses.
        unsafe { self.call(call) }
    }

    /// Executes `call` and returns the number of answers.
    ///
    /// # Safety
    /// The word of the call must be aligned and alive, and all other accesses must be atomic.
    unsafe fn call(self, mut call: HandOffCall) -> usize {
        let iterations = call.iterations;
        if iterations == 0 {
            return 0;
        }
        call.max_polls = call.max_polls.max(1);
        // SAFETY: the caller vouches for the word, which the code accesses by atomic instructions
        // or single aligned loads and stores. The code uses baseline instructions only, and ends
        // after `max_polls` polls without the value.
        unsafe { (self.assembly())(&mut call) };
        iterations - call.iterations.min(iterations)
    }
}

/// The hand-off kernels of an architecture.
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
