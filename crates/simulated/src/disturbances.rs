//! Disturbances of the simulated machine.

use engine::Chunks;
use host::noise::ThreadNoise;
use report::{Relation, SystemActivity};
use units::Nanos;

/// Event that makes a sample longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spike {
    /// Another program gets the CPU.
    #[default]
    Switch,
    /// The thread is stopped and continued.
    Stop,
    /// Memory that was taken away is faulted in again.
    Fault,
    /// The thread is moved to another CPU.
    Move,
    /// An event that the system does not count: the hypervisor runs another machine.
    Gap,
    /// An event that nobody can see: a neighbour uses the same cache or memory.
    Neighbour,
}

/// Disturbances of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NoiseModel {
    /// Relative size of a uniform disturbance of every sample: 0.01 makes samples differ by up to
    /// 1%.
    pub jitter: f64,
    /// Number of samples after which one takes three times as long, for the reason in `spike`; 0
    /// for never.
    pub spike_every: u64,
    /// Event in such a sample.
    pub spike: Spike,
    /// Share of the time that the hypervisor takes.
    pub steal: f64,
    /// Share of the time in which a quota stops threads.
    pub throttled: f64,
    /// Time that other programs use, in CPUs.
    pub others: f64,
    /// Share of the time in which a program waits for memory.
    pub memory_pressure: f64,
    /// Number of heat throttles per second.
    pub throttles_per_second: f64,
    /// Relative deviation of the raw counter from its calibration.
    pub counter_drift: f64,
    /// Relative slow-down in every second mapping of memory.
    pub placement: f64,
    /// Extra time of every mapping of memory, as a multiple of the time that the plan expects.
    pub slow_mapping: f64,
    /// Relative slow-down per second of simulated time: a machine that heats up.
    pub drift: f64,
    /// Placements of the vCPUs in successive spans of two hundred samples, over and over; empty for CPUs
    /// that stay where the topology says.
    pub placements: &'static [Relation],
    /// Number of spans of ten samples in one of which another thread uses the core; 0 for never.
    pub shared_every: u64,
    /// Number of such spans of which one is undisturbed after all; 0 for never.
    pub alone_every: u64,
    /// Share by which the core clock is too low during the whole session.
    pub slow_clock: f64,
    /// Factor by which the chunks of a sample are too short if the sample finds their length
    /// itself, as just after caches were disturbed; 0 for none.
    pub short_chunks: u32,
}

/// Independent instructions per cycle of the simulated core.
const WIDTH: f64 = 5.0;

impl Spike {
    /// The system's counts of the event.
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
    /// Relation of the CPUs after this many samples; `None` if they stay where they are.
    pub(super) fn placement(&self, samples: u64) -> Option<Relation> {
        let span = (samples / 200) as usize;
        let placements = self.placements;
        placements.get(span % placements.len().max(1)).copied()
    }

    fn is_shared(&self, samples: u64) -> bool {
        let nth = |every: u64| every > 0 && samples / 10 % every == every - 1;
        nth(self.shared_every) && !nth(self.alone_every)
    }

    /// Independent instructions per cycle after this many samples.
    pub(super) fn issue(&self, samples: u64) -> f64 {
        if self.is_shared(samples) {
            WIDTH * 0.6
        } else {
            WIDTH
        }
    }

    /// Share of a core's speed that another thread leaves after this many samples.
    pub(super) fn left_of_core(&self, samples: u64) -> f64 {
        if self.is_shared(samples) { 0.8 } else { 1.0 }
    }

    /// System activity until `now`, with this many CPUs read.
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

/// `count` equal chunks of a sample; a gap, if there is one, lies in the last.
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
