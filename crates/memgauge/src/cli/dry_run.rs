//! The plan as data, for `--dry-run --format json` and `jsonl`. Its keys are documented in
//! docs/plan.md.

use super::output::Destination;
use crate::plan::{Phase, Plan, PlannedPoint};
use crate::run;
use engine::Sampling;
use report::{Coordinates, PhaseId};
use serde::Serialize;
use units::error::{Error, Result};

/// Version of the plan's keys. It rises when a key is removed or changes its meaning.
const PLAN_VERSION: u32 = 2;

/// Form in which a plan is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text for people.
    Text,
    /// One JSON document.
    Json,
    /// JSON Lines: the plan without its points on the first line, then a line for each point.
    Jsonl,
}

impl Form {
    /// Form in which `--dry-run` prints the plan: JSON or JSON Lines for the formats `json` and
    /// `jsonl`, `Text` for any other format.
    pub fn for_report(format: Option<&str>) -> Self {
        match format {
            Some("json") => Self::Json,
            Some("jsonl") => Self::Jsonl,
            _ => Self::Text,
        }
    }
}

/// Properties of the whole plan.
#[derive(Serialize)]
struct Head<'a> {
    plan_version: u32,
    profile: &'a str,
    seed: String,
    cpus: &'a [u32],
    budget_ns: f64,
    planned_ns: f64,
    memory_bytes: u64,
    sampling: Samples,
    shortened: &'a [String],
    notes: &'a [String],
    result: String,
    point_count: u64,
    phases: Vec<PlannedPhase>,
}

/// A phase of the plan.
#[derive(Serialize)]
struct PlannedPhase {
    #[serde(flatten)]
    id: PhaseId,
    /// Number of points. For a phase that is not drafted yet, it is the largest number that the
    /// phase can have.
    point_count: usize,
    drafted: bool,
    planned_ns: f64,
    memory_bytes: u64,
}

#[derive(Serialize)]
struct PlanDocument<'a> {
    #[serde(flatten)]
    head: Head<'a>,
    points: Vec<Point<'a>>,
}

/// Sampling of a point: its largest number of samples, and the length of a sample.
#[derive(Serialize)]
struct Samples {
    rounds: u32,
    samples_per_round: u32,
    sample_ns: f64,
}

#[derive(Serialize)]
struct Point<'a> {
    id: u64,
    experiment: &'a str,
    coordinates: &'a Coordinates,
    status: &'a str,
    reason: Option<&'a str>,
    /// Largest number of samples; `null` if the point is not measured.
    sampling: Option<Samples>,
}

/// Writes `plan` as data in `form`, with a newline at the end.
pub fn data(plan: &Plan, destination: &Destination, form: Form) -> Result<String> {
    let head = head(plan, destination);
    let points = plan.points.iter().map(|planned| point(plan, planned));
    let wrong =
        |error: serde_json::Error| Error::failure(format!("cannot write the plan: {error}"));
    if form == Form::Jsonl {
        let mut text = serde_json::to_string(&head).map_err(wrong)? + "\n";
        for point in points {
            text += &(serde_json::to_string(&point).map_err(wrong)? + "\n");
        }
        return Ok(text);
    }
    Ok(serde_json::to_string_pretty(&PlanDocument {
        head,
        points: points.collect(),
    })
    .map_err(wrong)?
        + "\n")
}

fn head<'a>(plan: &'a Plan, destination: &Destination) -> Head<'a> {
    let summary = run::summary(plan);
    Head {
        plan_version: PLAN_VERSION,
        profile: &plan.request.profile,
        seed: plan.request.seed.to_string(),
        cpus: &plan.request.cpus,
        budget_ns: summary.budget.0,
        planned_ns: summary.planned.0,
        memory_bytes: summary.memory.0,
        sampling: samples(plan.sampling_shown()),
        shortened: &plan.shortened,
        notes: &plan.adjusted,
        result: destination.describe(),
        point_count: summary.points,
        phases: plan.phases.iter().map(|p| phase(plan, p)).collect(),
    }
}

fn phase(plan: &Plan, phase: &Phase) -> PlannedPhase {
    let known = phase
        .batches
        .iter()
        .map(|batch| batch.points.len())
        .sum::<usize>();
    PlannedPhase {
        id: phase.id,
        point_count: known + phase.room(),
        drafted: phase.reserve.is_none(),
        planned_ns: phase.estimate().0,
        memory_bytes: phase.most_memory(plan.request.reallocate).0,
    }
}

fn point<'a>(plan: &'a Plan, planned: &'a PlannedPoint) -> Point<'a> {
    let known = planned.work.as_ref().err();
    let status = match known {
        None => "planned",
        Some(outcome) if outcome.reason().is_none() => "measured before",
        Some(outcome) => outcome.status(),
    };
    Point {
        id: planned.id,
        experiment: plan.request.experiments[planned.experiment].name(),
        coordinates: &planned.coordinates,
        status,
        reason: known.and_then(|outcome| outcome.reason()),
        sampling: known.is_none().then(|| samples(plan.sampling_of(planned))),
    }
}

fn samples(sampling: Sampling) -> Samples {
    Samples {
        rounds: sampling.rounds,
        samples_per_round: sampling.per_round,
        sample_ns: sampling.length.0,
    }
}
