//! Finds the value on which the least disturbed moments of many rounds agree.
//!
//! Other virtual machines, interrupts and shared cores only make work slower. If several rounds had
//! an undisturbed moment, their best values lie close together at the undisturbed value. The
//! distribution of best values then ends sharply there. Otherwise it ends gradually.

/// Two values agree if they differ by at most this share.
const AGREE: f64 = 0.01;

/// At least this number of values has to agree. A 95% confidence interval needs the same number.
const FEWEST: usize = 6;

/// Largest tolerated number of better values, divided by the number of agreeing values. Above this
/// limit, the distribution ends gradually. Beyond a sharp end there are hardly any values.
const BEYOND: f64 = 0.25;

/// The best value on which six or more of `values` agree within 1%. The result is the median of the
/// values that agree. `None` if fewer agree, if too many values are better, or if a value is not
/// positive and finite.
pub fn quietest(values: &[f64], higher_is_better: bool) -> Option<f64> {
    if !values.iter().all(|value| value.is_finite() && *value > 0.0) {
        return None;
    }
    // The cost of a value: a lower cost is better.
    let cost = |value: f64| if higher_is_better { 1.0 / value } else { value };
    let mut costs: Vec<f64> = values.iter().map(|&value| cost(value)).collect();
    costs.sort_by(f64::total_cmp);
    let agreeing = |start: usize| {
        let from = costs.get(start..)?;
        let count = from.partition_point(|cost| *cost <= from[0] * (1.0 + AGREE));
        from.get(..count)
    };
    let (beyond, agree) = (0..costs.len())
        .filter_map(|start| Some((start, agreeing(start)?)))
        .find(|(_, agree)| agree.len() >= FEWEST)?;
    let is_sharp = beyond as f64 <= agree.len() as f64 * BEYOND;
    is_sharp.then(|| cost(agree[agree.len() / 2]))
}

/// True if `value` differs by at most 1% from `quietest`, a result of the function [`quietest`].
pub fn agrees(value: f64, quietest: f64) -> bool {
    (value / quietest - 1.0).abs() <= AGREE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    /// Best values of `count` rounds. A share `quiet` of them is at most 0.5% below 100, and the
    /// others are 5% to 50% below 100.
    fn bests(count: usize, quiet: f64, seed: u64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..count)
            .map(|_| match random.fraction() < quiet {
                true => 100.0 * (1.0 - 0.005 * random.fraction()),
                false => 100.0 * (0.95 - 0.45 * random.fraction()),
            })
            .collect()
    }

    #[test]
    fn few_quiet_rounds_are_found_among_slow_ones() {
        for (seed, quiet) in (0..20).flat_map(|seed| [0.5, 0.8, 1.0].map(|quiet| (seed, quiet))) {
            let found = quietest(&bests(30, quiet, seed), true).unwrap();
            assert!((99.0..=100.0).contains(&found), "{quiet}: {found}");
        }
        let latencies: Vec<f64> = bests(30, 0.6, 1).iter().map(|rate| 1e3 / rate).collect();
        let found = quietest(&latencies, false).unwrap();
        assert!(agrees(found, 10.0), "{found}");
    }

    #[test]
    fn rounds_without_a_quiet_moment_do_not_agree() {
        for seed in 0..20 {
            let mut random = SplitMix64::new(seed);
            // A sum of three random numbers has a distribution that ends gradually.
            let mut slow = || (0..3).map(|_| random.fraction()).sum::<f64>() / 3.0;
            let values: Vec<f64> = (0..30).map(|_| 100.0 * (0.5 + 0.5 * slow())).collect();
            assert_eq!(quietest(&values, true), None, "{seed}");
        }
    }

    #[test]
    fn values_that_agree_below_several_better_ones_are_not_the_end() {
        let agree = [95.0, 95.1, 95.2, 95.3, 95.4, 95.5];
        let with = |better: &[f64]| quietest(&[&agree, better].concat(), true);
        assert!(with(&[98.0]).is_some());
        assert_eq!(with(&[98.0, 100.0, 103.0]), None);
    }

    #[test]
    fn a_wrong_reading_beyond_the_end_changes_nothing() {
        let mut values = bests(30, 0.6, 3);
        values.push(140.0);
        assert!(quietest(&values, true).unwrap() <= 100.0);
    }

    #[test]
    fn too_few_or_impossible_values_have_none() {
        assert_eq!(quietest(&[100.0; 5], true), None);
        assert_eq!(quietest(&[100.0; 6], true), Some(100.0));
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let mut values = vec![100.0; 100];
            values.push(wrong);
            assert_eq!(quietest(&values, true), None, "{wrong}");
        }
        assert_eq!(quietest(&[], true), None);
    }
}
