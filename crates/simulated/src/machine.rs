//! The simulated machine.

use crate::contention::{self, Sets};
use crate::cost_model::CostModel;
use crate::disturbances::{Spike, chunks};
use crate::sharing::stream_rate;
use crate::storage_model::SimulatedStorage;
use crate::tlb::translation_of;
use engine::Costs;
use engine::External;
use engine::Gaps;
use engine::LoadedWork;
use engine::{
    BackgroundTraffic, CHUNKS, Failure, Machine, MemoryKey, MemoryPlan, MemoryUse, Observation,
    blocks_of, chain_key, traffic_memory,
};
use engine::{ChainShape, ChaseWork, InstructionWork, LockWork, StreamWork, Work};
use host::memory::{PageMode, Place};
use host::noise::ThreadNoise;
use kernels::{LockOperation, Operation, SetId, Timing, Width, hops_per_block};
use report::{ClockFacts, HostFacts, KernelUsed, PageEvidence, Places, Relation, SystemActivity};
use stats::SplitMix64;
use std::collections::{BTreeMap, BTreeSet};
use storage::IoWork;
use units::{Bytes, BytesPerSecond, Hertz, Nanos};

/// `work` as work on storage. Fails if `work` is another kind of external work.
fn on_storage(work: &External) -> Result<&IoWork, Failure> {
    work.get()
        .ok_or_else(|| Failure::Failed("this is no work on storage".to_owned()))
}

/// Time that a round takes in addition to its samples.
const ROUND_OVERHEAD: Nanos = Nanos(2.5e6);

/// Time that a sample takes in addition to its length.
const SAMPLE_OVERHEAD: Nanos = Nanos(0.1e6);

/// The simulated machine.
#[derive(Debug)]
pub struct SimulatedMachine {
    facts: HostFacts,
    places: Places,
    model: CostModel,
    clock: ClockFacts,
    now: Nanos,
    random: SplitMix64,
    samples: u64,
    mapped: MemoryPlan,
    mappings: u64,
    chains: BTreeSet<ChaseWork>,
    taken: BTreeMap<MemoryKey, Bytes>,
    prepared: Option<Prepared>,
    storage: SimulatedStorage,
    stop_at: Option<Nanos>,
    /// Number of samples before each call of `fill` (first list), and before each call of
    /// `system_activity` (second list).
    pub calls: [Vec<u64>; 2],
}

/// Work that is ready for samples, with its rate per nanosecond.
#[derive(Debug)]
struct Prepared {
    work: Work,
    per_nano: f64,
    /// Rate of the background traffic.
    beside: Option<BackgroundTraffic>,
    fairness: f64,
}

impl SimulatedMachine {
    /// A machine with these `facts` and the costs of `model`. `seed` determines the random part of
    /// disturbances.
    pub fn new(facts: HostFacts, model: CostModel, seed: u64) -> Self {
        let clock = ClockFacts {
            counter: "simulated".to_owned(),
            rate: Some(Hertz(1e9)),
            error: Some(0.0),
            resolution: Some(Nanos(1.0)),
            overhead: Some(Nanos(1.0)),
            core: Some(model.core),
        };
        Self {
            places: Places::new(&facts.topology),
            facts,
            model,
            clock,
            now: Nanos::ZERO,
            random: SplitMix64::new(seed),
            samples: 0,
            mapped: MemoryPlan::default(),
            mappings: 0,
            chains: BTreeSet::new(),
            taken: BTreeMap::new(),
            prepared: None,
            storage: SimulatedStorage::default(),
            stop_at: None,
            calls: [Vec::new(), Vec::new()],
        }
    }

    /// Interrupts the session at the simulated time `time`, like a user who presses Ctrl-C.
    pub fn interrupt_at(&mut self, time: Nanos) {
        self.stop_at = Some(time);
    }

    /// Memory that is mapped now.
    pub fn mapped(&self) -> &MemoryPlan {
        &self.mapped
    }

    /// Number of mappings of memory so far.
    pub fn mappings(&self) -> u64 {
        self.mappings
    }

    /// Number of samples so far, including discarded ones.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Relation of two CPUs at the current placement of vCPUs; without placements, their relation
    /// in the topology.
    fn relation(&self, from: u32, to: u32) -> Relation {
        let topology = || self.places.relation(from, to);
        let placement = self.model.noise.placement(self.samples);
        placement.unwrap_or_else(topology)
    }

    /// Time of a round trip of a cache line that `from` starts, at the current placement of vCPUs.
    fn round_trip(&self, [from, to]: [u32; 2]) -> Nanos {
        let relation = self.relation(from, to);
        self.model.hand_off.round_trip(relation, from, to)
    }

    /// Factor on the speed of several threads at the current placement of vCPUs. Threads on one
    /// core share its execution units. Cores with a common cache share a link to memory.
    fn placement_factor(&self, work: &Work) -> f64 {
        let several = work.cpus().len() > 1;
        match self.model.noise.placement(self.samples).filter(|_| several) {
            Some(Relation::SameCore) => 0.5,
            Some(Relation::SharedCache(_)) if !work.fits_last_level(&self.facts) => 0.625,
            _ => 1.0,
        }
    }

    fn advance(&mut self, time: Nanos) -> Result<(), Failure> {
        let end = self.now + time;
        match self.stop_at {
            Some(stop) if end >= stop => {
                self.now = self.now.max(stop);
                Err(Failure::Interrupted)
            }
            _ => {
                self.now = end;
                Ok(())
            }
        }
    }

    /// Index of the level that serves threads on `cpus` with `bytes` each. It is the nearest level
    /// with room for the working sets of all threads that share a cache. If the threads' levels
    /// differ, it is the farthest of them.
    pub fn level(&self, cpus: &[u32], bytes: Bytes) -> usize {
        let memory = self.model.levels.len() - 1;
        let sets = cpus.iter().map(|&cpu| (cpu, bytes)).collect();
        contention::levels(&self.facts.topology, &sets, memory)
            .into_values()
            .max()
            .unwrap_or(memory)
    }

    /// Takes a window of storage work on the simulated device.
    fn window(&mut self, work: &IoWork, length: Nanos) -> Result<Observation, Failure> {
        let (io, took) = self
            .storage
            .sample(work, &self.model.storage, (self.now, length))?;
        self.samples += 1;
        self.advance(took).map(|()| Observation {
            found_on: Some(work.cpus.clone()),
            ..io.into_observation()
        })
    }

    /// Draws a new capacity of the last cache, if other programs use it (`left_by_neighbours`).
    fn move_neighbours(&mut self) {
        let caches = &mut self.model.caches;
        if let (Some((least, most)), Some(last)) =
            (caches.left_by_neighbours, caches.holds.last_mut())
        {
            let factor = most.0 as f64 / least.0.max(1) as f64;
            *last = Bytes((least.0 as f64 * factor.powf(self.random.fraction())) as u64);
        }
    }

    fn node_of(&self, cpu: u32) -> u32 {
        self.facts.topology.node_of(cpu).unwrap_or(0)
    }

    /// Fails if the mapped memory is too small for the streams of `work`.
    fn take_streams(&self, work: &StreamWork) -> Result<(), Failure> {
        let mut needed: BTreeMap<Place, Bytes> = BTreeMap::new();
        for &cpu in &work.cpus {
            let sum = needed.entry(work.memory_of(cpu, &self.facts)).or_default();
            *sum = *sum + work.slot();
        }
        let lacks = |(place, bytes)| self.mapping(&(MemoryUse::Streams, work.pages, place)) < bytes;
        if needed.into_iter().any(lacks) {
            Err(Failure::Failed(
                "no memory was planned for streams".to_owned(),
            ))
        } else {
            Ok(())
        }
    }

    fn mapping(&self, key: &MemoryKey) -> Bytes {
        self.mapped.mappings.get(key).copied().unwrap_or_default()
    }

    /// Builds the chains of `work`, each in the next free piece of its mapping. If no piece is
    /// left, all chains in this mapping are dropped first, as on the real machine. Writing and
    /// verifying a chain take one pass each.
    fn build(&mut self, work: &ChaseWork) -> Result<(), Failure> {
        let mut missing: BTreeMap<MemoryKey, Bytes> = BTreeMap::new();
        for chain in work
            .chains()
            .into_iter()
            .filter(|chain| !self.chains.contains(chain))
        {
            let sum = missing.entry(chain_key(&chain, &self.facts)).or_default();
            *sum = *sum + chain.slot();
        }
        for (key, needed) in missing {
            let size = self.mapping(&key);
            let taken = self.taken.entry(key.clone()).or_default();
            if needed > size {
                return Err(Failure::Failed(
                    "no memory was planned for a chain".to_owned(),
                ));
            }
            if *taken + needed > size {
                *taken = Bytes(0);
                let facts = &self.facts;
                self.chains.retain(|chain| chain_key(chain, facts) != key);
            }
        }
        for chain in work
            .chains()
            .into_iter()
            .filter(|chain| !self.chains.contains(chain))
            .collect::<Vec<_>>()
        {
            let taken = self
                .taken
                .entry(chain_key(&chain, &self.facts))
                .or_default();
            *taken = *taken + chain.slot();
            self.chains.insert(chain);
            self.advance(self.build_time(work))?;
        }
        Ok(())
    }

    /// Time to write and to verify one chain of `work`.
    fn build_time(&self, work: &ChaseWork) -> Nanos {
        let rate = self.model.levels.last().map_or(1e9, |memory| memory.read.0);
        Nanos::from_secs(2.0 * work.touched().0 as f64 / rate)
    }

    /// Loads per nanosecond of all threads of `work`. Their chains take room in shared caches, and
    /// their misses queue for memory.
    fn chases_per_nano(&self, work: &ChaseWork) -> f64 {
        let thread = |&cpu: &u32| ChaseWork {
            cpus: vec![cpu],
            ..work.clone()
        };
        let set = |cpu: u32| (cpu, work.touched());
        let all: Sets = work.cpus.iter().copied().map(set).collect();
        // A shared chain takes the room of one chain, for any number of threads.
        let beside = |cpu: u32| {
            if work.shared {
                Sets::from([set(cpu)])
            } else {
                all.clone()
            }
        };
        let rate = |factor: f64| -> f64 {
            work.cpus
                .iter()
                .map(|cpu| 1.0 / self.chase_nanos(&thread(cpu), &beside(*cpu), factor))
                .sum()
        };
        let in_memory = self.level(&work.cpus, work.touched()) + 1 == self.model.levels.len();
        if work.cpus.len() < 2 || !in_memory {
            return rate(1.0);
        }
        let moved = rate(1.0) * 1e9 * self.model.caches.line.0 as f64;
        rate(self.model.load.factor(moved / self.model.memory_total.0))
    }

    /// Instructions per second: four per cycle if they are independent, otherwise one.
    fn instruction_rate(&self, work: &InstructionWork) -> f64 {
        self.model.core.0
            * if work.timing == Timing::Throughput {
                4.0
            } else {
                1.0
            }
    }

    /// Operations per second of all threads. A fence takes 30 cycles and any other operation 20,
    /// and each addition one more. On a shared line, only one thread at a time executes an
    /// operation.
    fn lock_rate(&self, work: &LockWork) -> f64 {
        let one = if work.operation == LockOperation::Fence {
            30.0
        } else {
            20.0
        };
        let rate = self.model.core.0 / (one + f64::from(work.inside) + f64::from(work.between));
        if work.shared {
            rate
        } else {
            rate * work.cpus.len() as f64
        }
    }

    /// Latency in ns of a load of `work`. `sets` has the working sets of all threads, including
    /// `work`. The latency of memory is multiplied by `factor`.
    fn chase_nanos(&self, work: &ChaseWork, sets: &Sets, factor: f64) -> f64 {
        let load = self.model.load(
            &self.facts.topology.data_caches(work.cpu()),
            work,
            (sets, factor),
        );
        let from = self.node_of(work.cpu());
        let to = work.memory_node(&self.facts);
        let beyond = self.level(&[work.cpu()], work.touched()) + 1 == self.model.levels.len();
        let load = load
            + if beyond {
                self.model.nodes.latency(from, to, &self.facts)
            } else {
                0.0
            };
        let one = match work.shape {
            ChainShape::Sequential => load,
            _ => {
                load + translation_of(work, &self.model, &self.facts)
                    + if self.walks(work) {
                        self.model.page_walk.0
                    } else {
                        0.0
                    }
            }
        };
        // A thread has at most ten loads in flight, at any level.
        (one / f64::from(work.walkers.max(1))).max(one / 10.0)
    }

    /// Takes memory for `work`. Returns the amount that the probe does in a nanosecond, and the
    /// background traffic in a nanosecond; `None` without traffic.
    fn load(&mut self, work: &LoadedWork) -> Result<(f64, Option<BackgroundTraffic>), Failure> {
        work.validate()?;
        if traffic_memory(work, &self.facts)
            .into_iter()
            .any(|(key, bytes)| self.mapping(&key) < bytes)
        {
            return Err(Failure::Failed(
                "no memory was planned for traffic".to_owned(),
            ));
        }
        if let Some(chase) = work.chase() {
            self.build(chase)?;
        }
        let moved = contention::moved(&self.model, &self.facts.topology, work);
        let beside = BackgroundTraffic {
            payload: moved.payload / 1e9,
            bus: moved.bus / 1e9,
        };
        Ok((
            self.loaded_rate(work),
            (!work.traffic().is_empty()).then_some(beside),
        ))
    }

    /// Amount that the probe of `work` does in a nanosecond.
    fn loaded_rate(&self, work: &LoadedWork) -> f64 {
        let moved = contention::moved(&self.model, &self.facts.topology, work);
        match work.chase() {
            None => moved.probe / 1e9,
            Some(chase) => {
                1.0 / self.chase_nanos(
                    chase,
                    &contention::sets(work),
                    self.model.load.factor(moved.used),
                )
            }
        }
    }

    /// Takes a sample of `work` that lasts about `length`, divided into `count` chunks.
    fn observe(&mut self, work: &Work, length: Nanos, count: u64) -> Result<Observation, Failure> {
        let ready = self.prepared.as_ref().filter(|p| p.work == *work);
        let Some((per_nano, beside, fairness)) = ready.map(|p| (p.per_nano, p.beside, p.fairness))
        else {
            return Err(Failure::Failed(
                "a sample was requested before its work was prepared".to_owned(),
            ));
        };
        if let Some(io) = work.external().map(on_storage) {
            return self.window(io?, length);
        }
        let per_nano = match work {
            Work::Chase(chase) if self.model.caches.left_by_neighbours.is_some() => {
                self.move_neighbours();
                self.chases_per_nano(chase)
            }
            _ => per_nano,
        };
        let length = length * work.sample_length_factor();
        let per_nano = match work {
            Work::HandOff(w) => 1.0 / self.round_trip(w.cpus).0,
            _ => per_nano * self.placement_factor(work),
        };
        let (factor, spike) = self.disturbance();
        let elapsed = length * factor;
        self.advance(elapsed + SAMPLE_OVERHEAD)?;
        let is = |kind: Spike| spike && self.model.noise.spike == kind;
        // A spike stops the thread and leaves a gap in its time. A move or another program in the
        // same cache does not stop the thread.
        let gap = if spike && !is(Spike::Move) && !is(Spike::Neighbour) {
            length * 2.0
        } else {
            Nanos::ZERO
        };
        let mut found_on = work.cpus().to_vec();
        if let Some(first) = found_on.first_mut().filter(|_| is(Spike::Move)) {
            *first += 1;
        }
        let per_nano = per_nano * self.model.noise.left_of_core(self.samples);
        let amount = (per_nano * length.0).round().max(1.0) as u64;
        Ok(Observation {
            elapsed,
            amount,
            traffic: beside.map(|b| BackgroundTraffic {
                payload: b.payload * length.0,
                bus: b.bus * length.0,
            }),
            chunks: chunks(count, amount / work.chasing(), elapsed, gap),
            parts: vec![amount as f64 / elapsed.0; CHUNKS as usize],
            noise: Some(if spike {
                self.model.noise.spike.noise()
            } else {
                ThreadNoise::default()
            }),
            gaps: Gaps {
                total: gap,
                longest: gap,
            },
            found_on: Some(found_on),
            fairness: Some(fairness),
            core: self.core_clock(work.cpus().first().copied().unwrap_or(0)),
            ipc: Some(self.model.noise.issue(self.samples)),
            ..Default::default()
        })
    }

    /// True if `work` uses base pages and its loads miss the TLBs, which cover `tlb_reach`.
    fn walks(&self, work: &ChaseWork) -> bool {
        work.pages == PageMode::Base && work.window() > self.model.tlb_reach
    }

    /// Factor on the time of the next sample, and true if the sample has a spike.
    fn disturbance(&mut self) -> (f64, bool) {
        let noise = self.model.noise;
        self.samples += 1;
        let uniform = self.random.below(1 << 32) as f64 / (1u64 << 32) as f64;
        let spike = noise.spike_every > 0 && self.samples.is_multiple_of(noise.spike_every);
        let drift = 1.0 + noise.drift * self.now.secs();
        let place = if self.mappings.is_multiple_of(2) {
            1.0 + noise.placement
        } else {
            1.0
        };
        (
            (1.0 + noise.jitter * uniform) * drift * place * if spike { 3.0 } else { 1.0 },
            spike,
        )
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

    fn pause(&mut self, time: Nanos) -> Result<(), Failure> {
        self.advance(time)
    }

    fn interrupted(&self) -> bool {
        self.stop_at.is_some_and(|stop| self.now >= stop)
    }

    fn fault_rate(&mut self) -> BytesPerSecond {
        // The trial takes simulated time. If it is interrupted here, the next call of the machine
        // fails.
        let _ = self.advance(Nanos::from_secs(
            Bytes::mib(16).0 as f64 / self.model.fault.0,
        ));
        self.model.fault
    }

    fn kernel(&self, work: &Work) -> Result<KernelUsed, String> {
        let name = match work {
            Work::Stream(w) if w.operation == Operation::CopyNt && w.width == Width::Bits(64) => {
                return Err("the simulated machine has no 64-bit non-temporal copy".to_owned());
            }
            Work::Stream(StreamWork {
                operation,
                width: Width::Best,
                ..
            }) => format!("{operation}/simulated"),
            Work::Stream(w) => format!("{}/simulated-{}", w.operation, w.width),
            Work::Chase(w) if w.walkers > 1 => format!("chase-{}/simulated", w.walkers),
            Work::Chase(_) => "chase/simulated".to_owned(),
            Work::Instruction(w) => format!("{}/{}", w.instruction, w.timing),
            Work::Lock(w) => format!("{}/simulated", w.operation),
            Work::HandOff(w) => w.kernel.kernel_name(),
            Work::External(w) => match w.get::<IoWork>() {
                Some(io) => io.engine.clone(),
                None => return Err("the simulated machine does no such work".to_owned()),
            },
            Work::Loaded(w) => {
                return w.kernels(|part| self.kernel(part));
            }
        };
        Ok(KernelUsed {
            name,
            digest: Some("0000000000000000".to_owned()),
            c_library: None,
        })
    }

    fn costs(&self) -> Costs {
        let nothing = Nanos::ZERO;
        // The warm-up ends when two consecutive samples agree within 2%, or after eight samples.
        // `agree` is the probability that two samples agree with uniformly distributed jitter. It
        // is 1 without jitter.
        let agree = 1.0 - (1.0 - 0.02 / self.model.noise.jitter.max(0.02)).powi(2);
        let warm_ups = (1.0 + 1.0 / agree).min(8.0);
        Costs {
            round: ROUND_OVERHEAD,
            prepare: ROUND_OVERHEAD,
            sample: SAMPLE_OVERHEAD,
            warm_ups,
            warm_ups_in_memory: warm_ups,
            filling_hop: nothing,
            table_entry: nothing,
            double: nothing,
            ..Costs::TYPICAL
        }
    }

    fn expected_rate(&self, work: &Work) -> f64 {
        let per_nano = match work {
            Work::Stream(stream) => {
                let level = self.level(&stream.cpus, stream.bytes);
                stream_rate(&self.model, &self.facts, stream, level).0 / 1e9
            }
            Work::Chase(chase) => self.chases_per_nano(chase),
            Work::Loaded(loaded) => self.loaded_rate(loaded),
            Work::Instruction(instruction) => self.instruction_rate(instruction) / 1e9,
            Work::Lock(lock) => self.lock_rate(lock) / 1e9,
            Work::HandOff(_) | Work::External(_) => 1.0,
        };
        per_nano * 1e9
    }

    fn expected_build(&self, chase: &ChaseWork) -> Nanos {
        self.build_time(chase) * chase.chains().len() as f64
    }

    /// Returns zero, because the simulated device has all files.
    fn expected_preparation(&self, _work: &Work) -> Nanos {
        Nanos::ZERO
    }

    fn candidates(&self, work: &Work) -> Vec<Work> {
        let Work::Stream(stream) = work else {
            return vec![work.clone()];
        };
        let kernels = |stream: StreamWork| -> Vec<Work> {
            if stream.width != Width::Best || self.model.choices.is_empty() {
                return vec![Work::Stream(stream)];
            }
            let with = |(id, _): &(SetId, f64)| StreamWork {
                width: Width::Set(*id),
                ..stream.clone()
            };
            self.model
                .choices
                .iter()
                .map(with)
                .map(Work::Stream)
                .collect()
        };
        stream.counts().into_iter().flat_map(kernels).collect()
    }

    fn map(&mut self, plan: &MemoryPlan, keep_old: bool, until: Nanos) -> Result<(), Failure> {
        let usable = self
            .facts
            .memory
            .usable
            .get()
            .copied()
            .unwrap_or(Bytes(u64::MAX));
        let all = plan.total()
            + if keep_old {
                self.mapped.total()
            } else {
                Bytes(0)
            };
        if all > usable {
            return Err(Failure::Failed(format!("{all} do not fit into {usable}")));
        }
        self.mapped = plan.clone();
        self.mappings += 1;
        self.chains.clear();
        self.taken.clear();
        self.prepared = None;
        let expected = Nanos::from_secs(plan.total().0 as f64 / self.model.fault.0);
        let needed = expected * (1.0 + self.model.noise.slow_mapping);
        let allowed = (until - self.now).max(Nanos::ZERO);
        self.advance(needed.min(allowed))?;
        if needed > allowed {
            return Err(Failure::OutOfTime);
        }
        Ok(())
    }

    fn prepare(&mut self, work: &Work) -> Result<(), Failure> {
        self.prepared = None;
        let mut beside = None;
        let mut fairness = 1.0;
        let per_nano = match work {
            Work::Loaded(w) => {
                let (per_nano, traffic) = self.load(w)?;
                beside = traffic;
                per_nano
            }
            Work::Stream(w) => {
                self.take_streams(w)?;
                let level = self.level(&w.cpus, w.bytes);
                let (rate, shares) = stream_rate(&self.model, &self.facts, w, level);
                fairness = shares;
                rate / 1e9
            }
            Work::Chase(w) => {
                self.build(w)?;
                self.chases_per_nano(w)
            }
            Work::Instruction(w) => self.instruction_rate(w) / 1e9,
            Work::Lock(w) => self.lock_rate(w) / 1e9,
            Work::External(w) => {
                self.storage.prepare(on_storage(w)?, &self.model.storage)?;
                1.0
            }
            Work::HandOff(w) => 1.0 / self.round_trip(w.cpus).0,
        };
        self.prepared = Some(Prepared {
            work: work.clone(),
            per_nano,
            beside,
            fairness,
        });
        self.advance(ROUND_OVERHEAD)
    }

    fn sample(&mut self, work: &Work, length: Nanos) -> Result<Observation, Failure> {
        let count = CHUNKS * u64::from(self.model.noise.short_chunks.max(1));
        self.observe(work, length, count)
    }

    fn sample_in_chunks(&mut self, work: &Work, amount: u64) -> Result<Observation, Failure> {
        let each = work
            .chase()
            .map_or(1, |chase| hops_per_block(chase.walkers as usize));
        let amount = blocks_of(amount, each) * each;
        let Some(per_nano) = self
            .prepared
            .as_ref()
            .map(|p| p.per_nano / work.chasing() as f64)
        else {
            return Err(Failure::Failed(
                "a sample was requested before its work was prepared".to_owned(),
            ));
        };
        self.observe(work, Nanos((amount * CHUNKS) as f64 / per_nano), CHUNKS)
    }

    fn core_clock(&mut self, _cpu: u32) -> Option<Hertz> {
        let share = 1.0 - self.model.noise.slow_clock;
        Some(Hertz(
            self.model.core.0 * share / (1.0 + self.model.noise.drift * self.now.secs()),
        ))
    }

    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>) {
        (
            self.model
                .nodes
                .evidence(work, &self.facts, self.model.granted),
            Vec::new(),
        )
    }

    fn fill(&mut self) -> Result<(), Failure> {
        self.calls[0].push(self.samples);
        Ok(())
    }

    fn system_activity(&mut self, cpus: &[u32]) -> SystemActivity {
        self.calls[1].push(self.samples);
        self.model.noise.system_activity(self.now, cpus.len())
    }

    fn hand_off(&mut self, [from, to]: [u32; 2]) -> Option<Observation> {
        let elapsed = self.round_trip([from, to]);
        Some(Observation {
            elapsed,
            amount: 1,
            ..Default::default()
        })
    }

    fn clock_drift(&mut self) -> Option<f64> {
        Some(self.model.noise.counter_drift)
    }
}
