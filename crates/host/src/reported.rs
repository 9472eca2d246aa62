//! Facts that all supported operating systems except Linux report by calls. Linux reports them in
//! files.

use report::{Cache, Fact, HugePool, Swap};
use units::Bytes;

/// A value and the source that reported it.
pub type Told<T> = (T, String);

/// A core as a system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedCore {
    /// Numbers of its logical CPUs.
    pub cpus: Vec<u32>,
    /// Kind of the core in the system's words; `None` if the system does not report kinds.
    pub kind: Option<String>,
}

/// A NUMA node as a system reports it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedNode {
    /// Number of the node.
    pub id: u32,
    /// Numbers of its logical CPUs.
    pub cpus: Vec<u32>,
    /// Free memory of the node in bytes; `None` if the system does not report it.
    pub available: Option<u64>,
    /// Distances to all nodes in the order of their ids. Empty if the system reports no distances.
    pub distances: Vec<u32>,
}

/// CPUs, caches and nodes as a system reports them. Lists may be empty, incomplete or inconsistent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReportedTopology {
    /// Online CPUs.
    pub online: Vec<u32>,
    /// CPUs that this process may use; `None` if it may use all.
    pub usable: Option<Vec<u32>>,
    /// Physical cores.
    pub cores: Vec<ReportedCore>,
    /// CPUs of each package.
    pub packages: Vec<Vec<u32>>,
    /// Caches.
    pub caches: Vec<Cache>,
    /// NUMA nodes.
    pub nodes: Vec<ReportedNode>,
    /// Names of the calls that reported the CPUs.
    pub cpus_source: String,
    /// Names of the calls that reported the caches.
    pub caches_source: String,
    /// Names of the calls that reported the nodes.
    pub nodes_source: String,
}

/// Large pages as a system reports them.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportedPages {
    /// Mode of transparent huge pages.
    pub mode: Fact<String>,
    /// Size of a large page.
    pub size: Fact<Bytes>,
    /// Pools of reserved pages.
    pub pools: Fact<Vec<HugePool>>,
}

/// All facts that a system reports by calls. `None` means that it does not report the fact.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reported {
    /// CPUs, caches and nodes.
    pub topology: Option<ReportedTopology>,
    /// Name of the processor's model.
    pub model_name: Option<Told<String>>,
    /// Revision of the microcode.
    pub microcode: Option<Told<String>>,
    /// Vendor, version and date of the firmware.
    pub firmware: Option<Told<String>>,
    /// Vendor and name of the machine.
    pub machine: Option<Told<String>>,
    /// Tables of the firmware (SMBIOS), without a header.
    pub firmware_tables: Option<Told<Vec<u8>>>,
    /// Hypervisor: its name, or `none`.
    pub hypervisor: Option<Told<String>>,
    /// Large pages.
    pub pages: Option<ReportedPages>,
    /// Number of CPUs that the limit of a job object (Windows) allows: CPU time per elapsed time.
    pub cpu_quota: Option<Told<f64>>,
    /// Memory that the limit of a job object (Windows) leaves to this process.
    pub memory_left: Option<Told<Bytes>>,
    /// Swap space.
    pub swap: Option<Told<Swap>>,
    /// Load average over one minute.
    pub load: Option<Told<f64>>,
    /// Conditions of the machine that affect speed.
    pub conditions: Option<Conditions>,
    /// Request that memgauge made for its measuring threads, in words. The fact is unknown if the
    /// system refused the request.
    pub thread_request: Option<Fact<String>>,
}

/// Conditions of the machine that affect speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Conditions {
    /// Source of electric power: `mains`, `battery`.
    pub power_source: Fact<String>,
    /// True if the system saves power at the cost of speed.
    pub power_saving: Fact<bool>,
    /// Thermal state in the system's words; `nominal` if heat limits nothing.
    pub thermal_state: Fact<String>,
    /// Scarcity of memory in the system's words; `normal` if memory is not scarce.
    pub memory_pressure: Fact<String>,
}
