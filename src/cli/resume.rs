//! `--resume`: what an unfinished run left is taken over, the rest is measured.

use super::output::report_of;
use super::saved;
use crate::engine::{Machine, MemoryPlan};
use crate::error::{Error, Result};
use crate::host::storage::engine_named;
use crate::kernels::catalogue;
use crate::plan::{Plan, PlannedPoint};
use crate::results::{Cause, Coordinates, HostFacts, KernelUsed, Outcome, Point, Provenance, Report, RunStatus};
use crate::run::Past;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Words of a longer command line are not repeated.
const LONGEST_COMMAND: usize = 1000;

/// A run to be continued.
#[derive(Debug)]
pub struct Resume {
    file: PathBuf,
    place: PathBuf,
    report: Report,
    seed: u64,
}

impl Resume {
    /// Reads a journal or an interrupted report.
    pub fn open(file: &Path) -> Result<Self> {
        let report = saved::read(file)?;
        let name = file.display();
        if report.status == RunStatus::Complete {
            return Err(Error::usage(format!(
                "nothing to continue: '{name}' is complete; unfinished runs are continued; type memgauge report {}",
                quoted(&file.to_string_lossy())
            )));
        }
        let seed = report.provenance.seed.parse().map_err(|_| {
            Error::usage(format!(
                "cannot continue '{name}': its seed is '{:.40}'; a seed is a whole number; type the name of a journal",
                report.provenance.seed
            ))
        })?;
        Ok(Self { place: report_of(file), file: file.to_owned(), report, seed })
    }

    /// Where its report belongs.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The seed of the run, which the user may repeat but not change.
    pub fn seed(&self, asked: Option<u64>) -> Result<u64> {
        match asked.filter(|&seed| seed != self.seed) {
            None => Ok(self.seed),
            Some(other) => Err(self.other_request(&format!("its seed is {}, not {other}", self.seed))),
        }
    }

    /// Takes over into `plan` what need not be measured again.
    ///
    /// # Errors
    /// The plan is another one, or was made for another machine.
    pub fn into_past(mut self, plan: &mut Plan, machine: &dyn Machine) -> Result<Past> {
        if let Some(difference) = machine_difference(&self.report, machine) {
            return Err(Error::usage(format!(
                "cannot continue '{}': {difference}; a run continues on the machine and with the program that it was \
                 started on; type memgauge report {} to see what it holds",
                self.file.display(),
                quoted(&self.file.to_string_lossy())
            )));
        }
        // Made anew of the points that are taken over.
        self.report.datasets.retain(|dataset| !dataset.derived);
        let planned = plan.points.clone();
        plan.size_as_before(&self.report.datasets, machine);
        if let Some(difference) = plan_difference(&self.report, plan, &planned) {
            return Err(self.other_request(&difference));
        }
        let provenance = self.report.provenance;
        let datasets = self.report.datasets.into_iter().enumerate();
        let known = datasets.flat_map(|(d, dataset)| dataset.points.into_iter().map(move |point| (d, point)));
        let settled = known.filter(|(_, point)| is_settled(&point.outcome));
        let (drafted, placed): (Vec<_>, Vec<_>) = settled.partition(|(_, point)| is_drafted(plan, point.id));
        // What was skipped at the size that was planned is measured at the other one.
        let here = |(d, point): &(usize, Point)| at(plan, point.id).is_none_or(|planned| planned.has_become(point, *d));
        let drafted = drafted.into_iter().filter(here).map(|(_, point)| (point.id, point.outcome)).collect();
        let settled = take_over(plan, machine.facts(), drafted);
        let Provenance { started, resumed, kernels, .. } = provenance;
        Ok(Past { started, resumed, kernels, settled, placed })
    }

    /// The command line asks for something else than the run was.
    fn other_request(&self, difference: &str) -> Error {
        Error::usage(format!(
            "cannot continue '{}': {difference}; the same request is needed; type {} --resume {}",
            self.file.display(),
            command(&self.report.provenance.command_line),
            quoted(&self.file.to_string_lossy())
        ))
    }
}

/// Whether an outcome stands: the rest was cut off by the end of the run, or failed and is worth another try.
fn is_settled(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Measured(m) => !m.verdict.names(Cause::Interrupted),
        Outcome::Skipped { .. } | Outcome::Unsupported { .. } => true,
        Outcome::Interrupted { .. } | Outcome::Failed { .. } => false,
    }
}

/// The point of the plan with this number.
fn at(plan: &Plan, id: u64) -> Option<&PlannedPoint> {
    plan.points.get(usize::try_from(id).ok()?)
}

/// Takes over the outcomes of `known` points: these are not measured, and no memory is mapped for them alone. Returns
/// how many points that saves.
fn take_over(plan: &mut Plan, facts: &HostFacts, mut known: BTreeMap<u64, Outcome>) -> u64 {
    let mut saved = 0;
    for point in plan.points.iter_mut().filter(|point| point.stage.is_none()) {
        if let Some(outcome) = known.remove(&point.id) {
            saved += u64::from(point.work.is_ok());
            point.work = Err(outcome);
        }
    }
    let points = &plan.points;
    for phase in &mut plan.phases {
        let all = phase.points.len().max(1) as f64;
        phase.points.retain(|&index| points[index].work.is_ok());
        let left = phase.estimate * (phase.points.len() as f64 / all);
        plan.estimate = plan.estimate - (phase.estimate - left);
        phase.estimate = left;
        let works = phase.points.iter().filter_map(|&index| points[index].work.as_ref().ok());
        phase.memory = MemoryPlan::of(works, facts, phase.chains_share);
    }
    plan.phases.retain(|phase| !phase.points.is_empty());
    saved
}

/// Where the machine or the program is not that of the report, in words.
fn machine_difference(report: &Report, machine: &dyn Machine) -> Option<String> {
    let (then, now) = (&report.provenance.host, machine.facts());
    let tool = &report.provenance.tool;
    let cpus = |facts: &HostFacts| facts.topology.allowed().len().to_string();
    let model = |facts: &HostFacts| facts.cpu.model_name.get().cloned().unwrap_or_else(|| "unknown".to_owned());
    let pairs = [
        ("program's version", tool.version.clone(), env!("CARGO_PKG_VERSION").to_owned()),
        ("way of running", tool.machine.clone(), machine.description().to_owned()),
        ("instruction set", then.cpu.architecture.clone(), now.cpu.architecture.clone()),
        ("processor", model(then), model(now)),
        ("number of cpus", cpus(then), cpus(now)),
    ];
    let differs = pairs.into_iter().find(|(_, then, now)| then != now);
    let said = differs.map(|(what, then, now)| format!("its {what} is '{then:.80}', here it is '{now:.80}'"));
    said.or_else(|| kernel_difference(&report.provenance.kernels))
}

/// A kernel of the report that is made of other instructions here.
fn kernel_difference(used: &[KernelUsed]) -> Option<String> {
    let here: BTreeMap<String, Option<String>> = catalogue().into_iter().map(|k| (k.name, k.digest)).collect();
    // Engines of storage have no instructions of ours.
    let mut kernels = used.iter().filter(|k| k.digest.is_some() || engine_named(&k.name).is_none());
    let other = kernels.find(|k| here.get(&k.name) != Some(&k.digest))?;
    Some(format!("its kernel '{:.40}' has other instructions than the one here", other.name))
}

/// Where the plan is not that of the report, in words. Points may also lie where they were `planned` before memory was sized.
fn plan_difference(report: &Report, plan: &Plan, planned: &[PlannedPoint]) -> Option<String> {
    let asked: Vec<&str> = plan.request.experiments.iter().map(|e| e.name()).collect();
    let made: Vec<&str> = report.datasets.iter().map(|d| d.experiment.as_str()).collect();
    if asked != made {
        return Some(format!("it measures {:.100}, this command {}", made.join(", "), asked.join(", ")));
    }
    let points =
        || report.datasets.iter().enumerate().flat_map(|(d, dataset)| dataset.points.iter().map(move |p| (d, p)));
    // Points that were placed during the run are placed anew: those that come out the same are taken over then.
    let drafted = || plan.points.iter().filter(|planned| planned.stage.is_none());
    let (here, count) = (drafted().count(), points().filter(|(_, p)| is_drafted(plan, p.id)).count());
    if count != here {
        return Some(format!("it has {count} points, this command {here}"));
    }
    let made: BTreeMap<u64, (usize, &Point)> = points().map(|(d, p)| (p.id, (d, p))).collect();
    let before = |id: u64| planned.get(usize::try_from(id).unwrap_or(usize::MAX));
    let same = |d: usize, p: &Point, here: &PlannedPoint| {
        here.has_become(p, d) || before(here.id).is_some_and(|before| before.has_become(p, d))
    };
    let differs = |here: &&PlannedPoint| !made.get(&here.id).is_some_and(|(d, p)| same(*d, p, here));
    let planned = drafted().find(differs)?;
    let there = made.get(&planned.id).map_or_else(|| "not there".to_owned(), |(_, p)| place(&p.coordinates));
    Some(format!("its point {} is {there:.200}, that of this command {}", planned.id, place(&planned.coordinates)))
}

/// Whether the plan knows from the beginning where its point with this number lies: these come first.
fn is_drafted(plan: &Plan, id: u64) -> bool {
    at(plan, id).is_none_or(|planned| planned.stage.is_none())
}

fn place(coordinates: &Coordinates) -> String {
    coordinates.iter().map(|(axis, at)| format!("{axis}={at}")).collect::<Vec<_>>().join(" ")
}

/// The command line of a run as it can be typed again, without what says where to continue.
fn command(words: &[String]) -> String {
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
    if line.chars().count() > LONGEST_COMMAND { "the command line that is in it".to_owned() } else { line }
}

/// `word` as a shell takes it for one word.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
