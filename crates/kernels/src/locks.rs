//! Kernels for synchronisation: atomic instructions on one word, a spin lock and a fence. The
//! standard library's mutex is a reference for comparison.

use super::abi::kernel_fn;
use super::native;
use super::row::lacks;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;
use units::ParseError;

/// Words that threads share, in 128 B of memory that nothing else uses. Some processors fetch
/// neighbouring lines in pairs, and some have lines of 128 B.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct SharedLine {
    /// The shared word: a counter, or a lock, which is free if the word is 0.
    pub word: AtomicUsize,
    /// Word that a spin lock guards.
    pub guarded: AtomicUsize,
    mutex: Mutex<usize>,
}

/// Arguments and results of lock kernels. The assembly in the crate `assembly` names these fields.
/// All fields have the width of a general register.
#[repr(C)]
#[derive(Debug)]
pub(super) struct LockCall {
    /// Address of the shared word. The word that a spin lock guards follows directly.
    pub word: usize,
    /// Number of operations, at least 1.
    pub iterations: usize,
    /// Number of dependent additions inside the operation: while the lock is held, or right after
    /// an atomic instruction or a fence.
    pub inside: usize,
    /// Number of dependent additions between two operations.
    pub between: usize,
    /// Number of attempts that failed because of another thread: a compare-and-swap found another
    /// value, or the lock was taken.
    pub failed_tries: usize,
}

/// The machine code of one lock kernel.
pub(super) type LockCode = kernel_fn!(&mut LockCall);

/// Operation that threads repeat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum LockOperation {
    /// Atomic addition of 1 to the word.
    AtomicAdd,
    /// Atomic exchange with the word.
    Exchange,
    /// Load, addition of 1, and compare-and-swap until it succeeds.
    CompareAndSwap,
    /// Test and test-and-set: takes the lock, adds 1 to the guarded word, releases the lock.
    SpinLock,
    /// The standard library's mutex around an addition. A reference for comparison, not this
    /// program's instructions.
    Mutex,
    /// Ordinary addition to the word, then a full fence. Additions of several threads to one word
    /// may be lost.
    Fence,
}

impl LockOperation {
    /// Every operation, in the order of lists and tables.
    pub const ALL: [LockOperation; 6] = [
        Self::AtomicAdd,
        Self::Exchange,
        Self::CompareAndSwap,
        Self::SpinLock,
        Self::Mutex,
        Self::Fence,
    ];

    /// Name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Self::AtomicAdd => "atomic-add",
            Self::Exchange => "exchange",
            Self::CompareAndSwap => "compare-and-swap",
            Self::SpinLock => "spin-lock",
            Self::Mutex => "mutex",
            Self::Fence => "fence",
        }
    }

    /// Description in one line, for help and lists.
    pub fn help(self) -> &'static str {
        match self {
            Self::AtomicAdd => "add 1 to a word atomically",
            Self::Exchange => "exchange a word atomically",
            Self::CompareAndSwap => "load a word, add 1, compare and swap until it succeeds",
            Self::SpinLock => {
                "take a spin lock (test and test-and-set), add 1 to a word, give it back"
            }
            Self::Mutex => {
                "take the standard library's mutex, add 1, give it back (reference kernel)"
            }
            Self::Fence => "add 1 to a word by an ordinary store, then a full fence",
        }
    }
}

impl fmt::Display for LockOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for LockOperation {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let names: Vec<&str> = Self::ALL.iter().map(|i| i.name()).collect();
        let found = Self::ALL.into_iter().find(|i| i.name() == text.trim());
        found.ok_or_else(|| ParseError::unknown_name(text.trim(), &names, "operations on locks"))
    }
}

/// One implementation of the operations on shared words: `lock` (x86), `ll-sc` and `lse` (Arm) or
/// `amo` (RISC-V).
#[derive(Debug)]
pub(super) struct LockSet {
    /// Name of the implementation, as part of the names of kernels.
    pub name: &'static str,
    /// Features that the processor must support, in words.
    pub needs: &'static str,
    /// True if the processor supports the features of `needs`.
    pub present: fn() -> bool,
    pub atomic_add: LockCode,
    pub exchange: LockCode,
    pub compare_and_swap: LockCode,
    pub spin_lock: LockCode,
    pub fence: LockCode,
}

/// A lock kernel in a list. This processor may be unable to execute it.
#[derive(Debug, Clone, Copy)]
pub struct ListedLock {
    /// The operation that threads repeat.
    pub operation: LockOperation,
    set: &'static LockSet,
}

/// Every lock kernel of this architecture. The mutex is listed only once, with the last
/// implementation.
pub fn all_locks() -> Vec<ListedLock> {
    let rows = |operation: LockOperation| {
        native::LOCK_SETS
            .iter()
            .map(move |set| ListedLock { operation, set })
    };
    let last = native::LOCK_SETS.len() - 1;
    let once = |(i, l): (usize, ListedLock)| {
        (l.operation != LockOperation::Mutex || i == last).then_some(l)
    };
    LockOperation::ALL
        .into_iter()
        .flat_map(|o| rows(o).enumerate().filter_map(once))
        .collect()
}

/// The kernel for `operation`, from the last implementation in the table that this processor
/// supports. The error is the reason why there is none.
pub fn lock(operation: LockOperation) -> Result<LockKernel, String> {
    let mut reason = "there are no atomic operations for this architecture".to_owned();
    for listed in all_locks()
        .into_iter()
        .rev()
        .filter(|l| l.operation == operation)
    {
        match listed.kernel() {
            Ok(kernel) => return Ok(kernel),
            Err(lacks) => reason = lacks,
        }
    }
    Err(reason)
}

impl ListedLock {
    /// Name in lists and reports: `atomic-add/lse`, or `mutex/std` for the mutex.
    pub fn name(&self) -> String {
        let set = if self.operation == LockOperation::Mutex {
            "std"
        } else {
            self.set.name
        };
        format!("{}/{set}", self.operation)
    }

    /// Features that the processor must support, in words.
    pub fn needs(&self) -> &'static str {
        if self.operation == LockOperation::Mutex {
            ""
        } else {
            self.set.needs
        }
    }

    pub(super) fn assembly(&self) -> Option<LockCode> {
        match self.operation {
            LockOperation::AtomicAdd => Some(self.set.atomic_add),
            LockOperation::Exchange => Some(self.set.exchange),
            LockOperation::CompareAndSwap => Some(self.set.compare_and_swap),
            LockOperation::SpinLock => Some(self.set.spin_lock),
            LockOperation::Mutex => None,
            LockOperation::Fence => Some(self.set.fence),
        }
    }

    /// The machine code; `None` for the mutex.
    pub fn code(&self) -> Option<Vec<u8>> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::body_of(self.assembly()? as *const u8) }
    }

    /// Digest of the machine code; `None` for the mutex.
    pub fn digest(&self) -> Option<String> {
        // SAFETY: the code is a kernel.
        unsafe { super::digest::digest_of(self.assembly()? as *const u8) }
    }

    /// The kernel. The error is the reason why it cannot run here.
    pub fn kernel(&self) -> Result<LockKernel, String> {
        if self.operation != LockOperation::Mutex && !(self.set.present)() {
            return Err(lacks(self.set.needs));
        }
        Ok(LockKernel { listed: *self })
    }
}

/// A lock kernel that this processor can run.
#[derive(Debug, Clone, Copy)]
pub struct LockKernel {
    listed: ListedLock,
}

impl LockKernel {
    /// Name in lists and reports: `atomic-add/lse`.
    pub fn name(&self) -> String {
        self.listed.name()
    }

    /// Digest of the machine code; `None` for the mutex.
    pub fn digest(&self) -> Option<String> {
        self.listed.digest()
    }

    /// Executes the operation `iterations` times on `line`. `inside` and `between` are numbers of
    /// dependent additions within and between operations. Returns the number of attempts that
    /// failed because of other threads; 0 for the mutex.
    ///
    /// The body of this call is timed.
    pub fn run(&self, line: &SharedLine, iterations: u64, inside: u32, between: u32) -> u64 {
        let Some(code) = self.listed.assembly() else {
            return mutex(line, iterations, inside, between);
        };
        let mut left = iterations;
        let mut failed_tries = 0;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX);
            let word = (&raw const line.word) as usize;
            let mut call = LockCall {
                word,
                iterations: part,
                inside: inside as usize,
                between: between as usize,
                failed_tries: 0,
            };
            // SAFETY: the line is borrowed, and its two words are atomics. The code accesses them
            // by atomic instructions or single aligned loads and stores. Its instructions were
            // found to be executable.
            unsafe { code(&mut call) };
            failed_tries += call.failed_tries as u64;
            left -= part as u64;
        }
        failed_tries
    }
}

/// The operation `Mutex`: compiled code around the standard library's mutex. The dependent
/// additions are an assembly kernel.
fn mutex(line: &SharedLine, iterations: u64, inside: u32, between: u32) -> u64 {
    for _ in 0..iterations {
        {
            let mut guarded = line
                .mutex
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            *guarded = guarded.wrapping_add(1);
            add(inside);
        }
        add(between);
    }
    0
}

/// Executes `count` dependent additions in an assembly kernel.
fn add(count: u32) {
    if count > 0 {
        // SAFETY: the code touches registers only and ends after `count` iterations, at least one.
        unsafe { (native::ADDITIONS)(count as usize) }
    }
}
