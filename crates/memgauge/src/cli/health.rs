//! The command `memgauge health`: is this machine as fast as expected? docs/method/health.md
//! describes the method.

use super::args::Profile;
use super::catalogue::experiment_named;
use super::exit::Exit;
use super::expectations;
use super::health_options::{HealthOptions, StartTime};
use super::launch::launch;
use super::measure::{Again, Defaults, measure};
use super::node_lock;
use super::sampling::default_sampling;
use super::target::reason;
use super::terminal::tell;
use experiments::{Choices, Detail, Experiment, Widths};
use host::counter;
use host::facts::{SystemFiles, discover};
use kernels::Width;
use report::{Health, Launch, Report, RunStatus};
use std::fs::File;
use std::thread;
use std::time::Duration;
use units::error::{Error, Result};
use units::{Nanos, fixed};
use verdict::{Expectations, FirstJudgement, FleetSettings};

/// Experiments of a health check, each with the detail that sets its number of points.
const METHOD: &[(&str, Detail)] = &[
    ("bandwidth", Detail::Brief),
    ("latency", Detail::Brief),
    ("numa", Detail::Levels),
    ("numa-latency", Detail::Levels),
    ("loaded-latency", Detail::Levels),
];

/// Share of the budget for the first measurement.
const FIRST: f64 = 0.6;

/// Longest time until the start of a check, in seconds. A later start is probably a mistake.
const LONGEST_WAIT: f64 = 86_400.0;

/// Measures the points of a health check, judges them, and measures slow figures again.
pub fn run(mut options: HealthOptions, words: Vec<String>) -> Result<Exit> {
    let expected = options
        .expect
        .as_deref()
        .map(expectations::read)
        .transpose()?;
    let settings = FleetSettings {
        floor: options.floor,
        false_alarms: options.false_alarms,
        ..FleetSettings::default()
    };
    let mut launch = launch();
    if let Some(launch) = &mut launch {
        launch.all_ranks = options.all_ranks;
    }
    let needs_lock = !options.all_ranks && !options.common.dry_run;
    let lock = match needs_lock.then(|| lock_node(launch.as_ref())) {
        None => None,
        Some(Ok(lock)) => lock,
        Some(Err(why)) => {
            tell(&format!("memgauge: {why}"));
            return Ok(Exit::Done);
        }
    };
    if let Some(start) = options.start_at.filter(|_| !options.common.dry_run) {
        wait_until(start)?;
    }
    let budget = options.common.budget.unwrap_or(Profile::Default.budget());
    options.common.budget = Some(Nanos(budget.0 * FIRST));
    let is_table = options.common.verbose || options.common.dry_run;
    if options.common.format.is_none() && !is_table {
        options.common.format = Some("line".to_owned());
    }
    let judge = move |report: &mut Report, again: &mut Again<'_>| {
        let health = judged(report, expected.as_ref(), &settings, budget, again);
        report.health = Some(health);
    };
    let defaults = Defaults {
        launch,
        judge: Some(Box::new(judge)),
        ..Defaults::new("health", default_sampling())
    };
    let code = measure(
        method(|_| true),
        &options.common,
        &options.machine,
        defaults,
        words,
    );
    drop(lock);
    code
}

/// Makes the experiments of a health check whose names are `wanted`. Their kernels use the widest
/// registers. Kernel selection would take time, and could choose other registers on another
/// machine.
fn method(wanted: impl Fn(&str) -> bool) -> Vec<Box<dyn Experiment>> {
    let choices = Choices {
        width: Some(Widths(vec![Width::Widest])),
        ..Choices::default()
    };
    let made = |name, detail| {
        let row = experiment_named(name)?;
        let chosen = row.chosen.and_then(|chosen| chosen(&choices, detail));
        Some(chosen.unwrap_or_else(|| (row.in_profile)(detail)))
    };
    METHOD
        .iter()
        .filter(|(name, _)| wanted(name))
        .filter_map(|(name, detail)| made(name, *detail))
        .collect()
}

/// Judges `report` by the `expected` figures. Experiments with slow figures are measured again
/// within the rest of the budget.
fn judged(
    report: &Report,
    expected: Option<&Expectations>,
    settings: &FleetSettings,
    budget: Nanos,
    again: &mut Again<'_>,
) -> Health {
    let Some(expected) = expected else {
        return FirstJudgement::none(report).without_repeat("");
    };
    let first = FirstJudgement::new(report, expected, settings);
    let names = first.experiments();
    if names.is_empty() {
        return first.without_repeat("");
    }
    let taken = report.plan.real.unwrap_or(report.plan.planned);
    let rest = Nanos((budget.0 - taken.0).max(0.0));
    match again(method(|name| names.contains(name)), rest) {
        Ok(again) if again.status == RunStatus::Interrupted => {
            first.without_repeat("the session was interrupted")
        }
        Ok(again) => first.with_repeat(&again, expected, settings),
        Err(why) => first.without_repeat(&why.to_string()),
    }
}

/// Locks this machine against other health checks, and returns the lock. `None` if the lock file
/// cannot be used; a message then says why. The error says that another process measures, or that
/// rank 0 measures.
fn lock_node(launch: Option<&Launch>) -> std::result::Result<Option<File>, String> {
    let local = launch.and_then(|launch| launch.local_rank);
    if let Some(rank) = local.filter(|rank| *rank > 0) {
        return Err(format!(
            "nothing measured on rank {rank} of this machine; rank 0 measures; type --all-ranks \
             to let all measure"
        ));
    }
    let facts = discover(&SystemFiles::real());
    let node = launch.and_then(|launch| launch.node.clone());
    let node = node.or_else(|| facts.system.hostname.get().cloned());
    match node_lock::lock(node.as_deref().unwrap_or("unknown")) {
        Ok(Some(lock)) => Ok(Some(lock)),
        Ok(None) => Err(
            "nothing measured: another health check runs on this machine; wait for it, or type \
             --all-ranks"
                .to_owned(),
        ),
        Err(error) => {
            let why = reason(&error);
            tell(&format!(
                "memgauge: note: no lock against other health checks: {why}"
            ));
            Ok(None)
        }
    }
}

/// Waits until `start`.
///
/// # Errors
/// The start is more than a day away.
fn wait_until(start: StartTime) -> Result<()> {
    let left = start.unix - counter::unix_time();
    if left > LONGEST_WAIT {
        return Err(Error::usage(format!(
            "the start is too far away: {} days; a day is allowed; type a time within a day",
            fixed(left / LONGEST_WAIT, 1)
        )));
    }
    if left < 0.0 {
        tell(&format!(
            "memgauge: note: the start was {} ago",
            Nanos::from_secs(-left)
        ));
    }
    thread::sleep(Duration::from_secs_f64(left.max(0.0)));
    Ok(())
}
