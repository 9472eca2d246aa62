//! Makes points from the latencies of seeks, one point for each distance of seeks.

use experiments::bytes_axis;
use report::{
    Cause, Coordinate, Dataset, Measured, Outcome, Point, Quantity, Reason, Sample, SeekLatencies,
    SeekWindow, Summary, VerdictGrade,
};
use std::collections::BTreeMap;

/// Number of operations below which a latency is doubtful. A 99th percentile needs a hundred
/// operations.
const ENOUGH: u64 = 100;

/// Derived dataset with a point for each distance of seeks of each point in `dataset`; `None`
/// without such distances.
pub fn latency_by_distance(dataset: &Dataset) -> Option<Dataset> {
    let mut points = Vec::new();
    for point in &dataset.points {
        let Some(measured) = point.outcome.measured() else {
            continue;
        };
        let seeks = measured.storage.iter().flat_map(|storage| &storage.seeks);
        for (seeks, by_distance) in
            seeks.filter_map(|seeks| Some((seeks, by_distance(measured, seeks)?)))
        {
            let mut coordinates = point.coordinates.clone();
            coordinates.insert(
                "distance_bytes".to_owned(),
                Coordinate::Number(seeks.distance_bytes),
            );
            // Points get their ids when all datasets are complete.
            points.push(Point {
                id: 0,
                coordinates,
                outcome: Outcome::Measured(Box::new(by_distance)),
            });
        }
    }
    let mut axes = dataset.axes.clone();
    axes.insert(axes.len().min(2), bytes_axis("distance_bytes"));
    let quantity = Quantity {
        name: "latency".to_owned(),
        unit: "ns".to_owned(),
        higher_is_better: false,
    };
    let experiment = format!("{}-seeks", dataset.experiment);
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

/// Figures of the operations at one distance. Their samples are the median latencies of the
/// windows. Evidence and verdict are copied from `measured`, the point with all operations.
fn by_distance(measured: &Measured, seeks: &SeekLatencies) -> Option<Measured> {
    let mut rounds: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    seeks
        .windows
        .iter()
        .for_each(|window| rounds.entry(window.round).or_default().push(window.p50_ns));
    let all: Vec<f64> = seeks.windows.iter().map(|window| window.p50_ns).collect();
    let headline = stats::headline(&[rounds.into_values().collect()])?;
    let mut verdict = measured.verdict.clone();
    if seeks.operations < ENOUGH {
        let text = format!("{} operations of this distance", seeks.operations);
        let advice = "type a longer --time, or --stride for fewer distances".to_owned();
        verdict.add(
            VerdictGrade::Doubtful,
            Reason {
                cause: Cause::FewSamples,
                text,
                advice,
            },
        );
    }
    let also = [
        ("latency_p50", seeks.p50_ns),
        ("latency_p99", seeks.p99_ns),
        ("operations", seeks.operations as f64),
    ];
    let sample = |window: &SeekWindow| Sample {
        value: window.p50_ns,
        elapsed_ns: window.elapsed_ns,
        work: window.operations,
        traffic: None,
        core_hz: None,
        round: window.round,
        allocation: 0,
        gaps_ns: None,
        cpus: Vec::new(),
        placement: None,
        quietest: None,
        disturbance: None,
    };
    Some(Measured {
        summary: Summary {
            median: headline.median,
            best: all.iter().copied().reduce(f64::min)?,
            ci_low: headline.interval.low,
            ci_high: headline.interval.high,
            confidence: headline.interval.attained,
            mad: stats::mad(&all),
            mean: stats::mean(&all),
            standard_deviation: stats::standard_deviation(&all),
            coefficient_of_variation: stats::coefficient_of_variation(&all),
            undisturbed_samples: all.len() as u64,
        },
        also: also
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
        load: None,
        storage: None,
        choice: None,
        limit: None,
        samples: seeks.windows.iter().map(sample).collect(),
        evidence: measured.evidence.clone(),
        verdict,
    })
}
