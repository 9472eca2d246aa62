//! Finds the steps of a curve over sizes. A step leads from one level of the curve, a part that is
//! nearly flat, to the next level.

use super::order::median;

/// Least number of points of a level.
const SHORTEST_LEVEL: usize = 2;

/// Number of points on each side of a change whose medians are compared.
const WINDOW: usize = 3;

/// A step of a curve from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// Index of the first point that has left the previous level.
    pub index: usize,
    /// x of the point at `index`.
    pub x: f64,
    /// Index of the first point on the next level. It equals `index` if no point lies between the
    /// levels.
    pub settled: usize,
    /// y of the previous level.
    pub before: f64,
    /// y of the next level.
    pub after: f64,
}

impl Knee {
    /// The next level divided by the previous level; above 1 for a step up.
    pub fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The steps of the curve `y` over increasing `x`, in order. A step is a change between levels
/// within a few points. The two levels differ by a factor of more than 1 + `threshold`, up or down.
/// Each level lasts for at least two points. A rise or fall over several points is one step, which
/// begins where the curve leaves the previous level. Two rises or falls are separate steps if at
/// least two points between them are nearly flat. Neither a single outlier nor a slow drift is a
/// step. Empty if `x` is not increasing, lengths differ, a `y` is not finite and above 0, or
/// `threshold` is not finite and above 0.
///
/// Source: binary segmentation (Scott and Knott, Biometrics 30, 1974) of log y. The splits minimize
/// absolute deviations from the medians of the segments, so that outliers weigh little. Fryzlewicz
/// (Annals of Statistics 42, 2014) discusses its limits. Here only the points next to a change are
/// compared, because a dip in a whole segment would cancel out. The value of a level is the median
/// of half of the points of its segment: of the run of consecutive points with the smallest range.
/// The other points may belong to the transitions on both sides. This is the shorth (Andrews et
/// al., Robust Estimates of Location, 1972), restricted to consecutive points.
pub fn knees(x: &[f64], y: &[f64], threshold: f64) -> Vec<Knee> {
    let usable = x.len() == y.len()
        && x.iter().all(|v| v.is_finite())
        && x.windows(2).all(|pair| pair[0] < pair[1])
        && y.iter().all(|v| v.is_finite() && *v > 0.0)
        && threshold.is_finite()
        && threshold > 0.0;
    if !usable {
        return Vec::new();
    }
    let logs: Vec<f64> = y.iter().map(|v| v.ln()).collect();
    let least = threshold.ln_1p();
    let mut changes = Vec::new();
    segment(&logs, 0, least, &mut changes);
    let steps = join_ramps(&logs, &changes, least);
    steps
        .iter()
        .enumerate()
        .filter_map(|(at, step)| {
            let from = steps.get(at.wrapping_sub(1)).map_or(0, |s| s.end);
            let to = steps.get(at + 1).map_or(logs.len(), |s| s.begin);
            let left = logs.get(from..step.begin)?;
            let right = logs.get(step.end..to)?;
            let before = level(left)?;
            let after = level(right)?;
            let margin = (after - before).signum() * least / 2.0;
            let index = onset(left, before, margin) + from;
            let settled = arrival(right, after, margin) + step.end;
            let knee = Knee {
                index,
                x: x[index],
                settled,
                before: before.exp(),
                after: after.exp(),
            };
            ((after - before).abs() >= least).then_some(knee)
        })
        .collect()
}

/// A transition from one level to the next: indices of the first point of the transition (`begin`)
/// and of the first point behind it (`end`).
struct Step {
    begin: usize,
    end: usize,
}

/// Splits `logs` recursively and adds the indices of the splits, plus `offset`, to `changes` in
/// order. Each split is at a step of `least` or more. The best split minimizes the absolute
/// deviations from the medians of both parts.
fn segment(logs: &[f64], offset: usize, least: f64, changes: &mut Vec<usize>) {
    let last = (logs.len() + 1).saturating_sub(SHORTEST_LEVEL);
    let steps: Vec<usize> = (SHORTEST_LEVEL..last)
        .filter(|&at| step_at(logs, at).abs() >= least)
        .collect();
    let Some(coarse) = best_split(logs, 0, &steps) else {
        return;
    };
    // If `logs` has further steps, a neighbour of the right split can have the same cost. The
    // search is therefore repeated with only the points around the split.
    let from = coarse.saturating_sub(WINDOW + 1);
    let to = logs.len().min(coarse + WINDOW + 1);
    let near: Vec<usize> = steps
        .into_iter()
        .filter(|at| at.abs_diff(coarse) < WINDOW)
        .collect();
    let Some(at) = best_split(&logs[from..to], from, &near) else {
        return;
    };
    segment(&logs[..at], offset, least, changes);
    changes.push(offset + at);
    segment(&logs[at..], offset + at, least, changes);
}

/// The split among `places` that minimizes the absolute deviations from the medians of both parts.
/// `logs[0]` has the index `offset`. `None` without places.
fn best_split(logs: &[f64], offset: usize, places: &[usize]) -> Option<usize> {
    let deviation = |part: &[f64]| {
        let level = median(part).unwrap_or_default();
        part.iter().map(|v| (v - level).abs()).sum::<f64>()
    };
    let cost = |at: usize| deviation(&logs[..at - offset]) + deviation(&logs[at - offset..]);
    places
        .iter()
        .map(|&at| (at, cost(at)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|best| best.0)
}

/// Height of the step at `at`: the median of the three points from `at` on, minus the median of the
/// three points before. With only two points on a side, the value nearer to the other side counts,
/// so that a single outlier has no effect.
fn step_at(logs: &[f64], at: usize) -> f64 {
    let left = &logs[at.saturating_sub(WINDOW)..at];
    let right = &logs[at..logs.len().min(at + WINDOW)];
    let up = typical(right, false) - typical(left, true);
    let down = typical(right, true) - typical(left, false);
    match (up > 0.0, down < 0.0) {
        (true, _) => up,
        (_, true) => down,
        _ => 0.0,
    }
}

/// The median of a window of three values. For two values, the result is the higher value if
/// `higher`, otherwise the lower value.
fn typical(window: &[f64], higher: bool) -> f64 {
    match window {
        [a, b] if higher => a.max(*b),
        [a, b] => a.min(*b),
        _ => median(window).unwrap_or_default(),
    }
}

/// The steps of the curve. Changes in one direction without a flat part between them are one step.
fn join_ramps(logs: &[f64], changes: &[usize], least: f64) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for (at, &change) in changes.iter().enumerate() {
        let from = at
            .checked_sub(1)
            .and_then(|a| changes.get(a))
            .copied()
            .unwrap_or(0);
        let to = changes.get(at + 1).copied().unwrap_or(logs.len());
        let direction = step_at(&logs[from..to], change - from).signum();
        match steps.last_mut() {
            Some(step) if is_ramp(logs, (step, change), direction, least) => step.end = change,
            _ => steps.push(Step {
                begin: change,
                end: change,
            }),
        }
    }
    steps
}

/// True if the points between `step` and the next `change` continue in `direction` without a flat
/// part. Each change from point to point must exceed a quarter of the steepest slope on either side
/// and a quarter of `least`.
fn is_ramp(logs: &[f64], (step, change): (&Step, usize), direction: f64, least: f64) -> bool {
    let slope = |at: usize| (logs[at + 1] - logs[at]) * direction;
    let steepest = |range: std::ops::Range<usize>| range.map(slope).fold(0.0, f64::max);
    let last = logs.len() - 1;
    (step.end..change - 1).all(|at| {
        let sides =
            steepest(step.begin - 1..at).min(steepest(at + 1..last.min(change + WINDOW - 1)));
        slope(at) > sides.max(least) / 4.0
    })
}

/// Value of the level of `segment`: the median of a run of consecutive points. The run has half of
/// the points of `segment`, and the smallest range of all such runs. `None` without points.
fn level(segment: &[f64]) -> Option<f64> {
    let range = |part: &&[f64]| {
        let (low, high) = part.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| {
            (low.min(v), high.max(v))
        });
        high - low
    };
    let half = segment
        .len()
        .div_ceil(2)
        .max(SHORTEST_LEVEL)
        .min(segment.len())
        .max(1);
    segment
        .windows(half)
        .min_by(|a, b| range(a).total_cmp(&range(b)))
        .and_then(median)
}

/// Index of the point from which on all points of `segment` differ from `level` by `margin` or
/// more. They lie above `level`, or below if `margin` is negative.
fn onset(segment: &[f64], level: f64, margin: f64) -> usize {
    let left = |v: &f64| (v - level) * margin.signum() >= margin.abs();
    segment
        .iter()
        .rposition(|v| !left(v))
        .map_or(segment.len(), |last| last + 1)
}

/// Index of the first point of `segment` that is less than `margin` away from `level`, coming from
/// below. If `margin` is negative, the curve comes from above.
fn arrival(segment: &[f64], level: f64, margin: f64) -> usize {
    segment
        .iter()
        .position(|v| (level - v) * margin.signum() < margin.abs())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    /// Indices and rounded ratios of the knees of `y` at x = 1, 2, 4, ...
    fn found(y: &[f64]) -> Vec<(usize, f64)> {
        let x: Vec<f64> = (0..y.len()).map(|i| 2f64.powi(i as i32)).collect();
        let knees = knees(&x, y, 0.2);
        assert!(knees.iter().all(|k| k.x == x[k.index]));
        knees
            .iter()
            .map(|k| (k.index, (k.ratio() * 100.0).round() / 100.0))
            .collect()
    }

    #[test]
    fn clear_steps_either_way() {
        let bandwidth = [
            200.0, 200.0, 200.0, 100.0, 100.0, 100.0, 100.0, 20.0, 20.0, 20.0,
        ];
        assert_eq!(found(&bandwidth), [(3, 0.5), (7, 0.2)]);
        let latency: Vec<f64> = bandwidth.iter().map(|b| 200.0 / b).collect();
        assert_eq!(found(&latency), [(3, 2.0), (7, 5.0)]);
        assert_eq!(found(&[1.0, 1.0, 2.0, 2.0]), [(2, 2.0)]);
        let dip = [
            10.0, 10.0, 10.0, 10.0, 5.0, 5.0, 5.0, 10.0, 10.0, 10.0, 10.0,
        ];
        assert_eq!(found(&dip), [(4, 0.5), (7, 2.0)]);
    }

    #[test]
    fn a_gradual_transition_is_one_step_from_its_onset() {
        let curve = [
            100.0, 100.0, 100.0, 100.0, 84.0, 70.0, 59.0, 50.0, 50.0, 50.0, 50.0,
        ];
        assert_eq!(found(&curve), [(4, 0.5)]);
        let long = [
            1.0, 1.0, 1.0, 1.0, 1.3, 1.7, 2.2, 2.9, 3.8, 4.9, 6.4, 8.0, 8.0, 8.0, 8.0,
        ];
        assert_eq!(found(&long), [(4, 8.0)]);
    }

    /// Begin and end of each step, and the next level.
    fn transitions(y: &[f64]) -> Vec<(usize, usize, f64)> {
        let x: Vec<f64> = (0..y.len()).map(|i| i as f64).collect();
        knees(&x, y, 0.2)
            .iter()
            .map(|k| (k.index, k.settled, (k.after * 100.0).round() / 100.0))
            .collect()
    }

    #[test]
    fn levels_joined_by_ramps_are_one_step_each() {
        let curve = [
            1.0, 1.0, 1.0, 1.1, 1.7, 2.9, 3.5, 3.5, 3.5, 3.6, 4.8, 7.5, 11.0, 12.0, 12.0, 12.1,
            20.0, 45.0, 80.0, 95.0, 95.0, 95.0,
        ];
        assert_eq!(
            transitions(&curve),
            [(3, 6, 3.5), (10, 12, 12.0), (16, 19, 95.0)]
        );
        let down: Vec<f64> = curve.iter().map(|v| 1000.0 / v).collect();
        assert_eq!(
            transitions(&down)
                .iter()
                .map(|t| (t.0, t.1))
                .collect::<Vec<_>>(),
            [(3, 6), (10, 12), (16, 19)]
        );
    }

    #[test]
    fn two_points_make_a_level_between_ramps() {
        let curve = [
            1.0, 1.0, 1.0, 2.0, 3.5, 3.5, 6.0, 11.0, 12.0, 12.3, 40.0, 90.0, 95.0, 95.0,
        ];
        assert_eq!(
            transitions(&curve),
            [(3, 4, 3.5), (6, 8, 12.15), (10, 11, 95.0)]
        );
    }

    #[test]
    fn a_sloping_level_between_steeper_ramps_is_one() {
        // The middle rises by an eighth per point, which is too little to belong to the steep rises
        // on both sides.
        let curve = [
            1.0, 1.0, 1.0, 1.0, 2.5, 6.0, 6.8, 7.7, 8.7, 30.0, 90.0, 95.0, 95.0, 95.0,
        ];
        let found = transitions(&curve);
        assert!(
            found.len() == 2 && found[0].0 == 4 && (7..=9).contains(&found[1].0),
            "{found:?}"
        );
        let gentle = [
            1.0, 1.0, 1.0, 1.0, 1.3, 1.7, 1.93, 2.18, 2.47, 3.2, 4.0, 4.0, 4.0, 4.0,
        ];
        assert_eq!(transitions(&gentle).len(), 1);
    }

    #[test]
    fn a_curve_seen_on_a_contested_machine_has_the_levels_that_it_shows() {
        // Latency on an AMD Zen 5 whose L3 other programs use. Nothing of the L3 is left, and L2
        // loses lines long before its capacity.
        let curve = [
            1.107, 1.107, 1.101, 1.181, 3.844, 3.880, 3.895, 4.450, 5.953, 8.058, 9.714, 13.55,
            126.4, 140.2, 145.2, 152.3, 154.5, 155.8, 158.8, 170.6,
        ];
        assert_eq!(
            transitions(&curve)
                .iter()
                .map(|t| (t.0, t.1))
                .collect::<Vec<_>>(),
            [(4, 4), (7, 14)]
        );
    }

    #[test]
    fn noise_does_not_break_ramps() {
        let levels = [
            1.0, 1.0, 1.0, 1.0, 1.7, 2.9, 3.5, 3.5, 3.5, 3.5, 5.0, 8.0, 12.0, 12.0, 12.0, 30.0,
            70.0, 95.0, 95.0,
        ];
        let mut random = SplitMix64::new(9);
        for trial in 0..500 {
            let noisy: Vec<f64> = levels
                .iter()
                .map(|l| l * (1.0 + 0.02 * normal(&mut random)))
                .collect();
            let found: Vec<(usize, usize)> =
                transitions(&noisy).iter().map(|t| (t.0, t.1)).collect();
            assert_eq!(found, [(4, 6), (10, 12), (15, 17)], "{trial}: {noisy:?}");
        }
    }

    #[test]
    fn neither_strays_nor_drift_nor_small_steps() {
        let mut stray = [10.0; 12];
        stray[5] = 4.0;
        stray[9] = 30.0;
        assert_eq!(found(&stray), []);
        for at in [0, 11] {
            let mut stray = [10.0; 12];
            stray[at] = 30.0;
            assert_eq!(found(&stray), [], "{at}");
        }
        let drift: Vec<f64> = (0..30).map(|i| 1.04f64.powi(i)).collect();
        assert_eq!(found(&drift), []);
        assert_eq!(found(&[1.0, 1.0, 1.0, 1.19, 1.19, 1.19]), []);
        assert_eq!(found(&[1.0, 1.0, 1.0, 1.21, 1.21, 1.21]), [(3, 1.21)]);
        assert_eq!(found(&[5.0; 20]), []);
    }

    #[test]
    fn noise_does_not_move_the_steps() {
        let levels = [
            1.2, 1.2, 1.2, 1.2, 4.0, 4.0, 4.0, 4.0, 4.0, 20.0, 20.0, 20.0, 20.0, 90.0, 90.0, 90.0,
            90.0,
        ];
        let mut random = SplitMix64::new(6);
        for trial in 0..500 {
            let noisy: Vec<f64> = levels
                .iter()
                .map(|l| l * (1.0 + 0.02 * normal(&mut random)))
                .collect();
            let indices: Vec<usize> = found(&noisy).iter().map(|k| k.0).collect();
            assert_eq!(indices, [4, 9, 13], "{trial}");
            let flat: Vec<f64> = levels
                .iter()
                .map(|_| 7.0 + 0.35 * normal(&mut random))
                .collect();
            assert_eq!(found(&flat), [], "{trial}");
        }
    }

    #[test]
    fn any_curve_has_knees_in_order() {
        let mut random = SplitMix64::new(8);
        for length in (0..40).cycle().take(4_000) {
            let y: Vec<f64> = (0..length)
                .map(|_| 4f64.powf(normal(&mut random).round()))
                .collect();
            let knees = found(&y);
            assert!(
                knees.windows(2).all(|pair| pair[0].0 < pair[1].0),
                "{y:?}: {knees:?}"
            );
            assert!(
                knees.iter().all(|k| k.0 > 0 && k.0 < y.len()),
                "{y:?}: {knees:?}"
            );
        }
    }

    #[test]
    fn scale_does_not_matter() {
        let y = [3.0, 3.1, 3.0, 5.0, 5.2, 5.1, 9.0, 9.1, 9.0];
        let scaled: Vec<f64> = y.iter().map(|v| v * 1e9).collect();
        assert_eq!(found(&y).len(), 2);
        assert_eq!(found(&y), found(&scaled));
    }

    #[test]
    fn no_knees_rather_than_wrong_ones() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let y = [1.0, 1.0, 1.0, 2.0, 2.0, 2.0];
        assert_eq!(knees(&x, &y, 0.2).len(), 1);
        assert!(knees(&[], &[], 0.2).is_empty() && knees(&x[..1], &y[..1], 0.2).is_empty());
        assert!(knees(&x[..3], &[1.0, 5.0, 9.0], 0.2).is_empty());
        assert!(knees(&x[..5], &y, 0.2).is_empty());
        assert!(knees(&[1.0, 2.0, 2.0, 3.0, 4.0, 5.0], &y, 0.2).is_empty());
        for bad in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
            let mut spoiled = y;
            spoiled[4] = bad;
            assert!(knees(&x, &spoiled, 0.2).is_empty());
            assert!(knees(&x, &y, bad).is_empty());
        }
        assert!(knees(&[f64::NAN, 2.0, 3.0, 4.0, 5.0, 6.0], &y, 0.2).is_empty());
    }
}
