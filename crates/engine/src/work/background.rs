//! Work under background traffic: the measured work, and other threads that stream through memory
//! during the measurement.

use super::Invalid;
use super::chase::ChaseWork;
use super::slots::slot;
use super::stream::StreamWork;
use host::memory::PageMode;
use kernels::{BLOCK_BYTES, Operation, REFERENCE_INSTRUCTIONS_PER_BLOCK, Width};
use report::HostFacts;
use units::Bytes;

/// Number of blocks in a burst if a pause follows. The burst has 4 KiB. With such short bursts, the
/// traffic is spread evenly over the time of a single block of hops of a chase.
const BURST: u64 = 8;

/// Number of blocks in a burst if no pause follows. The burst has 64 KiB. In such a long burst, the
/// cost of calling the kernel and of the fence after non-temporal stores is negligible.
const LONG_BURST: u64 = 128;

/// One thread of background traffic. The thread streams through memory of its own in bursts of one
/// operation, with a pause after each burst.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Traffic {
    /// CPU of the thread.
    pub cpu: u32,
    /// Kind of pages that is requested for the memory.
    pub pages: PageMode,
    /// NUMA node of the memory; `None` for the node of the CPU.
    pub node: Option<u32>,
    /// Working set. Traffic that both reads and writes reads one half and writes the other half.
    pub bytes: Bytes,
    /// Number of bursts of loads in each repetition of the mix of loads and stores.
    pub reads: u32,
    /// Number of bursts of stores in each repetition of the mix.
    pub writes: u32,
    /// Operation of the stores: `write` or `write-nt`.
    pub store: Operation,
    /// Pause after each burst, in core clock cycles. The thread rounds it up to whole blocks of
    /// dependent additions, see [`Traffic::pause_blocks`].
    pub pause: u64,
}

impl Traffic {
    /// Traffic of loads only, without a pause.
    pub fn reading(cpu: u32, pages: PageMode, bytes: Bytes) -> Self {
        Self {
            cpu,
            pages,
            node: None,
            bytes,
            reads: 1,
            writes: 0,
            store: Operation::Write,
            pause: 0,
        }
    }

    /// Bytes of each window of memory, rounded down to whole blocks. Loads and stores use separate
    /// windows.
    pub fn window(&self) -> Bytes {
        Bytes(self.bytes.0 / u64::from(self.windows().max(1))).round_down(BLOCK_BYTES)
    }

    /// Number of windows of the thread; 0 for a thread that does nothing.
    fn windows(&self) -> u32 {
        u32::from(self.reads > 0) + u32::from(self.writes > 0)
    }

    /// Bytes of the mapping that the thread uses.
    pub fn slot(&self) -> Bytes {
        Bytes(
            slot(self.window())
                .0
                .saturating_mul(u64::from(self.windows())),
        )
    }

    /// Blocks of 512 B in each burst.
    pub fn burst_blocks(&self) -> u64 {
        if self.pause == 0 { LONG_BURST } else { BURST }
    }

    /// Payload bytes of each burst. A burst loads or stores every byte of its blocks once.
    pub fn burst_bytes(&self) -> u64 {
        self.burst_blocks() * BLOCK_BYTES
    }

    /// Length of the pause, in blocks of dependent additions.
    pub fn pause_blocks(&self) -> u64 {
        self.pause.div_ceil(REFERENCE_INSTRUCTIONS_PER_BLOCK)
    }

    /// True if burst `place`, counted from 0, is a burst of stores. Stores are spread evenly over
    /// each repetition of the mix.
    pub fn stores_at(&self, place: u64) -> bool {
        let cycle = (u64::from(self.reads) + u64::from(self.writes)).max(1);
        let stores_before = |place: u64| place * u64::from(self.writes) / cycle;
        let place = place % cycle;
        stores_before(place + 1) > stores_before(place)
    }

    /// Bytes on the memory bus divided by bytes of payload, over one repetition of the mix of loads
    /// and stores. The contract of an operation says how many bytes it moves on the bus.
    pub fn bus_factor(&self) -> f64 {
        let bus_bytes = |operation: Operation, bursts: u32| {
            operation.contract().bus_factor() as f64 * f64::from(bursts)
        };
        let bursts = f64::from(self.reads) + f64::from(self.writes);
        (bus_bytes(Operation::Read, self.reads) + bus_bytes(self.store, self.writes))
            / bursts.max(1.0)
    }

    /// NUMA node on which the memory of the thread shall lie, according to `facts`.
    pub fn memory_node(&self, facts: &HostFacts) -> u32 {
        self.node
            .or_else(|| facts.topology.node_of(self.cpu))
            .unwrap_or(0)
    }

    /// The operations of the thread's bursts.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        [(Operation::Read, self.reads), (self.store, self.writes)]
            .into_iter()
            .filter(|o| o.1 > 0)
            .map(|o| o.0)
    }

    /// The operations of the thread's bursts as separate stream works.
    pub(super) fn streams(&self) -> impl Iterator<Item = StreamWork> {
        let stream = |o| StreamWork::new(o, Width::Widest, self.pages, &[self.cpu], self.window());
        self.operations().map(stream)
    }
}

/// The measured work under background traffic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// A chase. Its latency is measured.
    Chase(ChaseWork),
    /// A thread that streams. Its bandwidth is measured.
    Stream(Traffic),
}

impl Probe {
    /// CPU of the probe.
    pub fn cpu(&self) -> u32 {
        match self {
            Probe::Chase(w) => w.cpu(),
            Probe::Stream(w) => w.cpu,
        }
    }
}

/// A probe under background traffic. The fields are private, because `new` computes `cpus` from the
/// other fields.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadedWork {
    probe: Probe,
    traffic: Vec<Traffic>,
    cpus: Vec<u32>,
}

impl LoadedWork {
    /// `probe` under `traffic`, each thread on a CPU of its own. Without traffic the probe runs
    /// alone.
    pub fn new(probe: Probe, traffic: Vec<Traffic>) -> Self {
        let cpus = std::iter::once(probe.cpu())
            .chain(traffic.iter().map(|t| t.cpu))
            .collect();
        Self {
            probe,
            traffic,
            cpus,
        }
    }

    /// The measured work.
    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Threads of the traffic.
    pub fn traffic(&self) -> &[Traffic] {
        &self.traffic
    }

    /// CPU of the probe, then the CPUs of the traffic.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// All streaming threads: the traffic, and the probe if it streams.
    pub fn streaming(&self) -> impl Iterator<Item = &Traffic> {
        let probe = match &self.probe {
            Probe::Chase(_) => None,
            Probe::Stream(stream) => Some(stream),
        };
        probe.into_iter().chain(&self.traffic)
    }

    /// The chase of the probe; `None` if the probe streams.
    pub fn chase(&self) -> Option<&ChaseWork> {
        match &self.probe {
            Probe::Chase(chase) => Some(chase),
            Probe::Stream(_) => None,
        }
    }

    /// Kind of pages that is requested for the memory of the probe.
    pub fn pages(&self) -> PageMode {
        match &self.probe {
            Probe::Chase(w) => w.pages,
            Probe::Stream(w) => w.pages,
        }
    }

    /// The same work, with pages of the kind `pages` requested for all of its memory.
    pub fn in_pages(self, pages: PageMode) -> Self {
        let probe = match self.probe {
            Probe::Chase(chase) => Probe::Chase(ChaseWork { pages, ..chase }),
            Probe::Stream(stream) => Probe::Stream(Traffic { pages, ..stream }),
        };
        let traffic = self
            .traffic
            .into_iter()
            .map(|traffic| Traffic { pages, ..traffic })
            .collect();
        Self {
            probe,
            traffic,
            cpus: self.cpus,
        }
    }

    /// Working set of all threads together.
    pub fn working_set(&self) -> Bytes {
        let chase = self.chase().map(ChaseWork::touched).unwrap_or_default();
        self.streaming()
            .map(|t| t.bytes)
            .fold(chase, |sum, bytes| Bytes(sum.0.saturating_add(bytes.0)))
    }

    /// The NUMA node that was requested for all memory; `None` if not all memory has the same
    /// requested node.
    pub fn node(&self) -> Option<u32> {
        let chase = self.chase().map(|w| w.node);
        let mut nodes = chase.into_iter().chain(self.streaming().map(|t| t.node));
        let first = nodes.next()??;
        nodes.all(|node| node == Some(first)).then_some(first)
    }

    /// NUMA nodes on which the memory shall lie according to `facts`, in rising order.
    pub fn memory_nodes(&self, facts: &HostFacts) -> Vec<u32> {
        let chase = self.chase().map(|w| w.memory_node(facts));
        let mut nodes: Vec<u32> = chase
            .into_iter()
            .chain(self.streaming().map(|t| t.memory_node(facts)))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }

    /// Checks that no two threads share a CPU and that every stream has at least one block.
    ///
    /// # Errors
    /// [`Invalid`] with the reason.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut cpus = self.cpus.clone();
        cpus.sort_unstable();
        if let Some(pair) = cpus.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Invalid(format!(
                "two threads on cpu {}; each thread needs its own cpu",
                pair[0]
            )));
        }
        match self
            .streaming()
            .find(|t| t.windows() == 0 || t.window().0 == 0)
        {
            None => Ok(()),
            Some(empty) => {
                let reason = format!(
                    "traffic on cpu {} has less memory than one block of {BLOCK_BYTES} B",
                    empty.cpu
                );
                Err(Invalid(reason))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mix(reads: u32, writes: u32, store: Operation, pause: u64) -> Traffic {
        Traffic {
            reads,
            writes,
            store,
            pause,
            ..Traffic::reading(1, PageMode::Base, Bytes::kib(64))
        }
    }

    #[test]
    fn a_turn_of_a_mix_has_as_many_stores_as_requested_spread_evenly() {
        for (reads, writes) in [(1, 0), (0, 1), (3, 1), (2, 1), (1, 1), (1, 5), (7, 3)] {
            let traffic = mix(reads, writes, Operation::Write, 0);
            let cycle = u64::from(reads + writes);
            let stores =
                |places: std::ops::Range<u64>| places.filter(|&p| traffic.stores_at(p)).count();
            assert_eq!(
                (stores(0..cycle), stores(cycle..5 * cycle)),
                (writes as usize, 4 * writes as usize)
            );
        }
        let pattern: Vec<bool> = (0..6)
            .map(|p| mix(2, 1, Operation::Write, 0).stores_at(p))
            .collect();
        assert_eq!(pattern, [false, false, true, false, false, true]);
    }

    #[test]
    fn write_allocate_counts_on_the_bus_by_the_share_of_stores() {
        let factor = |reads, writes, store| mix(reads, writes, store, 0).bus_factor();
        assert_eq!(factor(1, 0, Operation::Write), 1.0);
        assert_eq!(factor(1, 1, Operation::Write), 1.5);
        assert_eq!(factor(0, 1, Operation::Write), 2.0);
        assert_eq!(factor(1, 3, Operation::WriteNt), 1.0);
    }

    #[test]
    fn windows_are_whole_blocks_and_both_fit_into_the_slot() {
        let one = mix(1, 0, Operation::Write, 9);
        let both = mix(2, 1, Operation::Write, 9);
        assert_eq!(
            (one.window(), both.window()),
            (Bytes::kib(64), Bytes::kib(32))
        );
        assert_eq!(
            (one.slot(), both.slot()),
            (
                slot(Bytes::kib(64)),
                slot(Bytes::kib(32)) + slot(Bytes::kib(32))
            )
        );
        assert_eq!((one.burst_bytes(), one.pause_blocks()), (4096, 1));
        assert_eq!(mix(1, 0, Operation::Write, 129).pause_blocks(), 2);
        assert_eq!(mix(1, 0, Operation::Write, 0).pause_blocks(), 0);
    }

    #[test]
    fn what_cannot_run_says_why() {
        let probe = || Probe::Stream(mix(1, 0, Operation::Write, 0));
        let traffic = Traffic {
            cpu: 2,
            ..mix(1, 0, Operation::Write, 0)
        };
        assert_eq!(
            LoadedWork::new(probe(), vec![traffic.clone()]).validate(),
            Ok(())
        );
        assert!(
            LoadedWork::new(probe(), vec![traffic.clone(), traffic.clone()])
                .validate()
                .is_err_and(|f| f.0.contains("cpu 2"))
        );
        for bad in [
            Traffic {
                bytes: Bytes(1000),
                writes: 1,
                ..traffic.clone()
            },
            Traffic {
                reads: 0,
                ..traffic
            },
        ] {
            assert!(
                LoadedWork::new(probe(), vec![bad])
                    .validate()
                    .is_err_and(|f| f.0.contains("one block"))
            );
        }
    }
}
