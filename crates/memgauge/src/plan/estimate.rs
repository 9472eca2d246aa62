//! Expected time of a plan. The engine computes the time of each point, and this module adds up the
//! times.

use super::{Batch, PlannedPoint, Request};
use engine::{ChaseWork, Costs, Machine, Sampling, TimedPoint, Work, expected_fill, expected_time};
use std::collections::BTreeSet;
use units::{BytesPerSecond, Nanos};

/// Facts about the machine that determine how long a plan takes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// Rate at which the system provides newly mapped memory at its first use.
    pub fault: BytesPerSecond,
    /// Costs of the steps of a measurement.
    pub steps: Costs,
    /// Time that making the plan took, counted from the start of the session.
    pub before: Nanos,
}

impl Cost {
    /// Costs of `machine`. `fault` is the rate at which the system provides newly mapped memory.
    pub fn new(machine: &dyn Machine, fault: BytesPerSecond) -> Self {
        Self {
            fault,
            steps: machine.costs(),
            before: Nanos::ZERO,
        }
    }
}

/// Expected time of the whole plan.
pub(super) fn estimate(
    points: &[PlannedPoint],
    batches: &[Batch],
    request: &Request,
    sampling: &Sampling,
    cost: Cost,
) -> Nanos {
    cost.before.max(cost.steps.session)
        + batches
            .iter()
            .map(|batch| batch_time(points, batch, request, sampling, cost))
            .sum()
}

/// Expected time of a batch: mapping, prefill, and the rounds of its points.
pub(super) fn batch_time(
    points: &[PlannedPoint],
    batch: &Batch,
    request: &Request,
    sampling: &Sampling,
    cost: Cost,
) -> Nanos {
    let allocations = f64::from(request.reallocate.max(1));
    let mapping = Nanos::from_secs(batch.memory.total().0 as f64 / cost.fault.0) * allocations;
    let mut built: BTreeSet<ChaseWork> = BTreeSet::new();
    let one = |point: &PlannedPoint| {
        let Ok(work) = &point.work else {
            return Nanos::ZERO;
        };
        // If several points use the same chain, only the first one takes the time to build it.
        let chains = work.chase().map(ChaseWork::chains).unwrap_or_default();
        let is_new = chains
            .into_iter()
            .filter(|chain| built.insert(chain.clone()))
            .count()
            > 0;
        let sampling = request.sampling_of(point, sampling);
        let point = TimedPoint {
            work,
            costs: point.costs,
            sampling,
            candidates: point.candidates,
            windows: point.windows,
            pause: request.cooldown,
            builds: if batch.chains_share {
                f64::from(sampling.rounds)
            } else if is_new {
                allocations
            } else {
                0.0
            },
        };
        expected_time(&point, &cost.steps)
    };
    let planned = || batch.points.iter().map(|&index| &points[index]);
    let works = planned().filter_map(|point| -> Option<&Work> { point.work.as_ref().ok() });
    mapping
        + expected_fill(works, allocations, f64::from(sampling.rounds), &cost.steps)
        + planned().map(one).sum()
}
