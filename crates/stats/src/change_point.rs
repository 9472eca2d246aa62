//! Finds the moment at which several time series changed their level together.

use super::order::median;
use std::ops::Range;

/// Deviations from the median are cut off at this many standard deviations, so that a single
/// outlier is not taken for a change of level.
const FARTHEST: f64 = 8.0;

/// Values of one quantity in time order, with their expected standard deviation.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Pairs of a moment's index and the value at this moment, with rising indices.
    pub points: Vec<(usize, f64)>,
    /// Standard deviation of the values around a constant level, above 0.
    pub scale: f64,
}

/// The first moment after the most likely change of level among the `moments` of all `series`
/// together. At least `least` moments lie before the change. At least `least` moments lie after it,
/// or one moment if `is_open`. Noise also has a most likely change, so that the caller has to test
/// the result. `None` if there are too few moments or all values are equal.
///
/// Each series has a cumulative sum of its deviations, in standard deviations. The change maximizes
/// the sum of the squares of these cumulative sums over all series. Sources: Page, "Continuous
/// inspection schemes", Biometrika 41 (1954); Zhang, Siegmund, Ji and Li, "Detecting simultaneous
/// changepoints in multiple sequences", Biometrika 97 (2010).
pub fn likely_change(
    series: &[Series],
    moments: Range<usize>,
    least: usize,
    is_open: bool,
) -> Option<usize> {
    let mut gains = vec![0.0; moments.len()];
    for one in series {
        add_gains(one, &moments, &mut gains);
    }
    let after = if is_open { 1 } else { least.max(1) };
    let places = least.max(1)..(moments.len() + 1).saturating_sub(after);
    let best = places.max_by(|a, b| gains[*a].total_cmp(&gains[*b]))?;
    (gains[best] > 0.0).then_some(moments.start + best)
}

/// For each moment, adds to `gains` how much a change of level at this moment reduces the sum of
/// squares of `series`.
fn add_gains(series: &Series, moments: &Range<usize>, gains: &mut [f64]) {
    let points: Vec<(usize, f64)> = series
        .points
        .iter()
        .copied()
        .filter(|(moment, _)| moments.contains(moment))
        .collect();
    let values: Vec<f64> = points.iter().map(|(_, value)| *value).collect();
    let Some(middle) = median(&values).filter(|_| series.scale > 0.0) else {
        return;
    };
    let distance = |value: f64| ((value - middle) / series.scale).clamp(-FARTHEST, FARTHEST);
    let count = points.len() as f64;
    let total: f64 = values.iter().map(|value| distance(*value)).sum();
    let mut sum = 0.0;
    for (index, two) in points.windows(2).enumerate() {
        let before = (index + 1) as f64;
        sum += distance(two[0].1);
        let excess = sum - total * before / count;
        let gain = excess * excess * count / (before * (count - before));
        for moment in two[0].0 + 1..=two[1].0 {
            gains[moment - moments.start] += gain;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    fn series(values: impl Iterator<Item = f64>) -> Series {
        Series {
            points: values.enumerate().collect(),
            scale: 1.0,
        }
    }

    #[test]
    fn a_common_step_is_found_where_no_series_shows_it_alone() {
        let mut random = SplitMix64::new(5);
        let all: Vec<Series> = (0..40)
            .map(|_| series((0..20).map(|i| normal(&mut random) - if i < 13 { 0.0 } else { 1.5 })))
            .collect();
        assert_eq!(likely_change(&all, 0..20, 2, true), Some(13));
        // The level changes at the newest moment. The change is found only if one moment after it
        // is enough.
        let last =
            [series((0..9).map(|i| {
                if i == 8 { 6.0 } else { 0.1 * (i % 2) as f64 }
            }))];
        assert_eq!(likely_change(&last, 0..9, 2, true), Some(8));
        assert_ne!(likely_change(&last, 0..9, 2, false), Some(8));
    }

    #[test]
    fn missing_moments_and_wild_values_move_nothing() {
        let mut one = series((0..16).map(|i| if i < 10 { 0.1 * (i % 3) as f64 } else { 5.0 }));
        one.points[4].1 = -1e9;
        one.points.remove(12);
        one.points.remove(2);
        assert_eq!(likely_change(&[one], 0..16, 2, true), Some(10));
    }

    #[test]
    fn no_place_in_little_or_nonsense() {
        let equal = [series((0..9).map(|_| 2.0))];
        assert_eq!(likely_change(&equal, 0..9, 2, true), None);
        assert_eq!(likely_change(&[], 0..9, 2, true), None);
        let two = [series([1.0, 2.0].into_iter())];
        assert_eq!(likely_change(&two, 0..2, 2, true), None);
        assert_eq!(likely_change(&two, 0..2, 1, true), Some(1));
        assert_eq!(likely_change(&two, 0..0, 1, true), None);
        let bad = [series([1.0, f64::NAN, 3.0, 4.0].into_iter())];
        assert_eq!(likely_change(&bad, 0..4, 1, true), None);
    }
}
