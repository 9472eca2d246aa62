//! A machine that exists only as a cost model: the same requests, exact answers, its own clock.
//!
//! It lets experiments, planner, sampling and renderers be tested on topologies no test machine has, without waiting.
//! Its figures are those of the model: a level has a capacity, a bandwidth for one thread and a latency; instances of
//! a cache are shared as the topology says; memory has a bandwidth that all threads share.

use super::SplitMix64;
use super::machine::{ChaseWork, Machine, MemoryPlan, Observation, StreamWork, Trouble, Work, page_bytes};
use crate::host::memory::PageMode;
use crate::kernels::Operation;
use crate::results::{ClockFacts, HostFacts, KernelUsed, PageEvidence};
use crate::units::{Bytes, BytesPerSecond, Hertz, Nanos};

/// What a level costs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCost {
    /// Payload that one thread reads per second when its data lies there.
    pub read: BytesPerSecond,
    /// One dependent load.
    pub latency: Nanos,
}

/// What disturbs samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NoiseModel {
    /// Relative size of a uniform disturbance of every sample: 0.01 makes samples differ by up to 1%.
    pub jitter: f64,
    /// Every so many samples one takes three times as long and counts an involuntary switch; 0 for never.
    pub spike_every: u64,
    /// Share of all time that the hypervisor takes.
    pub steal: f64,
    /// Relative slow-down per second of simulated time: a machine that heats up.
    pub drift: f64,
}

/// What things cost on the simulated machine.
#[derive(Debug, Clone, PartialEq)]
pub struct CostModel {
    /// One for each data cache level of the topology, nearest first, and one for memory.
    pub levels: Vec<LevelCost>,
    /// What all threads together read from memory per second.
    pub memory_total: BytesPerSecond,
    /// The core clock.
    pub core: Hertz,
    /// Rate at which all threads together fault memory in.
    pub fault: BytesPerSecond,
    /// What a base page costs a dependent load beyond `tlb_reach`.
    pub page_walk: Nanos,
    /// Memory that the TLBs cover with base pages.
    pub tlb_reach: Bytes,
    /// Share of memory that is granted in the pages asked for.
    pub granted: f64,
    /// What disturbs samples.
    pub noise: NoiseModel,
}

/// The simulated machine.
#[derive(Debug)]
pub struct SimulatedMachine {
    facts: HostFacts,
    model: CostModel,
    clock: ClockFacts,
    now: Nanos,
    random: SplitMix64,
    samples: u64,
    mapped: MemoryPlan,
    stop_at: Option<Nanos>,
}

impl SimulatedMachine {
    /// A machine with these facts and costs; `seed` decides the noise.
    pub fn new(facts: HostFacts, model: CostModel, seed: u64) -> Self {
        let clock = ClockFacts {
            counter: "simulated".to_owned(),
            rate: Hertz(1e9),
            error: 0.0,
            resolution: Nanos(1.0),
            overhead: Nanos(1.0),
            core: Some(model.core),
        };
        let random = SplitMix64::new(seed);
        Self { facts, model, clock, now: Nanos::ZERO, random, samples: 0, mapped: MemoryPlan::default(), stop_at: None }
    }

    /// Behaves as if the user had pressed Ctrl-C at this simulated time.
    pub fn interrupt_at(&mut self, time: Nanos) {
        self.stop_at = Some(time);
    }

    /// What is mapped now.
    pub fn mapped(&self) -> &MemoryPlan {
        &self.mapped
    }

    /// Samples taken so far, discarded ones among them.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    fn advance(&mut self, time: Nanos) -> Result<(), Trouble> {
        let end = self.now + time;
        match self.stop_at {
            Some(stop) if end >= stop => {
                self.now = self.now.max(stop);
                Err(Trouble::Interrupted)
            }
            _ => {
                self.now = end;
                Ok(())
            }
        }
    }

    /// The level that serves `bytes` per thread for threads on `cpus`: the nearest one of which every instance holds
    /// the working sets of the threads that share it.
    pub fn level(&self, cpus: &[u32], bytes: Bytes) -> usize {
        let caches = cpus.first().map(|&cpu| self.facts.topology.data_caches(cpu)).unwrap_or_default();
        let holds = |cache: &&crate::results::Cache| {
            let sharing = cpus.iter().filter(|cpu| cache.cpus.0.contains(cpu)).count().max(1) as u64;
            bytes.0.saturating_mul(sharing) <= cache.size.0
        };
        let level = caches.iter().position(holds).unwrap_or(caches.len());
        level.min(self.model.levels.len() - 1)
    }

    fn stream_rate(&self, work: &StreamWork) -> f64 {
        let level = self.level(&work.cpus, work.bytes);
        let memory = level + 1 == self.model.levels.len();
        let contract = work.operation.contract();
        // A store is half as fast as a load; what write-allocate adds is only felt in memory.
        let store = if contract.stores > 0 { 0.5 } else { 1.0 };
        let allocate = if memory { contract.payload_factor() as f64 / contract.bus_factor() as f64 } else { 1.0 };
        let one = self.model.levels[level].read.0 * if contract.loads > 0 && contract.stores > 0 { 1.0 } else { store };
        let all = one * work.cpus.len() as f64;
        let all = if memory { all.min(self.model.memory_total.0 * store.max(0.75)) } else { all };
        all * allocate
    }

    fn chase_nanos(&self, work: &ChaseWork) -> f64 {
        let level = self.level(&[work.cpu], work.bytes);
        let walk = work.pages == PageMode::Base && work.bytes > self.model.tlb_reach;
        self.model.levels[level].latency.0 + if walk { self.model.page_walk.0 } else { 0.0 }
    }

    /// How much longer than the model says this sample takes, and whether it is a spike.
    fn disturbance(&mut self) -> (f64, bool) {
        let noise = self.model.noise;
        self.samples += 1;
        let uniform = self.random.below(1 << 32) as f64 / (1u64 << 32) as f64;
        let spike = noise.spike_every > 0 && self.samples.is_multiple_of(noise.spike_every);
        let drift = 1.0 + noise.drift * self.now.secs();
        ((1.0 + noise.jitter * uniform) * drift * if spike { 3.0 } else { 1.0 }, spike)
    }
}

impl Machine for SimulatedMachine {
    fn facts(&self) -> &HostFacts {
        &self.facts
    }

    fn clock(&self) -> &ClockFacts {
        &self.clock
    }

    fn description(&self) -> &str {
        "simulated"
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn wall_clock(&self) -> String {
        "2000-01-01T00:00:00Z".to_owned()
    }

    fn pause(&mut self, time: Nanos) -> Result<(), Trouble> {
        self.advance(time)
    }

    fn interrupted(&self) -> bool {
        self.stop_at.is_some_and(|stop| self.now >= stop)
    }

    fn fault_rate(&mut self) -> BytesPerSecond {
        self.model.fault
    }

    fn kernel(&self, work: &Work) -> Result<KernelUsed, String> {
        let name = match work {
            Work::Stream(w) if w.operation == Operation::CopyNt && w.width == crate::kernels::Width::Bits(64) => {
                return Err("the simulated machine has no 64-bit non-temporal copy".to_owned());
            }
            Work::Stream(w) => format!("{}/simulated", w.operation),
            Work::Chase(_) => "chase/simulated".to_owned(),
        };
        Ok(KernelUsed { name, digest: "0000000000000000".to_owned() })
    }

    fn map(&mut self, plan: &MemoryPlan) -> Result<(), Trouble> {
        let usable = self.facts.memory.usable.get().copied().unwrap_or(Bytes(u64::MAX));
        if plan.total() > usable {
            return Err(Trouble::Failed(format!("{} do not fit into {usable}", plan.total())));
        }
        self.mapped = plan.clone();
        self.advance(Nanos::from_secs(plan.total().0 as f64 / self.model.fault.0))
    }

    fn prepare(&mut self, work: &Work) -> Result<(), Trouble> {
        match work {
            // Building and verifying write and read the chain once each.
            Work::Chase(w) => self.advance(Nanos::from_secs(w.bytes.0 as f64 / self.model.fault.0)),
            Work::Stream(_) => self.advance(Nanos::from_micros(10.0)),
        }
    }

    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Trouble> {
        let (factor, spike) = self.disturbance();
        let elapsed = length * factor;
        self.advance(elapsed)?;
        let amount = match work {
            Work::Stream(w) => self.stream_rate(w) * length.secs(),
            Work::Chase(w) => length.0 / self.chase_nanos(w),
        };
        Ok(Observation {
            elapsed,
            amount: amount.round().max(1.0) as u64,
            page_faults: Some(0),
            involuntary_switches: Some(u64::from(spike)),
            affinity_held: Some(true),
            core: self.core_clock(work.cpus().first().copied().unwrap_or(0)),
        })
    }

    fn core_clock(&mut self, _cpu: u32) -> Option<Hertz> {
        Some(Hertz(self.model.core.0 / (1.0 + self.model.noise.drift * self.now.secs())))
    }

    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>) {
        let asked = page_bytes(work.pages(), &self.facts);
        let node = work.cpus().first().and_then(|&cpu| self.facts.topology.node_of(cpu)).unwrap_or(0);
        let granted = if work.pages() == PageMode::Base { 1.0 } else { self.model.granted };
        let evidence = PageEvidence {
            asked_bytes: Some(asked.0),
            granted_share: Some(granted),
            granted_bytes: Some(if granted >= 0.5 { asked.0 } else { self.facts.pages.base.0 }),
            resident_share: Some(1.0),
            nodes: Some(vec![node]),
            expected_nodes: Some(vec![node]),
        };
        (evidence, Vec::new())
    }

    fn stolen(&mut self, _cpus: &[u32]) -> Option<Nanos> {
        Some(self.now * self.model.noise.steal)
    }
}
