//! Pinned threads that live as long as the session, and the barrier that starts them together.

use host::{counter, memory, pin};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use units::Nanos;
use units::error::{Error, Result};

/// Identifies the thread that executes a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Position in the list of CPUs of the job, from 0.
    pub index: usize,
    /// CPU to which the thread is pinned.
    pub cpu: u32,
}

/// Bytes of address space for a thread's stack. A sample needs far less, and a thousand such stacks
/// still take little address space.
const STACK: usize = 512 << 10;

type Job = Box<dyn FnOnce() + Send>;

/// One pinned thread for each CPU. More threads are added if a job requests several on one CPU.
#[derive(Debug)]
pub struct Team {
    workers: Mutex<Vec<Worker>>,
    /// Kind of the core of each CPU, on machines with several kinds of cores.
    kinds: BTreeMap<u32, String>,
}

#[derive(Debug)]
struct Worker {
    cpu: u32,
    jobs: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Team {
    /// Starts a thread on each of `cpus`. Fails if a thread cannot be pinned to its CPU.
    pub fn new(cpus: &[u32]) -> Result<Self> {
        Self::on_kinds(cpus, BTreeMap::new())
    }

    /// Like [`Team::new`], on a machine with several kinds of cores. `kinds` has the kind of each
    /// CPU. If the system cannot pin a thread to its CPU, it is asked to run the thread on cores of
    /// the CPU's kind.
    pub fn on_kinds(cpus: &[u32], kinds: BTreeMap<u32, String>) -> Result<Self> {
        memory::share_one_heap();
        let workers = cpus
            .iter()
            .map(|cpu| Worker::start(*cpu, kinds.get(cpu).cloned()))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self {
            workers: Mutex::new(workers),
            kinds,
        })
    }

    /// For each of `cpus`, the inbox through which its thread gets jobs. A CPU that is listed twice
    /// has two threads. The second thread is started when a job needs it for the first time.
    fn inboxes(&self, cpus: &[u32]) -> Result<Vec<Sender<Job>>> {
        let mut workers = self.workers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut before: BTreeMap<u32, usize> = BTreeMap::new();
        let mut inboxes = Vec::with_capacity(cpus.len());
        for &cpu in cpus {
            let seen = before.entry(cpu).or_default();
            let here = || workers.iter().filter(|w| w.cpu == cpu);
            let known = here().nth(*seen).and_then(|w| w.jobs.clone());
            if known.is_none() && here().next().is_some() {
                workers.push(Worker::start(cpu, self.kinds.get(&cpu).cloned())?);
            }
            let jobs = known.or_else(|| workers.last().filter(|w| w.cpu == cpu)?.jobs.clone());
            inboxes.push(jobs.ok_or_else(|| no_thread(cpu))?);
            *seen += 1;
        }
        Ok(inboxes)
    }

    /// Runs `job` on the threads of `cpus` at the same time and returns their results in the order
    /// of `cpus`.
    pub fn run<T, F>(&self, cpus: &[u32], job: F) -> Result<Vec<T>>
    where
        T: Send + 'static,
        F: Fn(Member) -> T + Send + Sync + 'static,
    {
        let job = Arc::new(job);
        let mut results: Vec<Receiver<T>> = Vec::with_capacity(cpus.len());
        for (index, (&cpu, jobs)) in cpus.iter().zip(self.inboxes(cpus)?).enumerate() {
            let (sender, receiver) = channel();
            let job = Arc::clone(&job);
            let boxed: Job = Box::new(move || {
                let result = job(Member { index, cpu });
                // The job is dropped before its result is sent, so that the caller can reuse the
                // job's memory and chains.
                drop(job);
                // The send fails only at the end of the session, when nothing receives results.
                let _ = sender.send(result);
            });
            jobs.send(boxed).map_err(|_| no_thread(cpu))?;
            results.push(receiver);
        }
        let ended = |_| Error::failure("a measuring thread ended unexpectedly");
        results
            .into_iter()
            .map(|r| r.recv().map_err(ended))
            .collect()
    }
}

/// The error for a thread on `cpu` that the system did not start.
fn cannot_start(cpu: u32, error: &std::io::Error) -> Error {
    // Systems report both limits, on threads and on memory for their stacks, as "try again".
    let advice = match error.kind() {
        std::io::ErrorKind::WouldBlock => {
            "; the limit on threads or on address space is reached: raise it (ulimit -u, ulimit \
             -v, pids of the container), or type a smaller --threads"
        }
        _ => "",
    };
    Error::failure(format!(
        "cannot start a thread for cpu {cpu}: {error}{advice}"
    ))
}

fn no_thread(cpu: u32) -> Error {
    Error::failure(format!(
        "no thread on cpu {cpu}: it ended or was never started"
    ))
}

/// Time for which a thread polls for its next job before it sleeps. The time is longer than the
/// pause between two samples.
const AWAKE: Nanos = Nanos(500e3);

/// Number of polls for a job before the thread yields its CPU. The sender of the job may need this
/// CPU.
const POLLS: u32 = 64;

/// Waits for the next job; `None` if the session is over. Polls for [`AWAKE`] before sleeping.
///
/// A CPU that halts between two samples loses clock speed. In a virtual machine, the host may give
/// the physical CPU to other work, which replaces the contents of the caches. After the contents of
/// the L3 were lost in this way, samples took three times as long.
fn next(inbox: &Receiver<Job>) -> Option<Job> {
    let end = counter::monotonic() + AWAKE;
    while counter::monotonic() < end {
        for _ in 0..POLLS {
            match inbox.try_recv() {
                Ok(job) => return Some(job),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => std::hint::spin_loop(),
            }
        }
        std::thread::yield_now();
    }
    inbox.recv().ok()
}

impl Worker {
    fn start(cpu: u32, kind: Option<String>) -> Result<Self> {
        let (jobs, inbox) = channel::<Job>();
        let (pinned, outcome) = channel();
        let thread = std::thread::Builder::new()
            .name(format!("cpu{cpu}"))
            .stack_size(STACK)
            .spawn(move || {
                // Without pinning, the system chooses the CPU, and the report says so.
                let pin = if pin::can_pin() {
                    pin::pin_current_thread(cpu)
                } else {
                    Ok(())
                };
                let held = pin.is_ok();
                // The facts about the machine say whether the system takes requests for fast cores.
                pin::ask_for_speed(cpu, kind.as_deref());
                let _ = pinned.send(pin);
                if held {
                    while let Some(job) = next(&inbox) {
                        job();
                    }
                }
            })
            .map_err(|error| cannot_start(cpu, &error))?;
        outcome
            .recv()
            .map_err(|_| Error::failure(format!("the thread for cpu {cpu} ended at once")))??;
        Ok(Self {
            cpu,
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A job that panicked has already been reported by `run`.
            let _ = thread.join();
        }
    }
}

/// Barrier that lets `size` threads start together. A barrier is used once.
#[derive(Debug)]
pub struct StartBarrier {
    size: usize,
    arrived: AtomicUsize,
}

impl StartBarrier {
    /// Barrier for `size` threads.
    pub fn new(size: usize) -> Self {
        Self {
            size,
            arrived: AtomicUsize::new(0),
        }
    }

    /// True if the barrier is for one thread only.
    pub fn is_alone(&self) -> bool {
        self.size == 1
    }

    /// Spins until all threads have arrived. Threads do not sleep here, because waking them up
    /// would delay their start.
    pub fn wait(&self) {
        self.arrived.fetch_add(1, Ordering::AcqRel);
        let mut polls = 0u32;
        while self.arrived.load(Ordering::Acquire) < self.size {
            polls = polls.wrapping_add(1);
            if polls.is_multiple_of(1 << 14) {
                // Another thread may need this CPU to get to the barrier.
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_cpus() -> Vec<u32> {
        let allowed = pin::current_affinity()
            .expect("affinity is readable on Linux")
            .0;
        allowed.into_iter().take(2).collect()
    }

    #[test]
    fn a_limit_on_threads_is_named() {
        let refused = |kind: std::io::ErrorKind| cannot_start(3, &kind.into()).to_string();
        assert!(refused(std::io::ErrorKind::WouldBlock).contains("ulimit -u"));
        assert!(!refused(std::io::ErrorKind::PermissionDenied).contains("ulimit"));
    }

    #[test]
    fn jobs_run_on_the_cpus_requested_in_order() {
        let cpus = two_cpus();
        let team = Team::new(&cpus).unwrap();
        let seen = team
            .run(&cpus, |m| (m.index, m.cpu, pin::current_cpu()))
            .unwrap();
        let expected: Vec<_> = cpus
            .iter()
            .enumerate()
            .map(|(i, &cpu)| (i, cpu, Some(cpu)))
            .collect();
        assert_eq!(seen, expected);
        assert!(team.run(&[99_999], |_| ()).is_err());
    }

    #[test]
    fn a_cpu_that_is_named_twice_has_two_threads() {
        let cpu = two_cpus()[0];
        let team = Team::new(&[cpu]).unwrap();
        for _ in 0..2 {
            // All three jobs wait for each other. If one thread executed two of the jobs, it would
            // wait forever.
            let barrier = StartBarrier::new(3);
            let seen = team
                .run(&[cpu; 3], move |m| {
                    barrier.wait();
                    (m.index, pin::current_cpu(), std::thread::current().id())
                })
                .unwrap();
            assert_eq!(
                seen.iter().map(|s| (s.0, s.1)).collect::<Vec<_>>(),
                [0, 1, 2].map(|i| (i, Some(cpu)))
            );
            assert_eq!(
                seen.iter()
                    .map(|s| s.2)
                    .collect::<std::collections::HashSet<_>>()
                    .len(),
                3
            );
        }
        assert_eq!(
            team.workers.lock().unwrap().len(),
            3,
            "the second time nothing is started"
        );
    }

    #[test]
    fn a_thread_that_went_to_sleep_takes_the_next_job() {
        let cpus = two_cpus();
        let team = Team::new(&cpus).unwrap();
        for pause in [Nanos::ZERO, AWAKE / 2.0, AWAKE * 4.0] {
            counter::sleep(pause);
            assert_eq!(
                team.run(&cpus, |m| m.index).unwrap(),
                (0..cpus.len()).collect::<Vec<_>>()
            );
        }
    }

    #[test]
    fn a_cpu_that_does_not_exist_is_refused() {
        assert!(Team::new(&[99_999]).is_err());
    }

    #[test]
    fn nobody_passes_the_barrier_alone() {
        let cpus = two_cpus();
        let team = Team::new(&cpus).unwrap();
        let barrier = StartBarrier::new(cpus.len());
        let passed = AtomicUsize::new(0);
        let size = cpus.len();
        let seen = team
            .run(&cpus, move |_| {
                passed.fetch_add(1, Ordering::SeqCst);
                barrier.wait();
                passed.load(Ordering::SeqCst)
            })
            .unwrap();
        assert!(seen.iter().all(|&n| n == size));
    }
}
