//! The machine that this process runs on.

mod arena;
mod background;
mod candidates;
mod chain_builder;
mod clock;
mod common_window;
mod external;
mod pair_probe;
mod ping_pong;
mod prepared;
mod timed_sample;
mod workers;
mod workload;

pub use clock::Clock;
pub use external::{ExternalMeans, ExternalRunner};
pub use workers::{Member, StartBarrier, Team};

use crate::chain::order::ChainOrder;
use crate::machine::{Costs, Failure, Machine, Observation};
use crate::native::background::{LoadedRun, ProbeRun, TrafficShare};
use crate::native::ping_pong::HandOffRun;
use crate::native::prepared::{Memory, Prepared, kernel_used, shares};
use crate::native::timed_sample::{Length, Run, take};
use crate::native::workload::{ChaseRun, InstructionRun, LockRun, StreamRun};
use crate::work::{ChainShape, ChaseWork, StreamWork, Work};
use crate::work::{LoadedWork, Probe, Traffic};
use crate::work::{MemoryKey, MemoryPlan, MemoryUse, chain_key, page_bytes, slot, traffic_key};
use arena::Arena;
use host::counter;
use host::facts::SystemFiles;
use host::interrupt::StopFlag;
use host::memory::{Mapping, PageMode, PageReading, Place, Window};
use host::noise::Watch;
use kernels::{self, Chain, LINE_BYTES, UnverifiedChain, Walk, dependent_adds};
use report::{ClockFacts, HostFacts, KernelUsed, PageEvidence, SystemActivity};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use units::error::Result;
use units::{Bytes, BytesPerSecond, Hertz, Nanos};

/// Bytes that one worker faults in before it checks the stop flag again.
const TOUCH_STEP: usize = 2 << 20;

/// The runner of external works, and the parts of the machine that the runner uses.
type External<'a> = (&'a mut dyn ExternalRunner, ExternalMeans<'a>);

/// Number of pages of each window whose NUMA node is read back, if the work requests no place.
const NODE_SAMPLES: usize = 64;

/// The machine that this process runs on.
#[derive(Debug)]
pub struct RealMachine {
    facts: HostFacts,
    description: String,
    watch: Watch,
    clock: Clock,
    team: Arc<Team>,
    cpus: Vec<u32>,
    stop: StopFlag,
    mappings: BTreeMap<MemoryKey, std::result::Result<Arena, Failure>>,
    chains: BTreeMap<ChaseWork, Arc<Chain>>,
    /// Walkers on the built chains, by the work that uses them.
    walks: BTreeMap<ChaseWork, Arc<ChaseRun>>,
    /// Executes works outside of memory; `None` if such works are not possible.
    external: Option<Box<dyn ExternalRunner>>,
    prepared: Option<(Work, Prepared)>,
    /// Cache lines that each pair of CPUs hands back and forth before and after rounds of other
    /// works.
    lines: BTreeMap<[u32; 2], Arc<HandOffRun>>,
    /// Position at which the last stream that was larger than the caches stopped, as a share (0 to
    /// 1) of a pass over its memory.
    reached: f64,
}

impl RealMachine {
    /// Calibrates the clock and starts a pinned thread on each of `cpus`. When `stop` is set, works
    /// end early.
    pub fn new(facts: HostFacts, files: SystemFiles, cpus: &[u32], stop: StopFlag) -> Result<Self> {
        let kinds = facts.topology.cpus.iter();
        let kinds = kinds.filter_map(|cpu| Some((cpu.id, cpu.kind.clone()?)));
        let team = Arc::new(Team::on_kinds(cpus, kinds.collect())?);
        let clock = Clock::calibrate();
        let description = match facts.system.emulation.get().filter(|name| *name != "none") {
            Some(name) => format!("emulated ({name})"),
            None => "native".to_owned(),
        };
        let mut machine = Self {
            facts,
            description,
            watch: Watch::new(files),
            clock,
            team,
            cpus: cpus.to_vec(),
            stop,
            mappings: BTreeMap::new(),
            chains: BTreeMap::new(),
            walks: BTreeMap::new(),
            external: None,
            prepared: None,
            lines: BTreeMap::new(),
            reached: 0.0,
        };
        machine.clock.facts_mut().core = cpus.first().and_then(|&cpu| machine.core_clock(cpu));
        Ok(machine)
    }

    /// Touches all pages of `mapping`, so that the system provides them. Each of `cpus` touches a
    /// part. Fails if pages are left at the time `until`.
    fn touch(
        &self,
        mapping: &Arc<Mapping>,
        cpus: &[u32],
        until: Nanos,
    ) -> std::result::Result<(), Failure> {
        let window = Arc::new(mapping.take(0..mapping.len())?);
        let parts = cpus.len();
        let stop = self.stop.clone();
        let len = mapping.len();
        let done = self.team.run(cpus, move |member| {
            let at = |i: usize| (len / TOUCH_STEP * i / parts) * TOUCH_STEP;
            let end = if member.index + 1 == parts {
                len
            } else {
                at(member.index + 1)
            };
            let mut position = at(member.index);
            while position < end && !stop.is_set() && counter::monotonic() < until {
                let next = (position + TOUCH_STEP).min(end);
                window.touch(position..next);
                position = next;
            }
            position >= end
        })?;
        if done.into_iter().all(|d| d) {
            Ok(())
        } else if self.stop.is_set() {
            Err(Failure::Interrupted)
        } else {
            Err(Failure::OutOfTime)
        }
    }

    /// Sets the runner of works outside of memory.
    pub fn set_external_runner(&mut self, runner: Box<dyn ExternalRunner>) {
        self.external = Some(runner);
    }

    /// The runner of works outside of memory, and the parts of the machine that the runner uses.
    fn external(&mut self) -> std::result::Result<External<'_>, Failure> {
        if self.stop.is_set() {
            return Err(Failure::Interrupted);
        }
        let missing = || Failure::Failed("the work names no thread".to_owned());
        let runner = self.external.as_deref_mut().ok_or_else(missing)?;
        let means = ExternalMeans {
            team: &self.team,
            clock: &self.clock,
            stop: &self.stop,
        };
        Ok((runner, means))
    }

    fn take<R: Run>(
        &self,
        work: &Work,
        run: &Arc<R>,
        length: Length,
    ) -> std::result::Result<Observation, Failure> {
        let taken = take(&self.team, work.cpus(), run, length, &self.clock);
        match taken {
            // The system decides when threads on one CPU run. If they have no common window, the
            // outcome is unsupported and not failed.
            Err(Failure::Failed(why)) if work.is_oversubscribed() => Err(Failure::Unsupported(why)),
            taken => taken,
        }
    }

    /// A sample of `work`, which was prepared last and is not external.
    fn sample_for(&self, work: &Work, length: Length) -> std::result::Result<Observation, Failure> {
        if self.stop.is_set() {
            return Err(Failure::Interrupted);
        }
        let Some((_, prepared)) = self.prepared.as_ref().filter(|(ready, _)| ready == work) else {
            return Err(Failure::Failed(
                "a sample was requested before its work was prepared".to_owned(),
            ));
        };
        match prepared {
            Prepared::Stream(run) => self.take(work, run, length),
            Prepared::Chase(run) => self.take(work, run, length),
            Prepared::Instruction(run) => self.take(work, run, length),
            Prepared::Lock(run) => self.take(work, run, length),
            Prepared::Loaded(run) => self.take(work, run, length),
            // A hand-off also ends when the session is interrupted. The failure is then reported as
            // an interruption.
            Prepared::HandOff(run) => {
                let taken = self.take(work, run, length);
                taken.map_err(|failure| {
                    if self.stop.is_set() {
                        Failure::Interrupted
                    } else {
                        failure
                    }
                })
            }
        }
    }

    /// The measured CPUs on NUMA node `node`.
    fn cpus_on(&self, node: u32) -> Vec<u32> {
        self.cpus
            .iter()
            .copied()
            .filter(|&cpu| self.node_of(cpu) == node)
            .collect()
    }

    fn node_of(&self, cpu: u32) -> u32 {
        self.facts.topology.node_of(cpu).unwrap_or(0)
    }

    fn arena(&mut self, key: &MemoryKey) -> std::result::Result<&mut Arena, Failure> {
        match self.mappings.get_mut(key) {
            Some(Ok(arena)) => Ok(arena),
            Some(Err(failure)) => Err(failure.clone()),
            None => Err(Failure::Failed(format!(
                "no memory was planned for {key:?}"
            ))),
        }
    }

    /// Maps `bytes` according to `key`. CPUs of the requested NUMA node are the first to touch the
    /// pages.
    fn fault_in(
        &self,
        key: &MemoryKey,
        bytes: Bytes,
        until: Nanos,
    ) -> std::result::Result<Arena, Failure> {
        let (_, pages, place) = key;
        let size = page_bytes(*pages, &self.facts);
        let mapping = Mapping::for_place(bytes, *pages, size, place)?;
        let near = match place {
            Place::Node(node) => self.cpus_on(*node),
            Place::Local | Place::Interleaved(_) | Place::Weighted(_) => Vec::new(),
        };
        let only = self.facts.topology.nodes.len() < 2 && matches!(place, Place::Node(_));
        let bound = if only { Ok(()) } else { mapping.place(place) };
        // If binding is forbidden, the first touch by a CPU of the node has the same effect. The
        // nodes of the pages are read back later. For reserved huge pages the error remains,
        // because a node may have too few of them.
        if let Err(error) = bound.as_ref()
            && (near.is_empty() || pages.is_reserved())
        {
            return Err(Failure::Unsupported(error.to_string()));
        }
        let cpus = if near.is_empty() { &self.cpus } else { &near };
        self.touch(&mapping, cpus, until)?;
        Ok(Arena::new(mapping))
    }

    fn prepare_stream(&mut self, work: &StreamWork) -> std::result::Result<Prepared, Failure> {
        let kernel = kernels::select(work.operation, work.width).map_err(Failure::Unsupported)?;
        let moves = Work::Stream(work.clone()).fits_last_level(&self.facts);
        let all = work.slot().to_usize() * work.cpus.len();
        let mut used: BTreeMap<Place, usize> = BTreeMap::new();
        let mut windows: Vec<Memory> = Vec::new();
        let mut filled: Vec<(MemoryKey, Range<usize>)> = Vec::new();
        for &cpu in &work.cpus {
            let place = work.memory_of(cpu, &self.facts);
            let key = (MemoryUse::Streams, work.pages, place.clone());
            let arena = self.arena(&key)?;
            let next = used
                .entry(place)
                .or_insert_with(|| if moves { arena.start(all) } else { 0 });
            let start = *next;
            *next += work.slot().to_usize();
            let range = start..start + work.bytes.to_usize();
            let fills = work.contract().on_doubles() && !arena.has_normal_floats(&range);
            let window = arena.mapping.take(range.clone())?;
            let table = start + slot(work.bytes).to_usize();
            let length = work.table_bytes() as usize;
            let table = if length > 0 {
                Some(table..table + length)
            } else {
                None
            };
            table.iter().for_each(|table| arena.spoiled(table));
            let table = table.map(|table| arena.mapping.take(table)).transpose()?;
            windows.push((window, table, fills));
            filled.extend(fills.then_some((key, range)));
        }
        let shares = shares(&self.team, work, windows)?;
        for (key, range) in filled {
            self.arena(&key)?.filled(range);
        }
        Ok(Prepared::Stream(Arc::new(StreamRun::new(
            kernel,
            shares,
            work.distance.0,
        ))))
    }

    fn prepare_chase(&mut self, work: &ChaseWork) -> std::result::Result<Arc<ChaseRun>, Failure> {
        self.make_room(work);
        let keys = work.chains();
        let chains = keys
            .iter()
            .map(|key| self.chain(key))
            .collect::<std::result::Result<Vec<_>, Failure>>()?;
        // Existing walkers of this work are used again, and keep their distances from each other.
        if let Some(run) = self.walks.get(work) {
            return Ok(Arc::clone(run));
        }
        let each = u64::from(work.walkers.max(1));
        // Walkers start at equal distances on the cycle. No walker then finds data in a cache that
        // another walker has fetched.
        let walk = |thread: u64| {
            let (index, first, all) = if work.shared {
                (0, thread * each, work.threads() * each)
            } else {
                (thread, 0, each)
            };
            let order = ChainOrder::for_work(&keys[index as usize]);
            let nodes: Vec<u64> = (first..first + each).map(|i| order.at(i, all)).collect();
            let mut walk = Walk::new(Arc::clone(&chains[index as usize]));
            walk.start(&nodes, work.payload).map(|()| walk)
        };
        let walks = (0..work.threads())
            .map(walk)
            .collect::<Result<Vec<Walk>>>()?;
        let run = Arc::new(ChaseRun::new(chains, walks));
        self.walks.insert(work.clone(), Arc::clone(&run));
        Ok(run)
    }

    /// The chain of `key`, one of [`ChaseWork::chains`]. A chain that does not exist yet is built.
    fn chain(&mut self, key: &ChaseWork) -> std::result::Result<Arc<Chain>, Failure> {
        if let Some(chain) = self.chains.get(key) {
            return Ok(Arc::clone(chain));
        }
        let unverified = self.unverified(key)?;
        let built = chain_builder::build(
            unverified,
            ChainOrder::for_work(key),
            &self.team,
            &self.cpus,
            &self.stop,
        )?;
        let chain = Arc::new(built);
        self.chains.insert(key.clone(), Arc::clone(&chain));
        Ok(chain)
    }

    /// Frees all chains of a mapping if the mapping lacks room for the chains of `work` that are
    /// still to be built in it.
    fn make_room(&mut self, work: &ChaseWork) {
        let mut missing: BTreeMap<MemoryKey, u64> = BTreeMap::new();
        for chain in work
            .chains()
            .into_iter()
            .filter(|chain| !self.chains.contains_key(chain))
        {
            *missing.entry(chain_key(&chain, &self.facts)).or_default() += chain.slot().0;
        }
        for (key, needed) in missing {
            let Some(Ok(arena)) = self.mappings.get_mut(&key) else {
                continue;
            };
            if arena.taken + needed <= arena.mapping.len() as u64 {
                continue;
            }
            arena.taken = 0;
            let facts = &self.facts;
            let lies_there = |chain: &ChaseWork| chain_key(chain, facts) == key;
            self.walks
                .retain(|work, _| !work.chains().iter().any(lies_there));
            self.chains.retain(|chain, _| !lies_there(chain));
        }
    }

    fn prepare_loaded(&mut self, work: &LoadedWork) -> std::result::Result<Prepared, Failure> {
        work.validate()?;
        let mut used: BTreeMap<MemoryKey, usize> = BTreeMap::new();
        let mut share =
            |machine: &mut Self, traffic: &Traffic| -> std::result::Result<TrafficShare, Failure> {
                let key = traffic_key(traffic, &machine.facts);
                let mapping = Arc::clone(&machine.arena(&key)?.mapping);
                let next = used.entry(key).or_default();
                let take = |length: usize| {
                    let start = *next;
                    *next += slot(Bytes(length as u64)).to_usize();
                    mapping.take(start..start + length)
                };
                Ok(TrafficShare::new(traffic, take)?)
            };
        let probe = match work.probe() {
            Probe::Chase(chase) => ProbeRun::Chase(self.prepare_chase(chase)?),
            Probe::Stream(stream) => ProbeRun::Stream(Box::new(share(self, stream)?)),
        };
        let traffic = work
            .traffic()
            .iter()
            .map(|t| share(self, t))
            .collect::<std::result::Result<_, Failure>>()?;
        Ok(Prepared::Loaded(Arc::new(LoadedRun::new(probe, traffic))))
    }

    /// Memory for the nodes of `work`, before pointers link them.
    fn unverified(&mut self, work: &ChaseWork) -> std::result::Result<UnverifiedChain, Failure> {
        let base = self.facts.pages.base;
        let window =
            |machine: &mut Self| machine.chain_memory(&chain_key(work, &machine.facts), work);
        Ok(match work.shape {
            ChainShape::OnePerPage(page)
                if page.0 == 0 || !page.0.is_multiple_of(base.0.max(1)) =>
            {
                let text = format!(
                    "{page} is no page size here; page sizes are multiples of \
                    {base}"
                );
                return Err(Failure::Unsupported(text));
            }
            ChainShape::OnePerPage(page) => UnverifiedChain::one_per_page(
                window(self)?,
                page.to_usize(),
                work.stride.to_usize(),
                work.seed,
            )?,
            ChainShape::Pairs { block, distance } => {
                let apart = (distance.to_usize(), work.stride.to_usize());
                UnverifiedChain::pairs(window(self)?, block.to_usize(), apart, work.seed)?
            }
            _ => UnverifiedChain::with_nodes(window(self)?, work.stride.to_usize(), work.nodes())?,
        })
    }

    /// Memory for a chain: the next free bytes of its mapping, in whole lines.
    fn chain_memory(
        &mut self,
        key: &MemoryKey,
        work: &ChaseWork,
    ) -> std::result::Result<Window, Failure> {
        let needed = work.slot().0;
        let arena = self.arena(key)?;
        let start = match work.shape {
            ChainShape::OnePerPage(page) => {
                let address = arena.mapping.address();
                (address + arena.taken as usize).next_multiple_of(page.to_usize()) - address
            }
            _ => arena.taken as usize,
        };
        arena.taken += needed;
        Ok(arena
            .mapping
            .take(start..start + work.bytes.round_up(LINE_BYTES).to_usize())?)
    }
}

impl Machine for RealMachine {
    fn facts(&self) -> &HostFacts {
        &self.facts
    }

    fn clock(&self) -> &ClockFacts {
        self.clock.facts()
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn now(&self) -> Nanos {
        counter::monotonic()
    }

    fn wall_clock(&self) -> String {
        counter::wall_clock()
    }

    fn pause(&mut self, time: Nanos) -> std::result::Result<(), Failure> {
        let end = counter::monotonic() + time;
        loop {
            let left = end - counter::monotonic();
            if self.stop.is_set() {
                return Err(Failure::Interrupted);
            }
            if left.0 <= 0.0 {
                return Ok(());
            }
            counter::sleep(left.min(Nanos::from_millis(50.0)));
        }
    }

    fn interrupted(&self) -> bool {
        self.stop.is_set()
    }

    fn fault_rate(&mut self) -> BytesPerSecond {
        let bytes = Bytes::mib(16);
        let start = counter::monotonic();
        let touched = Mapping::new(
            bytes,
            PageMode::Transparent,
            page_bytes(PageMode::Transparent, &self.facts),
        )
        .map_err(Failure::from)
        .and_then(|mapping| self.touch(&mapping, &self.cpus, Nanos(f64::INFINITY)));
        let time = counter::monotonic() - start;
        // If the trial fails, the result is the lowest rate that was seen on virtual machines.
        if touched.is_ok() {
            BytesPerSecond(bytes.0 as f64 / time.secs().max(1e-9))
        } else {
            BytesPerSecond(0.4e9)
        }
    }

    fn expected_build(&self, chase: &ChaseWork) -> Nanos {
        Costs::typical_build(chase, self.cpus.len())
    }

    fn kernel(&self, work: &Work) -> std::result::Result<KernelUsed, String> {
        kernel_used(work)
    }

    fn candidates(&self, work: &Work) -> Vec<Work> {
        candidates::candidates(work)
    }

    fn map(
        &mut self,
        plan: &MemoryPlan,
        keep_old: bool,
        until: Nanos,
    ) -> std::result::Result<(), Failure> {
        self.prepared = None;
        self.walks.clear();
        self.chains.clear();
        let old = std::mem::take(&mut self.mappings);
        let _old = keep_old.then_some(old);
        for (key, &bytes) in &plan.mappings {
            // A failed mapping is kept as an error for the works that need it.
            let arena = match self.fault_in(key, bytes, until) {
                Err(failure @ (Failure::Interrupted | Failure::OutOfTime)) => return Err(failure),
                arena => arena,
            };
            self.mappings.insert(key.clone(), arena);
        }
        Ok(())
    }

    fn shift_placement(&mut self) {
        self.mappings
            .values_mut()
            .filter_map(|mapped| mapped.as_mut().ok())
            .for_each(Arena::next_offset);
    }

    fn fill(&mut self) -> std::result::Result<(), Failure> {
        let Some((work, prepared)) = &self.prepared else {
            return Ok(());
        };
        if let (Some(run), Some(chase)) = (prepared.chase(), work.chase())
            && chase.working_set() <= self.facts.topology.last_level_total(&chase.cpus)
        {
            self.team
                .run(&chase.cpus, move |member| run.fill(member.index))?;
        }
        Ok(())
    }

    fn prepare(&mut self, work: &Work) -> std::result::Result<(), Failure> {
        if let Some((_, prepared)) = self
            .prepared
            .as_ref()
            .filter(|(last, _)| !last.fits_last_level(&self.facts))
        {
            self.reached = prepared.share().unwrap_or(self.reached);
        }
        // The memory of the last work is released before the next work takes memory.
        self.prepared = None;
        if let Some(runner) = self.external.as_mut().filter(|_| work.external().is_none()) {
            runner.park();
        }
        if self.stop.is_set() {
            return Err(Failure::Interrupted);
        }
        let prepared = match work {
            Work::Stream(w) => self.prepare_stream(w)?,
            Work::Chase(w) => Prepared::Chase(self.prepare_chase(w)?),
            Work::Loaded(w) => self.prepare_loaded(w)?,
            Work::Instruction(w) => {
                let kernel =
                    kernels::instruction(w.instruction, w.timing).map_err(Failure::Unsupported)?;
                Prepared::Instruction(Arc::new(InstructionRun::new(kernel)))
            }
            Work::Lock(w) => {
                let kernel = kernels::lock(w.operation).map_err(Failure::Unsupported)?;
                let lines = if w.shared { 1 } else { w.cpus.len() };
                Prepared::Lock(Arc::new(LockRun::new(kernel, lines, w.inside, w.between)))
            }
            Work::HandOff(w) => Prepared::HandOff(self.prepare_hand_off(w)?),
            Work::External(w) => {
                let (runner, means) = self.external()?;
                return runner.prepare(w, &means);
            }
        };
        // A few samples together may stream less memory than a large cache contains. If each visit
        // began at the start of the memory, it would find data that the last visit left in the
        // cache.
        if !work.fits_last_level(&self.facts) {
            prepared.start_at(self.reached);
        }
        self.prepared = Some((work.clone(), prepared));
        Ok(())
    }

    fn sample(&mut self, work: &Work, length: Nanos) -> std::result::Result<Observation, Failure> {
        if let Work::External(external) = work {
            let (runner, means) = self.external()?;
            return runner.sample(external, length, &means);
        }
        let length = length.max(self.clock.shortest()) * work.sample_length_factor();
        self.sample_for(work, Length::new(length, &self.clock))
    }

    fn sample_in_chunks(
        &mut self,
        work: &Work,
        amount: u64,
    ) -> std::result::Result<Observation, Failure> {
        self.sample_for(work, Length::in_chunks(amount, &self.clock))
    }

    fn core_clock(&mut self, cpu: u32) -> Option<Hertz> {
        // These additions take about 100 us. This is shorter than a time slice, and far longer than
        // a reading of the counter.
        const BLOCKS: u64 = 3000;
        let ticks = self.team.run(&[cpu], |_| {
            let once = || {
                let start = counter::ticks();
                dependent_adds(BLOCKS);
                counter::ticks().saturating_sub(start)
            };
            let mut readings: Vec<u64> = (0..5).map(|_| once()).collect();
            readings.sort_unstable();
            readings[readings.len() / 2]
        });
        let time = self.clock.nanos(*ticks.ok()?.first().filter(|&&t| t > 0)?);
        Some(Hertz(
            (BLOCKS * kernels::REFERENCE_INSTRUCTIONS_PER_BLOCK) as f64 / time.secs(),
        ))
    }

    fn hand_off(&mut self, pair: [u32; 2]) -> Option<Observation> {
        self.round_trips(pair).ok().flatten()
    }

    fn pages(&mut self, work: &Work) -> (PageEvidence, Vec<String>) {
        // If the work requests a NUMA place, every page is checked.
        let samples = if work.place().is_some() {
            usize::MAX
        } else {
            NODE_SAMPLES
        };
        let readings: Vec<PageReading> = match &self.prepared {
            Some((_, Prepared::Stream(run))) => run.inspect(samples),
            Some((_, Prepared::Chase(run))) => run.inspect(samples),
            Some((_, Prepared::Loaded(run))) => run.inspect(samples),
            Some((_, Prepared::Instruction(_) | Prepared::Lock(_) | Prepared::HandOff(_)))
            | None => Vec::new(),
        };
        if work.pages().is_none() {
            return (PageEvidence::default(), Vec::new());
        }
        crate::pages::evidence(&readings, work, &self.facts)
    }

    fn system_activity(&mut self, cpus: &[u32]) -> SystemActivity {
        let mut seen = self.watch.read(cpus);
        if let Some(runner) = &self.external {
            seen.others_ns = seen.others_ns.map(|all| all - runner.cpu_time().0);
        }
        seen
    }

    fn clock_drift(&mut self) -> Option<f64> {
        self.clock.drift()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::External as ExternalPoint;
    use host::facts::discover;

    /// A runner whose processes used more CPU time than any machine has.
    #[derive(Debug)]
    struct BusyElsewhere;

    impl ExternalRunner for BusyElsewhere {
        fn prepare(
            &mut self,
            _: &ExternalPoint,
            _: &ExternalMeans<'_>,
        ) -> std::result::Result<(), Failure> {
            Ok(())
        }

        fn sample(
            &mut self,
            _: &ExternalPoint,
            _: Nanos,
            _: &ExternalMeans<'_>,
        ) -> std::result::Result<Observation, Failure> {
            Ok(Observation::default())
        }

        fn park(&mut self) {}

        fn cpu_time(&self) -> Nanos {
            Nanos(1e18)
        }
    }

    #[test]
    fn processes_of_a_runner_are_no_other_programs() {
        let files = SystemFiles::real();
        let facts = discover(&files);
        let cpus = facts.topology.allowed();
        let mut machine =
            RealMachine::new(facts, files, &cpus, StopFlag::never()).expect("a machine");
        let before = machine.system_activity(&cpus).others_ns;
        machine.set_external_runner(Box::new(BusyElsewhere));
        let after = machine.system_activity(&cpus).others_ns;
        // Not every system reports the CPU time of all programs.
        assert_eq!(before.is_some(), after.is_some());
        for (before, after) in before.into_iter().zip(after) {
            assert!(after < before - 0.9e18, "{before} {after}");
        }
    }
}
