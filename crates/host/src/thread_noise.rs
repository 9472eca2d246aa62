//! Counts of the system about a thread.

/// Page faults and context switches of one thread since it started (`getrusage(RUSAGE_THREAD)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadNoise {
    /// Page faults that needed no input: first touch, copy on write.
    pub minor_faults: u64,
    /// Page faults that waited for storage.
    pub major_faults: u64,
    /// Times that the thread gave up its CPU by itself.
    pub voluntary_switches: u64,
    /// Times that the system took its CPU away.
    pub involuntary_switches: u64,
}
