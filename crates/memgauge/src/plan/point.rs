//! A point of a plan.

use engine::{PointCosts, Windows, Work};
use experiments::Bound;
use report::{Coordinate, Coordinates, Outcome, PhaseId, Point, requested_coordinates};

/// A point that will be measured, or that already has its outcome.
#[derive(Debug, Clone)]
pub struct PlannedPoint {
    /// Number within the plan.
    pub id: u64,
    /// Position of the experiment in the request.
    pub experiment: usize,
    /// Coordinates on the axes of the experiment.
    pub coordinates: Coordinates,
    /// Work to measure, or the outcome if no measurement is needed.
    pub work: std::result::Result<Work, Outcome>,
    /// Kind of upper bound that the measured value has.
    pub bound: Bound,
    /// Drop priority. When time is short, points with the highest number are dropped first.
    pub(super) drop_priority: u8,
    /// Number of candidates from which kernel selection chooses.
    pub(super) candidates: usize,
    /// Expected costs of measuring the point on this machine.
    pub(super) costs: PointCosts,
    /// True if the chain of the point is built again in each round.
    pub(super) rebuilt: bool,
    /// True if the point measures a cache whose size determines the memory of other experiments.
    pub sizes_memory: bool,
    /// Short windows to sample for a distribution of values; `None` if no distribution is
    /// requested.
    pub windows: Option<Windows>,
    /// Number of the follow-up that drafted the point; `None` if the point is known before the
    /// session.
    pub follow_up: Option<usize>,
}

impl PlannedPoint {
    /// Makes a point of `phase` that has an `outcome` instead of work. The caller sets the point's
    /// number.
    pub(super) fn without_work(
        experiment: usize,
        coordinates: Coordinates,
        outcome: Outcome,
        phase: PhaseId,
    ) -> Self {
        Self {
            id: 0,
            experiment,
            coordinates,
            work: Err(outcome),
            bound: Bound::Unknown,
            drop_priority: 0,
            candidates: 0,
            costs: PointCosts::NONE,
            rebuilt: false,
            sizes_memory: phase.sizes_memory,
            windows: None,
            follow_up: phase
                .follow_up
                .and_then(|number| usize::try_from(number).ok()),
        }
    }

    /// Phase to which the point belongs.
    pub fn phase(&self) -> PhaseId {
        PhaseId {
            sizes_memory: self.sizes_memory,
            follow_up: self.follow_up.map(|follow_up| follow_up as u64),
        }
    }

    /// Converts the point with its `outcome` for a report. If the kernel, the number of threads or
    /// the size was selected, the selected coordinate replaces the requested one.
    pub fn with(&self, outcome: Outcome) -> Point {
        let mut coordinates = self.coordinates.clone();
        if let Some(choice) = outcome.measured().and_then(|m| m.choice.as_ref()) {
            coordinates.insert("kernel".to_owned(), Coordinate::Name(choice.kernel.clone()));
            let winner = choice.candidates.first();
            let won = [
                ("threads", winner.and_then(|w| w.threads)),
                ("size_bytes", winner.and_then(|w| w.size_bytes)),
            ];
            coordinates.extend(
                won.into_iter()
                    .filter_map(|(axis, n)| Some((axis.to_owned(), Coordinate::Number(n?)))),
            );
        }
        Point {
            id: self.id,
            coordinates,
            outcome,
        }
    }

    /// True if `point` of the experiment at index `experiment` was measured for this planned point.
    /// Selected coordinates are not compared.
    pub fn is_at(&self, point: &Point, experiment: usize) -> bool {
        let is_chosen = point.outcome.measured().is_some_and(|m| m.choice.is_some());
        let here = if is_chosen {
            requested_coordinates(&self.coordinates)
        } else {
            self.coordinates.clone()
        };
        experiment == self.experiment && here == drafted_place(point)
    }
}

/// Coordinates that the plan requested for `point`, without those that were selected.
pub(super) fn drafted_place(point: &Point) -> Coordinates {
    if point.outcome.measured().is_some_and(|m| m.choice.is_some()) {
        requested_coordinates(&point.coordinates)
    } else {
        point.coordinates.clone()
    }
}
