//! What disturbed a thread or a CPU, counted by the system.

use super::facts::SystemFiles;
use super::{counter, os};
use crate::results::Surroundings;
use crate::units::Nanos;

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

impl ThreadNoise {
    /// The counts of the calling thread; well below a microsecond. `None` where the system does not count by thread.
    pub fn of_this_thread() -> Option<ThreadNoise> {
        os::thread_noise()
    }

    /// Both together: those of two threads.
    pub fn plus(self, other: ThreadNoise) -> ThreadNoise {
        ThreadNoise {
            minor_faults: self.minor_faults.saturating_add(other.minor_faults),
            major_faults: self.major_faults.saturating_add(other.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_add(other.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_add(other.involuntary_switches),
        }
    }

    /// What was added since `earlier`, a reading of the same thread.
    pub fn since(&self, earlier: ThreadNoise) -> ThreadNoise {
        ThreadNoise {
            minor_faults: self.minor_faults.saturating_sub(earlier.minor_faults),
            major_faults: self.major_faults.saturating_sub(earlier.major_faults),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
        }
    }
}

/// Reads what happens on the machine beside a run. Finds the files once.
#[derive(Debug)]
pub struct Watch {
    files: SystemFiles,
}

impl Watch {
    /// Over what `files` tell.
    pub fn new(files: SystemFiles) -> Self {
        Self { files }
    }

    /// All counts and times until now; those of single CPUs for `cpus`, all of them together.
    pub fn read(&self, cpus: &[u32]) -> Surroundings {
        Surroundings {
            elapsed_ns: counter::monotonic().0,
            stolen_ns: stolen(&self.files, cpus).map(|time| time.0),
            ..Surroundings::default()
        }
    }
}

/// Time that the hypervisor gave to others while `cpus` had work, all of them together since the system started
/// (`/proc/stat`, steal; steps of a jiffy, usually 10 ms). `None` unless it is told for every one of them.
pub fn stolen(files: &SystemFiles, cpus: &[u32]) -> Option<Nanos> {
    const STEAL: usize = 8; // cpuN user nice system idle iowait irq softirq steal
    let stat = files.read("/proc/stat")?;
    let mut jiffies = 0u64;
    for cpu in cpus {
        let name = format!("cpu{cpu}");
        let line = stat.lines().find(|line| line.split_whitespace().next() == Some(&name))?;
        jiffies = jiffies.saturating_add(line.split_whitespace().nth(STEAL)?.parse().ok()?);
    }
    Some(Nanos::from_secs(jiffies as f64 / os::jiffies_per_second()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::memory::{Mapping, PageMode};
    use crate::units::Bytes;

    #[test]
    fn a_first_touch_is_counted() {
        let before = ThreadNoise::of_this_thread().unwrap();
        // A mapping of its own: the allocator may hand out what was touched before.
        let memory = Mapping::new(Bytes::mib(8), PageMode::Base, Bytes(0)).unwrap();
        memory.take(0..memory.len()).unwrap().touch(0..memory.len());
        let added = ThreadNoise::of_this_thread().unwrap().since(before);
        assert!(added.minor_faults + added.major_faults > 0, "{} bytes, {added:?}", memory.len());
        assert_eq!(before.since(ThreadNoise { minor_faults: u64::MAX, ..before }).minor_faults, 0);
    }

    #[test]
    fn stolen_time_is_summed_over_the_cpus_named() {
        let tree = tempfile::tempdir().unwrap();
        let files = SystemFiles::under(tree.path());
        assert_eq!(stolen(&files, &[0]), None);
        std::fs::create_dir(tree.path().join("proc")).unwrap();
        let stat = "cpu  9 9 9 9 9 9 9 999 0 0\ncpu0 1 1 1 1 1 1 1 200 0 0\ncpu1 1 1 1 1 1 1 1 100 0 0\ncpu10 1\n";
        std::fs::write(tree.path().join("proc/stat"), stat).unwrap();
        let second = os::jiffies_per_second().unwrap();
        assert_eq!(stolen(&files, &[0, 1]), Some(Nanos::from_secs(300.0 / second)));
        assert_eq!(stolen(&files, &[1]), Some(Nanos::from_secs(100.0 / second)));
        assert_eq!(stolen(&files, &[]), Some(Nanos::ZERO));
        assert_eq!(stolen(&files, &[0, 2]), None, "a CPU that is not listed");
        assert_eq!(stolen(&files, &[10]), None, "a line that is cut short");
    }
}
