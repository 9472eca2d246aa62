//! What do atomic operations and locks cost threads?
//!
//! Method and limits: docs/method/locks.md.

use crate::command::{CommandSettings, Effect, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::difference::{Difference, Figure};
use crate::experiment::{Bound, Detail, Draft, Experiment, Scope, axis};
use crate::lists::{Count, Counts, LineSharing, Lines, LockOperations, thread_counts};
use crate::series::highest;
use engine::{LockWork, Work};
use kernels::LockOperation;
use report::{Axis, Dataset, Finding, Outcome, Point, Quantity};
use units::error::Result;
use units::{ThreadCount, ThreadList};

/// Operations of threads, and the lines that they use.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Operations: atomic-add, exchange, compare-and-swap, spin-lock, mutex (the standard
    /// library's, a reference kernel), fence
    #[arg(
        long,
        value_name = "LIST",
        default_value = "atomic-add,exchange,compare-and-swap,spin-lock,mutex,fence"
    )]
    pub ops: LockOperations,

    /// Threads, one per CPU: 1,2,all or 1..8
    #[arg(long, value_name = "LIST", default_value = "1,all")]
    pub threads: ThreadList,

    /// Cache lines: shared (all threads on one), separate (each on its own)
    #[arg(long, value_name = "LIST", default_value = "shared,separate")]
    pub lines: Lines,

    /// Dependent additions while a lock is held, or right after an operation without one: 0,10
    #[arg(long, value_name = "LIST", default_value = "0")]
    pub inside: Counts,

    /// Dependent additions between one operation and the next: 0,1000
    #[arg(long, value_name = "LIST", default_value = "0")]
    pub between: Counts,
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[Effect {
        option: "lines",
        applies: |s| {
            s.threads
                .0
                .iter()
                .any(|count| *count != ThreadCount::Exactly(1))
        },
        only: "only several threads share a line or not",
        enabled_by: Some("--threads all"),
    }];
}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Locks::new(self))]
    }
}

/// The experiment `locks`.
#[derive(Debug, Clone)]
pub struct Locks {
    settings: Settings,
}

impl Locks {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The experiment as part of a profile.
    pub fn in_profile(_detail: Detail) -> Self {
        Self::new(Settings {
            ops: LockOperations(LockOperation::ALL.to_vec()),
            threads: ThreadList(vec![ThreadCount::Exactly(1), ThreadCount::All]),
            lines: Lines(vec![LineSharing::Shared, LineSharing::Separate]),
            inside: Counts(vec![Count(0)]),
            between: Counts(vec![Count(0)]),
        })
    }

    /// Works for every combination of the options, each once. A single thread always has a line of
    /// its own.
    fn works(&self, scope: &Scope<'_>) -> Result<Vec<LockWork>> {
        let s = &self.settings;
        let mut works = Vec::new();
        for threads in thread_counts(&s.threads, scope)? {
            for &operation in &s.ops.0 {
                for &lines in &s.lines.0 {
                    for (&inside, &between) in s
                        .inside
                        .0
                        .iter()
                        .flat_map(|i| s.between.0.iter().map(move |b| (i, b)))
                    {
                        scope.room_for(works.len() + 1)?;
                        let cpus = scope.cpus[..threads].to_vec();
                        let shared = lines == LineSharing::Shared;
                        let shared = shared && threads > 1;
                        let work = LockWork {
                            operation,
                            cpus,
                            shared,
                            inside: inside.0,
                            between: between.0,
                        };
                        if !works.contains(&work) {
                            works.push(work);
                        }
                    }
                }
            }
        }
        Ok(works)
    }
}

fn draft_point(scope: &Scope<'_>, work: LockWork) -> Draft {
    let lines = if work.shared {
        LineSharing::Shared
    } else {
        LineSharing::Separate
    };
    let kernel = scope.machine.kernel(&Work::Lock(work.clone()));
    let kernel_name = kernel
        .as_ref()
        .map_or_else(|_| work.operation.to_string(), |k| k.name.clone());
    let coordinates = coordinates([
        ("operation", name(work.operation)),
        ("kernel", name(kernel_name)),
        ("lines", name(lines)),
        ("threads", number(work.cpus.len() as u64)),
        ("inside", number(work.inside)),
        ("between", number(work.between)),
    ]);
    let work = match kernel {
        Ok(_) => Ok(Work::Lock(work)),
        Err(reason) => Err(Outcome::Unsupported { reason }),
    };
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        drop_priority: 2,
    }
}

impl Experiment for Locks {
    fn name(&self) -> &'static str {
        "locks"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "operations".to_owned(),
            unit: "1/s".to_owned(),
            higher_is_better: true,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        ["operation", "lines", "threads", "inside", "between"]
            .map(axis)
            .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        Ok(self
            .works(scope)?
            .into_iter()
            .map(|work| draft_point(scope, work))
            .collect())
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        contention(dataset).into_iter().collect()
    }
}

/// Finding that compares an atomic addition on a shared line and on separate lines, both with the
/// most threads. Values are in ns for each addition of one thread. `None` if the intervals show no
/// difference.
fn contention(dataset: &Dataset) -> Option<Finding> {
    let most = highest(dataset, "threads").filter(|&n| n > 1)?;
    let each = |lines: &str| {
        let matches = |p: &&Point| {
            p.name("operation") == Some(LockOperation::AtomicAdd.name())
                && (p.name("lines"), p.number("threads")) == (Some(lines), Some(most))
                && (p.number("inside"), p.number("between")) == (Some(0), Some(0))
        };
        let figure = Figure::new(dataset.points.iter().find(matches)?)?;
        Some(figure.map(|rate| most as f64 * 1e9 / rate))
    };
    let difference = Difference {
        from: each("separate")?,
        to: each("shared")?,
    };
    let separate = difference.from.value;
    let shared = difference.to.value;
    let text = format!(
        "An atomic addition takes {shared:.1} ns on a line that {most} threads share, and \
         {separate:.1} ns on a line of one thread."
    );
    let values = [("shared_ns", shared), ("separate_ns", separate)];
    difference
        .is_shown()
        .then(|| difference.finding("line-contention", text, &values))?
}
