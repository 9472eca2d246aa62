//! Advice for each cause of doubt.

use report::Cause;

/// Advice against `cause` that leads to a solid number; empty if none is known.
pub fn for_cause(cause: Cause) -> &'static str {
    match cause {
        Cause::AboveLimit => {
            "check --dram-peak if the limit comes from it; otherwise report this as a bug"
        }
        Cause::BelowFasterLevel => "measure again; if it stays, compare --pages 4k with thp",
        Cause::Interrupted => "let the session end, or continue it with --resume",
        Cause::Moved => "keep taskset, cpusets and similar tools away during the session",
        Cause::PageSize => {
            "allow huge pages: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; or \
             type --pages 4k"
        }
        Cause::NotResident => "free memory, or type smaller --sizes",
        Cause::Node => "free memory on the node of the threads, or choose --cpus of another node",
        Cause::Disturbed => "stop other programs, or choose idle CPUs with --cpus",
        Cause::FewSamples => "type more --samples and a longer --budget",
        Cause::Stolen => "use a machine with dedicated CPUs, or measure when neighbours are quiet",
        Cause::HostMoved => "use a machine with pinned CPUs, or measure with one thread",
        Cause::CoreShared => {
            "leave the sibling hardware thread idle; in a virtual machine use dedicated cores"
        }
        Cause::Throttled => "raise the CPU quota of the container, or use fewer CPUs with --cpus",
        Cause::Others => "stop other programs, or measure when the machine is idle",
        Cause::MemoryPressure => "free memory, or type smaller --sizes",
        Cause::Stopped => "do not stop or pause the session; measure again",
        Cause::CoreClock => "set the performance governor, or warm the machine up first",
        Cause::Heat => "improve cooling, or pause between points: --cooldown 500ms",
        Cause::Counter => "measure again; if it stays, the counter of this machine is no clock",
        Cause::Drift => "measure again later; if it stays, look for heat or changing load",
        Cause::Bimodal => {
            "type --reallocate 6 to see whether memory decides, --repeat 6 whether time does"
        }
        Cause::Placement => "type --reallocate 6 for an interval over allocations, or --pages huge",
        Cause::PageCache => {
            "leave out --buffered, use a file system with direct I/O, or a range larger than the \
             memory"
        }
        Cause::IoErrors => "read the system log: the device or the file has errors",
        Cause::WrongData => {
            "write the file again with --create and --data pattern; if it stays, the storage \
             loses data"
        }
        Cause::Behind => "type a lower --rate, more --threads or --depth, or a longer --budget",
        Cause::NonStationary => "measure when neighbours are quiet, or type smaller --sizes",
        Cause::CacheSize => "size memory by timing: type --last-level measured",
        Cause::Spread => "type --samples 500, which also adds rounds, or use a quieter machine",
    }
}

/// The cause of doubt as a clause that follows `because` in a sentence.
pub fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::AboveLimit => "they are above the limit of the machine",
        Cause::BelowFasterLevel => "a larger working set came out faster",
        Cause::Interrupted => "the session was interrupted",
        Cause::Moved => "threads were moved to other CPUs",
        Cause::PageSize => "the system did not grant the page size",
        Cause::NotResident => "memory was not resident",
        Cause::Node => "memory lies on another NUMA node",
        Cause::Disturbed => "most samples were disturbed",
        Cause::FewSamples => "there are too few undisturbed samples",
        Cause::Stolen => "the hypervisor took CPU time",
        Cause::HostMoved => "the hypervisor moved the virtual CPUs",
        Cause::CoreShared => "another hardware thread used the same core",
        Cause::Throttled => "a CPU quota stopped threads",
        Cause::Others => "other programs used the CPUs",
        Cause::MemoryPressure => "memory was short",
        Cause::Stopped => "the process was stopped",
        Cause::CoreClock => "the core clock changed",
        Cause::Heat => "heat slowed the processor down",
        Cause::Counter => "the time counter drifted",
        Cause::Drift => "values drifted during the session",
        Cause::Bimodal => "values fall into two groups",
        Cause::Placement => "values depend on the physical pages",
        Cause::PageCache => "the page cache answered instead of the device",
        Cause::IoErrors => "operations failed",
        Cause::WrongData => "data came back changed",
        Cause::Behind => "the requested rate was not reached",
        Cause::NonStationary => "neighbours took cache space between samples",
        Cause::CacheSize => "the working set does not fit the cache that it is named after",
        Cause::Spread => "the confidence intervals are wide",
    }
}

/// Phrase about the disturbance of samples. It follows `were disturbed` in a sentence.
pub fn cause_phrase(cause: Cause) -> &'static str {
    match cause {
        Cause::Moved => " by moves to other cpus",
        Cause::Others => " by other programs",
        Cause::Stopped => " by stops of the process",
        Cause::NotResident => " by page faults",
        Cause::Stolen => " by gaps that the system does not count",
        Cause::HostMoved => ": the host moved a cpu during their rounds",
        Cause::CoreShared => ": another hardware thread computed on the same core",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_fits_on_a_line() {
        for &cause in Cause::ALL {
            let text = for_cause(cause);
            assert!(
                !text.is_empty() && text.len() < 120 && !text.contains('\n'),
                "{cause:?}: {} characters: {text}",
                text.len()
            );
        }
    }
}
