//! How does bandwidth grow with the number of threads, and how many does memory need?
//!
//! Method and limits: docs/method/scaling.md.

mod findings;

use crate::command::{CommandSettings, Effects};
use crate::coordinates::{name, number};
use crate::experiment::{self, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::{Levels, MEMORY};
use crate::lists::{
    OperationSpec, Operations, PageModes, Placement, Placements, Widths, refuse_too_large,
    thread_counts,
};
use crate::placement::{Placing, kinds};
use crate::streams::{check_sizes, draft_point, fitted, rounded_sizes};
use engine::StreamWork;
use host::memory::PageMode;
use kernels::{Family, Operation, Width};
use report::{Axis, Coordinate, Dataset, Finding, Outcome, Quantity};
use std::collections::BTreeSet;
use units::error::{Error, Result};
use units::{Bytes, SizeList, ThreadList, read_like};

/// Numbers of threads, their placement, operations and sizes.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Operations, as `memgauge list kernels` names them: read, write, copy, triad, touch, write-nt
    /// ...; read-best and the like
    #[arg(long, value_name = "LIST", default_value = "read")]
    pub ops: Operations,

    /// Threads: 1,2,all or 1..8 [default: every number up to 32 CPUs; above, a ladder with every
    /// socket, node, cluster and core]
    #[arg(long, value_name = "LIST")]
    pub threads: Option<ThreadList>,

    /// Which CPU gets the next thread: spread (another socket, node, cluster and core first),
    /// compact (the nearest first)
    #[arg(long, value_name = "LIST", default_value = "spread")]
    pub placement: Placements,

    /// Also two threads on each CPU: what more threads than CPUs cost
    #[arg(long)]
    pub oversubscribe: bool,

    /// Working set of each thread, all streams of the operation together: 32KiB,1MiB [default:
    /// memory]
    #[arg(long, value_name = "LIST", alias = "size")]
    pub sizes: Option<SizeList>,

    /// Size of a language model's weights, for a ceiling on tokens per second: 8GB
    #[arg(long, value_name = "SIZE", conflicts_with = "sizes", value_parser = read_like::<Bytes>("8GB"))]
    pub model_size: Option<Bytes>,

    /// Registers: 64, 128, 256, 512 bits, a set (sse2, avx2, neon), widest, best (the fastest at
    /// each point)
    #[arg(long, value_name = "LIST", default_value = "best")]
    pub width: Widths,

    /// Pages: 4k, thp (transparent huge pages), huge (reserved huge pages), best (the largest of
    /// these that there are)
    #[arg(long, value_name = "LIST", default_value = "thp")]
    pub pages: PageModes,
}

impl Effects for Settings {}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Scaling::new(self))]
    }
}

/// Largest number of thread counts in the default profile, in all curves together. Measuring them
/// takes about 4 s.
const FEW: usize = 9;

/// Least size of a model's weights. A smaller size is probably a number without its unit.
const LEAST_MODEL: Bytes = Bytes::mib(1);

/// Largest number of thread counts for an operation and a placement in the full profile, in all
/// curves together.
const MANY: usize = 12;

/// Drop priority of points between one thread and all threads. When time is short, these points are
/// dropped before points that other experiments need.
const DROP_PRIORITY: u8 = 2;

/// The experiment `scaling`.
#[derive(Debug, Clone)]
pub struct Scaling {
    settings: Settings,
    /// Detail of the profile that contains the experiment; `None` without a profile.
    profile: Option<Detail>,
}

/// CPUs of a curve.
struct CurveCpus {
    /// Kind of core, or `all` for the curve of all CPUs. `None` if there is one curve only.
    kind: Option<String>,
    placing: Placing,
}

/// A point of a curve.
struct ScalingPoint<'a> {
    curve: &'a CurveCpus,
    placement: Placement,
    /// CPU of each thread.
    cpus: Vec<u32>,
    /// Number of threads on each CPU.
    per_cpu: usize,
}

impl Scaling {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            profile: None,
        }
    }

    /// The experiment as part of a profile. `detail` decides which operations and placements are
    /// measured.
    pub fn in_profile(detail: Detail) -> Self {
        use Operation::{Copy, Read, Triad, Write};
        let full = detail == Detail::Sweep;
        let ops = if full {
            vec![Read, Write, Copy, Triad]
        } else {
            vec![Read]
        };
        let placement = if full {
            vec![Placement::Spread, Placement::Compact]
        } else {
            vec![Placement::Spread]
        };
        let settings = Settings {
            ops: Operations(ops.into_iter().map(OperationSpec::Exactly).collect()),
            threads: None,
            placement: Placements(placement),
            oversubscribe: false,
            sizes: None,
            model_size: None,
            width: Widths(vec![Width::Best]),
            pages: PageModes(vec![PageMode::Transparent]),
        };
        Self {
            settings,
            profile: Some(detail),
        }
    }

    /// One curve for all CPUs, and one for each kind of core if there are several kinds.
    fn curves(scope: &Scope<'_>) -> Vec<CurveCpus> {
        let topology = &scope.facts().topology;
        let kinds = kinds(topology, scope.cpus);
        let several = kinds.len() > 1;
        let all = CurveCpus {
            kind: several.then(|| "all".to_owned()),
            placing: Placing::new(topology, scope.cpus),
        };
        let of_kind = |mut cpus: units::CpuList| {
            let placing = Placing::new(topology, &cpus.0);
            cpus.0.sort_unstable();
            let named = cpus.0.first().and_then(|first| {
                let of_cpu = topology.cpus.iter().find(|cpu| cpu.id == *first);
                of_cpu?.kind.as_ref()
            });
            let name = named.map_or_else(String::new, |kind| format!("{kind} "));
            CurveCpus {
                kind: Some(format!("{name}cpus {cpus}")),
                placing,
            }
        };
        let kinds = kinds.into_iter().filter(|_| several).map(of_kind);
        std::iter::once(all).chain(kinds).collect()
    }

    /// Numbers of threads that are measured on `curve`, which is one of `curves` curves.
    fn counts(&self, scope: &Scope<'_>, curve: &CurveCpus, curves: usize) -> Result<Vec<usize>> {
        let most = match self.profile {
            Some(Detail::Sweep) => (MANY / curves.max(1)).max(3),
            Some(_) => (FEW / curves.max(1)).max(3),
            None => usize::MAX,
        };
        match &self.settings.threads {
            Some(list) => {
                let mut counts = thread_counts(list, scope)?;
                counts.retain(|&count| count <= curve.placing.len());
                Ok(counts)
            }
            None if most == usize::MAX => Ok(curve.placing.counts()),
            None => Ok(curve.placing.few_counts(most)),
        }
    }

    /// Every point of `curve`, which is one of `curves` curves.
    fn places<'a>(
        &self,
        scope: &Scope<'_>,
        curve: &'a CurveCpus,
        curves: usize,
    ) -> Result<Vec<ScalingPoint<'a>>> {
        let counts = self.counts(scope, curve, curves)?;
        let mut places = Vec::new();
        let mut seen = BTreeSet::new();
        for &placement in self
            .settings
            .placement
            .0
            .iter()
            .filter(|placement| seen.insert(**placement))
        {
            let order = curve.placing.order(placement);
            let with_count = |&count: &usize| ScalingPoint {
                curve,
                placement,
                cpus: order[..count].to_vec(),
                per_cpu: 1,
            };
            places.extend(counts.iter().map(with_count));
            if self.settings.oversubscribe {
                places.push(ScalingPoint {
                    curve,
                    placement,
                    cpus: [&*order, &*order].concat(),
                    per_cpu: 2,
                });
            }
        }
        Ok(places)
    }

    /// Working sets of each thread: the user's sizes, or one size in memory.
    fn sizes(&self, scope: &Scope<'_>, levels: &Levels, threads: usize) -> Result<Vec<Bytes>> {
        let Some(sizes) = &self.settings.sizes else {
            return Ok(vec![levels.memory]);
        };
        refuse_too_large(sizes, threads as u64, scope.usable())?;
        Ok(sizes.0.clone())
    }

    /// Adds the points for one set of threads to `drafts`: every operation, size, width and kind of
    /// pages.
    fn draft_place(
        &self,
        scope: &Scope<'_>,
        place: &ScalingPoint<'_>,
        drafts: &mut Vec<Draft>,
    ) -> Result<()> {
        let s = &self.settings;
        let levels = Levels::new(scope.facts(), &place.cpus, scope.last_level());
        let refused = place.refused(scope);
        let sizes = self.sizes(scope, &levels, place.cpus.len())?;
        for (&requested, &size) in s
            .ops
            .0
            .iter()
            .flat_map(|op| sizes.iter().map(move |size| (op, size)))
        {
            let fitted = fitted(requested, size)?;
            let level = levels.name(fitted.bytes);
            for (&width, &pages) in s
                .width
                .0
                .iter()
                .flat_map(|w| s.pages.0.iter().map(move |p| (w, p)))
            {
                scope.room_for(drafts.len() + 1)?;
                let plain =
                    StreamWork::new(fitted.operation, width, pages, &place.cpus, fitted.bytes);
                let work = StreamWork {
                    any_of_family: matches!(requested, OperationSpec::BestOf(_)),
                    ..plain
                };
                let mut draft = draft_point(scope, work, requested, &level);
                draft.coordinates.extend(place.coordinates());
                if let (Some(reason), Ok(_)) = (&refused, &draft.work) {
                    draft.work = Err(Outcome::Unsupported {
                        reason: reason.clone(),
                    });
                }
                let end = place.cpus.len() == 1 || place.cpus.len() >= place.curve.placing.len();
                draft.drop_priority = if end {
                    DROP_PRIORITY - 1
                } else {
                    DROP_PRIORITY
                };
                drafts.push(draft);
            }
        }
        Ok(())
    }

    /// True if the experiment `bandwidth` of the default profile measures the same points.
    fn is_answered(&self, scope: &Scope<'_>) -> bool {
        self.profile == Some(Detail::Levels)
            && scope.cpus.len() <= 2
            && scope.experiments.contains(&"bandwidth")
    }

    /// Fails if a model size is too small, or if no requested operation reads.
    fn check_model(&self) -> Result<()> {
        match self.settings.model_size {
            Some(size) if size < LEAST_MODEL => Err(Error::usage(format!(
                "model size not possible: {size}; the weights of a model take {LEAST_MODEL} or \
                 more; type --model-size 8GB"
            ))),
            Some(size) if self.reading().is_none() => Err(Error::usage(format!(
                "model size without reads: {size}; tokens per second follow from an operation \
                 that only reads; type --ops read"
            ))),
            _ => Ok(()),
        }
    }

    /// The first requested operation that only reads; `None` if there is none.
    fn reading(&self) -> Option<OperationSpec> {
        self.settings
            .ops
            .0
            .iter()
            .copied()
            .find(|requested| requested.family() == Family::Read)
    }
}

impl ScalingPoint<'_> {
    /// Reason why these threads cannot be measured; `None` if they can.
    fn refused(&self, scope: &Scope<'_>) -> Option<String> {
        let facts = scope.facts();
        let threads = self.cpus.len();
        let cpus = threads / self.per_cpu;
        if let Some(quota) = facts
            .system
            .cpu_quota
            .get()
            .filter(|&&quota| quota < cpus as f64)
        {
            let source = &facts.system.cpu_quota.source;
            return Some(format!(
                "the control group allows {quota:.1} cpus' worth of time ({source}): {threads} \
                 threads would show the quota, not the memory"
            ));
        }
        let of_kind = self.curve.kind.as_ref().is_some_and(|kind| kind != "all");
        // Some systems cannot pin threads, but run them on a requested kind of core.
        let asked = facts.system.thread_request.get().is_some();
        let chosen = self.placement != Placement::Spread || (of_kind && !asked);
        (chosen && facts.system.pinning.get() == Some(&false))
            .then(|| "this system cannot pin threads".to_owned())
    }

    /// Coordinates in addition to the coordinates that every point of bandwidth has.
    fn coordinates(&self) -> Vec<(String, Coordinate)> {
        let number = |axis: &str, n: usize| (axis.to_owned(), number(n as u64));
        let cores = self.curve.placing.cores_of(&self.cpus);
        let kind = self
            .curve
            .kind
            .clone()
            .map(|kind| ("kind".to_owned(), name(kind)));
        let placement = ("placement".to_owned(), name(self.placement));
        let cores = (cores < self.cpus.len()).then(|| number("cores", cores));
        let per_cpu = (self.per_cpu > 1).then(|| number("per_cpu", self.per_cpu));
        [Some(placement), kind, cores, per_cpu]
            .into_iter()
            .flatten()
            .collect()
    }
}

impl Experiment for Scaling {
    fn name(&self) -> &'static str {
        "scaling"
    }

    fn quantity(&self) -> Quantity {
        experiment::bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "kind",
            "placement",
            "level",
            "threads",
            "cores",
            "per_cpu",
            "width",
            "pages",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        self.check_model()?;
        check_sizes(
            self.settings.sizes.as_ref().map_or(&[], |sizes| &sizes.0),
            &self.settings.ops,
        )?;
        let mut drafts = Vec::new();
        if self.is_answered(scope) {
            return Ok(drafts);
        }
        let curves = Self::curves(scope);
        for curve in &curves {
            for place in self.places(scope, curve, curves.len())? {
                self.draft_place(scope, &place, &mut drafts)?;
            }
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let mut told = rounded_sizes(self.settings.sizes.as_ref(), &self.settings.ops);
        let quota = &scope.facts().system.cpu_quota;
        if let Some(cpus) = quota
            .get()
            .filter(|&&cpus| cpus < scope.cpus.len() as f64 && !self.is_answered(scope))
        {
            told.push(format!(
                "scaling: the control group allows {cpus:.1} cpus' worth of time ({}): more \
                 threads than that are not measured, because they would show the quota",
                quota.source
            ));
        }
        if let Some((model, total)) = self
            .settings
            .model_size
            .zip(scope.facts().memory.total.get())
            .filter(|(m, t)| m > t)
        {
            told.push(format!(
                "scaling: a model of {model} does not fit into the {total} of \
                 memory of this machine"
            ));
        }
        told
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let mut findings = findings::findings(dataset);
        let model = self.settings.model_size.zip(self.reading());
        findings.extend(model.and_then(|(size, requested)| {
            findings::model(dataset, size, &requested.to_string(), MEMORY)
        }));
        findings
    }
}
