//! The commands that measure: they make a request of the options, and then a plan, a session and
//! its result.

use super::args::{Profile, RunOptions};
use super::catalogue::experiments;
use super::common_options::{CommonOptions, MachineOptions};
use super::dry_run::{self, Form};
use super::exit::{Ending, Exit, ending};
use super::experiment_request::ExperimentRequest;
use super::launch::launch;
use super::name_pattern::NameFacts;
use super::output::{Destination, Unnamed, tell, to_stdout};
use super::progress::{JournalPlan, Progress, remove};
use super::resume::{Continued, Resume, continuing, left_behind};
use super::sampling::{ROUNDS, default_sampling, sampling};
#[cfg(feature = "gpu")]
use super::saved;
use super::state::{self, MAX_RUNS};
use crate::plan::{self, Plan, Request, open_rooms};
use crate::run::{self, Invocation};
use engine::{ExternalRunner, Machine, RealMachine, Sampling};
use experiments::{Detail, Experiment, ExperimentRow, LastLevel};
use host::counter;
use host::facts::{SystemFiles, discover};
use host::interrupt::StopFlag;
use report::{CHOSEN_PROFILE, GpuFacts, HostFacts, Launch, Report, RunStatus};
use std::collections::BTreeMap;
use units::error::{Error, Result};
use units::{CpuList, Nanos, ParseError, counted};

/// Budget of a single experiment.
pub(super) const SINGLE_BUDGET: Nanos = Nanos(60e9);

/// Largest number of points of an experiment's command, unless the user allows more. If the lists
/// in its options multiply to more points, they are probably a mistake.
pub(super) const MAX_POINTS: usize = 1000;

/// Largest number of points of a profile. Profiles have no lists of options. The built-in profiles
/// have at most about 1500 points, on machines of every size.
const PROFILE_MAX_POINTS: usize = 2000;

/// Runs `memgauge run`, or `memgauge` without a command. `words` is the command line.
pub fn run(options: &RunOptions, words: Vec<String>) -> Result<Exit> {
    let names: Vec<&str> = experiments().map(|row| row.name).collect();
    if let Some(unknown) = options
        .only
        .iter()
        .find(|name| !names.contains(&name.as_str()))
    {
        let why = ParseError::unknown_name(unknown, &names, "experiments");
        return Err(Error::usage(format!("unknown experiment: {why}")));
    }
    let detail = options.profile.detail();
    let choices = &options.choices;
    let chosen = |row: &ExperimentRow| row.chosen.and_then(|chosen| chosen(choices, detail));
    let wanted = |row: &&ExperimentRow| match options.only.as_slice() {
        [] if choices.any() => chosen(row).is_some(),
        [] => row.least.is_some_and(|least| least <= detail),
        only => only.iter().any(|name| name == row.name),
    };
    let made = |row: &ExperimentRow| {
        chosen(row)
            .filter(|_| choices.any())
            .unwrap_or_else(|| (row.in_profile)(detail))
    };
    #[cfg_attr(not(feature = "gpu"), allow(unused_mut))]
    let mut experiments: Vec<Box<dyn Experiment>> =
        experiments().filter(wanted).map(made).collect();
    let sampling = match options.profile {
        Profile::Quick => sampling(6, 10, 0.01),
        Profile::Default => default_sampling(),
        Profile::Full => sampling(12, ROUNDS, 0.002),
    };
    let profile = if choices.any() {
        CHOSEN_PROFILE
    } else {
        options.profile.name()
    };
    let budget = options.profile.budget();
    #[cfg_attr(not(feature = "gpu"), allow(unused_mut))]
    let mut defaults = Defaults {
        budget,
        max_points: PROFILE_MAX_POINTS,
        ..Defaults::new(profile, sampling)
    };
    #[cfg(feature = "gpu")]
    if options.only.is_empty() && !choices.any() && detail >= Detail::Levels {
        let resumed = options.common.resume.as_deref();
        let earlier = resumed.and_then(|path| saved::read_quietly(&state::resolved(path).ok()?));
        let earlier = earlier.map(|report| report.provenance.host.gpus);
        if let Some(found) = super::gpus_of_machine::of_machine(earlier.as_deref()) {
            experiments.extend(found.experiments);
            defaults.external = Some(Box::new(|_| Ok(Box::new(found.runner))));
            defaults.gpus = found.devices;
        }
    }
    measure(
        experiments,
        &options.common,
        &options.machine,
        defaults,
        words,
    )
}

/// Runs the command of an experiment, such as `memgauge bandwidth`. `words` is the command line.
pub fn experiment(requested: ExperimentRequest, words: Vec<String>) -> Result<Exit> {
    let ExperimentRequest {
        name,
        request,
        machine,
        common,
    } = requested;
    let defaults = Defaults {
        budget: request.budget.unwrap_or(SINGLE_BUDGET),
        ..Defaults::new(name, default_sampling())
    };
    measure(request.experiments, &common, &machine, defaults, words)
}

/// Function that makes the runner of external work (storage or GPUs). Its argument is true if the
/// session continues another one.
pub(super) type MakeRunner = Box<dyn FnOnce(bool) -> Result<Box<dyn ExternalRunner>>>;

/// Function that measures experiments again in fresh memory, within a budget. It returns the new
/// report.
pub(super) type Again<'a> = dyn FnMut(Vec<Box<dyn Experiment>>, Nanos) -> Result<Report> + 'a;

/// Function that judges the report of a session that was not interrupted.
pub(super) type Judge = Box<dyn FnOnce(&mut Report, &mut Again<'_>)>;

/// Defaults of a command's session.
pub(super) struct Defaults {
    pub(super) profile: &'static str,
    pub(super) budget: Nanos,
    pub(super) sampling: Sampling,
    /// Makes the runner of external work; `None` if the session has no such work.
    pub(super) external: Option<MakeRunner>,
    /// Facts about the GPUs that are measured, for the report.
    pub(super) gpus: Vec<GpuFacts>,
    /// Largest number of points, unless the user allows more.
    pub(super) max_points: usize,
    /// Rank and node of this process if a launcher started it; `None` otherwise.
    pub(super) launch: Option<Launch>,
    /// Judges the report before it is written; `None` if there is nothing to judge.
    pub(super) judge: Option<Judge>,
}

impl Defaults {
    /// Defaults of a command that has no external work and does not judge its report.
    pub(super) fn new(profile: &'static str, sampling: Sampling) -> Self {
        Self {
            profile,
            budget: SINGLE_BUDGET,
            sampling,
            external: None,
            gpus: Vec::new(),
            max_points: MAX_POINTS,
            launch: launch(),
            judge: None,
        }
    }
}

pub(super) fn measure(
    experiments: Vec<Box<dyn Experiment>>,
    options: &CommonOptions,
    requested: &MachineOptions,
    mut defaults: Defaults,
    words: Vec<String>,
) -> Result<Exit> {
    let started = counter::monotonic();
    let files = SystemFiles::real();
    let mut facts = discover(&files);
    facts.gpus = std::mem::take(&mut defaults.gpus);
    let cpus = choose_cpus(&facts, requested.pool.cpus.as_ref())?;
    let resume = options.resume.as_deref().map(Resume::open).transpose()?;
    let mut request = make_request(experiments, options, &defaults, requested, cpus)?;
    request.started = started;
    if let Some(resume) = &resume {
        request.seed = resume.seed(options.seed)?;
    }
    let stamp = counter::wall_clock_stamp();
    let before = resume.as_ref().map(Resume::place);
    let names = NameFacts {
        hostname: facts.system.hostname.get().map(String::as_str),
        launch: defaults.launch.as_ref(),
        stamp: &stamp,
    };
    let output = options.output.as_deref();
    let output = output.map(|path| names.fill_in(path)).transpose()?;
    let destination = Destination::new(
        options,
        output.as_deref(),
        Unnamed {
            stamp: &stamp,
            profile: defaults.profile,
            before,
        },
    )?;
    let named = destination.file().filter(|_| !destination.is_unnamed());
    for text in named
        .into_iter()
        .flat_map(|path| left_behind(path, options.resume.as_deref()))
    {
        tell(&format!("memgauge: note: {text}"));
    }
    let stop = StopFlag::on_signals()?;
    let mut machine = RealMachine::new(facts, files, &request.cpus, stop)?;
    let mut plan = plan::make(request, &mut machine)?;
    let resumed = resume
        .map(|resume| resume.into_past(&mut plan, &machine))
        .transpose()?;
    let (past, mut continued) = resumed.unzip();
    if options.dry_run {
        let form = Form::for_report(options.format.as_deref());
        let text = match form {
            Form::Text => describe(&plan, &destination),
            Form::Json | Form::Jsonl => dry_run::data(&plan, &destination, form)?,
        };
        return to_stdout(text.as_bytes()).map(|()| Exit::Done);
    }
    if let Some(make) = defaults.external.take() {
        machine.set_external_runner(make(continued.is_some())?);
    }
    for text in plan
        .adjusted
        .iter()
        .filter(|_| !destination.shows_findings())
    {
        tell(&format!("memgauge: note: {text}"));
    }
    let known = plan
        .points
        .iter()
        .filter(|point| point.work.is_err())
        .count();
    let journal = match (destination.file(), &continued) {
        (None, _) => JournalPlan::Nowhere,
        (Some(path), Some(earlier)) if earlier.is_journal_of(path) => {
            JournalPlan::InPlaceOf(earlier.file().to_owned())
        }
        (Some(path), _) => JournalPlan::Beside(path.to_owned()),
    };
    let carried = continued
        .as_mut()
        .map(Continued::take_carried)
        .unwrap_or_default();
    let mut progress = Progress::new(journal, carried, known);
    let model = machine
        .facts()
        .cpu
        .model_name
        .get()
        .map_or("unknown processor", String::as_str);
    progress.announce(&format!(
        "machine: {model}, {} cpus\n{}",
        plan.request.cpus.len(),
        plan_line(&plan)
    ));
    let invocation = Invocation {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: words,
        launch: defaults.launch.take(),
        past,
    };
    let mut report = run::execute(&plan, &mut machine, &mut progress, &invocation, started);
    drop(machine);
    let judge = defaults.judge.take();
    if let Some(judge) = judge.filter(|_| report.status != RunStatus::Interrupted) {
        let cpus = &plan.request.cpus;
        judge(&mut report, &mut |experiments, budget| {
            let cpus = cpus.clone();
            let mut request = make_request(experiments, options, &defaults, requested, cpus)?;
            request.budget = budget;
            measure_again(request, &invocation)
        });
    }
    // The file of the continued session is deleted only if the new report has a number for each of
    // its measured points.
    let has_all = continued
        .as_ref()
        .is_none_or(|earlier| earlier.is_all_in(&report));
    let replaces = continued
        .as_ref()
        .is_some_and(|earlier| has_all && Some(earlier.file()) == destination.file());
    let (saved, delivered) = destination.deliver(&report, replaces);
    // An interrupted session can be continued from JSON, not from other formats such as a table.
    let readable = destination.readable().filter(|_| saved);
    let whole = saved && has_all && (readable.is_some() || report.status != RunStatus::Interrupted);
    let journal = progress.finish(whole);
    if let (true, Some(earlier), Some(path)) = (whole, &continued, destination.file())
        && earlier.is_journal_of(path)
    {
        remove(earlier.file());
    }
    if destination.is_unnamed() {
        for file in state::drop_oldest() {
            tell(&format!(
                "memgauge: note: there are more than {MAX_RUNS} saved runs: the oldest was \
                 removed, {file}"
            ));
        }
    }
    delivered?;
    let unfinished = journal.as_deref().or(readable);
    let again = |file| {
        format!(
            "to continue, type {}",
            continuing(&report.provenance.command_line, file)
        )
    };
    let unfinished = unfinished.map(again);
    let Ending { exit, reason } = ending(&report, options.strict, unfinished.as_deref());
    let is_shown = report.health.is_some() && destination.shows_health();
    if let Some(reason) = reason.filter(|_| !is_shown) {
        tell(&format!("memgauge: {reason}"));
    }
    // The format has no rows for this report, and its notes have told the user why.
    Ok(
        if exit == Exit::Done && destination.shows_nothing(&report) {
            Exit::Incomplete
        } else {
            exit
        },
    )
}

/// Executes `request` in a session of its own, without a journal.
fn measure_again(mut request: Request, invocation: &Invocation) -> Result<Report> {
    request.started = counter::monotonic();
    let started = request.started;
    let files = SystemFiles::real();
    let stop = StopFlag::on_signals()?;
    let mut machine = RealMachine::new(discover(&files), files, &request.cpus, stop)?;
    let plan = plan::make(request, &mut machine)?;
    let mut progress = Progress::new(JournalPlan::Nowhere, Vec::new(), 0);
    progress.announce(&format!("again: {}", plan_line(&plan)));
    let invocation = Invocation {
        past: None,
        ..invocation.clone()
    };
    let report = run::execute(&plan, &mut machine, &mut progress, &invocation, started);
    progress.finish(true);
    Ok(report)
}

fn make_request(
    mut made: Vec<Box<dyn Experiment>>,
    options: &CommonOptions,
    defaults: &Defaults,
    requested: &MachineOptions,
    cpus: Vec<u32>,
) -> Result<Request> {
    let budget = options.budget.unwrap_or(defaults.budget);
    // This experiment serves only to find the size of the last-level cache, so it has the detail
    // `Levels`.
    if requested.sizing.last_level == Some(LastLevel::Measured)
        && !made.iter().any(|e| e.sizes_memory(None))
    {
        made.extend(
            experiments()
                .map(|row| (row.in_profile)(Detail::Levels))
                .find(|e| e.sizes_memory(None)),
        );
    }
    let mut sampling = defaults.sampling;
    if let Some(samples) = options.samples {
        sampling = sampling.exactly(samples);
    }
    Ok(Request {
        profile: defaults.profile.to_owned(),
        experiments: made,
        cpus,
        budget,
        sampling,
        samples_fixed: options.samples.is_some(),
        seed: options.seed.unwrap_or_else(counter::seed),
        repeat: options.repeat,
        reallocate: options.reallocate,
        dram_peak: requested.peak.dram_peak,
        last_level: requested.sizing.last_level,
        cooldown: options.cooldown,
        started: Nanos::ZERO,
        max_points: options.max_points.unwrap_or(defaults.max_points),
    })
}

/// CPUs of the session. Without a request, these are all allowed CPUs: the first CPU of each
/// physical core, then the second ones. A requested CPU that is not allowed is an error.
fn choose_cpus(facts: &HostFacts, requested: Option<&CpuList>) -> Result<Vec<u32>> {
    let allowed = facts.topology.allowed();
    if let Some(list) = requested {
        return match list.0.iter().find(|cpu| !allowed.contains(cpu)) {
            Some(cpu) => Err(Error::usage(format!(
                "cpu not allowed: {cpu}; this process may use {}; type --cpus {}",
                CpuList(allowed.clone()),
                CpuList(allowed)
            ))),
            None => Ok(list.0.clone()),
        };
    }
    // Index of a CPU among the siblings of its core. Sorted by this index, the first CPUs of all
    // cores come before the second ones.
    let place_on_core = |cpu: &u32| {
        let siblings = facts
            .topology
            .cpus
            .iter()
            .find(|c| c.id == *cpu)
            .map(|c| c.siblings.as_slice());
        let position = siblings.and_then(|s| {
            s.iter()
                .filter(|s| allowed.contains(s))
                .position(|s| s == cpu)
        });
        position.unwrap_or(0)
    };
    let mut cpus = allowed.clone();
    cpus.sort_by_key(|cpu| (place_on_core(cpu), *cpu));
    if cpus.is_empty() {
        Err(Error::failure(
            "this process may run on no cpu that is known",
        ))
    } else {
        Ok(cpus)
    }
}

/// The plan, in one line.
fn plan_line(plan: &Plan) -> String {
    let summary = run::summary(plan);
    let sampling = plan.sampling_shown();
    format!(
        "plan: {}, about {} of a budget of {}, {} of memory at a time, {} of {} of {}",
        counted(summary.points, "point"),
        summary.planned,
        summary.budget,
        summary.memory,
        counted(sampling.rounds, "round"),
        counted(sampling.per_round, "sample"),
        sampling.length,
    )
}

/// The plan in words, for `--dry-run`.
fn describe(plan: &Plan, destination: &Destination) -> String {
    let summary = run::summary(plan);
    let mut text = plan_line(plan) + "\n";
    let shortened = summary.shortened.iter().map(|line| ("shortened", line));
    for (what, line) in plan
        .adjusted
        .iter()
        .map(|line| ("note", line))
        .chain(shortened)
    {
        text += &format!("{what}: {line}\n");
    }
    for point in &plan.points {
        let place: Vec<String> = point
            .coordinates
            .iter()
            .map(|(axis, at)| format!("{axis}={at}"))
            .collect();
        let outcome = match &point.work {
            Ok(_) => String::new(),
            Err(outcome) => outcome.reason().map_or_else(
                || "  measured before".to_owned(),
                |why| format!("  {}: {why}", outcome.status()),
            ),
        };
        text += &format!("  {}{outcome}\n", place.join(" "));
    }
    let mut room: BTreeMap<usize, usize> = BTreeMap::new();
    for free in open_rooms(&plan.phases) {
        *room.entry(free.experiment).or_default() += free.points;
    }
    for (experiment, count) in room {
        let count = counted(count, "follow-up point");
        let name = plan.request.experiments[experiment].name();
        text += &format!("  up to {count} of {name}, placed from results\n");
    }
    text += &format!("result: {}\n", destination.describe());
    text
}
