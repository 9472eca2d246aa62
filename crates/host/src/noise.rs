//! Disturbances of a thread and activity of the system, as the system counts them.

mod watch;

pub use crate::thread_noise::ThreadNoise;
pub use watch::Watch;

use super::os;

impl ThreadNoise {
    /// The counts of the calling thread since its start. The call takes well below a microsecond.
    /// `None` if the system does not count per thread.
    pub fn of_this_thread() -> Option<ThreadNoise> {
        os::thread_noise()
    }

    /// The sums of the counts of two threads.
    pub fn plus(self, other: ThreadNoise) -> ThreadNoise {
        ThreadNoise {
            minor_faults: self.minor_faults.saturating_add(other.minor_faults),
            major_faults: self.major_faults.saturating_add(other.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_add(other.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_add(other.involuntary_switches),
        }
    }

    /// The counts since `earlier`, which were read for the same thread.
    pub fn since(&self, earlier: ThreadNoise) -> ThreadNoise {
        ThreadNoise {
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self
                .voluntary_switches
                .saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self
                .involuntary_switches
                .saturating_sub(earlier.involuntary_switches),
        }
    }
}

#[cfg(test)]
mod tests;
