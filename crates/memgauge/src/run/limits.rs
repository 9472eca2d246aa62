//! Upper limits of the values of a point.

use engine::Work;
use experiments::Bound;
use report::{HostFacts, Limit};
use std::collections::BTreeSet;
use units::{Bytes, BytesPerSecond, Hertz};
use verdict::{MemoryTraffic, PortTraffic, memory_limit, port_limit};

/// The work of a point, with the facts that determine its limits.
pub(super) struct Limited<'a> {
    /// Kind of limit, as the point's experiment gives it.
    pub bound: Bound,
    /// Facts about the machine.
    pub facts: &'a HostFacts,
    /// The work of the point.
    pub work: &'a Work,
    /// Highest memory bandwidth, if the user gives it.
    pub given_peak: Option<BytesPerSecond>,
}

impl Limited<'_> {
    /// Limit of the value at the core clock `core`; `None` if the limit is unknown.
    pub(super) fn limit(&self, core: Option<Hertz>) -> Option<Limit> {
        match (self.bound, self.work) {
            (Bound::L1Ports, Work::Stream(stream)) => {
                let contract = stream.operation.contract();
                let traffic = PortTraffic {
                    loads: contract.loads,
                    stores: contract.stores,
                    payload_factor: contract.payload_factor(),
                    threads: stream.cpus.len(),
                };
                port_limit(self.facts, core?, traffic)
            }
            (Bound::Memory, work) => {
                let nodes = work.place().map(|_| work.memory_nodes(self.facts).len());
                self.memory(work.cpus(), work.working_set(), nodes)
            }
            (Bound::Unknown, Work::External(external)) => external.work().limit(),
            (Bound::Unknown | Bound::L1Ports, _) => None,
        }
    }

    /// Limit of the background traffic; `None` if it is unknown or if there is no traffic.
    pub(super) fn traffic_limit(&self) -> Option<Limit> {
        let Work::Loaded(loaded) = self.work else {
            return None;
        };
        let traffic = loaded.traffic();
        let cpus: Vec<u32> = traffic.iter().map(|thread| thread.cpu).collect();
        let bytes = traffic
            .iter()
            .fold(0_u64, |sum, thread| sum.saturating_add(thread.bytes.0));
        let nodes: Option<BTreeSet<u32>> = traffic.iter().map(|thread| thread.node).collect();
        if cpus.is_empty() {
            return None;
        }
        self.memory(&cpus, Bytes(bytes), nodes.map(|nodes| nodes.len()))
    }

    fn memory(&self, cpus: &[u32], bytes: Bytes, nodes: Option<usize>) -> Option<Limit> {
        let traffic = MemoryTraffic {
            cpus,
            bytes,
            nodes,
            given_peak: self.given_peak,
        };
        memory_limit(self.facts, traffic)
    }
}
