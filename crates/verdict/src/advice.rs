//! Advice for each cause of doubt.

use report::Cause;

/// What to type or to change so that the number becomes solid; empty where nothing is known to
/// help.
pub fn for_cause(cause: Cause) -> &'static str {
    match cause {
        Cause::AboveLimit => {
            "report it: the limit or the measurement is wrong; check --dram-peak if that is the \
             limit"
        }
        Cause::BelowFasterLevel => "measure again; if it stays, compare --pages 4k and --pages thp",
        Cause::Interrupted => "let the run end, or continue it with --resume",
        Cause::Moved => {
            "keep tools that set affinities (taskset, cgroup cpusets) away during the run"
        }
        Cause::PageSize => {
            "allow huge pages: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; or \
             type --pages 4k"
        }
        Cause::NotResident => "leave more memory free, or type smaller --sizes",
        Cause::Node => {
            "free memory on the node of the threads, or choose --cpus on the node that has some"
        }
        Cause::Disturbed => "stop other programs, or type --cpus with cpus that they do not use",
        Cause::FewSamples => "type more --samples, and a --budget that has room for them",
        Cause::Stolen => {
            "use a machine with dedicated cpus, or measure when its neighbours are quiet; \
             --repeat 5 shows the range"
        }
        Cause::HostMoved => {
            "use a machine whose cpus are pinned to cores of their own, or measure with one thread"
        }
        Cause::CoreShared => {
            "leave the other hardware thread of the core idle; in a virtual machine use one with \
             cores of its own"
        }
        Cause::Throttled => {
            "raise the cpu quota of the container, or type --cpus with fewer cpus than it has \
             time for"
        }
        Cause::Others => "stop other programs, or measure when the machine is idle",
        Cause::MemoryPressure => "leave more memory free, or type smaller --sizes",
        Cause::Stopped => "do not stop the run (Ctrl-Z, SIGSTOP, a paused machine); measure again",
        Cause::CoreClock => "set the performance governor, or warm the machine up first",
        Cause::Heat => "improve cooling, or pause between points: --cooldown 500ms",
        Cause::Counter => "measure again; if it stays, the machine's counter is no clock",
        Cause::Drift => {
            "measure again after a while; if it stays, look for heat and for programs that start \
             and end"
        }
        Cause::Bimodal => {
            "type --reallocate 6 to see whether memory decides it, --repeat 6 whether time does"
        }
        Cause::Placement => "type --reallocate 6 for an interval over allocations, or --pages huge",
        Cause::PageCache => {
            "leave out --buffered, use a file system with direct I/O, or a range larger than the \
             memory"
        }
        Cause::IoErrors => "look at the system's log: the device or the file has errors",
        Cause::WrongData => {
            "write the file anew with --create and --data pattern; if it stays, the storage loses \
             data"
        }
        Cause::Behind => {
            "type a lower --rate, or more --threads and --depth; for a recording or a number a \
             longer --budget"
        }
        Cause::NonStationary => {
            "others take this cache back between samples: measure when they are quiet, or type \
             smaller --sizes"
        }
        Cause::CacheSize => "size memory by what timing shows: type --last-level measured",
        Cause::Spread => "type --samples 500 (they come in more rounds), or find a quieter machine",
    }
}

/// By what samples were disturbed, to follow the words that they were.
pub fn cause_phrase(cause: Cause) -> &'static str {
    match cause {
        Cause::Moved => " by moves to other cpus",
        Cause::Others => " by other programs",
        Cause::Stopped => " by stops of the process",
        Cause::NotResident => " by page faults",
        Cause::Stolen => " by gaps that the system does not count",
        Cause::HostMoved => ": the host had two of its cpus on one core, or nearer than usual",
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
