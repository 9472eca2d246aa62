//! Cost of one tenant's traffic for another tenant of the machine. A victim is measured alone, and
//! while an aggressor uses the memory.

use super::cpus::{beyond_quota, requested_cpus};
use super::mix::{Mix, TrafficShape};
use super::points::{CurvePlan, MeasuredChase, places, traffic_bytes};
use super::settings::Settings;
use crate::coordinates::{name, number};
use crate::cpus::one_cpu;
use crate::difference::{ComparisonResult, Difference};
use crate::experiment::{self, Bound, Draft, Experiment, Scope, axis};
use engine::{LoadedWork, Probe, Traffic, Work};
use kernels::{BLOCK_BYTES, Operation, REFERENCE_INSTRUCTIONS_PER_BLOCK, chase_name};
use report::{Axis, Dataset, Finding, Outcome, Point, Quantity};
use units::CpuList;
use units::error::Result;

/// Mixes of the aggressor if the user names none: only loads, then loads and stores.
const MIXES: [Mix; 2] = [Mix::new(100, 0), Mix::new(50, 50)];

/// Value of the axis `aggressor` at a point without an aggressor.
const NO_AGGRESSOR: &str = "none";

/// The experiment that measures one quantity of the victim: its latency or its bandwidth.
#[derive(Debug, Clone)]
pub struct Tenants {
    settings: Settings,
    /// True for the bandwidth of the victim, false for its latency.
    streams: bool,
}

impl Tenants {
    /// The experiments for the latency and the bandwidth of the victim in `settings`.
    pub fn both(settings: &Settings) -> [Self; 2] {
        [false, true].map(|streams| Self {
            settings: settings.clone(),
            streams,
        })
    }

    /// The traffic of the aggressor: a plan and a pause in core cycles. There is one of each for
    /// every chain of the victim, mix and pause.
    fn lines(&self, scope: &Scope<'_>) -> Result<Vec<(CurvePlan, u64)>> {
        let victim = one_cpu(self.settings.victim.as_ref(), "--victim", scope)?;
        let cpus = match &self.settings.aggressor {
            Some(requested) => requested_cpus(requested, scope, victim, "--aggressor")?,
            None => scope
                .cpus
                .iter()
                .copied()
                .filter(|cpu| *cpu != victim)
                .collect(),
        };
        let mixes = self
            .settings
            .mixes
            .as_ref()
            .map_or_else(|| MIXES.to_vec(), |mixes| mixes.0.clone());
        let requested = self
            .settings
            .pauses
            .as_ref()
            .map(|list| list.0.iter().map(|count| u64::from(count.0)).collect());
        let pauses: Vec<u64> = requested.unwrap_or_else(|| vec![0]);
        let bytes = traffic_bytes(scope, &cpus);
        let mut lines = Vec::new();
        for (_, place) in places(&self.settings, scope, victim, false)? {
            for &mix in &mixes {
                let place = place.clone();
                let cpus = cpus.clone();
                let shape = TrafficShape::Mixed(mix);
                let line = CurvePlan {
                    place,
                    shape,
                    cpus,
                    bytes,
                    drop_priority: 0,
                };
                lines.extend(pauses.iter().map(|&pause| {
                    (
                        line.clone(),
                        pause.next_multiple_of(REFERENCE_INSTRUCTIONS_PER_BLOCK),
                    )
                }));
                scope.room_for(lines.len())?;
            }
        }
        Ok(lines)
    }

    /// The measured work of the victim, and the name of its kernel.
    fn probe(&self, scope: &Scope<'_>, place: &MeasuredChase) -> (Probe, String) {
        if !self.streams {
            return (Probe::Chase(place.chase(scope)), chase_name(1, false));
        }
        let bytes = place
            .size
            .round_down(BLOCK_BYTES)
            .max(units::Bytes(BLOCK_BYTES));
        let stream = Traffic {
            node: Some(place.memory),
            ..Traffic::reading(place.cpu, place.pages, bytes)
        };
        let probe = Probe::Stream(stream);
        let kernel = scope
            .machine
            .kernel(&Work::Loaded(LoadedWork::new(probe.clone(), Vec::new())));
        (
            probe,
            kernel.map_or_else(|_| Operation::Read.to_string(), |kernel| kernel.name),
        )
    }

    fn point(&self, scope: &Scope<'_>, line: &CurvePlan, pause: Option<u64>) -> Draft {
        let (probe, kernel) = self.probe(scope, &line.place);
        let operation = if self.streams {
            "victim-read"
        } else {
            "victim-chase"
        };
        let mut coordinates = line.place.coordinates(operation, &kernel);
        let traffic = pause.map(|pause| line.traffic(pause)).unwrap_or_default();
        let (aggressor, mix) = match pause {
            Some(_) => (
                CpuList(line.cpus.clone()).to_string(),
                line.shape.to_string(),
            ),
            None => (NO_AGGRESSOR.to_owned(), NO_AGGRESSOR.to_owned()),
        };
        coordinates.insert("aggressor".to_owned(), name(aggressor));
        coordinates.insert("mix".to_owned(), name(mix));
        coordinates.insert("threads".to_owned(), number(traffic.len() as u64));
        coordinates.extend(pause.map(|pause| ("pause_cycles".to_owned(), number(pause))));
        let work = if pause.is_some() && line.cpus.is_empty() {
            let reason = format!(
                "an aggressor needs a cpu besides the victim's, and this session may use cpu {} only",
                line.place.cpu
            );
            Err(Outcome::Unsupported { reason })
        } else if let Some(reason) =
            beyond_quota(scope, traffic.len() + 1).filter(|_| pause.is_some())
        {
            Err(Outcome::Unsupported { reason })
        } else {
            scope.runnable(Work::Loaded(LoadedWork::new(probe, traffic)))
        };
        Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority: 0,
        }
    }
}

impl Experiment for Tenants {
    fn name(&self) -> &'static str {
        if self.streams {
            "loaded-bandwidth"
        } else {
            "loaded-latency"
        }
    }

    fn quantity(&self) -> Quantity {
        if self.streams {
            experiment::bandwidth_quantity()
        } else {
            experiment::latency_quantity()
        }
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "kernel",
            "level",
            "cpu",
            "pages",
            "node",
            "aggressor",
            "threads",
            "mix",
            "pause_cycles",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        for (line, pause) in self.lines(scope)? {
            drafts.push(self.point(scope, &line, None));
            drafts.push(self.point(scope, &line, Some(pause)));
        }
        Ok(drafts)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        dataset
            .points
            .iter()
            .filter_map(|point| self.cost(dataset, point))
            .collect()
    }
}

impl Tenants {
    /// Finding that compares the victim under the aggressor at `point` with the victim alone.
    /// `None` if `point` has no aggressor, or if the comparison is [`ComparisonResult::Nothing`].
    fn cost(&self, dataset: &Dataset, point: &Point) -> Option<Finding> {
        let place = |p: &Point| {
            let mut place = p.coordinates.clone();
            place.retain(|axis, _| {
                !["aggressor", "mix", "threads", "pause_cycles"].contains(&axis.as_str())
            });
            place
        };
        let load = point
            .usable()?
            .load
            .filter(|_| point.name("aggressor") != Some(NO_AGGRESSOR))?;
        let alone =
            |p: &&Point| p.name("aggressor") == Some(NO_AGGRESSOR) && place(p) == place(point);
        let cost = Difference::between(dataset.points.iter().find(alone)?, point)?;
        let before = cost.from.value;
        let after = cost.to.value;
        let figure = |value: f64| match self.streams {
            true => format!("{:.1} GB/s", value / 1e9),
            false => format!("{value:.0} ns a load"),
        };
        let times = match cost.shows() {
            ComparisonResult::Nothing => return None,
            ComparisonResult::Same => "the same within 5%".to_owned(),
            ComparisonResult::Higher | ComparisonResult::Lower => {
                let (low, high) = cost.ratio_interval();
                format!("{:.2} times ({low:.2} to {high:.2})", cost.ratio())
            }
        };
        let cpu = point.number("cpu")?;
        let aggressor = point.name("aggressor")?;
        let mix = point.name("mix")?;
        let text = format!(
            "Under {mix} traffic of CPU {aggressor} ({:.1} GB/s) CPU {cpu} has {} instead of {}: \
             {times}.",
            load.median / 1e9,
            figure(after),
            figure(before),
        );
        let kind = if self.streams {
            "victim-bandwidth"
        } else {
            "victim-latency"
        };
        cost.finding(
            kind,
            text,
            &[
                ("alone", before),
                ("with_aggressor", after),
                ("aggressor", load.median),
            ],
        )
    }
}
