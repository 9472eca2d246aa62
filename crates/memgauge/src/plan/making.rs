//! Makes the plan of a request on a machine.

use super::drafting::{Drafted, draft_points};
use super::estimate::Cost;
use super::schedule::{Schedule, schedule, too_little_time};
use super::words::MAX_NAMED;
use super::{Plan, RemainingPoints, Request};
use engine::Machine;
use experiments::LastLevel;
use std::collections::BTreeSet;
use units::error::Result;

/// Makes the plan. The only measurement is of the rate at which the system provides newly mapped
/// memory.
pub fn make(request: Request, machine: &mut dyn Machine) -> Result<Plan> {
    let fault = machine.fault_rate();
    let Drafted {
        mut points,
        placeholders,
    } = draft_points(&request, &request.scope(machine))?;
    let adjusted = adjustments(&request, machine);
    let mut cost = Cost::new(machine, fault);
    cost.before = machine.now() - request.started;
    let rest = RemainingPoints {
        left: (0..points.len()).collect(),
        budget: request.budget,
    };
    let facts = machine.facts();
    let Schedule {
        phases,
        sampling,
        estimate,
        shortened,
        needed,
    } = schedule(&request, &mut points, placeholders, facts, cost, &rest);
    if let Some(needed) = needed {
        return Err(too_little_time(&request, &needed));
    }
    Ok(Plan {
        phases,
        points,
        sampling,
        estimate,
        fault,
        shortened,
        adjusted,
        drafted: Vec::new(),
        request,
    })
}

/// Sentences for the user about adjusted points, such as rounded sizes. Only the first few
/// sentences are listed, because all sizes of a range may be rounded.
fn adjustments(request: &Request, machine: &dyn Machine) -> Vec<String> {
    let scope = request.scope(machine);
    let mut all: Vec<String> = request
        .experiments
        .iter()
        .flat_map(|e| e.adjustments(&scope))
        .collect();
    let mut seen = BTreeSet::new();
    all.retain(|sentence| seen.insert(sentence.clone()));
    let more = all.len().saturating_sub(MAX_NAMED);
    all.truncate(MAX_NAMED);
    if more > 0 {
        let sizes = if more == 1 { "size was" } else { "sizes were" };
        all.push(format!("{more} more {sizes} rounded down"));
    }
    let reported = || scope.facts().topology.last_level_total(scope.cpus);
    if let Some(LastLevel::Given(given)) = request.last_level {
        all.push(format!(
            "memory is sized by a last-level cache of {given}, as given; the system reports {}",
            reported()
        ));
    }
    all
}
