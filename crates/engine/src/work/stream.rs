//! Threads that stream through memory.

use super::slots::slot;
use host::memory::{PageMode, Place};
use kernels::{Contract, IndexTable, Operation, PREFETCH_DISTANCE, Width};
use report::HostFacts;
use units::Bytes;

/// The order in which a table names the pieces of a stream.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TableOrder {
    /// One after the other: shows what the table itself costs.
    Forward,
    /// One line in this many bytes, a multiple of 64; each further pass starts one line later,
    /// until all lines were visited.
    Strided(Bytes),
    /// Blocks of this many bytes, 64 to 4096 and a power of two, in the order of a permutation with
    /// this seed.
    Random(Bytes, u64),
}

/// Threads that stream through memory of their own, all at once.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamWork {
    /// Operation on the memory.
    pub operation: Operation,
    /// With which registers.
    pub width: Width,
    /// Whether any kernel that answers the same question may be chosen, not only one of the
    /// operation.
    pub any_of_family: bool,
    /// In which pages.
    pub pages: PageMode,
    /// One thread on each of these CPUs; on one that is named twice, two.
    pub cpus: Vec<u32>,
    /// Working set of each thread, all streams of the operation together, without the table of an
    /// order.
    pub bytes: Bytes,
    /// For operations that follow a table.
    pub order: Option<TableOrder>,
    /// How far ahead operations that prefetch do so.
    pub distance: Bytes,
    /// Candidates for the number of threads, with the working set of each thread, on the first
    /// CPUs. Empty if all CPUs are requested.
    pub counts: Vec<(usize, Bytes)>,
    /// Place of the memory of all threads; `None` for the node of each thread, if that is possible.
    pub place: Option<Place>,
}

impl StreamWork {
    /// `operation` on `bytes` for each of `cpus` at `width`, in the operation's own order.
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

    /// The works with the numbers of threads that may be chosen; itself where there is no choice.
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

    /// Place of the memory of the thread on `cpu`, according to `facts`.
    pub fn memory_of(&self, cpu: u32, facts: &HostFacts) -> Place {
        match &self.place {
            None | Some(Place::Local) => Place::Node(facts.topology.node_of(cpu).unwrap_or(0)),
            Some(place) => place.clone(),
        }
    }

    /// Contract of its operation.
    pub fn contract(&self) -> &'static Contract {
        self.operation.contract()
    }

    /// Length of each stream of a thread.
    pub fn stream_bytes(&self) -> u64 {
        self.bytes.0 / u64::from(self.contract().streams())
    }

    /// Bytes of the table of each thread, 0 where it follows none.
    pub fn table_bytes(&self) -> u64 {
        if self.order.is_some() {
            IndexTable::bytes_for(self.contract().visits, self.stream_bytes())
        } else {
            0
        }
    }

    /// Bytes of the mapping that each thread takes up.
    pub fn slot(&self) -> Bytes {
        match self.table_bytes() {
            0 => slot(self.bytes),
            table => slot(self.bytes) + slot(Bytes(table)),
        }
    }
}
