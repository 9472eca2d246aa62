//! Differences and sums of readings of the system activity.

use report::SystemActivity;

/// Activity between two readings. If a reading lacks a count, the difference of this count is
/// unknown. A count that is lower in the second reading was reset, and its difference is zero.
pub fn between(before: &SystemActivity, after: &SystemActivity) -> SystemActivity {
    let time = |of: fn(&SystemActivity) -> Option<f64>| {
        of(before).zip(of(after)).map(|(b, a)| (a - b).max(0.0))
    };
    let count = |of: fn(&SystemActivity) -> Option<u64>| {
        of(before).zip(of(after)).map(|(b, a)| a.saturating_sub(b))
    };
    SystemActivity {
        elapsed_ns: (after.elapsed_ns - before.elapsed_ns).max(0.0),
        stolen_ns: time(|s| s.stolen_ns),
        throttled_ns: time(|s| s.throttled_ns),
        // This count is the difference of two clocks, and one clock advances in steps. The count
        // may therefore fall. Negative differences are kept, because errors would add up if they
        // were set to zero.
        others_ns: before.others_ns.zip(after.others_ns).map(|(b, a)| a - b),
        cpu_pressure_ns: time(|s| s.cpu_pressure_ns),
        memory_pressure_ns: time(|s| s.memory_pressure_ns),
        interrupts: count(|s| s.interrupts),
        thermal_throttles: count(|s| s.thermal_throttles),
        highest_celsius: highest(before.highest_celsius, after.highest_celsius),
    }
}

/// Sum of the activity in two periods. If a count is unknown in one period, its sum is unknown.
pub fn together(one: &SystemActivity, other: &SystemActivity) -> SystemActivity {
    let time = |of: fn(&SystemActivity) -> Option<f64>| of(one).zip(of(other)).map(|(a, b)| a + b);
    let count = |of: fn(&SystemActivity) -> Option<u64>| {
        of(one).zip(of(other)).map(|(a, b)| a.saturating_add(b))
    };
    SystemActivity {
        elapsed_ns: one.elapsed_ns + other.elapsed_ns,
        stolen_ns: time(|s| s.stolen_ns),
        throttled_ns: time(|s| s.throttled_ns),
        others_ns: time(|s| s.others_ns),
        cpu_pressure_ns: time(|s| s.cpu_pressure_ns),
        memory_pressure_ns: time(|s| s.memory_pressure_ns),
        interrupts: count(|s| s.interrupts),
        thermal_throttles: count(|s| s.thermal_throttles),
        highest_celsius: highest(one.highest_celsius, other.highest_celsius),
    }
}

fn highest(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.into_iter().chain(other).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(elapsed: f64, stolen: Option<f64>, interrupts: Option<u64>) -> SystemActivity {
        SystemActivity {
            elapsed_ns: elapsed,
            stolen_ns: stolen,
            interrupts,
            ..Default::default()
        }
    }

    #[test]
    fn differences_and_sums_keep_the_unknown() {
        let first = between(
            &reading(10.0, Some(5.0), Some(9)),
            &reading(30.0, Some(7.0), Some(4)),
        );
        assert_eq!(first, reading(20.0, Some(2.0), Some(0)));
        let others = |ns| SystemActivity {
            others_ns: Some(ns),
            ..SystemActivity::default()
        };
        assert_eq!(between(&others(20.0), &others(10.0)).others_ns, Some(-10.0));
        let second = between(
            &reading(40.0, None, Some(4)),
            &reading(45.0, Some(7.0), Some(6)),
        );
        assert_eq!(second, reading(5.0, None, Some(2)));
        assert_eq!(together(&first, &second), reading(25.0, None, Some(2)));
        assert_eq!(highest(Some(40.0), Some(60.0)), Some(60.0));
        assert_eq!(highest(None, Some(60.0)), Some(60.0));
    }
}
