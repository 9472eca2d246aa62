//! Facts about the machine as its system describes it.
//!
//! `/proc` and `/sys` come first, since they know about the whole machine; where they are missing,
//! masked or odd, the processor and system calls answer, and the source of the fact says so.

mod bus;
mod cgroup;
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

/// Everything that can be found out without privileges. Never fails: what is unknown says why.
/// Takes milliseconds, up to a second on a machine with a thousand CPUs.
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
