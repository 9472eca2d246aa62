//! A numeric axis: linear or logarithmic, with ticks at round values.

use units::{Bytes, fixed, significant};

/// Largest number of ticks on an axis. More ticks would overlap.
const MAX_TICKS: usize = 12;

/// An axis of measured values is logarithmic if the ratio of its highest to its lowest value is
/// above this number.
const WIDE: f64 = 20.0;

/// Positions of values along an axis, and the labels of the axis.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scale {
    /// Title of the axis.
    pub(crate) title: String,
    /// Value at the start.
    pub(crate) low: f64,
    /// Value at the end, above `low`.
    pub(crate) high: f64,
    /// True for a logarithmic axis.
    pub(crate) log: bool,
    /// Values and labels of the ticks, ascending.
    pub(crate) ticks: Vec<(f64, String)>,
    /// Kind of the numbers on the axis; `None` for an axis of names.
    pub(crate) numbers: Option<Numbers>,
}

/// Kind of the numbers on an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// Sizes in bytes: ticks at powers of two, with units.
    Bytes,
    /// Counts: ticks at powers of two if they span a wide range.
    Counts,
    /// Measured values: ticks at 1, 2 and 5 times powers of ten. A linear axis includes 0.
    Values,
}

impl Scale {
    /// An axis for finite `values`, with some margin at the ends.
    pub(super) fn fitting(
        title: String,
        values: impl Iterator<Item = f64>,
        numbers: Numbers,
    ) -> Self {
        let (mut low, mut high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
            (l.min(v), h.max(v))
        });
        if !low.is_finite() || !high.is_finite() {
            (low, high) = (0.0, 1.0);
        }
        let wide = if numbers == Numbers::Values {
            WIDE
        } else {
            4.0
        };
        let log = low > 0.0 && high / low > wide;
        if log {
            let room = (high / low).powf(0.04);
            (low, high) = (low / room, (high * room).min(f64::MAX / 4.0));
        } else if numbers == Numbers::Values {
            (low, high) = (low.min(0.0), high.max(0.0));
            high += (high - low) * 0.05;
        } else {
            let room = (high - low) * 0.04;
            (low, high) = (low - room, high + room);
        }
        // A single value has no range, and the difference of extreme values may overflow. Such an
        // axis starts at 0 or below.
        if !(high - low).is_finite() || high <= low {
            (low, high) = (low.min(0.0), low.abs().clamp(1.0, f64::MAX / 4.0) * 1.1);
        }
        let mut scale = Scale {
            title,
            low,
            high,
            log,
            ticks: Vec::new(),
            numbers: Some(numbers),
        };
        scale.ticks = scale
            .round_values(numbers)
            .into_iter()
            .map(|v| (v, label(v, numbers)))
            .collect();
        scale
    }

    /// An axis of names, at the positions 0, 1, 2 and so on.
    pub(super) fn of_names(title: String, names: &[String]) -> Self {
        let ticks = names
            .iter()
            .enumerate()
            .map(|(place, name)| (place as f64, name.clone()))
            .collect();
        Scale {
            title,
            low: -0.5,
            high: names.len().max(1) as f64 - 0.5,
            log: false,
            ticks,
            numbers: None,
        }
    }

    /// Position of `value` along the axis: 0 at the start, 1 at the end, below 0 or above 1
    /// outside.
    pub(crate) fn share(&self, value: f64) -> f64 {
        let share = match self.log {
            true => (value / self.low).ln() / (self.high / self.low).ln(),
            false => (value - self.low) / (self.high - self.low),
        };
        if share.is_finite() {
            share.clamp(-1.0, 2.0)
        } else {
            0.0
        }
    }

    /// Round values on the axis, at most [`MAX_TICKS`].
    fn round_values(&self, numbers: Numbers) -> Vec<f64> {
        let inside = |v: &f64| *v >= self.low && *v <= self.high;
        if !self.log {
            let step = nice((self.high - self.low) / 6.0);
            let step = if numbers == Numbers::Values {
                step
            } else {
                step.max(1.0)
            };
            let first = (self.low / step).ceil();
            return (0..=MAX_TICKS)
                .map(|k| (first + k as f64) * step)
                .filter(inside)
                .collect();
        }
        let base: f64 = if numbers == Numbers::Values {
            10.0
        } else {
            2.0
        };
        let first = (self.low.ln() / base.ln()).floor();
        let last = (self.high.ln() / base.ln()).ceil();
        let step = ((last - first) / MAX_TICKS as f64).ceil().max(1.0);
        let powers = (0..=2 * MAX_TICKS).map(|k| base.powf(first + k as f64 * step));
        let between: &[f64] = if numbers == Numbers::Values && last - first <= 4.0 {
            &[1.0, 2.0, 5.0]
        } else {
            &[1.0]
        };
        powers
            .flat_map(|p| between.iter().map(move |b| p * b))
            .filter(inside)
            .collect()
    }
}

/// The smallest number that is at least `least`, and that is 1, 2 or 5 times a power of ten.
fn nice(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .iter()
        .map(|f| f * power)
        .find(|s| *s >= least);
    step.filter(|s| s.is_normal()).unwrap_or(1.0)
}

/// Label of a tick.
fn label(value: f64, numbers: Numbers) -> String {
    match numbers {
        Numbers::Bytes => Bytes(value.round().max(0.0) as u64).to_string(),
        Numbers::Counts => fixed(value, 0),
        Numbers::Values if value == 0.0 => "0".to_owned(),
        Numbers::Values if value.abs() < 1e9 => {
            // Rounding removes the rounding error of multiples such as 3 times 0.1.
            let text = fixed((value * 1e9).round() / 1e9, 12);
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
        Numbers::Values => significant(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64], numbers: Numbers) -> Vec<String> {
        let scale = Scale::fitting(String::new(), values.iter().copied(), numbers);
        scale.ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(
            labels(&[24.0, 383.0], Numbers::Values),
            ["0", "100", "200", "300", "400"]
        );
        assert_eq!(
            labels(&[1.2, 300.0], Numbers::Values),
            ["1", "2", "5", "10", "20", "50", "100", "200"]
        );
        assert_eq!(
            labels(&[0.1, 0.5], Numbers::Values),
            ["0", "0.1", "0.2", "0.3", "0.4", "0.5"]
        );
        assert_eq!(
            labels(&[16384.0, 65536.0 * 4.0], Numbers::Bytes),
            ["16 KiB", "32 KiB", "64 KiB", "128 KiB", "256 KiB"]
        );
        assert_eq!(labels(&[1.0, 2.0], Numbers::Counts), ["1", "2"]);
        for values in [
            [1.0, 1e300],
            [1e-300, 1.0],
            [0.0, 0.0],
            [-5.0, 5.0],
            [f64::MAX, f64::MAX],
            [f64::MIN, f64::MAX],
        ] {
            for numbers in [Numbers::Bytes, Numbers::Counts, Numbers::Values] {
                let scale = Scale::fitting(String::new(), values.into_iter(), numbers);
                assert!(
                    scale.high > scale.low && scale.ticks.len() <= 3 * 2 * MAX_TICKS,
                    "{values:?} {scale:?}"
                );
                assert!(values.iter().all(|v| scale.share(*v).is_finite()));
            }
        }
    }

    #[test]
    fn equal_factors_are_equal_distances_where_values_spread() {
        let scale = Scale::fitting(String::new(), [1.0, 4096.0].into_iter(), Numbers::Bytes);
        assert!(scale.log && (scale.share(64.0) - 0.5).abs() < 1e-12);
        let scale = Scale::of_names(String::new(), &["a".to_owned(), "b".to_owned()]);
        assert_eq!((scale.share(0.0), scale.share(1.0)), (0.25, 0.75));
    }
}
