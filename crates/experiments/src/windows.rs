//! Short timed windows. Their distribution is reported in addition to the median latency of a
//! point.

use crate::experiment::axis;
use crate::lists::Count;
use engine::{DISTRIBUTION, Windows};
use report::{Coordinate, Dataset, Finding, Measured, Outcome, Point, Quantity, Summary};
use units::error::{Error, Result};
use units::{Nanos, read_like, short_time};

/// Allowed numbers of windows at a point.
const COUNTS: std::ops::RangeInclusive<u32> = 100..=1_000_000;
/// Shortest allowed window. A shorter window would mostly show the time of reading the counter.
const SHORTEST: Nanos = Nanos(1e3);
/// Longest allowed window. A longer window would have the length of a sample.
const LONGEST: Nanos = Nanos(10e6);

/// Short windows to measure.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct WindowSettings {
    /// Also measure the distribution over this many short windows, 100 to 1000000: p50 to p99.9 and
    /// the longest
    #[arg(long, value_name = "N", value_parser = read_like::<Count>("10000"))]
    pub windows: Option<Count>,

    /// Length of such a window, 1us to 10ms
    #[arg(long, value_name = "TIME", default_value = "10us", value_parser = short_time)]
    pub window: Nanos,
}

/// Reason why `--window` has no effect without `--windows`.
pub(super) const HAVE_A_LENGTH: &str = "only a distribution over windows uses it";
/// Example of the option that makes `--window` effective.
pub(super) const WINDOWS_EXAMPLE: &str = "--windows 10000";

impl WindowSettings {
    /// Settings without short windows.
    pub fn none() -> Self {
        Self {
            windows: None,
            window: SHORTEST,
        }
    }

    /// Fails if the number or length of windows is out of range.
    pub fn check(&self) -> Result<()> {
        let allowed = SHORTEST..=LONGEST;
        match self.windows {
            Some(Count(count)) if !COUNTS.contains(&count) => Err(Error::usage(format!(
                "windows not possible: {count}; a distribution has {} to {}; type \
                 --windows 10000",
                COUNTS.start(),
                COUNTS.end()
            ))),
            Some(_) if !allowed.contains(&self.window) => Err(Error::usage(format!(
                "window not possible: {}; one lasts {SHORTEST} to {LONGEST}; type --window 10us",
                self.window
            ))),
            _ => Ok(()),
        }
    }

    /// The windows to take at each point; `None` if none are requested.
    pub fn requested(&self) -> Option<Windows> {
        let Count(count) = self.windows?;
        Some(Windows {
            count,
            length: self.window,
        })
    }
}

/// Dataset with one point for each quantile of the windows of each point in `dataset`. `None` if no
/// point has windows.
pub(super) fn distribution(dataset: &Dataset) -> Option<Dataset> {
    let mut points = Vec::new();
    for point in &dataset.points {
        let Some(measured) = point.outcome.measured() else {
            continue;
        };
        for (figure, name) in DISTRIBUTION {
            let Some(&value) = measured.also.get(figure) else {
                continue;
            };
            let mut coordinates = point.coordinates.clone();
            coordinates.insert("percentile".to_owned(), Coordinate::Name(name.to_owned()));
            let outcome = Outcome::Measured(Box::new(quantile(measured, value)));
            // The points get their numbers later, when all datasets are complete.
            points.push(Point {
                id: 0,
                coordinates,
                outcome,
            });
        }
    }
    let mut axes = dataset.axes.clone();
    axes.push(axis("percentile"));
    let quantity = Quantity {
        name: format!("{} in a window", dataset.quantity.name),
        ..dataset.quantity.clone()
    };
    let experiment = format!("{}-windows", dataset.experiment);
    let found = Dataset {
        experiment,
        quantity,
        axes,
        points,
        auxiliary: false,
        derived: true,
    };
    (!found.points.is_empty()).then_some(found)
}

/// A quantile of the windows of `measured` as a point. Its interval is unknown. The verdict of
/// `measured` applies to the quantile too.
fn quantile(measured: &Measured, value: f64) -> Measured {
    let windows = measured.also.get("windows").copied().unwrap_or_default();
    let summary = Summary {
        median: value,
        best: value,
        ci_low: value,
        ci_high: value,
        confidence: 0.0,
        mad: None,
        mean: None,
        standard_deviation: None,
        coefficient_of_variation: None,
        undisturbed_samples: windows as u64,
    };
    Measured {
        summary,
        also: [].into(),
        load: None,
        storage: None,
        choice: None,
        limit: None,
        samples: Vec::new(),
        evidence: measured.evidence.clone(),
        verdict: measured.verdict.clone(),
    }
}

/// Finding about the distribution over the windows of a point. In the text, `place` names the
/// measurement. `None` if no windows were requested.
pub(super) fn finding(point: &Point, kind: &str, place: &str) -> Option<Finding> {
    let also = &point.outcome.measured()?.also;
    let figure = |name: &str| also.get(name).copied();
    let count = figure("windows")?;
    let length = Nanos(figure("window_ns")?);
    let text = format!(
        "{place} takes {:.1} ns in half of {count} windows of {length}: p99 {:.1} ns, p99.9 {:.1} \
         ns, maximum {:.1} ns.",
        figure("p50")?,
        figure("p99")?,
        figure("p99_9")?,
        figure("max")?
    );
    let names = DISTRIBUTION
        .iter()
        .map(|(name, _)| *name)
        .chain(["windows", "window_ns"]);
    let values = names
        .filter_map(|name| Some((name.to_owned(), figure(name)?)))
        .collect();
    Some(Finding::resting_on([point], kind, text)?.with(values))
}
