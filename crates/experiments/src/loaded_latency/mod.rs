//! How long does a load take while other CPUs use the memory?
//!
//! Method and limits: docs/method/loaded-latency.md.

mod cpus;
mod curve;
mod findings;
mod mix;
mod points;
mod settings;
mod tenants;
#[cfg(test)]
mod tests;

pub use mix::{Mix, Mixes};
pub use settings::Settings;
pub use tenants::Tenants;

use crate::chains::line_of;
use crate::command::CommandSettings;
use crate::coordinates::name;
use crate::experiment::{self, Detail, Draft, Experiment, Scope, axis};
use crate::lists::Count;
use cpus::{probe_cpus, traffic_cpus};
use curve::{IDLE, LONGEST_PAUSE, curves};
use kernels::REFERENCE_INSTRUCTIONS_PER_BLOCK;
use mix::TrafficShape;
use points::{CurvePlan, draft_point, places, traffic_bytes};
use report::{Axis, Dataset, Finding, HostFacts, Quantity};
use units::error::{Error, Result};

impl CommandSettings for Settings {
    /// The experiment with the curves of latency. If the user names a victim, the two experiments
    /// about its latency and its bandwidth.
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        match self.victim {
            Some(_) => Tenants::both(&self)
                .map(|side| Box::new(side) as Box<dyn Experiment>)
                .into(),
            None => vec![Box::new(LoadedLatency::new(self))],
        }
    }
}

/// Mixes of the traffic if the user names none.
const MIXES: [Mix; 6] = [
    Mix::new(100, 0),
    Mix::new(75, 25),
    Mix::new(67, 33),
    Mix::new(50, 50),
    Mix::new(0, 100),
    Mix {
        reads: 0,
        writes: 100,
        non_temporal: true,
    },
];

/// Pauses of the traffic in core cycles, if the user names none. With the longest pause, a thread
/// has a few percent of its highest bandwidth.
const PAUSES: [u64; 10] = [65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256, 0];

/// Pauses of the traffic in core cycles, in the default profile.
const FEW_PAUSES: [u64; 6] = [16384, 4096, 2048, 1024, 256, 0];

/// Number of follow-ups that add points to a curve.
const STAGES: u32 = 2;

/// Drop priority of points that follow-ups add. They are dropped first.
const ADDED: u8 = 4;
/// Drop priority of all curves after the first.
const OTHER_CURVES: u8 = 3;
/// Drop priority of the first curve, which is dropped last.
const FIRST_CURVE: u8 = 2;

/// The experiment `loaded-latency`.
#[derive(Debug, Clone)]
pub struct LoadedLatency {
    settings: Settings,
    mixes: Vec<Mix>,
    pauses: Vec<u64>,
    /// True if only one kind of core, with the memory of its own node, is measured.
    brief: bool,
    /// Largest number of curves at each place after the first. Other places are other kinds of
    /// core, other pages and distant memory.
    other_curves: usize,
}

impl LoadedLatency {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        let mixes = settings
            .mixes
            .as_ref()
            .map_or_else(|| MIXES.to_vec(), |mixes| mixes.0.clone());
        let requested = settings
            .pauses
            .as_ref()
            .map(|list| list.0.iter().map(|count| u64::from(count.0)).collect());
        Self {
            mixes,
            pauses: requested.unwrap_or_else(|| PAUSES.to_vec()),
            brief: false,
            other_curves: usize::MAX,
            settings,
        }
    }

    /// The experiment as part of a profile: one short curve, or all curves.
    pub fn in_profile(detail: Detail) -> Self {
        if detail == Detail::Sweep {
            return Self {
                other_curves: 1,
                ..Self::new(Settings::plain())
            };
        }
        let settings = Settings {
            points: Count(0),
            ..Settings::plain()
        };
        Self {
            settings,
            mixes: vec![MIXES[0]],
            pauses: FEW_PAUSES.to_vec(),
            brief: true,
            other_curves: 1,
        }
    }

    /// The curves to measure, for each probe CPU, memory and kind of traffic.
    fn lines(&self, scope: &Scope<'_>) -> Result<Vec<CurvePlan>> {
        let mut lines = Vec::new();
        for cpu in probe_cpus(&self.settings, scope, self.brief)? {
            let cpus = traffic_cpus(&self.settings, scope, cpu)?;
            let shapes = self.shapes(&cpus);
            for (far, place) in places(
                &self.settings,
                scope,
                cpu,
                !self.brief && self.settings.memory_nodes.is_none(),
            )? {
                let bytes = traffic_bytes(scope, &cpus);
                let curves = if lines.is_empty() {
                    usize::MAX
                } else {
                    self.other_curves
                };
                for &shape in shapes.iter().take(curves) {
                    let drop_priority = if far || !lines.is_empty() {
                        OTHER_CURVES
                    } else {
                        FIRST_CURVE
                    };
                    lines.push(CurvePlan {
                        place: place.clone(),
                        shape,
                        cpus: cpus.clone(),
                        bytes,
                        drop_priority,
                    });
                }
            }
        }
        Ok(lines)
    }

    fn shapes(&self, cpus: &[u32]) -> Vec<TrafficShape> {
        let readers = self.settings.readers;
        let writers = self.settings.writers;
        if readers.or(writers).is_none() || cpus.is_empty() {
            return self
                .mixes
                .iter()
                .copied()
                .map(TrafficShape::Mixed)
                .collect();
        }
        let count = |n: Option<Count>| n.map_or(0, |n| n.0);
        vec![TrafficShape::Apart(count(readers), count(writers))]
    }

    /// Requested pauses in core cycles, rounded up to whole blocks of additions. Each is listed
    /// once, longest first.
    fn pauses(&self) -> Vec<u64> {
        let mut pauses: Vec<u64> = self
            .pauses
            .iter()
            .map(|pause| pause.next_multiple_of(REFERENCE_INSTRUCTIONS_PER_BLOCK))
            .collect();
        pauses.sort_unstable_by(|a, b| b.cmp(a));
        pauses.dedup();
        pauses
    }
}

impl Experiment for LoadedLatency {
    fn name(&self) -> &'static str {
        "loaded-latency"
    }

    fn quantity(&self) -> Quantity {
        experiment::latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "kernel",
            "level",
            "cpu",
            "pages",
            "node",
            "threads",
            "mix",
            "pause_cycles",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        if let Some(long) = self.pauses.iter().find(|&&pause| pause > LONGEST_PAUSE) {
            return Err(Error::usage(format!(
                "pause too long: {long} cycles; {LONGEST_PAUSE} at most; type --pauses 65536"
            )));
        }
        let mut drafts: Vec<Draft> = Vec::new();
        for line in self.lines(scope)? {
            let mut idle =
                draft_point(scope, &line.place, Some(Vec::new()), line.drop_priority - 1);
            idle.coordinates.insert("mix".to_owned(), name(IDLE));
            if !drafts
                .iter()
                .any(|draft| draft.coordinates == idle.coordinates)
            {
                drafts.push(idle);
            }
            // The point without pauses has the highest bandwidth. It is dropped last, because all
            // other points are compared with it.
            let needed = |pause: u64| {
                if pause == 0 {
                    line.drop_priority - 1
                } else {
                    line.drop_priority
                }
            };
            let points = self.pauses().into_iter();
            drafts.extend(points.map(|pause| Draft {
                drop_priority: needed(pause),
                ..line.point(scope, pause)
            }));
            scope.room_for(drafts.len())?;
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let whole = |pause: &u64| pause.next_multiple_of(REFERENCE_INSTRUCTIONS_PER_BLOCK);
        let differ = self.pauses.iter().filter(|&pause| *pause != whole(pause));
        let tell = |pause: &u64| {
            format!(
                "a pause of {pause} cycles was rounded up to {}: blocks of {REFERENCE_INSTRUCTIONS_PER_BLOCK} \
                 additions",
                whole(pause)
            )
        };
        let line = line_of(scope, scope.cpus.first().copied().unwrap_or(0));
        let size = self
            .settings
            .sizes
            .filter(|size| !size.0.is_multiple_of(line.0));
        let told = size.map(|size| {
            format!(
                "{} B were rounded down to {} B: whole lines",
                size.0,
                size.round_down(line.0).0
            )
        });
        differ
            .map(tell)
            .chain(told)
            .chain(cpus::adjustments(&self.settings, scope, self.brief))
            .collect()
    }

    fn reserve(&self, scope: &Scope<'_>) -> Result<Vec<Vec<Draft>>> {
        let lines = self.lines(scope)?;
        let each = self.settings.points.0.div_ceil(STAGES) as usize;
        scope.room_for(
            lines
                .len()
                .saturating_mul(each)
                .saturating_mul(STAGES as usize),
        )?;
        let stand_in = |line: &CurvePlan| Draft {
            drop_priority: ADDED,
            ..line.point(scope, LONGEST_PAUSE)
        };
        let stage: Vec<Draft> = lines
            .iter()
            .flat_map(|line| vec![stand_in(line); each])
            .filter(|draft| draft.work.is_ok())
            .collect();
        Ok(if stage.is_empty() {
            Vec::new()
        } else {
            vec![stage; STAGES as usize]
        })
    }

    fn follow_up(
        &self,
        scope: &Scope<'_>,
        _stage: usize,
        most: usize,
        measured: &Dataset,
    ) -> Vec<Draft> {
        let each = self.settings.points.0.div_ceil(STAGES) as usize;
        let known = curves(measured);
        let mut wanted: Vec<(f64, Draft)> = Vec::new();
        for line in self.lines(scope).unwrap_or_default() {
            let place = |pause| {
                let draft = line.point(scope, pause);
                let mut coordinates = draft.coordinates.clone();
                coordinates.remove("pause_cycles");
                (draft, coordinates)
            };
            let (_, coordinates) = place(0);
            let Some(curve) = known.iter().find(|curve| curve.place == coordinates) else {
                continue;
            };
            let mut points = curve.wanted();
            points.sort_by(|a, b| b.0.total_cmp(&a.0));
            let drafts = points
                .into_iter()
                .take(each)
                .map(|(worth, pause)| (worth, place(pause).0));
            wanted.extend(drafts.map(|(worth, draft)| {
                (
                    worth,
                    Draft {
                        drop_priority: ADDED,
                        ..draft
                    },
                )
            }));
        }
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
        wanted
            .into_iter()
            .map(|(_, draft)| draft)
            .take(most)
            .collect()
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset, None)
    }

    fn findings_on(&self, facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset, Some(facts))
    }
}
