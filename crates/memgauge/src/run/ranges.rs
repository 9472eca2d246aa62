//! Findings about time that other users of the machine take. One is about the range of values over
//! the session, the other about undisturbed values.

use super::place::{Scale, place};
use report::{Cause, Dataset, Finding, Measured, Point, VerdictGrade, headline};
use std::collections::BTreeMap;

/// Causes of doubt for which other users of the machine may be responsible.
const FROM_OTHERS: &[Cause] = &[
    Cause::Spread,
    Cause::Drift,
    Cause::Bimodal,
    Cause::NonStationary,
    Cause::Stolen,
    Cause::HostMoved,
    Cause::CoreShared,
    Cause::Others,
    Cause::FewSamples,
];

/// A machine counts as busy if more than this share of its numbers is doubtful for one of the
/// causes [`FROM_OTHERS`].
const BUSY: f64 = 0.15;

/// Quantiles of the samples at which a printed range starts and ends.
const RANGE: [f64; 2] = [0.05, 0.95];

/// Largest number of ranges in the finding.
const MOST: usize = 1;

/// Range of the values of one point over the session.
struct Range<'a> {
    dataset: &'a Dataset,
    point: &'a Point,
    low: f64,
    median: f64,
    high: f64,
}

/// Finding about the widest range of values; `None` if the machine is not busy.
pub(super) fn ranges(datasets: &[Dataset]) -> Option<Finding> {
    let numbers = || {
        headline(datasets).flat_map(|dataset| {
            let points = dataset.points.iter();
            points.filter_map(move |point| Some((dataset, point, point.outcome.measured()?)))
        })
    };
    let doubted: Vec<(&Dataset, &Point, &Measured)> = numbers()
        .filter(|(.., m)| is_doubted_for_others(m))
        .collect();
    if doubted.len() as f64 <= BUSY * numbers().count() as f64 {
        return None;
    }
    let mut ranges: Vec<Range<'_>> = doubted
        .iter()
        .filter_map(|(dataset, point, measured)| range(dataset, point, measured))
        .collect();
    // The widest range comes first.
    ranges.sort_by(|a, b| (b.high / b.low).total_cmp(&(a.high / a.low)));
    ranges.truncate(MOST);
    let told: Vec<String> = ranges.iter().map(told).collect();
    let values: BTreeMap<String, f64> = ranges
        .iter()
        .enumerate()
        .flat_map(|(index, range)| {
            [
                (format!("range_{}_low", index + 1), range.low),
                (format!("range_{}_median", index + 1), range.median),
                (format!("range_{}_high", index + 1), range.high),
            ]
        })
        .collect();
    let text = format!(
        "This machine is busy, and gives a range over time: {}.",
        told.join("; ")
    );
    let points = ranges.iter().map(|range| range.point);
    Some(Finding::shown_by(points, "range-over-time", text)?.with(values))
}

/// A finding is made if the undisturbed value is better than the median by at least this factor.
const QUIETER: f64 = 1.03;

/// Finding about the number that other users worsen most; `None` if no number is worse by 3%.
pub(super) fn quietest_moments(datasets: &[Dataset]) -> Option<Finding> {
    let gap = |dataset: &Dataset, measured: &Measured| {
        let ratio = measured.undisturbed()? / measured.summary.median;
        Some(match dataset.quantity.higher_is_better {
            true => ratio,
            false => 1.0 / ratio,
        })
    };
    let points = headline(datasets).flat_map(|dataset| {
        let points = dataset.points.iter();
        points.filter_map(move |point| {
            let measured = point.usable()?;
            let gap = gap(dataset, measured).filter(|gap| *gap >= QUIETER)?;
            Some((gap, dataset, point, measured))
        })
    });
    let (gap, dataset, point, measured) = points.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let undisturbed = measured.undisturbed()?;
    let share = measured.also.get("undisturbed_share").copied()?;
    let scale = Scale::for_unit(&dataset.quantity.unit);
    let text = format!(
        "{}: {} undisturbed, in {:.0}% of the samples; {} typically.",
        place(point),
        scale.text(undisturbed),
        share * 100.0,
        scale.text(measured.summary.median),
    );
    let values = BTreeMap::from([
        ("undisturbed".to_owned(), undisturbed),
        ("typical".to_owned(), measured.summary.median),
        ("share".to_owned(), share),
        ("ratio".to_owned(), gap),
    ]);
    Some(Finding::shown_by([point], "quietest-moments", text)?.with(values))
}

fn is_doubted_for_others(measured: &Measured) -> bool {
    let mut reasons = measured.verdict.reasons.iter();
    measured.verdict.grade == VerdictGrade::Doubtful
        && reasons.any(|reason| FROM_OTHERS.contains(&reason.cause))
}

/// Range of all samples of a point. Disturbed samples count too, because a user of the machine
/// experiences them.
fn range<'a>(dataset: &'a Dataset, point: &'a Point, measured: &Measured) -> Option<Range<'a>> {
    let values: Vec<f64> = measured.samples.iter().map(|sample| sample.value).collect();
    let [low, high] = RANGE.map(|share| stats::quantile(&values, share));
    Some(Range {
        dataset,
        point,
        low: low?,
        median: stats::median(&values)?,
        high: high?,
    })
}

/// A range in words: `read, DRAM, 2 threads 12.0 to 30.0 GB/s, 22.0 or more half of the time`
fn told(range: &Range<'_>) -> String {
    let scale = Scale::for_unit(&range.dataset.quantity.unit);
    let beyond = match range.dataset.quantity.higher_is_better {
        true => "or more",
        false => "or less",
    };
    format!(
        "{} {} to {}, {} {beyond} half of the time",
        place(range.point),
        scale.number(range.low),
        scale.text(range.high),
        scale.number(range.median)
    )
}
