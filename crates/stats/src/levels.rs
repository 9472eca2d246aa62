//! Computes median and interval of nested samples: allocations of memory contain rounds, and rounds
//! contain samples.

use super::groups::{merge, merged};
use super::order::{
    Interval, interpolated_interval, interval_rank, median, median_interval, sorted,
};
use super::placement::differ;
use super::trend::{neighbours_alike, slope, trend_by_chance};

/// Least number of independent values whose range contains the median with a confidence of 95%.
const ENOUGH: usize = 6;

/// If a trend has a smaller p-value than this, it is subtracted before the interval is computed.
const TREND: f64 = 0.05;

/// Neighbouring rounds are merged if their serial correlation exceeds the expected correlation of
/// independent values by this number of standard deviations. The number is low: merging independent
/// rounds only makes the interval a little wider, but not merging dependent rounds makes it too
/// narrow.
const MERGE: f64 = 0.5;

/// Median of all samples, and its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Headline {
    /// Median of all samples.
    pub median: f64,
    /// Confidence interval of the median over all possible rounds. It always contains `median`.
    pub interval: Interval,
}

/// Median and 95% interval of samples `allocations[allocation][round][sample]` in time order, in
/// any unit.
///
/// The interval comes from a sign test on the medians of the rounds. With six or more allocations,
/// the medians of the allocations are used. This test assumes nothing about the distribution, about
/// differences between rounds, or about dependence within a round. A trend is subtracted first, and
/// rounds that resemble their neighbours are merged. If two to five allocations differ, the
/// interval is the range of their medians. With two to five rounds, the interval is the range of
/// their medians, extended to [`median_interval`] of all samples. `attained` is then 0.5, 0.75,
/// 0.875 or 0.9375. The samples of a single round are treated as independent. Empty rounds are left
/// out. `None` without samples, or if a sample is not finite.
///
/// Sources: Hettmansperger and Sheather 1986 (see `interpolated_interval`); Sen 1968 (slope, see
/// `trend`); Flyvbjerg and Petersen, "Error estimates on averages of correlated data", Journal of
/// Chemical Physics 91 (1989) (merging). docs/method/coverage.md has the simulated coverage.
pub fn headline(allocations: &[Vec<Vec<f64>>]) -> Option<Headline> {
    let rounds: Vec<Vec<f64>> = allocations
        .iter()
        .flatten()
        .filter(|r| !r.is_empty())
        .cloned()
        .collect();
    let by_allocation: Vec<Vec<f64>> = allocations
        .iter()
        .map(|rounds| rounds.concat())
        .filter(|a| !a.is_empty())
        .collect();
    let all = rounds.concat();
    let median = median(&all)?;
    let interval = match by_allocation.len() {
        ENOUGH.. => of_many(&by_allocation)?,
        2.. if differ(allocations) => of_few(&by_allocation)?,
        _ if rounds.len() >= ENOUGH => of_many(&rounds)?,
        _ if rounds.len() > 1 => hull(of_few(&rounds)?, median_interval(&all)?),
        _ => median_interval(&all)?,
    };
    let interval = Interval {
        low: interval.low.min(median),
        high: interval.high.max(median),
        ..interval
    };
    Some(Headline { median, interval })
}

/// Interval from the least to the greatest median of `groups`, for two to five groups.
fn of_few(groups: &[Vec<f64>]) -> Option<Interval> {
    let levels = sorted(&levels(groups)?)?;
    Some(Interval {
        low: *levels.first()?,
        high: *levels.last()?,
        attained: interval_rank(levels.len()).1,
    })
}

/// The smallest interval that contains `a` and `b`, with the lower of their confidences.
fn hull(a: Interval, b: Interval) -> Interval {
    Interval {
        low: a.low.min(b.low),
        high: a.high.max(b.high),
        attained: a.attained.min(b.attained),
    }
}

/// Interval of the median from six or more groups in time order.
fn of_many(groups: &[Vec<f64>]) -> Option<Interval> {
    let groups = merged(groups);
    let straight = without_trend(&groups);
    let trend = straight.is_some();
    let groups = straight.unwrap_or(groups);
    let mut levels = levels(&groups)?;
    while levels.len() / 2 >= ENOUGH && neighbours_alike(&levels, MERGE) {
        levels = self::levels(&merge(&groups, levels.len() / 2))?;
    }
    let interval = interpolated_interval(&levels)?;
    // The fitted slope has also removed some of the spread of the rounds. The interval is widened
    // to make up for it.
    let margin = if trend {
        (interval.high / 2.0 - interval.low / 2.0) / (levels.len() - 2) as f64
    } else {
        0.0
    };
    let low = interval.low - margin;
    let high = interval.high + margin;
    Some(if low.is_finite() && high.is_finite() {
        Interval {
            low,
            high,
            ..interval
        }
    } else {
        interval
    })
}

/// The groups without their trend. The trend is subtracted so that groups in the middle of the time
/// keep their values. `None` if there is no trend.
fn without_trend(groups: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let before = levels(groups)?;
    if trend_by_chance(&before) >= TREND {
        return None;
    }
    let slope = slope(&before)?;
    let middle = (groups.len() - 1) as f64 / 2.0;
    let shift = |(i, group): (usize, &Vec<f64>)| {
        group
            .iter()
            .map(|s| s - slope * (i as f64 - middle))
            .collect()
    };
    let straight: Vec<Vec<f64>> = groups.iter().enumerate().map(shift).collect();
    straight
        .iter()
        .flatten()
        .all(|s| s.is_finite())
        .then_some(straight)
}

/// Median of each group. `None` if a group is empty or a value is not finite.
fn levels(groups: &[Vec<f64>]) -> Option<Vec<f64>> {
    groups.iter().map(|g| median(g)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::groups::MAX_GROUPS;
    use super::*;

    fn interval(rounds: &[Vec<f64>]) -> Interval {
        headline(&[rounds.to_vec()]).unwrap().interval
    }

    #[test]
    fn few_rounds_attain_less_and_reach_every_round() {
        for (count, attained) in [(2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
            let drawn: Vec<Vec<f64>> = (0..count).map(|r| vec![f64::from(r); 9]).collect();
            assert_eq!(
                interval(&drawn),
                Interval {
                    low: 0.0,
                    high: f64::from(count - 1),
                    attained
                }
            );
        }
    }

    #[test]
    fn a_single_round_and_empty_ones() {
        let samples: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(
            Some(interval(std::slice::from_ref(&samples))),
            median_interval(&samples)
        );
        assert_eq!(
            Some(interval(&[vec![], samples.clone(), vec![]])),
            median_interval(&samples)
        );
        assert_eq!(
            headline(&[vec![], vec![samples.clone()]]),
            headline(&[vec![samples]])
        );
        assert_eq!(
            (headline(&[]), headline(&[vec![], vec![vec![]]])),
            (None, None)
        );
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(headline(&[vec![vec![1.0, 2.0], vec![bad]]]), None);
        }
    }

    #[test]
    fn a_trend_is_taken_out_and_only_a_trend() {
        // These values are the same forwards and backwards, so that their slope is 0.
        let zigzag = [3.0, -4.0, 2.0, 1.0, 1.0, 2.0, -4.0, 3.0];
        let around = |slope: f64| -> Vec<Vec<f64>> {
            zigzag
                .iter()
                .enumerate()
                .map(|(i, z)| vec![100.0 + z + slope * (i as f64 - 3.5); 3])
                .collect()
        };
        let plain = interpolated_interval(&zigzag.map(|z| 100.0 + z)).unwrap();
        assert_eq!(interval(&around(0.0)), plain);
        let straight = interval(&around(10.0));
        let wider = (straight.high - straight.low) / (plain.high - plain.low);
        assert!((wider - 7.0 / 6.0).abs() < 1e-9, "{wider}");
    }

    #[test]
    fn extremes_have_an_interval_and_equal_samples_a_point() {
        let same = interval(&vec![vec![0.1; 5]; 30]);
        assert_eq!((same.low, same.high), (0.1, 0.1));
        for extremes in [
            [-f64::MAX, f64::MAX],
            [f64::MAX, f64::MAX],
            [0.0, f64::MIN_POSITIVE],
        ] {
            for count in [2, 6, 7, 30, 200] {
                let rising: Vec<Vec<f64>> = (0..count)
                    .map(|i| vec![extremes[i * 2 / count]; 3])
                    .collect();
                let interval = interval(&rising);
                assert!(
                    interval.low.is_finite()
                        && interval.high.is_finite()
                        && interval.low <= interval.high
                );
                assert!(headline(&[rising.clone(), rising.clone(), rising]).is_some());
            }
        }
    }

    #[test]
    fn the_scale_does_not_matter_and_the_order_within_rounds_neither() {
        let rounds: Vec<Vec<f64>> = (0..9)
            .map(|i| vec![f64::from(i * 7 % 9), 3.0, f64::from(i)])
            .collect();
        let scaled: Vec<Vec<f64>> = rounds
            .iter()
            .map(|r| r.iter().rev().map(|s| s * 8.0).collect())
            .collect();
        let one = interval(&rounds);
        let eight = interval(&scaled);
        assert_eq!(
            (one.low * 8.0, one.high * 8.0, one.attained),
            (eight.low, eight.high, 0.95)
        );
    }

    #[test]
    fn groups_are_merged_evenly_and_none_is_lost() {
        let groups: Vec<Vec<f64>> = (0..25).map(|i| vec![f64::from(i)]).collect();
        let lengths: Vec<usize> = merge(&groups, 6).iter().map(Vec::len).collect();
        assert_eq!(lengths, [4, 4, 4, 4, 4, 5]);
        assert_eq!(merge(&groups, 6).concat(), groups.concat());
        assert_eq!(
            (
                merge(&groups, 0).len(),
                merge(&[], 0).len(),
                merged(&groups).len()
            ),
            (0, 0, 25)
        );
        assert_eq!(merged(&vec![vec![1.0]; 1000]).len(), MAX_GROUPS);
    }
}
