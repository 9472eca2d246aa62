//! Disturbances of the simulated machine.

use engine::Chunks;
use host::noise::ThreadNoise;
use report::{Relation, SystemActivity};
use units::Nanos;

/// Event that makes a sample three times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spike {
    /// Another program gets the CPU: an involuntary context switch.
    #[default]
    Switch,
    /// The thread is stopped and continued: a voluntary context switch.
    Stop,
    /// The kernel has taken a page away, and the thread waits for it: a page fault.
    Fault,
    /// The thread is moved to another CPU.
    Move,
    /// The hypervisor runs another virtual machine. No counter of the system shows this.
    Gap,
    /// Another program uses the same cache or memory. No counter shows this.
    Neighbour,
}

/// Disturbances of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NoiseModel {
    /// Largest random slow-down of a sample, as a share of its time, uniformly distributed. With
    /// 0.01, samples differ by up to 1%.
    pub jitter: f64,
    /// Every sample whose number is a multiple of this takes three times as long, because of
    /// `spike`; 0 for none.
    pub spike_every: u64,
    /// Event in every such long sample.
    pub spike: Spike,
    /// Share of the time that the hypervisor takes.
    pub steal: f64,
    /// Share of the time for which a CPU quota stops the threads.
    pub throttled: f64,
    /// Number of CPUs that other programs use on average.
    pub others: f64,
    /// Share of the time for which a program waits for memory (memory pressure).
    pub memory_pressure: f64,
    /// Number of thermal throttles per second.
    pub throttles_per_second: f64,
    /// Relative deviation of the raw counter from its calibration.
    pub counter_drift: f64,
    /// Slow-down of all samples in every second mapping of memory, as a share of their time.
    pub placement: f64,
    /// Extra time of every mapping of memory, as a multiple of the time that the plan expects.
    pub slow_mapping: f64,
    /// Slow-down per second of simulated time, as a share of a sample's time. It simulates a
    /// machine that heats up.
    pub drift: f64,
    /// Placements of the vCPUs on the host's cores. Each lasts for two hundred samples. After the
    /// last placement, the first begins again. If the list is empty, vCPUs stay where the topology
    /// says.
    pub placements: &'static [Relation],
    /// In one of this many spans of ten samples, another thread uses the core; 0 for never.
    pub shared_every: u64,
    /// In one of this many spans of ten samples, no other thread uses the core, even if
    /// `shared_every` says so; 0 for never.
    pub alone_every: u64,
    /// Share by which the core clock is lower than the model's during the whole session.
    pub slow_clock: f64,
    /// Factor by which chunks are too short in samples that find the amount of work in a chunk
    /// themselves. On real machines this happens right after a disturbance of the caches. 0 for no
    /// such error.
    pub short_chunks: u32,
}

/// Independent instructions per cycle of the simulated core.
const WIDTH: f64 = 5.0;

impl Spike {
    /// Page faults and context switches that the system reports for this event.
    pub(super) fn noise(self) -> ThreadNoise {
        let count = |kind: Spike| u64::from(self == kind);
        ThreadNoise {
            minor_faults: count(Spike::Fault),
            major_faults: 0,
            voluntary_switches: count(Spike::Stop),
            involuntary_switches: count(Spike::Switch),
        }
    }
}

impl NoiseModel {
    /// Placement of the vCPUs after this number of samples; `None` if they stay where the topology
    /// says.
    pub(super) fn placement(&self, samples: u64) -> Option<Relation> {
        let span = (samples / 200) as usize;
        let placements = self.placements;
        placements.get(span % placements.len().max(1)).copied()
    }

    fn is_shared(&self, samples: u64) -> bool {
        let nth = |every: u64| every > 0 && samples / 10 % every == every - 1;
        nth(self.shared_every) && !nth(self.alone_every)
    }

    /// Instructions per cycle of independent instructions after this number of samples.
    pub(super) fn issue(&self, samples: u64) -> f64 {
        if self.is_shared(samples) {
            WIDTH * 0.6
        } else {
            WIDTH
        }
    }

    /// Share of the core's speed that the work has after this number of samples; 1 without another
    /// thread on the core.
    pub(super) fn left_of_core(&self, samples: u64) -> f64 {
        if self.is_shared(samples) { 0.8 } else { 1.0 }
    }

    /// Counts of system activity from the start until `now`, summed over `cpus` CPUs.
    pub(super) fn system_activity(&self, now: Nanos, cpus: usize) -> SystemActivity {
        let share = |of: f64| Some(now.0 * of);
        SystemActivity {
            elapsed_ns: now.0,
            stolen_ns: share(self.steal * cpus as f64),
            throttled_ns: share(self.throttled),
            others_ns: share(self.others),
            cpu_pressure_ns: share(self.others.min(1.0)),
            memory_pressure_ns: share(self.memory_pressure),
            interrupts: Some((now.secs() * 250.0) as u64),
            thermal_throttles: Some((now.secs() * self.throttles_per_second) as u64),
            highest_celsius: Some(50.0),
        }
    }
}

/// The `count` chunks of a sample, all of equal length. The time of a gap is added to the last
/// chunk.
pub(super) fn chunks(count: u64, amount: u64, elapsed: Nanos, gap: Nanos) -> Chunks {
    let each = (elapsed - gap) * (1.0 / count as f64);
    let mut lengths = vec![each; count as usize];
    if let Some(last) = lengths.last_mut() {
        *last += gap;
    }
    Chunks {
        amount: (amount / count).max(1),
        lengths,
    }
}
