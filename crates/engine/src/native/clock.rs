//! The raw counter, calibrated against the monotonic clock.

use host::counter;
use report::ClockFacts;
use units::{Hertz, Nanos};

/// Duration of one calibration, which compares the counter with the monotonic clock.
const WATCH: Nanos = Nanos(10e6);

/// The counter's rate, and facts about its precision.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    facts: ClockFacts,
    rate: Hertz,
    shortest: Nanos,
    /// Readings of the monotonic clock and of the counter at the end of the calibration.
    start: (Nanos, u64),
}

/// Shortest time after the calibration over which a drift is computed. A reading of the clocks is
/// exact to about 100 ns.
const SHORTEST_WATCH: Nanos = Nanos(100e6);

impl Clock {
    /// Calibrates twice over 10 ms. The difference of the two rates is the reported error.
    pub fn calibrate() -> Self {
        let first = watch();
        let second = watch();
        let rate = (first + second) / 2.0;
        let error = (first - second).abs() / rate;
        let (resolution, overhead) = step_and_cost(rate);
        let facts = ClockFacts {
            counter: counter::ticks_name().to_owned(),
            rate: Some(Hertz(rate)),
            error: Some(error),
            resolution: Some(resolution),
            overhead: Some(overhead),
            core: None,
        };
        Self {
            facts,
            rate: Hertz(rate),
            shortest: resolution.max(overhead) * 1000.0,
            start: both(),
        }
    }

    /// Relative deviation of the counter's rate from its calibrated rate; `None` in the first tenth
    /// of a second after the calibration. A deviation shows that the counter changed: the machine
    /// was moved to another host, or the counter of a core lost its synchronisation.
    pub fn drift(&self) -> Option<f64> {
        let (time, ticks) = both();
        let elapsed = time - self.start.0;
        let counted = self.nanos(ticks.saturating_sub(self.start.1));
        (elapsed >= SHORTEST_WATCH).then(|| (counted.0 / elapsed.0 - 1.0).abs())
    }

    /// Duration of `ticks`.
    pub fn nanos(&self, ticks: u64) -> Nanos {
        Nanos::from_secs(ticks as f64 / self.rate.0)
    }

    /// Number of ticks in `time`, at least one.
    pub fn ticks(&self, time: Nanos) -> u64 {
        (self.rate.cycles_in(time) as u64).max(1)
    }

    /// Shortest time that the counter measures with an error of at most one part in a thousand.
    pub fn shortest(&self) -> Nanos {
        self.shortest
    }

    /// Facts for the report.
    pub fn facts(&self) -> &ClockFacts {
        &self.facts
    }

    /// Facts for the report. The caller adds the core clock to them.
    pub fn facts_mut(&mut self) -> &mut ClockFacts {
        &mut self.facts
    }
}

/// Rate of the counter in ticks per second, measured over [`WATCH`].
fn watch() -> f64 {
    let (time, ticks) = both();
    let end = time + WATCH;
    while counter::monotonic() < end {
        std::hint::spin_loop();
    }
    let (time_after, ticks_after) = both();
    let seconds = (time_after - time).secs();
    ticks_after.saturating_sub(ticks) as f64 / seconds
}

/// Readings of the monotonic clock and the counter at the same moment. Each of several tries reads
/// the counter before and after the clock. The try with the shortest time between its two counter
/// readings is used, because nothing interrupted it.
fn both() -> (Nanos, u64) {
    let read = || {
        let before = counter::ticks();
        let time = counter::monotonic();
        let after = counter::ticks();
        (
            after.saturating_sub(before),
            time,
            before + after.saturating_sub(before) / 2,
        )
    };
    let narrowest = (0..20).map(|_| read()).min_by_key(|r| r.0);
    let (_, time, ticks) = narrowest.unwrap_or_else(read);
    (time, ticks)
}

/// Smallest difference of two successive counter readings, and mean time of a reading.
fn step_and_cost(rate: f64) -> (Nanos, Nanos) {
    const READINGS: usize = 10_000;
    let readings: Vec<u64> = (0..READINGS).map(|_| counter::ticks()).collect();
    let steps = readings
        .windows(2)
        .map(|pair| pair[1].saturating_sub(pair[0]));
    let smallest = steps.filter(|&step| step > 0).min().unwrap_or(1);
    let all = readings[READINGS - 1].saturating_sub(readings[0]) as f64;
    let nanos = |ticks: f64| Nanos::from_secs(ticks / rate);
    (nanos(smallest as f64), nanos(all / (READINGS - 1) as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_and_time_convert_back_and_forth() {
        let clock = Clock::calibrate();
        let time = Nanos::from_millis(3.0);
        let there_and_back = clock.nanos(clock.ticks(time));
        assert!((there_and_back.0 - time.0).abs() < 100.0);
        let facts = clock.facts();
        assert!(facts.rate.unwrap().0 > 1e6 && facts.error.unwrap().is_finite());
        let resolution = facts.resolution.unwrap();
        assert!(resolution.0 > 0.0 && clock.shortest() > resolution);
    }
}
