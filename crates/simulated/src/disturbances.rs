//! Disturbances of the simulated machine.

use engine::Chunks;
use host::noise::ThreadNoise;
use report::SystemActivity;
use units::Nanos;

/// Events in a sample that takes longer.
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
    /// Nothing that the system counts: the hypervisor runs somebody else.
    Gap,
    /// Nothing that anyone can see: a neighbour uses the same cache or memory.
    Neighbour,
}

/// Disturbances of samples.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct NoiseModel {
    /// Relative size of a uniform disturbance of every sample: 0.01 makes samples differ by up to
    /// 1%.
    pub jitter: f64,
    /// Number of samples after which one takes three times as long, for the reason in `spike`; 0 for
    /// never.
    pub spike_every: u64,
    /// Event in such a sample.
    pub spike: Spike,
    /// Share of all time that the hypervisor takes.
    pub steal: f64,
    /// Share of all time for which a quota keeps threads from running.
    pub throttled: f64,
    /// CPUs' worth of time that others use.
    pub others: f64,
    /// Share of all time in which somebody waits for memory.
    pub memory_pressure: f64,
    /// How often the processor slows itself down because of heat.
    pub throttles_per_second: f64,
    /// How far the raw counter is off its calibration.
    pub counter_drift: f64,
    /// How much longer everything takes in every second mapping of memory, relative.
    pub placement: f64,
    /// Extra time of every mapping of memory, as a multiple of the time that the plan expects.
    pub slow_mapping: f64,
    /// Relative slow-down per second of simulated time: a machine that heats up.
    pub drift: f64,
    /// Number of spans of fifty samples after which the host has all CPUs on one core for one of them; 0
    /// for never.
    pub co_scheduled_every: u64,
    /// Number of spans of ten samples after which another thread uses the core for one of them; 0 for
    /// never.
    pub shared_every: u64,
    /// Number of these spans after which one is left out all the same; 0 for never.
    pub alone_every: u64,
    /// The share of the core clock that the machine lacks for the whole run.
    pub slow_clock: f64,
    /// How many times too short the chunks of a sample come out that finds out itself how much work
    /// fills them, as on a machine whose caches were just disturbed; 0 for not at all.
    pub short_chunks: u32,
}

/// Independent instructions that the simulated core begins per cycle.
const WIDTH: f64 = 5.0;

impl Spike {
    /// Counts of the system for it.
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
    /// Whether the host has all CPUs on one core after this many samples.
    pub(super) fn is_co_scheduled(&self, samples: u64) -> bool {
        self.co_scheduled_every > 0
            && samples / 50 % self.co_scheduled_every == self.co_scheduled_every - 1
    }

    fn is_shared(&self, samples: u64) -> bool {
        let nth = |every: u64| every > 0 && samples / 10 % every == every - 1;
        nth(self.shared_every) && !nth(self.alone_every)
    }

    /// Independent instructions that the core begins per cycle after this many samples.
    pub(super) fn issue(&self, samples: u64) -> f64 {
        if self.is_shared(samples) {
            WIDTH * 0.6
        } else {
            WIDTH
        }
    }

    /// Share of a core's speed that somebody else leaves after this many samples.
    pub(super) fn left_of_core(&self, samples: u64) -> f64 {
        if self.is_shared(samples) { 0.8 } else { 1.0 }
    }

    /// Activity until `now` on a machine of which this many CPUs are read.
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

/// So many chunks of a sample: equal ones, but that a gap lies in the last.
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
