//! Executes works on storage on this machine: opens files and engines, and runs the threads.

use crate::content::Contents;
use crate::observe::{self, StorageWindow};
use crate::pace::Window;
use crate::target::IoTarget;
use crate::trace::Tracer;
use crate::walk::Walk;
use crate::work::{Content, IoFile, IoWork, Permission, Step};
use crate::worker::{Ticker, TraceEntry, WorkerQueue, WorkerWindow, run};
use engine::{External, ExternalMeans, ExternalRunner, Failure, Member, Observation, StartBarrier};
use host::interrupt::StopFlag;
use host::noise::ThreadNoise;
use host::storage::{
    Access, Direct, EngineSettings, Opening, Target, check_creation, engine_named,
};
use host::{counter, pin};
use kernels::{REFERENCE_INSTRUCTIONS_PER_BLOCK, dependent_adds};
use report::TraceWriter;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use units::error::Error;
use units::{Bytes, Nanos};

/// Clock of this machine: the raw counter. During long waits, the thread sleeps.
struct RealTicker {
    /// Ticks per nanosecond.
    rate: f64,
}

/// Largest expected delay at the end of a sleep. A wait for a tick stops sleeping this long before
/// the tick.
const LONGEST_WAKE_UP: Nanos = Nanos(80e3);

/// Longest single sleep. It is limited, because the stop flag is checked between sleeps.
const LONGEST_SLEEP: Nanos = Nanos(50e6);

impl Ticker for RealTicker {
    fn now(&self) -> u64 {
        counter::ticks()
    }

    fn wait_until(&self, tick: u64) {
        let left = Nanos(tick.saturating_sub(counter::ticks()) as f64 / self.rate);
        if left > LONGEST_WAKE_UP {
            counter::sleep((left - LONGEST_WAKE_UP).min(LONGEST_SLEEP));
            return;
        }
        while counter::ticks() < tick {
            std::hint::spin_loop();
        }
    }

    fn compute(&self, additions: u32) {
        dependent_adds(u64::from(additions).div_ceil(REFERENCE_INSTRUCTIONS_PER_BLOCK));
    }
}

/// State of a thread between two preparations of its work. Its engine is closed in this time.
#[derive(Debug, Clone)]
struct Parked {
    walk: Walk,
    pending: Option<Step>,
    unflushed: u32,
    unflushed_files: BTreeSet<usize>,
    covered: u64,
}

/// State of a work between two preparations: the state of its threads, and the number of operations
/// that are left.
#[derive(Debug, Clone)]
struct Progress {
    threads: Vec<Parked>,
    left: Option<u64>,
}

/// A work whose engines are open, ready for windows.
pub struct IoRun {
    queues: Vec<Mutex<WorkerQueue>>,
    left: Option<u64>,
    direct: bool,
    remarks: Vec<String>,
}

/// Executes works on storage on this machine. Files stay open for the whole session.
#[derive(Default)]
pub struct StorageRunner {
    /// Opened files by name, permission, and a flag that is true if direct I/O was requested.
    targets: BTreeMap<(PathBuf, Permission, bool), Target>,
    parked: BTreeMap<IoWork, Progress>,
    current: Option<(IoWork, Arc<IoRun>)>,
    tracer: Option<Tracer>,
}

impl std::fmt::Debug for StorageRunner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageRunner")
            .field("targets", &self.targets)
            .finish_non_exhaustive()
    }
}

/// Results of one thread in a window.
struct ThreadResult {
    seen: Result<WorkerWindow, Failure>,
    cpu: Option<Nanos>,
    noise: Option<ThreadNoise>,
    found_on: Option<u32>,
}

/// Finds the facts about `file` before any operation. The file is neither created nor written.
///
/// # Errors
/// The file cannot be used. The error is a message with the reason.
pub fn lookup(file: &IoFile, direct: bool) -> units::error::Result<IoTarget> {
    let access = match file.permission {
        Permission::Read => Access::Read,
        Permission::Destroy => Access::Destroy,
        Permission::Create { size, keep } => {
            let there = std::fs::symlink_metadata(&file.path).is_ok_and(|found| !found.is_dir());
            if there {
                return Err(Error::usage(format!(
                    "cannot create {}: it exists, and only new files are created; name a new \
                     file, leave out --create to read it, or overwrite it with --destroy-data",
                    file.path.display()
                )));
            }
            check_creation(&file.path, size.0, keep)?;
            return Ok(IoTarget {
                size: size.0,
                kind: "created file".to_owned(),
                logical_block: 1,
                direct: Ok(()),
                remarks: Vec::new(),
            });
        }
    };
    let target = Target::open(
        &file.path,
        &Opening {
            access,
            direct,
            ..Opening::default()
        },
    )?;
    Ok(facts_of(&target))
}

impl ExternalRunner for StorageRunner {
    fn prepare(&mut self, work: &External, means: &ExternalMeans<'_>) -> Result<(), Failure> {
        self.prepare_work(on_storage(work)?, means)
    }

    fn sample(
        &mut self,
        work: &External,
        length: Nanos,
        means: &ExternalMeans<'_>,
    ) -> Result<Observation, Failure> {
        self.window(on_storage(work)?, length, means)
    }

    fn park(&mut self) {
        self.park_work();
    }
}

/// `work` as an [`IoWork`].
///
/// # Errors
/// `work` is external work of another kind.
fn on_storage(work: &External) -> Result<&IoWork, Failure> {
    work.get()
        .ok_or_else(|| Failure::Failed("this is no work on storage".to_owned()))
}

impl StorageRunner {
    /// Records every operation with `writer` from now on.
    pub fn record(&mut self, writer: TraceWriter) {
        self.tracer = Some(Tracer::new(writer));
    }

    /// Prepares sampling of `work`: opens or creates its files, and opens an engine for each
    /// thread.
    fn prepare_work(&mut self, work: &IoWork, means: &ExternalMeans<'_>) -> Result<(), Failure> {
        if self
            .current
            .as_ref()
            .is_some_and(|(ready, _)| ready == work)
        {
            return Ok(());
        }
        self.park_work();
        let targets = work
            .files
            .iter()
            .map(|file| self.open(file, work, means.stop));
        let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
        let run = self.start(work, &targets, means)?;
        self.current = Some((work.clone(), Arc::new(run)));
        Ok(())
    }

    /// Saves the progress of the current work and closes its engines. Does nothing without a
    /// current work.
    fn park_work(&mut self) {
        let Some((work, run)) = self.current.take() else {
            return;
        };
        let park = |queue: &Mutex<WorkerQueue>| {
            let queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
            Parked {
                walk: queue.walk.clone(),
                pending: queue.pending,
                unflushed: queue.unflushed,
                unflushed_files: queue.unflushed_files.clone(),
                covered: queue.covered,
            }
        };
        let progress = Progress {
            threads: run.queues.iter().map(park).collect(),
            left: run.left,
        };
        self.parked.insert(work, progress);
    }

    /// Opens `file` unless the session has opened it already.
    fn open(&mut self, file: &IoFile, work: &IoWork, stop: &StopFlag) -> Result<Target, Failure> {
        let key = (file.path.clone(), file.permission, work.direct);
        if let Some(target) = self.targets.get(&key) {
            return Ok(target.clone());
        }
        let opening = Opening {
            access: access_of(file.permission),
            direct: work.direct,
            pattern: Contents::pattern(work.content, work.seed),
            stop: stop.clone(),
        };
        let target = Target::open(&file.path, &opening).map_err(|e| {
            if stop.is_set() {
                Failure::Interrupted
            } else {
                Failure::Failed(e.to_string())
            }
        })?;
        self.targets.insert(key, target.clone());
        Ok(target)
    }

    /// Opens the engines of all threads. Each thread opens its own engine.
    fn start(
        &mut self,
        work: &IoWork,
        targets: &[Target],
        means: &ExternalMeans<'_>,
    ) -> Result<IoRun, Failure> {
        let row = engine_named(&work.engine)
            .ok_or_else(|| Failure::Failed(format!("no engine {}", work.engine)))?;
        (row.availability)().map_err(Failure::Unsupported)?;
        let refused = targets.iter().filter_map(|t| match t.direct() {
            Direct::Refused(why) => {
                Some(format!("no direct I/O with {}: {why}", t.path().display()))
            }
            _ => None,
        });
        let mut remarks: Vec<String> = refused.collect();
        work.files
            .iter()
            .zip(targets)
            .try_for_each(|(file, target)| aligned(work, file, target))?;
        let direct = work.direct && remarks.is_empty() && row.bypasses_cache;
        if work.direct && !row.bypasses_cache {
            remarks.push(format!("{} always goes through the page cache", row.name));
        }
        let settings = EngineSettings {
            depth: work.depth.max(1) as usize,
            block: work.block.to_usize(),
            direct,
            misalign: 0,
            poll: work.poll,
            registered: true,
        };
        let open = row.open;
        let shared = targets.to_vec();
        let engines = means
            .team
            .run(&work.cpus, move |_| open(&shared, &settings))?;
        // If data is neither written nor compared, none is produced.
        let content = if work.writes() || work.verify {
            work.content
        } else {
            Content::Zeros
        };
        let Progress { threads, left } = self.parked.remove(work).unwrap_or_else(|| fresh(work));
        let mut queues = Vec::with_capacity(threads.len());
        for (parked, engine) in threads.into_iter().zip(engines) {
            let engine = engine?;
            remarks.extend(
                engine
                    .remarks()
                    .iter()
                    .filter(|r| !remarks.contains(r))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            let mut queue =
                WorkerQueue::new(engine, parked.walk, Contents::new(content, work.seed));
            (
                queue.pending,
                queue.unflushed,
                queue.unflushed_files,
                queue.covered,
            ) = (
                parked.pending,
                parked.unflushed,
                parked.unflushed_files,
                parked.covered,
            );
            queues.push(Mutex::new(queue));
        }
        Ok(IoRun {
            queues,
            left,
            direct,
            remarks,
        })
    }

    /// Executes a window of `work` that lasts about `wanted`. The work must be the work that was
    /// prepared last.
    fn window(
        &mut self,
        work: &IoWork,
        wanted: Nanos,
        means: &ExternalMeans<'_>,
    ) -> Result<Observation, Failure> {
        let Some((_, run)) = self.current.as_ref().filter(|(ready, _)| ready == work) else {
            return Err(Failure::Failed(
                "a window was requested before its work was prepared".to_owned(),
            ));
        };
        let begin = counter::monotonic();
        let rate = means.clock.ticks(Nanos(1e9)) as f64 / 1e9;
        let length = means.clock.ticks(observe::length(work, wanted));
        let quota = observe::quota(work, run.left);
        let done = work.total().unwrap_or(0) - run.left.unwrap_or(0);
        let start = Arc::new(AtomicU64::new(0));
        let brought = {
            let run = Arc::clone(run);
            let start = Arc::clone(&start);
            let work = work.clone();
            let barrier = StartBarrier::new(run.queues.len());
            let threads = run.queues.len();
            let traced = self.tracer.is_some();
            let stop = means.stop.clone();
            means.team.run(&work.cpus.clone(), move |member| {
                let most = quota.map(|quota| observe::share(quota, done, member.index, threads));
                let window = Window {
                    thread: member.index,
                    start: 0,
                    end: 0,
                    most,
                    rate,
                    traced,
                    stop: stop.clone(),
                };
                one_thread(&run, &work, member, (&barrier, &start, length), window)
            })?
        };
        let start = start.load(Ordering::Relaxed);
        let cpu = brought.iter().map(|b| b.cpu).sum::<Option<Nanos>>();
        let noise = brought.iter().map(|b| b.noise).collect::<Option<Vec<_>>>();
        let found_on = brought.iter().map(|b| b.found_on).collect();
        let mut queues = brought
            .into_iter()
            .map(|b| b.seen)
            .collect::<Result<Vec<_>, _>>()?;
        self.write_down(work, &mut queues, rate)?;
        let mut seen = StorageWindow::from_threads(
            work,
            &queues,
            (start, start.saturating_add(length), rate),
        )?;
        seen.begin = begin;
        seen.cpu = cpu;
        self.complete(&mut seen, quota);
        let noise = noise.map(|all| {
            all.into_iter()
                .fold(ThreadNoise::default(), ThreadNoise::plus)
        });
        // An interrupted window is discarded, because it is too short for a rate.
        if means.stop.is_set() {
            return Err(Failure::Interrupted);
        }
        Ok(Observation {
            noise,
            found_on,
            ..seen.into_observation()
        })
    }

    /// Writes the recorded operations of a window to the trace, if there is one.
    fn write_down(
        &mut self,
        work: &IoWork,
        queues: &mut [WorkerWindow],
        rate: f64,
    ) -> Result<(), Failure> {
        let Some(tracer) = &mut self.tracer else {
            return Ok(());
        };
        let trace: Vec<Vec<TraceEntry>> = queues
            .iter_mut()
            .map(|queue| std::mem::take(&mut queue.trace))
            .collect();
        tracer.window(work, &trace, rate)
    }

    /// Adds facts about the current work to `seen`. Subtracts `quota` from the number of operations
    /// that are left.
    fn complete(&mut self, seen: &mut StorageWindow, quota: Option<u64>) {
        let Some((_, run)) = &mut self.current else {
            return;
        };
        // At the end of a window, the threads have dropped their references to the run, so that
        // this succeeds.
        let Some(run) = Arc::get_mut(run) else { return };
        seen.direct = run.direct;
        seen.remarks.clone_from(&run.remarks);
        if let (Some(left), Some(quota)) = (&mut run.left, quota) {
            // A window that reached its time limit has done fewer operations than its quota.
            let done = seen.whole + seen.short + seen.errors.values().sum::<u64>();
            seen.due += quota;
            seen.behind += quota.saturating_sub(done);
            *left = left.saturating_sub(quota);
            seen.is_last |= *left == 0;
        }
    }
}

/// Executes one thread's part of a window. The thread that starts first stores the start of the
/// window for all threads.
fn one_thread(
    run_of: &IoRun,
    work: &IoWork,
    member: Member,
    (barrier, start, length): (&StartBarrier, &AtomicU64, u64),
    mut window: Window,
) -> ThreadResult {
    let Some(queue) = run_of.queues.get(member.index) else {
        let seen = Err(Failure::Failed("a thread has no engine".to_owned()));
        return ThreadResult {
            seen,
            cpu: None,
            noise: None,
            found_on: None,
        };
    };
    let mut queue = queue.lock().unwrap_or_else(PoisonError::into_inner);
    let ticker = RealTicker { rate: window.rate };
    let before = pin::current_cpu();
    barrier.wait();
    let now = counter::ticks().max(1);
    window.start = start
        .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed)
        .err()
        .unwrap_or(now);
    window.end = window.start.saturating_add(length);
    let noise = ThreadNoise::of_this_thread();
    let cpu = counter::thread_cpu();
    let seen = run(&mut queue, work, &window, &ticker);
    let cpu = cpu.and_then(|earlier| Some(counter::thread_cpu()? - earlier));
    let noise =
        noise.and_then(|earlier| ThreadNoise::of_this_thread().map(|later| later.since(earlier)));
    let found_on = if before == Some(member.cpu) {
        pin::current_cpu()
    } else {
        before
    };
    ThreadResult {
        seen,
        cpu,
        noise,
        found_on,
    }
}

/// Fails if direct I/O is used, and the first offset in `file` or the block size of `work` is no
/// multiple of the unit of direct I/O.
fn aligned(work: &IoWork, file: &IoFile, target: &Target) -> Result<(), Failure> {
    let Direct::Granted { offset, .. } = target.direct() else {
        return Ok(());
    };
    let unit = (*offset as u64).max(1);
    if work.block.0.is_multiple_of(unit) && file.first.is_multiple_of(unit) {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "blocks of {} B from byte {} on are misaligned: direct I/O with {} takes multiples of \
         {unit} B; type --buffered, or other blocks",
        work.block.0,
        file.first,
        file.path.display()
    )))
}

/// State of a work that has not begun.
fn fresh(work: &IoWork) -> Progress {
    let fresh = |thread: usize| Parked {
        walk: Walk::new(work, thread),
        pending: None,
        unflushed: 0,
        unflushed_files: BTreeSet::new(),
        covered: 0,
    };
    Progress {
        threads: (0..work.cpus.len()).map(fresh).collect(),
        left: work.total().filter(|_| work.is_counted()),
    }
}

fn access_of(permission: Permission) -> Access {
    match permission {
        Permission::Read => Access::Read,
        Permission::Destroy => Access::Destroy,
        Permission::Create { size, keep } => Access::Create {
            bytes: size.0,
            keep,
        },
    }
}

/// Facts about an opened target.
fn facts_of(target: &Target) -> IoTarget {
    let (direct, alignment) = match target.direct() {
        Direct::Granted { offset, .. } => (Ok(()), *offset as u64),
        Direct::NotAsked => (Ok(()), 1),
        Direct::Refused(why) => (Err(why.clone()), 1),
    };
    IoTarget {
        size: target.size(),
        kind: target.kind().to_string(),
        logical_block: alignment,
        direct,
        remarks: holes(target).into_iter().collect(),
    }
}

/// Remark about a file with holes, which are read without the device; `None` for a file without
/// holes.
fn holes(target: &Target) -> Option<String> {
    let holes = Bytes(target.holes()?);
    let size = Bytes(target.size());
    Some(format!(
        "{holes} of its {size} have no room on the device (holes, or compressed): they are read \
         without it"
    ))
}
