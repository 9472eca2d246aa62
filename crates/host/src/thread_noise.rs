//! Counts of the events that disturb a thread: page faults and context switches.

/// Page faults and context switches of one thread since it started (`getrusage(RUSAGE_THREAD)`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ThreadNoise {
    /// Page faults that needed no I/O, such as first touch and copy on write.
    pub minor_faults: u64,
    /// Page faults that waited for storage.
    pub major_faults: u64,
    /// Number of times that the thread gave up its CPU.
    pub voluntary_switches: u64,
    /// Number of times that the system took the CPU away from the thread.
    pub involuntary_switches: u64,
}
