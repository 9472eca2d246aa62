//! Compares one machine with the expectations for its hardware. See docs/method/health.md.

use crate::fleet::{
    Expectations, FleetCollection, FleetQuantity, FleetSettings, FleetVerdict, NodeState,
    judge_fleet,
};
use report::{Health, HealthFigure, HealthState, Report, node_report, requested_coordinates};
use std::collections::BTreeSet;
use units::{counted, fixed};

/// Name of the method. The name changes when the points or settings of the method change.
pub const HEALTH_METHOD: &str = "health-1";

/// Text that is part of every digest's input, so that digests for other purposes have other inputs.
const DIGEST_OF: &str = "method of a health check";

/// Number of slow figures that together make a machine slow, even if chance could explain each of
/// them alone.
const ENOUGH_TOGETHER: usize = 4;

/// Result of the first measurement of a machine.
#[derive(Debug, Clone)]
pub struct FirstJudgement {
    health: Health,
    /// Quantities of `health.slower`, in the same order.
    slower: Vec<Slower>,
}

/// A quantity that was slower than its threshold.
#[derive(Debug, Clone)]
struct Slower {
    quantity: FleetQuantity,
    is_beyond_chance: bool,
}

impl FirstJudgement {
    /// Result for a machine that is not judged, because there are no expectations.
    pub fn none(report: &Report) -> Self {
        let health = Health {
            method: HEALTH_METHOD.to_owned(),
            digest: digest(report),
            state: HealthState::NotJudged,
            reason: "no expectations were given; memgauge fleet FOLDER --write-expectations FILE makes them, \
                     --expect FILE uses them"
                .to_owned(),
            judged: 0,
            slower: Vec::new(),
        };
        Self {
            health,
            slower: Vec::new(),
        }
    }

    /// Compares `report` with `expected`. A report without figures is inconclusive.
    pub fn new(report: &Report, expected: &Expectations, settings: &FleetSettings) -> Self {
        let mut own = Self::none(report);
        let health = &mut own.health;
        let verdict = match judged(report, expected, settings) {
            Ok(verdict) => verdict,
            Err(why) => {
                health.state = HealthState::Inconclusive;
                health.reason = why;
                return own;
            }
        };
        let Some(node) = verdict.nodes.first() else {
            return own;
        };
        health.judged = node.judged;
        health.state = match node.state {
            NodeState::Inconclusive => HealthState::Inconclusive,
            NodeState::Unusual if node.outliers.iter().all(|one| !one.is_slow()) => {
                HealthState::Unusual
            }
            NodeState::Healthy | NodeState::Unusual | NodeState::Slow => HealthState::Healthy,
        };
        health.reason = match health.state {
            HealthState::Healthy => String::new(),
            _ => node.reason.clone(),
        };
        let slow: Vec<_> = node.outliers.iter().filter(|one| one.is_slow()).collect();
        if slow.len() < ENOUGH_TOGETHER && slow.iter().all(|one| !one.is_beyond_chance) {
            return own;
        }
        for outlier in slow {
            let (name, quantity) = &verdict.quantities[outlier.quantity];
            health.slower.push(HealthFigure {
                quantity: name.clone(),
                unit: quantity.unit.clone(),
                expected: outlier.median,
                measured: outlier.value,
                again: None,
                is_slow: false,
            });
            own.slower.push(Slower {
                quantity: quantity.clone(),
                is_beyond_chance: outlier.is_beyond_chance,
            });
        }
        own
    }

    /// Names of the experiments to measure again before the verdict; empty if no second measurement
    /// is needed.
    pub fn experiments(&self) -> BTreeSet<&str> {
        self.slower
            .iter()
            .map(|one| one.quantity.experiment.as_str())
            .collect()
    }

    /// The verdict without a second measurement. If a second measurement was needed, the machine is
    /// inconclusive. `why` says why that measurement is missing.
    pub fn without_repeat(self, why: &str) -> Health {
        let mut health = self.health;
        if let Some(slowest) = health.slower.first() {
            health.reason = format!("{}; not measured again: {why}", in_words(slowest));
            health.state = HealthState::Inconclusive;
        }
        health
    }

    /// The verdict after `again`, a second measurement in fresh memory.
    pub fn with_repeat(
        self,
        again: &Report,
        expected: &Expectations,
        settings: &FleetSettings,
    ) -> Health {
        let (verdict, values) = match (judged(again, expected, settings), node_report(again)) {
            (Ok(verdict), Ok(report)) => (verdict, report.values),
            (Err(why), _) | (_, Err(why)) => return self.without_repeat(&why),
        };
        let values: Vec<(FleetQuantity, f64)> = values
            .into_iter()
            .map(|value| (value.median, FleetQuantity::new(value)))
            .map(|(median, quantity)| (quantity, median))
            .collect();
        let outliers = verdict.nodes.first().map_or(&[][..], |node| &node.outliers);
        let mut health = self.health;
        let mut is_beyond_chance = false;
        for (figure, first) in health.slower.iter_mut().zip(&self.slower) {
            let value = values.iter().find(|(own, _)| *own == first.quantity);
            figure.again = value.map(|(_, median)| *median);
            let outlier = outliers
                .iter()
                .find(|one| one.is_slow() && verdict.quantities[one.quantity].1 == first.quantity);
            if let Some(outlier) = outlier {
                figure.is_slow = true;
                is_beyond_chance |= first.is_beyond_chance && outlier.is_beyond_chance;
            }
        }
        health.slower.sort_by_key(|figure| !figure.is_slow);
        let slow = health.slower.iter().filter(|figure| figure.is_slow).count();
        let missing = health.slower.iter().any(|figure| figure.again.is_none());
        let Some(slowest) = health.slower.first() else {
            return health;
        };
        let text = in_words(slowest);
        // One slow figure is never enough, because users take a slow machine out of service.
        let is_confirmed = is_beyond_chance && slow > 1;
        if is_confirmed || slow >= ENOUGH_TOGETHER {
            health.state = HealthState::Slow;
            let more = counted(slow - 1, "more figure");
            health.reason = format!("{text}; slow too: {more}");
        } else if missing {
            health.state = HealthState::Inconclusive;
            health.reason = format!("{text}; not every figure could be measured again");
        } else if is_beyond_chance {
            health.state = HealthState::Inconclusive;
            health.reason = format!("{text}; no second figure agrees");
        }
        health
    }
}

/// Judges `report` against the expectations, as a fleet with one machine. An error says why the
/// report has no figures.
fn judged(
    report: &Report,
    expected: &Expectations,
    settings: &FleetSettings,
) -> Result<FleetVerdict, String> {
    let mut collection = FleetCollection::default();
    collection.add(node_report(report)?, String::new())?;
    let (fleet, _) = collection.finish();
    Ok(judge_fleet(&fleet, Vec::new(), settings, Some(expected)))
}

/// Text about a figure: its name, and its difference from the expected value in percent.
fn in_words(figure: &HealthFigure) -> String {
    let change = |value: f64| {
        let change = value / figure.expected - 1.0;
        let side = if change < 0.0 { "below" } else { "above" };
        format!("{}% {side}", fixed(change.abs() * 100.0, 1))
    };
    let again = figure.again.map_or_else(String::new, |again| {
        format!(", and {} in fresh memory", change(again))
    });
    format!(
        "{} is {} what is expected{again}",
        figure.quantity,
        change(figure.measured)
    )
}

/// Digest of the requested points and of the kernels that were used: eight hexadecimal digits.
fn digest(report: &Report) -> String {
    let points = report
        .datasets
        .iter()
        .filter(|dataset| !dataset.derived)
        .flat_map(|dataset| dataset.points.iter().map(move |point| (dataset, point)))
        .map(|(dataset, point)| {
            let at: Vec<String> = requested_coordinates(&point.coordinates)
                .iter()
                .map(|(axis, at)| format!("{axis}={at}"))
                .collect();
            format!("{} {}", dataset.experiment, at.join(" "))
        });
    let kernels = report
        .provenance
        .kernels
        .iter()
        .map(|kernel| format!("{} {}", kernel.name, kernel.code().unwrap_or_default()));
    let lines: BTreeSet<String> = points.chain(kernels).collect();
    let text: String = lines.into_iter().map(|line| line + "\n").collect();
    let hash = stats::derive(text.len() as u64, &(text + DIGEST_OF), 0);
    format!("{:08x}", hash >> 32)
}
