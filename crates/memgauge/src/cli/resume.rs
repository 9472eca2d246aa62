//! The option `--resume`: takes over the points of an unfinished session, so that only the rest is
//! measured.

use super::catalogue::is_storage_engine;
use super::progress::{has_advisory_locks, is_under_way, journals_of, report_of};
use super::terminal::quoted;
use super::{saved, state};
use crate::plan::{Plan, is_final};
use crate::run::Past;
use engine::Machine;
use kernels::catalogue;
use report::{
    Coordinates, HostFacts, JournalLine, JournalPoint, KernelUsed, Point, Provenance, Report,
    RunStatus, requested_coordinates,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use units::counted;
use units::error::{Error, Result};

/// Messages quote the command line of a session up to this number of characters. They only mention
/// a longer command line.
const LONGEST_COMMAND: usize = 1000;

/// A session that will be continued.
#[derive(Debug)]
pub struct Resume {
    file: PathBuf,
    place: PathBuf,
    report: Report,
    seed: u64,
    claim: Option<File>,
}

/// Facts about a continued session that are needed after its plan was made.
#[derive(Debug)]
pub struct Continued {
    /// Journal or report of the session.
    file: PathBuf,
    /// Measured points of the session, by experiment and requested coordinates.
    measured: BTreeSet<(String, Coordinates)>,
    /// Lines of points that will be measured again. A new journal that replaces the old one must
    /// contain them.
    carried: Vec<JournalLine>,
    /// Lock that keeps other processes from continuing the same session.
    _claim: Option<File>,
}

impl Continued {
    /// Journal or report from which the session is continued.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns the lines that a new journal begins with, and removes them from `self`.
    pub fn take_carried(&mut self) -> Vec<JournalLine> {
        std::mem::take(&mut self.carried)
    }

    /// True if the session is continued from a journal that belongs to the report at `path`.
    pub fn is_journal_of(&self, path: &Path) -> bool {
        self.file != path && report_of(&self.file) == path
    }

    /// True if all measured points of the continued session are measured points of `report` too.
    pub fn is_all_in(&self, report: &Report) -> bool {
        let there = measured(report);
        self.measured.iter().all(|point| there.contains(point))
    }
}

/// Measured points of `report`, by experiment and requested coordinates.
fn measured(report: &Report) -> BTreeSet<(String, Coordinates)> {
    let datasets = report.datasets.iter().filter(|dataset| !dataset.derived);
    let points = datasets.flat_map(|dataset| {
        dataset
            .points
            .iter()
            .map(|point| (dataset.experiment.clone(), point))
    });
    let measured = points.filter(|(_, point)| point.outcome.measured().is_some());
    measured
        .map(|(experiment, point)| (experiment, requested_coordinates(&point.coordinates)))
        .collect()
}

/// Notes about unfinished journals of the report at `path`, with the commands that continue them.
/// The journal `own`, which is being continued, is left out.
pub fn left_behind(path: &Path, own: Option<&Path>) -> Vec<String> {
    let others = journals_of(path).filter(|journal| Some(journal.as_path()) != own);
    let told = |journal: PathBuf| {
        let name = journal.display();
        if is_under_way(&journal) {
            return format!(
                "another session for {} is running: it writes {name}",
                path.display()
            );
        }
        let Some(report) = saved::read_quietly(&journal) else {
            return format!(
                "an earlier session for {} left {name}, which stays as it is",
                path.display()
            );
        };
        let count = measured(&report).len();
        let again = continuing(&report.provenance.command_line, &journal);
        format!(
            "an earlier session for {} did not end: {name} has {}; to continue it, type {again}",
            path.display(),
            counted(count, "point")
        )
    };
    others.map(told).collect()
}

/// The command that continues, from `file`, the session that the command line `words` started.
pub fn continuing(words: &[String], file: &Path) -> String {
    format!(
        "{} --resume {}",
        command(words),
        quoted(&file.to_string_lossy())
    )
}

/// Locks `file`, so that no other process continues its session. `None` on systems on which the
/// lock would keep this process from reading or replacing the file (Windows).
///
/// # Errors
/// The session is running, or another process continues it.
fn claim(file: &Path) -> Result<Option<File>> {
    if !has_advisory_locks() {
        return Ok(None);
    }
    let opened = File::open(file).ok();
    let taken = opened
        .as_ref()
        .is_some_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)));
    if taken || journals_of(file).any(|journal| is_under_way(&journal)) {
        return Err(Error::usage(format!(
            "cannot continue '{}': its session is running; only a session that ended is \
             continued; type \
             memgauge report {}",
            file.display(),
            quoted(&file.to_string_lossy())
        )));
    }
    Ok(opened)
}

/// Name of the newest unfinished session, such as `last~1`; `None` if there is none.
fn newest_unfinished() -> Option<String> {
    let ended = state::runs().into_iter().filter(|run| !run.under_way);
    let mut unfinished = ended.enumerate().filter(|(_, run)| {
        let head = state::head(&run.file);
        report_of(&run.file) != run.file
            || head.is_some_and(|head| head.status == RunStatus::Interrupted)
    });
    unfinished.next().map(|(back, _)| state::name_of(back))
}

impl Resume {
    /// Reads the journal or interrupted report `requested`, and locks it.
    pub fn open(requested: &Path) -> Result<Self> {
        let file = &state::resolved(requested)?;
        let claim = claim(file)?;
        let report = saved::read(file)?;
        let name = file.display();
        if report.status == RunStatus::Complete {
            let other = newest_unfinished().filter(|_| file != requested);
            let type_this = other.map_or_else(
                || format!("memgauge report {}", quoted(&file.to_string_lossy())),
                |name| format!("--resume {name}, the newest unfinished run"),
            );
            return Err(Error::usage(format!(
                "nothing to continue: '{name}' is complete; unfinished runs are continued; type \
                 {type_this}"
            )));
        }
        let seed = report.provenance.seed.parse().map_err(|_| {
            Error::usage(format!(
                "cannot continue '{name}': its seed is '{:.40}'; a seed is a whole number; type \
                 the name of a journal",
                report.provenance.seed
            ))
        })?;
        Ok(Self {
            place: report_of(file),
            file: file.to_owned(),
            report,
            seed,
            claim,
        })
    }

    /// Path of the report that belongs to the file from which the session is continued.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// Seed of the session. Fails if the user `requested` another seed.
    pub fn seed(&self, requested: Option<u64>) -> Result<u64> {
        match requested.filter(|&seed| seed != self.seed) {
            None => Ok(self.seed),
            Some(other) => {
                Err(self.other_request(&format!("its seed is {}, not {other}", self.seed)))
            }
        }
    }

    /// Copies the results that need not be measured again into `plan`.
    ///
    /// # Errors
    /// The plan differs from that of the session, or the machine or the program differs.
    pub fn into_past(
        mut self,
        plan: &mut Plan,
        machine: &dyn Machine,
    ) -> Result<(Past, Continued)> {
        if let Some(difference) = machine_difference(&self.report, machine) {
            return Err(Error::usage(format!(
                "cannot continue '{}': {difference}; a session continues on the machine and with \
                 the program that it was started on; type memgauge report {} to see what it holds",
                self.file.display(),
                quoted(&self.file.to_string_lossy())
            )));
        }
        let settled = match plan.continue_from(&self.report, machine) {
            Ok(settled) => settled,
            Err(difference) => return Err(self.other_request(&difference)),
        };
        let continued = self.continued();
        let provenance = self.report.provenance;
        let Provenance {
            started,
            resumed,
            kernels,
            ..
        } = provenance;
        Ok((
            Past {
                started,
                resumed,
                kernels,
                settled,
            },
            continued,
        ))
    }

    /// Collects the facts that are needed after the plan was made.
    fn continued(&mut self) -> Continued {
        let report = &self.report;
        let is_begun =
            |point: &&Point| point.outcome.measured().is_some() && !is_final(&point.outcome);
        let datasets = report.datasets.iter().filter(|dataset| !dataset.derived);
        let carried = datasets.flat_map(|dataset| {
            let begun = dataset.points.iter().filter(is_begun);
            begun.map(|point| {
                JournalLine::Point(Box::new(JournalPoint {
                    experiment: dataset.experiment.clone(),
                    quantity: dataset.quantity.clone(),
                    axes: dataset.axes.clone(),
                    finished: false,
                    earlier: None,
                    point: point.clone(),
                }))
            })
        });
        Continued {
            file: self.file.clone(),
            measured: measured(report),
            carried: carried.collect(),
            _claim: self.claim.take(),
        }
    }

    /// The error for a command line that requests something else than the continued session did.
    fn other_request(&self, difference: &str) -> Error {
        Error::usage(format!(
            "cannot continue '{}': {difference}; the same request is needed; type {}",
            self.file.display(),
            continuing(&self.report.provenance.command_line, &self.file)
        ))
    }
}

/// Text about a difference between the machine or program of `report` and that of this session.
/// `None` if both are the same.
fn machine_difference(report: &Report, machine: &dyn Machine) -> Option<String> {
    let then = &report.provenance.host;
    let now = machine.facts();
    let tool = &report.provenance.tool;
    let cpus = |facts: &HostFacts| facts.topology.allowed().len().to_string();
    let model = |facts: &HostFacts| {
        facts
            .cpu
            .model_name
            .get()
            .cloned()
            .unwrap_or_else(|| "unknown".to_owned())
    };
    let pairs = [
        (
            "program's version",
            tool.version.clone(),
            env!("CARGO_PKG_VERSION").to_owned(),
        ),
        (
            "way of running",
            tool.machine.clone(),
            machine.description().to_owned(),
        ),
        (
            "instruction set",
            then.cpu.architecture.clone(),
            now.cpu.architecture.clone(),
        ),
        ("processor", model(then), model(now)),
        ("number of cpus", cpus(then), cpus(now)),
    ];
    let differs = pairs.into_iter().find(|(_, then, now)| then != now);
    let said = differs
        .map(|(what, then, now)| format!("its {what} is '{then:.80}', here it is '{now:.80}'"));
    said.or_else(|| kernel_difference(&report.provenance.kernels))
}

/// Text about a kernel whose machine code differs from that of this program; `None` if all are
/// equal.
fn kernel_difference(used: &[KernelUsed]) -> Option<String> {
    let here: BTreeMap<String, Option<String>> = catalogue()
        .into_iter()
        .map(|k| (k.name, k.digest))
        .collect();
    // Storage engines and kernels of GPUs are left out, because they are no machine code of this
    // program.
    let is_ours = |k: &&KernelUsed| {
        (k.digest.is_some() || !is_storage_engine(&k.name)) && !k.name.starts_with("opencl/")
    };
    let mut kernels = used.iter().filter(is_ours);
    let other = kernels.find(|k| here.get(&k.name) != Some(&k.digest))?;
    Some(format!(
        "its kernel '{:.40}' has other instructions than the one here",
        other.name
    ))
}

/// The command line of a session, quoted for a shell, without the option `--resume`.
pub fn command(words: &[String]) -> String {
    let mut typed = vec!["memgauge".to_owned()];
    let mut words = words.iter().skip(1);
    while let Some(word) = words.next() {
        if word == "--resume" {
            words.next();
        } else if !word.starts_with("--resume=") {
            typed.push(quoted(word));
        }
    }
    let line = typed.join(" ");
    if line.chars().count() > LONGEST_COMMAND {
        "the command line that is in it".to_owned()
    } else {
        line
    }
}
