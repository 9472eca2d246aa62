//! Executes a plan and makes its report: rounds over all points, journal, interruption, findings.

#![forbid(unsafe_code)]

mod conditions;
mod extra_rounds;
mod invocation;
mod limits;
mod phases;
mod place;
mod provenance;
mod ranges;
mod vcpu_moves;

use crate::plan::{Batch, Phase, Plan, PlannedPoint, most_needed_first};
pub use invocation::{Invocation, Observer, Past};

use conditions::{environment, interruptions, sentence, shapes};
use engine::{
    Baselines, EvaluationContext, Failure, Machine, MemoryPlan, PointLog, SAMPLES_PER_PREFILL,
    Sampling, Work, evaluate, sample_round,
};
use experiments::Experiment;
use provenance::{provenance, used_kernels, with_past};
use ranges::{quietest_moments, ranges};
use report::{
    Cause, Dataset, DraftedPhase, Finding, JournalLine, JournalPoint, KernelUsed, Outcome,
    PlanSummary, Point, PointLines, Report, ReportVerdict, RunStatus, SCHEMA_VERSION, add_derived,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use units::{Bytes, Hertz, Nanos};
use vcpu_moves::vcpu_moves;
use verdict::{SampleStatistics, VerdictInput, base_clock, documented_levels, judge};

/// Multiple of the budget after which no sample begins. If there is no sample by then, short rounds
/// may begin until the time is `HARD_BUDGET_LIMIT` times the budget.
const BUDGET_TOLERANCE: f64 = 1.05;
const HARD_BUDGET_LIMIT: f64 = 4.0;

/// Limits of a short round: it has at most `BRIEF_SAMPLES` samples. Its time is limited to
/// `BRIEF_SHARE` of the budget, or to `BRIEF_TIME` if that is longer.
const BRIEF_SAMPLES: u32 = 4;
const BRIEF_SHARE: f64 = 0.1;
const BRIEF_TIME: Nanos = Nanos(50e6);

/// Number of finished rounds, and number of all rounds.
#[derive(Debug, Clone, Copy, Default)]
struct RoundCount {
    done: u64,
    all: u64,
}

/// A running session.
struct Run<'a> {
    plan: &'a Plan,
    /// Every drafted point, including points of follow-ups.
    points: Vec<PlannedPoint>,
    /// Phases that have not begun.
    phases: VecDeque<Phase>,
    /// Batches of the current phase that have not begun.
    batches: VecDeque<Batch>,
    /// Records of the phases that were drafted from measured points.
    drafted: Vec<DraftedPhase>,
    /// True after the attempt to size memory by the result of the sweep `caches`.
    requested_caches: bool,
    sampling: Sampling,
    /// Expected time of the whole session.
    estimate: Nanos,
    /// Largest number of bytes mapped at the same time.
    memory: Bytes,
    /// The session that this one continues; `None` for a new session.
    past: Option<&'a Past>,
    machine: &'a mut dyn Machine,
    observer: &'a mut dyn Observer,
    logs: Vec<PointLog>,
    /// Baselines of the session's CPUs: IPC, core clock and round trips without disturbances.
    baselines: Baselines,
    outcomes: BTreeMap<usize, Outcome>,
    started: Nanos,
    /// Number of rounds done so far, and number of planned rounds.
    rounds: RoundCount,
    /// Samples that are in the journal already, by point.
    journaled: PointLines,
    journal_trouble: Option<String>,
    last_level: u64,
    /// True if the session ended before all planned points were measured.
    interrupted: bool,
    /// Points with fewer rounds than planned, because the budget was used up.
    over_budget: BTreeSet<usize>,
    /// Planned end of the current batch, by the machine's clock.
    deadline: Nanos,
    /// `share_end` is the end of the current batch's share of the budget. `cut` is the latest time
    /// at which a sample begins.
    share_end: Nanos,
    cut: Nanos,
    /// Batches that are finished.
    past_batches: Vec<Batch>,
}

/// Executes `plan` and returns its report, even if the session is interrupted or work fails.
/// `started` is the start of the session by the machine's clock, so that planning counts as well.
pub fn execute(
    plan: &Plan,
    machine: &mut dyn Machine,
    observer: &mut dyn Observer,
    invocation: &Invocation,
    started: Nanos,
) -> Report {
    let mut provenance = provenance(plan, machine, invocation);
    let mut run = Run::begin(plan, machine, observer, invocation, started);
    run.write(&JournalLine::head(
        &provenance,
        &summary(plan),
        unmeasured_datasets(plan, &plan.points, |_| true),
    ));
    run.settle_known(0);
    // The first part of the deadline is the planned time that belongs to no phase.
    let phases = plan.phases.iter().map(Phase::estimate).sum::<Nanos>();
    run.deadline = started + (plan.estimate - phases);
    while let Some(phase) = run.next_phase() {
        run.draft(phase);
        while let Some(batch) = run.batches.pop_front() {
            run.begin_batch(&batch);
            run.batch(&batch);
            run.past_batches.push(batch);
        }
    }
    run.use_the_rest_of_the_budget();
    let mut findings = run.findings();
    findings.extend(run.past.map(|past| continued(past, run.points.len())));
    provenance.kernels = run.kernels(invocation.past.as_ref());
    let mut datasets = run.datasets();
    for (experiment, dataset) in plan.request.experiments.iter().zip(&mut datasets) {
        experiment.finish(dataset);
    }
    for (own, experiment) in plan.request.experiments.iter().enumerate() {
        experiment.review(&mut datasets, own, &run.machine.facts().topology);
    }
    provenance.finished = run.machine.wall_clock();
    let status = status(&datasets, run.interrupted);
    let summary = PlanSummary {
        real: Some(run.machine.now() - started),
        memory: run.memory,
        points: run.points.len() as u64,
        phases: run.drafted.clone(),
        ..summary(plan)
    };
    for (experiment, dataset) in plan.request.experiments.iter().zip(&datasets) {
        findings.extend(experiment.findings_on(run.machine.facts(), dataset));
    }
    let points: Vec<&Point> = datasets.iter().flat_map(|d| &d.points).collect();
    let facts = run.machine.facts();
    // Under an emulator, the measured caches are not the documented ones, so they are not compared.
    let emulation = facts.system.emulation.get();
    if emulation.is_none_or(|name| name == "none") {
        findings.extend(documented_levels(&facts.cpu.documented, &findings, &points));
    }
    findings.extend(
        shapes(&datasets)
            .into_iter()
            .chain(ranges(&datasets))
            .chain(quietest_moments(&datasets))
            .chain(vcpu_moves(run.machine.facts(), &datasets))
            .chain(interruptions(&datasets)),
    );
    let verdict = ReportVerdict::summarise(&datasets);
    let derived = plan
        .request
        .experiments
        .iter()
        .zip(&datasets)
        .filter_map(|(e, dataset)| e.derived(dataset));
    let derived = derived.collect();
    add_derived(&mut datasets, derived);
    let schema_version = SCHEMA_VERSION;
    let report = Report {
        schema_version,
        status,
        verdict,
        provenance,
        plan: summary,
        datasets,
        findings,
        health: None,
    };
    run.write(&JournalLine::end(&report));
    report
}

/// Summary of the plan for the report.
pub fn summary(plan: &Plan) -> PlanSummary {
    PlanSummary {
        profile: plan.request.profile.clone(),
        budget: plan.request.budget,
        planned: plan.estimate,
        real: None,
        memory: plan.memory(),
        points: plan.point_count() as u64,
        shortened: plan.shortened.clone(),
        phases: plan.drafted.clone(),
    }
}

impl<'a> Run<'a> {
    /// Makes the state of the session before anything is measured.
    fn begin(
        plan: &'a Plan,
        machine: &'a mut dyn Machine,
        observer: &'a mut dyn Observer,
        invocation: &'a Invocation,
        started: Nanos,
    ) -> Self {
        let settled = invocation.past.as_ref().map_or(0, |past| past.settled)
            * u64::from(plan.sampling.rounds);
        let mut run = Self {
            plan,
            points: plan.points.clone(),
            phases: plan.phases.iter().cloned().collect(),
            sampling: plan.sampling,
            estimate: plan.estimate,
            memory: plan.memory(),
            batches: VecDeque::new(),
            drafted: plan.drafted.clone(),
            requested_caches: false,
            past: invocation.past.as_ref(),
            machine,
            observer,
            logs: Vec::new(),
            baselines: Baselines::default(),
            outcomes: BTreeMap::new(),
            started,
            rounds: RoundCount {
                done: settled,
                all: settled,
            },
            journaled: PointLines::default(),
            journal_trouble: None,
            last_level: 0,
            interrupted: false,
            over_budget: BTreeSet::new(),
            deadline: started,
            share_end: started,
            cut: started,
            past_batches: Vec::new(),
        };
        run.rounds.all += run.rounds_left();
        run.add_logs();
        run.last_level = run.scope().last_level().0;
        run
    }
}

impl Run<'_> {
    /// Sets the planned end of `batch`, and its share of the remaining budget. Without the share, a
    /// slow batch would take the time of later batches.
    fn begin_batch(&mut self, batch: &Batch) {
        self.deadline += batch.estimate;
        let now = self.machine.now();
        let batches = self
            .batches
            .iter()
            .map(|batch| batch.estimate)
            .sum::<Nanos>();
        let phases = self.phases.iter().map(Phase::estimate).sum::<Nanos>();
        let share = batch.estimate.0 / (batch.estimate + batches + phases).0;
        let share = if share.is_finite() { share } else { 1.0 };
        let part = |end: Nanos| now + (end - now).max(Nanos::ZERO) * share;
        let budget = self.plan.request.budget;
        self.share_end = part(self.started + budget);
        self.cut = part(self.started + budget * BUDGET_TOLERANCE);
    }

    /// Maps the memory of a batch and takes rounds of its points. The first round begins with the
    /// most needed points, in case time runs out. Each later round starts one point later, so that
    /// drift does not look like a difference between points. The rounds are spread over all
    /// allocations. If a point has fewer rounds than others, its rounds are spread over the whole
    /// batch.
    fn batch(&mut self, batch: &Batch) {
        let rounds = batch
            .points
            .iter()
            .map(|&i| self.sampling_of(i).rounds)
            .max()
            .unwrap_or(0);
        let per_allocation = rounds.div_ceil(self.plan.request.reallocate.max(1));
        let mut mapped = Ok(());
        for round in 0..rounds {
            if round % per_allocation == 0 && mapped.is_ok() {
                mapped = self.allocate(&batch.memory, batch.keep_old && round > 0);
                batch
                    .points
                    .iter()
                    .filter(|_| round > 0)
                    .for_each(|&index| self.logs[index].reallocated());
            }
            let mut order = if round == 0 {
                self.most_needed_first(batch)
            } else {
                batch.points.clone()
            };
            order.rotate_left(round as usize % batch.points.len().max(1));
            for index in order {
                let own = self.sampling_of(index).rounds;
                let done = |rounds_begun: u32| {
                    u64::from(rounds_begun) * u64::from(own) / u64::from(rounds)
                };
                if done(round + 1) == done(round) {
                    continue;
                }
                self.rounds.done += 1;
                if mapped.is_ok() {
                    self.visit(index);
                }
            }
        }
        if mapped.is_ok() && self.sampling.most.is_none() {
            self.use_what_is_left(batch);
        }
        for &index in &batch.points {
            match &mapped {
                Err(failure) if self.points[index].work.is_ok() && self.logs[index].is_empty() => {
                    self.settle(index, failure.clone().into())
                }
                _ => self.conclude(index),
            }
        }
    }

    /// Points of a batch, the most needed first.
    fn most_needed_first(&self, batch: &Batch) -> Vec<usize> {
        let here: BTreeSet<usize> = batch.points.iter().copied().collect();
        let mut order = most_needed_first(&self.points);
        order.retain(|index| here.contains(index));
        // Points with an outcome have no work and come last.
        let with_work: BTreeSet<usize> = order.iter().copied().collect();
        order.extend(here.difference(&with_work));
        order
    }

    /// Sampling of the point at `index`.
    fn sampling_of(&self, index: usize) -> Sampling {
        self.plan
            .request
            .sampling_of(&self.points[index], &self.sampling)
    }

    /// Maps `memory` if there is time to measure in it. Mapping stops at the end of the batch's
    /// time, because mapping can take longer than all samples on a busy machine.
    fn allocate(&mut self, memory: &MemoryPlan, keep_old: bool) -> Result<(), Failure> {
        if self.machine.interrupted() || self.is_over_budget() {
            return Ok(());
        }
        let mapping = Nanos::from_secs(memory.total().0 as f64 / self.plan.fault.0);
        if self.machine.now() + mapping > self.cut && !self.has_nothing() {
            self.cut = self.machine.now();
            return Ok(());
        }
        self.tell("mapping memory");
        let until = if self.has_nothing() {
            self.started + self.plan.request.budget * HARD_BUDGET_LIMIT
        } else {
            self.cut
        };
        match self.machine.map(memory, keep_old, until) {
            Err(Failure::OutOfTime) => {
                self.cut = self.machine.now();
                Ok(())
            }
            mapped => mapped,
        }
    }

    /// Takes one round of the point at `index`, unless the point is done or the session is over.
    fn visit(&mut self, index: usize) {
        let Ok(work) = self.points[index].work.clone() else {
            return;
        };
        if self.outcomes.contains_key(&index) || self.machine.interrupted() {
            return;
        }
        if self.is_over_budget() {
            self.over_budget.insert(index);
            return;
        }
        self.tell(&doing(&self.points[index]));
        let left = self.cut - self.machine.now();
        let mut sampling = self.sampling_of(index);
        let mut until = self.cut;
        if left > Nanos::ZERO {
            let pause = self.plan.request.cooldown.min(left);
            if pause > Nanos::ZERO && self.machine.pause(pause).is_err() {
                return;
            }
        } else {
            sampling.per_round = sampling.per_round.min(BRIEF_SAMPLES);
            until = self.machine.now() + (self.plan.request.budget * BRIEF_SHARE).max(BRIEF_TIME);
        }
        let rounds = self.logs[index].rounds();
        sample_round(
            self.machine,
            &mut self.baselines,
            &work,
            &sampling,
            &mut self.logs[index],
            until,
        );
        if self.logs[index].rounds() == rounds && self.is_over_budget() {
            self.over_budget.insert(index);
        }
        if self.logs[index].needs_no_more() {
            self.conclude(index);
        } else if !self.logs[index].is_empty() {
            // The journal gets unfinished points too. Rounds of all points alternate, so a killed
            // session would otherwise lose all points.
            let so_far = self.judged(index, &self.logs[index], &work);
            self.write_point(index, &so_far, false);
        }
    }

    /// Makes the outcome of the point at `index` from the samples in `log`, with its verdict.
    fn judged(&self, index: usize, log: &PointLog, work: &Work) -> Outcome {
        let point = &self.points[index];
        let bound = limits::Limited {
            bound: point.bound,
            facts: self.machine.facts(),
            work: log.work(work),
            given_peak: self.plan.request.dram_peak,
        };
        let limit = |core: Option<Hertz>| bound.limit(core);
        let traffic_limit = bound.traffic_limit();
        let frame = EvaluationContext {
            clock_error: self.machine.clock().error,
            last_level_cache: (self.last_level > 0).then_some(self.last_level),
            limit: Some(&limit),
            base_clock: base_clock(self.machine.facts(), self.machine.clock()),
            memory: self.machine.facts().memory.total.get().map(|total| total.0),
        };
        let evaluation = match evaluate(log, work, &frame) {
            Ok(evaluation) => evaluation,
            Err(outcome) => return outcome,
        };
        let shape = SampleStatistics::describe(
            &evaluation.groups,
            evaluation.higher_is_better,
            SAMPLES_PER_PREFILL as usize,
        );
        let mut verdict = judge(&VerdictInput {
            summary: &evaluation.measured.summary,
            evidence: &evaluation.measured.evidence,
            shape: &shape,
            main_disturbance: evaluation.main_disturbance,
            limit: evaluation.measured.limit.as_ref(),
            load: evaluation
                .measured
                .load
                .as_ref()
                .zip(traffic_limit.as_ref()),
            samples: evaluation.measured.samples.len() as u64,
            machine_cpus: self.machine.facts().topology.cpus.len(),
            storage: evaluation.measured.storage.as_deref(),
            rounds: evaluation.rounds,
            interrupted: evaluation.interrupted,
        });
        if self.plan.request.cooldown > Nanos::ZERO {
            // A core may lower its clock while it is idle, so the pause may be the reason.
            let of_clock = verdict
                .reasons
                .iter_mut()
                .filter(|reason| reason.cause == Cause::CoreClock);
            of_clock.for_each(|reason| reason.advice += "; or leave --cooldown out");
        }
        evaluation.with_verdict(verdict)
    }

    /// True if the batch's share of the budget is used up, so that no round begins. A session
    /// without any sample goes on for some time, because an uncertain number is better than none.
    fn is_over_budget(&self) -> bool {
        self.machine.now() >= self.cut && !self.has_nothing()
    }

    /// True if nothing was measured yet and `HARD_BUDGET_LIMIT` leaves time for a sample.
    fn has_nothing(&self) -> bool {
        let end = self.started + self.plan.request.budget * HARD_BUDGET_LIMIT;
        self.machine.now() < end && self.logs.iter().all(|log| log.is_empty() && !log.failed())
    }

    /// Sets the outcome of the point at `index` from its log, unless it is set already.
    fn conclude(&mut self, index: usize) {
        let point = &self.points[index];
        let Ok(work) = &point.work else { return };
        if self.outcomes.contains_key(&index) {
            return;
        }
        let sampling = self.sampling_of(index);
        let log = &mut self.logs[index];
        if self.machine.interrupted() && !log.finished(&sampling) {
            log.cut_short();
        }
        let untouched = log.rounds() == 0 && !log.failed();
        let outcome = if untouched && self.over_budget.remove(&index) && !log.was_cut_short() {
            let reason = format!(
                "the budget of {} was used up; allow more with --budget",
                self.plan.request.budget
            );
            Outcome::Skipped { reason }
        } else {
            self.interrupted |= log.was_cut_short();
            self.judged(index, &self.logs[index], work)
        };
        self.settle(index, outcome);
    }

    /// Sets the outcomes of points from index `first` on for which the plan already has an outcome.
    fn settle_known(&mut self, first: usize) {
        for index in first..self.points.len() {
            if let Err(outcome) = &self.points[index].work {
                self.settle(index, outcome.clone());
            }
        }
    }

    /// Creates the logs of points that have none yet.
    fn add_logs(&mut self) {
        let new = &self.points[self.logs.len()..];
        let logs = new.iter().map(|point| PointLog::new(point.windows));
        self.logs.extend(logs);
    }

    /// Records the outcome of a point and writes it to the journal.
    fn settle(&mut self, index: usize, outcome: Outcome) {
        self.write_point(index, &outcome, true);
        self.outcomes.insert(index, outcome);
    }

    fn write_point(&mut self, index: usize, outcome: &Outcome, finished: bool) {
        let planned = &self.points[index];
        let experiment = &self.plan.request.experiments[planned.experiment];
        let point = planned.with(outcome.clone());
        let line = JournalPoint {
            experiment: experiment.name().to_owned(),
            quantity: experiment.quantity(),
            axes: axes(self.plan, experiment.as_ref()),
            finished,
            earlier: None,
            point,
        };
        let line = self.journaled.line(line);
        self.write(&JournalLine::Point(Box::new(line)));
    }

    fn write(&mut self, line: &JournalLine) {
        if let Err(failure) = self.observer.journal(line) {
            self.journal_trouble.get_or_insert(failure);
        }
    }

    /// Reports the share of rounds that are done, and the remaining time. The remaining time
    /// follows from the plan and is limited by the budget. After all rounds, it is the time until
    /// the deadline.
    fn tell(&mut self, doing: &str) {
        let done = (self.rounds.done as f64 / self.rounds.all.max(1) as f64).clamp(0.0, 1.0);
        let now = self.machine.now();
        let allowed =
            (self.plan.request.budget * BUDGET_TOLERANCE - (now - self.started)).max(Nanos::ZERO);
        let set_aside = if done < 1.0 {
            Nanos::ZERO
        } else {
            self.deadline - now
        };
        self.observer.progress(
            done,
            (self.estimate * (1.0 - done)).max(set_aside).min(allowed),
            doing,
        );
    }

    /// Kernels that were timed. After a kernel selection, only the selected kernels count.
    fn kernels(&self, past: Option<&Past>) -> Vec<KernelUsed> {
        let points = self.points.iter().zip(&self.logs);
        let used = used_kernels(
            self.machine,
            points.filter_map(|(point, log)| Some(log.work(point.work.as_ref().ok()?))),
        );
        with_past(used, past)
    }

    fn datasets(&mut self) -> Vec<Dataset> {
        let mut outcomes = std::mem::take(&mut self.outcomes);
        let mut datasets = datasets(self.plan, &self.points, |index| {
            let missing = || Outcome::Interrupted {
                reason: "the session was interrupted before this point".to_owned(),
            };
            Some(outcomes.remove(&index).unwrap_or_else(missing))
        });
        let follow_up = |id: u64| {
            usize::try_from(id)
                .ok()
                .and_then(|index| self.points.get(index))
                .is_some_and(|point| point.follow_up.is_some())
        };
        for dataset in &mut datasets {
            dataset.arrange(follow_up);
        }
        datasets
    }

    /// Findings about the machine and about the whole session.
    fn findings(&mut self) -> Vec<Finding> {
        let mut findings = environment(self.machine.facts(), &self.plan.request.cpus);
        findings.extend(
            self.plan
                .adjusted
                .iter()
                .map(|text| sentence("adjusted", format!("{text}."))),
        );
        findings.extend(
            self.drafted
                .iter()
                .filter_map(|record| Some(sentence("memory-size", record.finding.clone()?))),
        );
        if let Some(failure) = &self.journal_trouble {
            findings.push(sentence(
                "journal",
                format!("The journal could not be written: {failure}."),
            ));
        }
        let over_budget = std::mem::take(&mut self.over_budget);
        let fewer = |&index: &usize| self.logs[index].rounds() < self.sampling_of(index).rounds;
        self.over_budget = over_budget.into_iter().filter(fewer).collect();
        if !self.over_budget.is_empty() {
            let count = self.over_budget.len();
            let budget = self.plan.request.budget;
            let have = if count == 1 {
                "point has"
            } else {
                "points have"
            };
            let text = format!(
                "The budget of {budget} ended before all rounds: {count} {have} fewer samples \
                 than planned; type a longer --budget."
            );
            findings.push(sentence("budget", text));
        }
        findings
    }
}

/// Makes the datasets of a plan. `outcome` returns the outcome of the point at an index, or `None`
/// to leave the point out.
fn datasets(
    plan: &Plan,
    points: &[PlannedPoint],
    mut outcome: impl FnMut(usize) -> Option<Outcome>,
) -> Vec<Dataset> {
    let empty = |e: &dyn Experiment| Dataset {
        experiment: e.name().to_owned(),
        quantity: e.quantity(),
        axes: axes(plan, e),
        points: Vec::new(),
        auxiliary: e.is_auxiliary(),
        derived: false,
    };
    let mut datasets: Vec<Dataset> = plan
        .request
        .experiments
        .iter()
        .map(|e| empty(e.as_ref()))
        .collect();
    for (index, planned) in points.iter().enumerate() {
        let point = outcome(index).map(|outcome| planned.with(outcome));
        datasets[planned.experiment].points.extend(point);
    }
    datasets
}

/// Makes datasets of the points at the indices that `wanted` accepts, marked as not measured.
fn unmeasured_datasets(
    plan: &Plan,
    points: &[PlannedPoint],
    wanted: impl Fn(usize) -> bool,
) -> Vec<Dataset> {
    let ended = || Outcome::Interrupted {
        reason: "the session ended before this point".to_owned(),
    };
    datasets(plan, points, |index| wanted(index).then(ended))
}

/// Axes of an experiment in this plan, with `repeat` if the plan is measured several times.
fn axes(plan: &Plan, experiment: &dyn Experiment) -> Vec<report::Axis> {
    let mut axes = experiment.axes();
    if plan.request.repeat > 1 {
        axes.push(report::Axis {
            name: "repeat".to_owned(),
            unit: None,
        });
    }
    axes
}

/// Finding about a continued session. `past` is its first part, `all` its number of points.
fn continued(past: &Past, all: usize) -> Finding {
    let Past {
        started, settled, ..
    } = past;
    let text = format!(
        "{settled} of {all} points are from the session of {started}; the others are from its \
         continuation."
    );
    sentence("resumed", text)
}

/// Name of the point that is measured, for the progress line.
fn doing(point: &PlannedPoint) -> String {
    let coordinate = |axis: &str| {
        point
            .coordinates
            .get(axis)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let words = [
        coordinate("operation"),
        coordinate("pattern"),
        coordinate("order"),
        coordinate("timing"),
        coordinate("level"),
        coordinate("from"),
        coordinate("to"),
    ];
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|w| !w.is_empty())
        .collect();
    let threads = coordinate("threads");
    format!(
        "{}{}{threads}",
        words.join(" "),
        if threads.is_empty() { "" } else { " x" }
    )
}

/// Status of a session. `interrupted` is true if a measured point has fewer rounds than planned, or
/// a phase was not drafted.
fn status(datasets: &[Dataset], interrupted: bool) -> RunStatus {
    let any = |of: fn(&Outcome) -> bool| {
        datasets
            .iter()
            .flat_map(|d| &d.points)
            .any(|p| of(&p.outcome))
    };
    if interrupted || any(|o| matches!(o, Outcome::Interrupted { .. })) {
        RunStatus::Interrupted
    } else if any(|o| matches!(o, Outcome::Failed { .. })) {
        RunStatus::Partial
    } else {
        RunStatus::Complete
    }
}
