//! Comparison of two measured points. All findings that compare points use this module.
//!
//! A difference is a finding only if the confidence intervals of the points support it.
//! docs/method/trust.md has the rules.

use report::{Finding, Point};
use std::collections::BTreeMap;

/// A smaller relative difference is no finding, even if the intervals show it.
const LEAST_DIFFERENCE: f64 = 0.02;

/// Two figures are the same if the whole interval of their ratio is within this distance of 1.
const SAME: f64 = 0.05;

/// The interval of a point is the range of its rounds. The range is widened if its confidence is
/// below this value. The range of five rounds has a confidence of 94%, the range of four rounds
/// 88%.
const FEW_ROUNDS: f64 = 0.9;

/// No difference is reported below this confidence. The range of three rounds has a confidence of
/// 75%.
const TOO_FEW_ROUNDS: f64 = 0.7;

/// Factor by which the range of three or four rounds is widened for a confidence of 95%. For three
/// normally distributed values, Student's factor of 4.3 times the standard error is about three
/// times half the range.
const WIDER: f64 = 3.0;

/// A number with its confidence interval and the points that it comes from.
#[derive(Debug, Clone)]
pub struct Figure<'a> {
    /// The value.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Points whose values the figure was computed from.
    pub points: Vec<&'a Point>,
}

/// Comparison of two figures by their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonResult {
    /// The second figure is higher.
    Higher,
    /// The second figure is lower.
    Lower,
    /// The figures are the same within 5%.
    Same,
    /// The intervals show neither a difference nor that the figures are the same.
    Nothing,
}

/// A figure compared with another.
#[derive(Debug, Clone)]
pub struct Difference<'a> {
    /// The reference figure.
    pub from: Figure<'a>,
    /// The figure that is compared with the reference figure.
    pub to: Figure<'a>,
}

impl<'a> Figure<'a> {
    /// The median of a point. `None` if the point supports no finding ([`Point::usable`]), if its
    /// interval comes from fewer than three rounds, or if the median is not above 0.
    pub fn new(point: &'a Point) -> Option<Self> {
        let summary = point.usable()?.summary;
        if summary.confidence < TOO_FEW_ROUNDS || summary.median <= 0.0 {
            return None;
        }
        let wider = if summary.confidence < FEW_ROUNDS {
            WIDER
        } else {
            1.0
        };
        let low = summary.median - (summary.median - summary.ci_low) * wider;
        let high = summary.median + (summary.ci_high - summary.median) * wider;
        Some(Self {
            value: summary.median,
            low: low.max(0.0),
            high,
            points: vec![point],
        })
    }

    /// The figure with its value and interval converted; `convert` must be monotonic.
    pub fn map(self, convert: impl Fn(f64) -> f64) -> Self {
        let one = convert(self.low);
        let other = convert(self.high);
        Self {
            value: convert(self.value),
            low: one.min(other),
            high: one.max(other),
            points: self.points,
        }
    }

    /// Sum of `figures`; its interval is the sum of their intervals. `None` for an empty list.
    pub fn sum(figures: &[Self]) -> Option<Self> {
        let all = |of: fn(&Self) -> f64| figures.iter().map(of).sum::<f64>();
        let points = figures
            .iter()
            .flat_map(|figure| figure.points.iter().copied())
            .collect();
        (!figures.is_empty()).then(|| Self {
            value: all(|f| f.value),
            low: all(|f| f.low),
            high: all(|f| f.high),
            points,
        })
    }

    /// Mean of `figures`. `None` for an empty list.
    pub fn mean(figures: &[Self]) -> Option<Self> {
        Some(Self::sum(figures)?.map(|sum| sum / figures.len() as f64))
    }
}

impl<'a> Difference<'a> {
    /// Comparison of `to` with `from`. `None` if [`Figure::new`] is `None` for one of the points.
    pub fn between(from: &'a Point, to: &'a Point) -> Option<Self> {
        Some(Self {
            from: Figure::new(from)?,
            to: Figure::new(to)?,
        })
    }

    /// Like [`Difference::between`], but `None` unless the intervals show a difference.
    pub fn shown(from: &'a Point, to: &'a Point) -> Option<Self> {
        Self::between(from, to).filter(Self::is_shown)
    }

    /// Value of `to`, divided by the value of `from`.
    pub fn ratio(&self) -> f64 {
        self.to.value / self.from.value
    }

    /// Least and largest ratio of the figures that their intervals allow.
    pub fn ratio_interval(&self) -> (f64, f64) {
        (self.to.low / self.from.high, self.to.high / self.from.low)
    }

    /// Value of `to` minus the value of `from`.
    pub fn amount(&self) -> f64 {
        self.to.value - self.from.value
    }

    /// Least and largest difference of the figures that their intervals allow.
    pub fn amount_interval(&self) -> (f64, f64) {
        (self.to.low - self.from.high, self.to.high - self.from.low)
    }

    /// Result of the comparison by intervals.
    pub fn shows(&self) -> ComparisonResult {
        let ratio = self.ratio();
        let (low, high) = self.ratio_interval();
        if low > 1.0 && ratio >= 1.0 + LEAST_DIFFERENCE {
            ComparisonResult::Higher
        } else if high < 1.0 && ratio <= 1.0 - LEAST_DIFFERENCE {
            ComparisonResult::Lower
        } else if low >= 1.0 - SAME && high <= 1.0 + SAME {
            ComparisonResult::Same
        } else {
            ComparisonResult::Nothing
        }
    }

    /// True if the intervals show that the figures differ.
    pub fn is_shown(&self) -> bool {
        matches!(
            self.shows(),
            ComparisonResult::Higher | ComparisonResult::Lower
        )
    }

    /// Points of both figures, first those of `from`.
    pub fn points(&self) -> impl Iterator<Item = &'a Point> {
        self.from.points.iter().chain(&self.to.points).copied()
    }

    /// A finding about the difference. The trust in the finding depends on the points of both
    /// figures. The finding has the `values`, and the ratio with its interval.
    pub fn finding(&self, kind: &str, text: String, values: &[(&str, f64)]) -> Option<Finding> {
        let (low, high) = self.ratio_interval();
        let ratio = [
            ("ratio", self.ratio()),
            ("ratio_low", low),
            ("ratio_high", high),
        ];
        let values = values
            .iter()
            .chain(&ratio)
            .map(|(name, value)| ((*name).to_owned(), *value));
        let values: BTreeMap<String, f64> = values.filter(|(_, value)| value.is_finite()).collect();
        Some(Finding::resting_on(self.points(), kind, text)?.with(values))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use report::{
        Cause, Coordinates, Evidence, Measured, Outcome, Reason, Summary, Verdict, VerdictGrade,
    };

    /// A solid point with this summary.
    pub fn measured_point(summary: Summary) -> Point {
        let verdict = Verdict {
            grade: VerdictGrade::Solid,
            reasons: Vec::new(),
        };
        let measured = Measured {
            summary,
            also: BTreeMap::new(),
            load: None,
            storage: None,
            choice: None,
            limit: None,
            samples: Vec::new(),
            evidence: Evidence::default(),
            verdict,
        };
        Point {
            id: 0,
            coordinates: Coordinates::new(),
            outcome: Outcome::Measured(Box::new(measured)),
        }
    }

    /// A solid point with a median, half the width of its interval, and the confidence of the
    /// interval.
    fn point(median: f64, half: f64, confidence: f64) -> Point {
        let ci_low = median - half;
        let ci_high = median + half;
        measured_point(Summary {
            median,
            best: median,
            ci_low,
            ci_high,
            confidence,
            mad: None,
            mean: None,
            standard_deviation: None,
            coefficient_of_variation: None,
            undisturbed_samples: 20,
        })
    }

    fn shows(from: &Point, to: &Point) -> Option<ComparisonResult> {
        Some(Difference::between(from, to)?.shows())
    }

    #[test]
    fn only_intervals_that_exclude_it_speak_against_no_difference() {
        let hundred = point(100.0, 3.0, 0.95);
        let cases = [
            (point(120.0, 5.0, 0.95), ComparisonResult::Higher),
            (point(80.0, 5.0, 0.95), ComparisonResult::Lower),
            (point(120.0, 20.0, 0.95), ComparisonResult::Nothing),
            (point(54.0, 50.0, 0.95), ComparisonResult::Nothing),
            (point(100.5, 1.0, 0.95), ComparisonResult::Same),
        ];
        for (other, expected) in &cases {
            assert_eq!(shows(&hundred, other), Some(*expected), "{other:?}");
        }
        // A small difference is no finding, however certain it is.
        assert_eq!(
            shows(&point(100.0, 0.5, 0.95), &point(101.9, 0.1, 0.95)),
            Some(ComparisonResult::Same)
        );
        let change = Difference::between(&hundred, &cases[0].0).expect("both are known");
        assert_eq!(
            (change.amount(), change.amount_interval()),
            (20.0, (12.0, 28.0))
        );
        assert_eq!(
            (change.ratio(), change.ratio_interval()),
            (1.2, (115.0 / 103.0, 125.0 / 97.0))
        );
    }

    #[test]
    fn few_rounds_need_a_larger_difference_and_fewer_than_three_carry_none() {
        let compared = |confidence: f64, to: f64| {
            let pair = [point(100.0, 3.0, confidence), point(to, 3.0, confidence)];
            shows(&pair[0], &pair[1])
        };
        assert_eq!(
            (compared(0.95, 110.0), compared(0.75, 110.0)),
            (
                Some(ComparisonResult::Higher),
                Some(ComparisonResult::Nothing)
            )
        );
        assert_eq!(
            (compared(0.75, 120.0), compared(0.5, 200.0)),
            (Some(ComparisonResult::Higher), None)
        );
    }

    #[test]
    fn points_that_are_rejected_or_have_no_undisturbed_sample_carry_nothing() {
        let solid = point(100.0, 1.0, 0.95);
        let changed = |change: fn(&mut Measured)| {
            let mut point = point(200.0, 1.0, 0.95);
            if let Outcome::Measured(measured) = &mut point.outcome {
                change(measured);
            }
            point
        };
        let doubt = |m: &mut Measured, grade| {
            m.verdict.add(
                grade,
                Reason {
                    cause: Cause::Others,
                    text: String::new(),
                    advice: String::new(),
                },
            )
        };
        let disturbed = changed(|m| m.summary.undisturbed_samples = 0);
        let mut rejected = changed(|_| ());
        let mut doubtful = changed(|_| ());
        for (point, grade) in [
            (&mut rejected, VerdictGrade::Rejected),
            (&mut doubtful, VerdictGrade::Doubtful),
        ] {
            if let Outcome::Measured(measured) = &mut point.outcome {
                doubt(measured, grade);
            }
        }
        assert_eq!(
            (shows(&solid, &disturbed), shows(&rejected, &solid)),
            (None, None)
        );
        assert!(Finding::resting_on([&solid, &disturbed], "x", String::new()).is_none());
        let finding = |to: &Point| Difference::shown(&solid, to)?.finding("x", String::new(), &[]);
        assert_eq!(
            finding(&doubtful).and_then(|f| f.trust()),
            Some(VerdictGrade::Doubtful)
        );
        assert_eq!(
            finding(&point(200.0, 1.0, 0.95)).and_then(|f| f.trust()),
            Some(VerdictGrade::Solid)
        );
        // A finding that many points show is doubtful if half of the usable points are doubtful.
        let shown = |points: &[&Point]| {
            Finding::shown_by(points.iter().copied(), "x", String::new())?.trust()
        };
        assert_eq!(
            shown(&[&solid, &solid, &doubtful, &rejected]),
            Some(VerdictGrade::Solid)
        );
        assert_eq!(
            shown(&[&solid, &doubtful, &disturbed]),
            Some(VerdictGrade::Doubtful)
        );
        assert_eq!(shown(&[&rejected, &disturbed]), None);
    }
}
