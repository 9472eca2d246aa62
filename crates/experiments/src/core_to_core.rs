//! How long does a cache line take from one core to another and back?
//!
//! Method and limits: docs/method/core-to-core.md.

use crate::clusters;
use crate::command::{CommandSettings, Effect, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::experiment::{Bound, Detail, Draft, Experiment, Scope, axis};
use crate::lists::{Count, HandOffs, Pair, Pairs};
use crate::pairs::{ChosenPair, choose};
use crate::windows::{self, WindowSettings};
use engine::{HandOffWork, Windows, Work};
use kernels::HandOff;
use report::{Axis, Dataset, Finding, Outcome, Places, Point, Quantity};
use std::collections::BTreeSet;
use units::CpuList;
use units::error::{Error, Result};

/// Pairs of CPUs, and the kernel of the hand-off.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Settings {
    /// How the line is handed over: compare-and-swap, store-load, exchange
    #[arg(long, value_name = "LIST", default_value = "compare-and-swap")]
    pub kernel: HandOffs,

    /// Pairs of CPUs: 0-1 (each of them starts in turn), 0:1 (only cpu 0 starts) [default: all, or
    /// a choice of --max-points]
    #[arg(long, value_name = "LIST")]
    pub pairs: Option<Pairs>,

    /// Cache lines that a pair hands over in turn, 2 to 4096, half of them first touched by each of
    /// the two
    #[arg(long, value_name = "N", default_value = "64")]
    pub lines: Count,

    /// Short windows in addition to the headline.
    #[command(flatten)]
    pub windows: WindowSettings,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "window",
        applies: |s| s.windows.windows.is_some(),
        only: windows::HAVE_A_LENGTH,
        enabled_by: Some(windows::WINDOWS_EXAMPLE),
    }];
}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(CoreToCore::new(self))]
    }
}

/// Allowed numbers of cache lines that a pair hands over.
const LINES: std::ops::RangeInclusive<u32> = 2..=4096;

/// Largest number of points in the default profile: all ordered pairs of eight CPUs.
const FEW: usize = 56;

/// Largest number of points in the full profile: all ordered pairs of sixteen CPUs.
const MANY: usize = 240;

/// Drop priority of the pairs of rank 0. Other pairs have higher priorities, and are dropped
/// earlier. When time is short, all pairs are dropped before points that other experiments need.
const DROP_PRIORITY: u8 = 2;

/// The experiment `core-to-core`.
#[derive(Debug, Clone)]
pub struct CoreToCore {
    settings: Settings,
    /// Largest number of points if the user names no pairs. `None` if only [`Scope::most_points`]
    /// limits the points.
    most: Option<usize>,
}

impl CoreToCore {
    /// The experiment with the user's settings, for the command `memgauge core-to-core`.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            most: None,
        }
    }

    /// The experiment as part of a profile. `detail` decides how many pairs are measured.
    pub fn in_profile(detail: Detail) -> Self {
        let kernel = HandOffs(vec![HandOff::CompareAndSwap]);
        let settings = Settings {
            kernel,
            pairs: None,
            lines: Count(64),
            windows: WindowSettings::none(),
        };
        Self {
            settings,
            most: Some(if detail == Detail::Sweep { MANY } else { FEW }),
        }
    }

    /// The requested kernels, each once.
    fn kernels(&self) -> Vec<HandOff> {
        let mut seen = BTreeSet::new();
        self.settings
            .kernel
            .0
            .iter()
            .copied()
            .filter(|kernel| seen.insert(*kernel))
            .collect()
    }

    /// Pairs to measure with each kernel, in the order in which tables show them.
    fn pairs(&self, scope: &Scope<'_>, places: &Places) -> Result<Vec<ChosenPair>> {
        let cpus = places.ordered(scope.cpus);
        let Some(requested) = &self.settings.pairs else {
            // A pair has two directions, so a choice of pairs has at least two points.
            let each =
                (self.most.unwrap_or(scope.most_points) / self.kernels().len().max(1)).max(2);
            return Ok(choose(&cpus, places, each));
        };
        named(requested, scope, &cpus)
    }

    fn draft_point(
        &self,
        scope: &Scope<'_>,
        kernel: HandOff,
        pair: ChosenPair,
        relation: String,
    ) -> Draft {
        let work = Work::HandOff(HandOffWork {
            kernel,
            cpus: [pair.from, pair.to],
            lines: self.settings.lines.0,
        });
        let used = scope.machine.kernel(&work);
        let kernel_name = used
            .as_ref()
            .map_or_else(|_| kernel.kernel_name(), |used| used.name.clone());
        let work = match used {
            Ok(_) => Ok(work),
            Err(reason) => Err(Outcome::Unsupported { reason }),
        };
        let coordinates = coordinates([
            ("operation", name(kernel)),
            ("kernel", name(kernel_name)),
            ("from", number(pair.from)),
            ("to", number(pair.to)),
            ("relation", name(relation)),
        ]);
        Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority: DROP_PRIORITY + pair.rank,
        }
    }
}

/// Pairs that the user names, each once. Fails if the session may not use one of their CPUs.
fn named(requested: &Pairs, scope: &Scope<'_>, cpus: &[u32]) -> Result<Vec<ChosenPair>> {
    let missing = |cpu: &&u32| !cpus.contains(cpu);
    if let Some(cpu) = requested
        .0
        .iter()
        .flat_map(|pair| [&pair.from, &pair.to])
        .find(missing)
    {
        let allowed = CpuList(scope.cpus.to_vec());
        let advice = match scope.cpus {
            [first, second, ..] => format!("type --pairs {first}-{second}"),
            _ => "a pair needs two; allow more with --cpus".to_owned(),
        };
        return Err(Error::usage(format!(
            "cpu not available: {cpu}; this session may use {allowed}; {advice}"
        )));
    }
    let place = |cpu: u32| cpus.iter().position(|c| *c == cpu);
    let both = |pair: &Pair| {
        [
            Some((pair.from, pair.to)),
            pair.both.then_some((pair.to, pair.from)),
        ]
    };
    let pairs: BTreeSet<_> = requested
        .0
        .iter()
        .flat_map(both)
        .flatten()
        .map(|(from, to)| (place(from), place(to), from, to))
        .collect();
    scope.room_for(pairs.len())?;
    Ok(pairs
        .into_iter()
        .map(|(_, _, from, to)| ChosenPair { from, to, rank: 0 })
        .collect())
}

/// Reason why a session with one CPU has no points.
fn alone(cpu: u32, scope: &Scope<'_>) -> String {
    let machine = match scope.facts().topology.cpus.len() {
        1 => "this machine has one cpu",
        _ => "this run has one cpu",
    };
    format!(
        "core-to-core: {machine} ({cpu}), so that no value goes from one core to another; \
         memgauge locks --threads 1 measures atomic operations on it"
    )
}

/// Finding about the pair with the largest ratio between the 99.9th percentile and the median of
/// its short windows. `None` without windows.
fn slowest_windows(dataset: &Dataset) -> Option<Finding> {
    let spread = |point: &Point| {
        let also = &point.outcome.measured()?.also;
        Some(also.get("p99_9")? / also.get("p50")?)
    };
    let pairs = dataset
        .points
        .iter()
        .filter_map(|point| Some((spread(point)?, point)));
    let (_, point) = pairs.max_by(|a, b| a.0.total_cmp(&b.0))?;
    let place = format!(
        "A round trip between cpus {} and {}",
        point.number("from")?,
        point.number("to")?
    );
    windows::finding(point, "round-trip-windows", &place)
}

impl Experiment for CoreToCore {
    fn name(&self) -> &'static str {
        "core-to-core"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "round trip".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        ["operation", "from", "to", "relation"].map(axis).to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.settings.windows.check()?;
        let lines = self.settings.lines.0;
        if !LINES.contains(&lines) {
            let least = LINES.start();
            let most = LINES.end();
            return Err(Error::usage(format!(
                "lines not possible: {lines}; a pair uses {least} to {most}; type --lines 64"
            )));
        }
        let places = Places::new(&scope.facts().topology);
        let pairs = self.pairs(scope, &places)?;
        let mut drafts = Vec::new();
        for kernel in self.kernels() {
            for &pair in &pairs {
                scope.room_for(drafts.len() + 1)?;
                let relation = places.relation(pair.from, pair.to).to_string();
                drafts.push(self.draft_point(scope, kernel, pair, relation));
            }
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        if let ([cpu], None) = (scope.cpus, &self.settings.pairs) {
            return vec![alone(*cpu, scope)];
        }
        let all = scope
            .cpus
            .len()
            .saturating_mul(scope.cpus.len().saturating_sub(1));
        let places = Places::new(&scope.facts().topology);
        let chosen = match self.pairs(scope, &places) {
            Ok(pairs) if self.settings.pairs.is_none() => pairs.len(),
            _ => all,
        };
        let advice = if self.most.is_some() {
            "memgauge core-to-core"
        } else {
            "--max-points"
        };
        let text = format!(
            "core-to-core: {chosen} of {all} ordered pairs of cpus were chosen, every kind of \
             pair among them; {advice} allows more, --pairs names them"
        );
        (chosen < all).then_some(text).into_iter().collect()
    }

    fn windows(&self) -> Option<Windows> {
        self.settings.windows.requested()
    }

    fn derived(&self, dataset: &Dataset) -> Option<Dataset> {
        windows::distribution(dataset)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let clusters = self
            .kernels()
            .into_iter()
            .flat_map(|kernel| clusters::findings(dataset, kernel.name()));
        clusters.chain(slowest_windows(dataset)).collect()
    }
}
