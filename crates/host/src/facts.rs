//! Facts about the machine, mostly from its system.
//!
//! `/proc` and `/sys` come first, since they describe the whole machine. If their files are
//! missing, masked or odd, the processor and system calls answer instead. Other systems report by
//! calls only ([`Reported`]). The source of each fact is recorded.

mod bus;
mod cgroup;
mod core_designs;
mod files;
mod limits;
mod power;
mod processor;
mod reasons;
mod smbios;
mod system;
mod topology;

pub use cgroup::Throttle;
#[cfg(feature = "storage")]
pub(crate) use cgroup::unescape;
pub use files::SystemFiles;
pub(crate) use files::{field, kilobytes};

use crate::os;
use crate::reported::Reported;
use report::HostFacts;

/// Finds all facts that need no privileges. Never fails: unknown facts have a reason. Takes
/// milliseconds, up to a second on a machine with a thousand CPUs.
pub fn discover(files: &SystemFiles) -> HostFacts {
    // Recorded files describe another machine than the calls.
    let reported = if files.is_real() {
        os::reported()
    } else {
        Reported::default()
    };
    let mut facts = put_together(files, &reported);
    if files.is_real() && !os::HAS_SYSTEM_FILES {
        reasons::without_files(&mut facts);
    }
    facts
}

/// The facts from files and from what calls reported.
fn put_together(files: &SystemFiles, reported: &Reported) -> HostFacts {
    let memory = limits::memory(files, reported);
    let topology = topology::discover(files, memory.total.value, reported.topology.as_ref());
    HostFacts {
        cpu: processor::discover(files, reported),
        pages: system::pages(files, reported),
        system: system::system(files, reported),
        environment: system::environment(files, &topology, reported),
        gpus: Vec::new(),
        topology,
        memory,
    }
}

#[cfg(test)]
mod tests;
