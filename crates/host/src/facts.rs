//! Facts about the machine, mostly as its operating system reports them.
//!
//! On Linux the first source is `/proc` and `/sys`, which describe the whole machine. If their
//! files are missing, masked or invalid, the processor and system calls are asked instead. Other
//! systems only report by calls (`Reported`). Each fact records its source.

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

/// Finds all facts that need no privileges. An unknown fact has a reason instead of a value. This
/// takes milliseconds, or up to a second on a machine with a thousand CPUs.
pub fn discover(files: &SystemFiles) -> HostFacts {
    // Calls describe this machine, but recorded files may describe another one.
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

/// Combines the facts from `files` with the facts in `reported`, which come from calls.
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
