//! Makes requests, and runs them on a simulated machine. Keeps all output of a session.

use super::machines::Simulated;
use clap::{Args, Command, FromArgMatches};
use engine::{Machine, Sampling};
use experiments::{CommandRequest, Detail, EXPERIMENTS, Experiment};
use memgauge::plan::{self, Plan, Request};
use memgauge::run::{self, Invocation, Observer, Past};
use report::{JournalLine, Measured, Outcome, Point, Report, read_journal};
use simulated::SimulatedMachine;
use storage::{FileLookup, Storage};
use units::Nanos;
use units::error::Result;

pub const SEED: u64 = 7;

/// Default sampling of the command line.
pub fn sampling() -> Sampling {
    memgauge::cli::default_sampling()
}

/// A profile of bandwidth and latency within 60 s.
pub fn profile(detail: Detail, on: &Simulated) -> Request {
    let rows = EXPERIMENTS
        .iter()
        .filter(|row| row.least == Some(Detail::Brief));
    request(rows.map(|row| (row.in_profile)(detail)).collect(), on)
}

pub fn request(experiments: Vec<Box<dyn Experiment>>, on: &Simulated) -> Request {
    Request {
        profile: "test".to_owned(),
        experiments,
        cpus: on.cpus.clone(),
        budget: Nanos(60e9),
        sampling: sampling(),
        samples_fixed: false,
        seed: SEED,
        repeat: 1,
        reallocate: 1,
        dram_peak: None,
        last_level: None,
        cooldown: Nanos::ZERO,
        max_points: 1000,
        started: Nanos::ZERO,
    }
}

/// The request of `memgauge NAME` with these options. Fails if the table of experiments has no such
/// command.
pub fn command(name: &str, options: &str) -> CommandRequest {
    let row = EXPERIMENTS.iter().find(|row| row.name == name);
    let command = row
        .and_then(|row| row.command.as_ref())
        .expect("a command of the table");
    let matches = (command.add_options)(Command::new("test").no_binary_name(true))
        .try_get_matches_from(options.split_whitespace())
        .expect("options as users type them");
    (command.read)(&matches).expect("options that were read")
}

fn only(name: &str, options: &str) -> Box<dyn Experiment> {
    let experiments = command(name, options).experiments;
    let [one]: [_; 1] = experiments.try_into().ok().expect("one experiment");
    one
}

/// The experiment of `memgauge bandwidth` with these options.
pub fn bandwidth(options: &str) -> Box<dyn Experiment> {
    only("bandwidth", options)
}

/// The experiment of `memgauge latency` with these options.
pub fn latency(options: &str) -> Box<dyn Experiment> {
    only("latency", options)
}

/// The experiment of `memgauge loaded-latency` with these options, which must not name a victim.
pub fn loaded_latency(options: &str) -> Box<dyn Experiment> {
    only("loaded-latency", options)
}

/// The experiment of `memgauge scaling` with these options.
pub fn scaling(options: &str) -> Box<dyn Experiment> {
    only("scaling", options)
}

/// The experiment of `memgauge core-to-core` with these options.
pub fn core_to_core(options: &str) -> Box<dyn Experiment> {
    only("core-to-core", options)
}

/// The experiments of `memgauge numa` with these options.
pub fn numa(options: &str) -> Vec<Box<dyn Experiment>> {
    command("numa", options).experiments
}

/// The experiment of `memgauge patterns` with these options.
pub fn patterns(options: &str) -> Box<dyn Experiment> {
    only("patterns", options)
}

/// The experiment of `memgauge tlb` with these options.
pub fn tlb(options: &str) -> Box<dyn Experiment> {
    only("tlb", options)
}

/// The experiment of `memgauge caches` with these options.
pub fn caches(options: &str) -> Box<dyn Experiment> {
    only("caches", options)
}

/// The experiment of `memgauge instructions` with these options.
pub fn instructions(options: &str) -> Box<dyn Experiment> {
    only("instructions", options)
}

/// The experiment of `memgauge locks` with these options.
pub fn locks(options: &str) -> Box<dyn Experiment> {
    only("locks", options)
}

/// The experiment of `memgauge io` with these options, on the storage device of `on`.
pub fn storage(options: &str, on: &Simulated) -> Box<dyn Experiment> {
    let model = on.model.storage.clone();
    let lookup = FileLookup::new(move |file, _| Ok(model.target(file)));
    Box::new(Storage::new(parse(options), None, lookup))
}

pub fn parse<T: Args + FromArgMatches>(options: &str) -> T {
    let command = T::augment_args(Command::new("test").no_binary_name(true));
    let matches = command
        .try_get_matches_from(options.split_whitespace())
        .expect("options as users type them");
    T::from_arg_matches(&matches).expect("options that were read")
}

/// Journal lines and progress that a session reports while it is running.
#[derive(Default)]
pub struct Notes {
    lines: Vec<JournalLine>,
    pub progress: Vec<(f64, Nanos)>,
    /// True if every line of the journal fails.
    disk_full: bool,
}

impl Notes {
    /// Notes that fail on every line of the journal.
    pub fn of_full_disk() -> Self {
        Self {
            disk_full: true,
            ..Self::default()
        }
    }

    /// Lines of the journal as text. They are converted only here, because few tests read them and
    /// the conversion would take most of the time of a simulated session.
    pub fn journal(&self) -> Vec<String> {
        let text = |line| serde_json::to_string(line).expect("a line that can be written");
        self.lines.iter().map(text).collect()
    }
}

impl Observer for Notes {
    fn progress(&mut self, done: f64, left: Nanos, doing: &str) {
        assert!(
            (0.0..=1.0).contains(&done) && left.0.is_finite() && left.0 >= 0.0,
            "{done} {left:?} {doing}"
        );
        self.progress.push((done, left));
    }

    fn journal(&mut self, line: &JournalLine) -> std::result::Result<(), String> {
        self.lines.push(line.clone());
        if self.disk_full {
            Err("no space left on device".to_owned())
        } else {
            Ok(())
        }
    }
}

/// A finished run.
pub struct Ran {
    pub plan: Plan,
    pub report: Report,
    pub notes: Notes,
    pub machine: SimulatedMachine,
}

impl Ran {
    /// Every point of every experiment.
    pub fn points(&self) -> impl Iterator<Item = &Point> {
        self.report.datasets.iter().flat_map(|d| &d.points)
    }

    /// The only point with the coordinates `place`, written as `level=L1 threads=2`.
    pub fn point(&self, place: &str) -> &Point {
        let at = |p: &&Point| {
            place.split_whitespace().all(|pair| {
                let (axis, value) = pair.split_once('=').expect("axis=value");
                p.coordinates
                    .get(axis)
                    .is_some_and(|c| c.to_string() == value)
            })
        };
        let found: Vec<&Point> = self.points().filter(at).collect();
        assert_eq!(found.len(), 1, "{place}");
        found[0]
    }

    pub fn measured(&self, place: &str) -> &Measured {
        measured(self.point(place))
    }

    pub fn median(&self, place: &str) -> f64 {
        self.measured(place).summary.median
    }

    /// The number `value` of the only finding of a kind.
    pub fn finding(&self, kind: &str, value: &str) -> f64 {
        let found: Vec<_> = self
            .report
            .findings
            .iter()
            .filter(|f| f.kind == kind)
            .collect();
        assert_eq!(found.len(), 1, "{kind}: {:?}", self.report.findings);
        found[0].values[value]
    }

    pub fn has_finding(&self, kind: &str) -> bool {
        self.report.findings.iter().any(|f| f.kind == kind)
    }
}

pub fn measured(point: &Point) -> &Measured {
    point
        .outcome
        .measured()
        .unwrap_or_else(|| panic!("{:?}: {:?}", point.coordinates, point.outcome))
}

/// Reasons why a point is not solid or has no number.
pub fn reasons(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Measured(m) => m.verdict.text(),
        other => other.reason().unwrap_or_default().to_owned(),
    }
}

/// Plans and executes `request` on the machine `on`.
pub fn run(on: &Simulated, request: Request) -> Ran {
    run_with(on, request, Notes::default(), None)
}

pub fn run_with(on: &Simulated, request: Request, notes: Notes, stop: Option<Nanos>) -> Ran {
    run_on(on.machine(SEED), request, notes, stop)
}

pub fn run_on(
    mut machine: SimulatedMachine,
    request: Request,
    mut notes: Notes,
    stop: Option<Nanos>,
) -> Ran {
    if let Some(stop) = stop {
        machine.interrupt_at(stop);
    }
    let started = machine.now();
    let plan = plan::make(request, &mut machine).expect("a plan");
    let command_line = vec!["memgauge".to_owned(), "run".to_owned()];
    let invocation = Invocation {
        version: "0.0.0".to_owned(),
        command_line,
        launch: None,
        past: None,
    };
    let report = run::execute(&plan, &mut machine, &mut notes, &invocation, started);
    for finding in &report.findings {
        assert!(
            verdict::finding_kind(&finding.kind).is_some(),
            "{finding:?}"
        );
    }
    Ran {
        plan,
        report,
        notes,
        machine,
    }
}

/// Continues the session whose journal has these `lines`.
pub fn continued(on: &Simulated, request: Request, lines: &[String]) -> Ran {
    let read = read_journal(lines.join("\n").as_bytes()).expect("a journal");
    let mut machine = on.machine(SEED);
    let mut plan = plan::make(request, &mut machine).expect("a plan");
    let settled = plan
        .continue_from(&read.report, &machine)
        .expect("the same session");
    let past = Past {
        started: "1999-12-31T23:59:59Z".to_owned(),
        resumed: Vec::new(),
        kernels: Vec::new(),
        settled,
    };
    let invocation = Invocation {
        version: "0.0.0".to_owned(),
        command_line: Vec::new(),
        launch: None,
        past: Some(past),
    };
    let mut notes = Notes::default();
    let started = machine.now();
    let report = run::execute(&plan, &mut machine, &mut notes, &invocation, started);
    Ran {
        plan,
        report,
        notes,
        machine,
    }
}

/// The report of a session. Its random choices and the noise of its machine both follow from
/// `seed`.
pub fn seeded(on: &Simulated, mut request: Request, seed: u64) -> Report {
    request.seed = seed;
    let mut machine = on.machine(seed);
    let started = machine.now();
    let plan = plan::make(request, &mut machine).expect("a plan");
    let invocation = Invocation {
        version: "0.0.0".to_owned(),
        command_line: Vec::new(),
        launch: None,
        past: None,
    };
    run::execute(
        &plan,
        &mut machine,
        &mut Notes::default(),
        &invocation,
        started,
    )
}

/// Plans `request` on the machine `on`, without executing it.
pub fn plan(on: &Simulated, request: Request) -> Result<Plan> {
    plan::make(request, &mut on.machine(SEED))
}
