//! Work under background traffic: the measured work, and the threads that load the memory
//! meanwhile.

use super::Invalid;
use super::chase::ChaseWork;
use super::slots::slot;
use super::stream::StreamWork;
use host::memory::PageMode;
use kernels::{BLOCK_BYTES, Operation, REFERENCE_INSTRUCTIONS_PER_BLOCK, Width};
use report::HostFacts;
use units::Bytes;

/// Blocks of a burst between two pauses: 4 KiB, few enough that traffic is smooth over the time of
/// a chase's block.
const BURST: u64 = 8;

/// Blocks of a burst where there is no pause: 64 KiB, so that calls and the fence after
/// non-temporal stores cost nothing.
const LONG_BURST: u64 = 128;

/// One thread that streams through memory of its own in bursts of one operation, with a pause after
/// each.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Traffic {
    /// Its CPU.
    pub cpu: u32,
    /// In which pages.
    pub pages: PageMode,
    /// The NUMA node of the memory; that of the CPU without.
    pub node: Option<u32>,
    /// Working set: half of it is read and the other half written where it does both.
    pub bytes: Bytes,
    /// Bursts of loads in each turn of the mix.
    pub reads: u32,
    /// Bursts of stores in each turn of the mix.
    pub writes: u32,
    /// How it stores: `write`, `write-nt`.
    pub store: Operation,
    /// Core cycles between bursts, rounded up to what [`Traffic::pause_blocks`] can do.
    pub pause: u64,
}

impl Traffic {
    /// Loads only, without a pause.
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

    /// Length of each window, whole blocks: one that is read, one that is written.
    pub fn window(&self) -> Bytes {
        Bytes(self.bytes.0 / u64::from(self.windows().max(1))).round_down(BLOCK_BYTES)
    }

    /// Windows that it streams through, 0 for one that does nothing.
    fn windows(&self) -> u32 {
        u32::from(self.reads > 0) + u32::from(self.writes > 0)
    }

    /// Bytes of the mapping that it takes up.
    pub fn slot(&self) -> Bytes {
        Bytes(
            slot(self.window())
                .0
                .saturating_mul(u64::from(self.windows())),
        )
    }

    /// Blocks of 512 B of each burst.
    pub fn burst_blocks(&self) -> u64 {
        if self.pause == 0 { LONG_BURST } else { BURST }
    }

    /// Payload of each burst: a load or a store of every byte.
    pub fn burst_bytes(&self) -> u64 {
        self.burst_blocks() * BLOCK_BYTES
    }

    /// The pause in blocks of dependent additions.
    pub fn pause_blocks(&self) -> u64 {
        self.pause.div_ceil(REFERENCE_INSTRUCTIONS_PER_BLOCK)
    }

    /// Whether the burst at `place`, counted from 0, stores: stores are spread evenly over the
    /// turns of the mix.
    pub fn stores_at(&self, place: u64) -> bool {
        let turn = (u64::from(self.reads) + u64::from(self.writes)).max(1);
        let stores_before = |place: u64| place * u64::from(self.writes) / turn;
        let place = place % turn;
        stores_before(place + 1) > stores_before(place)
    }

    /// Bytes that cross the memory bus per payload byte of a whole turn of the mix, by the
    /// contracts of its operations.
    pub fn bus_factor(&self) -> f64 {
        let bus_bytes = |operation: Operation, bursts: u32| {
            operation.contract().bus_factor() as f64 * f64::from(bursts)
        };
        let bursts = f64::from(self.reads) + f64::from(self.writes);
        (bus_bytes(Operation::Read, self.reads) + bus_bytes(self.store, self.writes))
            / bursts.max(1.0)
    }

    /// The NUMA node that its memory shall lie on by `facts`.
    pub fn memory_node(&self, facts: &HostFacts) -> u32 {
        self.node
            .or_else(|| facts.topology.node_of(self.cpu))
            .unwrap_or(0)
    }

    /// The operations of its bursts.
    pub fn operations(&self) -> impl Iterator<Item = Operation> {
        [(Operation::Read, self.reads), (self.store, self.writes)]
            .into_iter()
            .filter(|o| o.1 > 0)
            .map(|o| o.0)
    }

    /// The operations of its bursts as works of their own.
    pub(super) fn streams(&self) -> impl Iterator<Item = StreamWork> {
        let stream = |o| StreamWork::new(o, Width::Widest, self.pages, &[self.cpu], self.window());
        self.operations().map(stream)
    }
}

/// The measured work under background traffic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Probe {
    /// Latency of a chase.
    Chase(ChaseWork),
    /// Bandwidth of a thread that streams.
    Stream(Traffic),
}

impl Probe {
    /// The CPU that it runs on.
    pub fn cpu(&self) -> u32 {
        match self {
            Probe::Chase(w) => w.cpu(),
            Probe::Stream(w) => w.cpu,
        }
    }
}

/// A probe, and the background traffic. The list of CPUs is made once, which is why the parts
/// cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoadedWork {
    probe: Probe,
    traffic: Vec<Traffic>,
    cpus: Vec<u32>,
}

impl LoadedWork {
    /// `probe` with `traffic`, each thread on a CPU of its own; without traffic it is as good as
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

    /// The CPU of the probe, then those of the traffic.
    pub fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    /// All that streams: the traffic, and the probe where that does.
    pub fn streaming(&self) -> impl Iterator<Item = &Traffic> {
        let probe = match &self.probe {
            Probe::Chase(_) => None,
            Probe::Stream(stream) => Some(stream),
        };
        probe.into_iter().chain(&self.traffic)
    }

    /// The chase of the probe, if it is one.
    pub fn chase(&self) -> Option<&ChaseWork> {
        match &self.probe {
            Probe::Chase(chase) => Some(chase),
            Probe::Stream(_) => None,
        }
    }

    /// The pages of the probe.
    pub fn pages(&self) -> PageMode {
        match &self.probe {
            Probe::Chase(w) => w.pages,
            Probe::Stream(w) => w.pages,
        }
    }

    /// The same with all its memory in other pages.
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

    /// Memory that all threads go through.
    pub fn working_set(&self) -> Bytes {
        let chase = self.chase().map(ChaseWork::touched).unwrap_or_default();
        self.streaming()
            .map(|t| t.bytes)
            .fold(chase, |sum, bytes| Bytes(sum.0.saturating_add(bytes.0)))
    }

    /// The NUMA node that all its memory was asked to lie on, if there is one.
    pub fn node(&self) -> Option<u32> {
        let chase = self.chase().map(|w| w.node);
        let mut nodes = chase.into_iter().chain(self.streaming().map(|t| t.node));
        let first = nodes.next()??;
        nodes.all(|node| node == Some(first)).then_some(first)
    }

    /// The NUMA nodes that its memory shall lie on, rising.
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

    /// Says why it cannot be run: two threads on one CPU, or one without a block to stream through.
    ///
    /// # Errors
    /// [`Invalid`] with the reason.
    pub fn validate(&self) -> Result<(), Invalid> {
        let mut cpus = self.cpus.clone();
        cpus.sort_unstable();
        if let Some(pair) = cpus.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Invalid(format!(
                "two threads on cpu {}; each needs one of its own",
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
                    "traffic on cpu {} has no block of {BLOCK_BYTES} B to stream through",
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
    fn a_turn_of_a_mix_has_as_many_stores_as_asked_for_spread_evenly() {
        for (reads, writes) in [(1, 0), (0, 1), (3, 1), (2, 1), (1, 1), (1, 5), (7, 3)] {
            let traffic = mix(reads, writes, Operation::Write, 0);
            let turn = u64::from(reads + writes);
            let stores =
                |places: std::ops::Range<u64>| places.filter(|&p| traffic.stores_at(p)).count();
            assert_eq!(
                (stores(0..turn), stores(turn..5 * turn)),
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
        let beside = Traffic {
            cpu: 2,
            ..mix(1, 0, Operation::Write, 0)
        };
        assert_eq!(
            LoadedWork::new(probe(), vec![beside.clone()]).validate(),
            Ok(())
        );
        assert!(
            LoadedWork::new(probe(), vec![beside.clone(), beside.clone()])
                .validate()
                .is_err_and(|f| f.0.contains("cpu 2"))
        );
        for bad in [
            Traffic {
                bytes: Bytes(1000),
                writes: 1,
                ..beside.clone()
            },
            Traffic { reads: 0, ..beside },
        ] {
            assert!(
                LoadedWork::new(probe(), vec![bad])
                    .validate()
                    .is_err_and(|f| f.0.contains("no block"))
            );
        }
    }
}
