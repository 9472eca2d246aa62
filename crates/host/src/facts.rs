//! Facts about the machine, mostly from its system.
//!
//! `/proc` and `/sys` come first, since they describe the whole machine. If their files are
//! missing, masked or odd, the processor and system calls answer instead. The source of each fact
//! is recorded.

mod bus;
mod cgroup;
mod core_designs;
mod files;
mod limits;
mod processor;
mod smbios;
mod system;
mod topology;

pub use cgroup::Throttle;
#[cfg(feature = "storage")]
pub(crate) use cgroup::unescape;
pub use files::SystemFiles;
pub(crate) use files::{field, kilobytes};

use report::HostFacts;

/// Finds all facts that need no privileges. Never fails: unknown facts have a reason. Takes
/// milliseconds, up to a second on a machine with a thousand CPUs.
pub fn discover(files: &SystemFiles) -> HostFacts {
    let memory = limits::memory(files);
    let topology = topology::discover(files, memory.total.value);
    HostFacts {
        cpu: processor::discover(files),
        pages: system::pages(files),
        system: system::system(files),
        environment: system::environment(files, &topology),
        topology,
        memory,
    }
}

#[cfg(test)]
mod tests;
