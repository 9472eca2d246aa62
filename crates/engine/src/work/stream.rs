//! Threads that stream through memory.

use super::slots::slot;
use host::memory::{PageMode, Place};
use kernels::{Contract, IndexTable, Operation, PREFETCH_DISTANCE, Width};
use report::HostFacts;
use units::Bytes;

/// The order in which an index table lists the pieces of a stream. The operation determines the
/// size of a piece: a cache line of 64 B, or a block of 512 B.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableOrder {
    /// Pieces by rising address. This order shows the cost of the table itself.
    Forward,
    /// One piece in each stretch of this many bytes, a multiple of 64. Each further pass over the
    /// stream starts one piece later, until all pieces were visited.
    Strided(Bytes),
    /// Blocks of this many bytes (a power of two, 64 to 4096) in random order. The second field is
    /// the seed of the permutation.
    Random(Bytes, u64),
}

/// Threads that stream at the same time, each through memory of its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamWork {
    /// Operation on the memory.
    pub operation: Operation,
    /// Width of the registers that the kernel uses.
    pub width: Width,
    /// True if kernel selection may use any kernel of the operation's family, not only kernels of
    /// the operation.
    pub any_of_family: bool,
    /// Kind of pages that is requested for the memory.
    pub pages: PageMode,
    /// CPUs with one thread each. A CPU that is listed twice has two threads.
    pub cpus: Vec<u32>,
    /// Bytes of all streams of one thread together, without its index table.
    pub bytes: Bytes,
    /// Order of the pieces of each stream, for operations that follow an index table; `None` for
    /// other operations.
    pub order: Option<TableOrder>,
    /// Distance of prefetches ahead of the loads, for operations that prefetch.
    pub distance: Bytes,
    /// Candidates for the number of threads, each with the working set of one thread. A candidate
    /// uses the first CPUs of `cpus`. Empty if the work shall use all its CPUs.
    pub counts: Vec<(usize, Bytes)>,
    /// NUMA nodes on which the memory of all threads shall lie. `None` if the memory of each thread
    /// shall lie on the NUMA node of its CPU.
    pub place: Option<Place>,
}

impl StreamWork {
    /// A work in which a thread on each of `cpus` executes `operation` on `bytes` of its own. The
    /// registers have `width`, and no index table gives the order.
    pub fn new(
        operation: Operation,
        width: Width,
        pages: PageMode,
        cpus: &[u32],
        bytes: Bytes,
    ) -> Self {
        let distance = Bytes(PREFETCH_DISTANCE);
        Self {
            operation,
            width,
            any_of_family: false,
            pages,
            cpus: cpus.to_vec(),
            bytes,
            order: None,
            distance,
            counts: Vec::new(),
            place: None,
        }
    }

    /// One work for each candidate for the number of threads. Without candidates, only the work
    /// itself.
    pub fn counts(&self) -> Vec<StreamWork> {
        let with = |&(count, bytes): &(usize, Bytes)| Self {
            cpus: self.cpus.iter().copied().take(count).collect(),
            bytes,
            counts: Vec::new(),
            ..self.clone()
        };
        if self.counts.is_empty() {
            vec![self.clone()]
        } else {
            self.counts.iter().map(with).collect()
        }
    }

    /// NUMA nodes on which the memory of the thread on `cpu` shall lie, according to `facts`.
    pub fn memory_of(&self, cpu: u32, facts: &HostFacts) -> Place {
        match &self.place {
            None | Some(Place::Local) => Place::Node(facts.topology.node_of(cpu).unwrap_or(0)),
            Some(place) => place.clone(),
        }
    }

    /// Contract of the work's operation.
    pub fn contract(&self) -> &'static Contract {
        self.operation.contract()
    }

    /// Bytes of each stream of a thread.
    pub fn stream_bytes(&self) -> u64 {
        self.bytes.0 / u64::from(self.contract().streams())
    }

    /// Bytes of the index table of each thread; 0 without a table.
    pub fn table_bytes(&self) -> u64 {
        if self.order.is_some() {
            IndexTable::bytes_for(self.contract().visits, self.stream_bytes())
        } else {
            0
        }
    }

    /// Bytes of the mapping that each thread uses.
    pub fn slot(&self) -> Bytes {
        match self.table_bytes() {
            0 => slot(self.bytes),
            table => slot(self.bytes) + slot(Bytes(table)),
        }
    }
}
