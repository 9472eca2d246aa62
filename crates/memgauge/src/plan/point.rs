//! A point of a plan.

use engine::{PointCosts, Windows, Work};
use experiments::Bound;
use report::{Coordinate, Coordinates, Outcome, PhaseId, Point, place_asked_for};

/// A point that will be measured, or whose outcome is already known.
#[derive(Debug, Clone)]
pub struct PlannedPoint {
    /// Number within the plan.
    pub id: u64,
    /// Position of its experiment in the request.
    pub experiment: usize,
    /// Where it lies.
    pub coordinates: Coordinates,
    /// What to measure, or what is already known.
    pub work: std::result::Result<Work, Outcome>,
    /// What the value cannot exceed.
    pub bound: Bound,
    /// When time is short, points of the highest number go first.
    pub(super) drop_priority: u8,
    /// Kernels that the work leaves the choice of.
    pub(super) candidates: usize,
    /// Its costs on the machine.
    pub(super) costs: PointCosts,
    /// Whether its chain is built anew in each of its rounds.
    pub(super) rebuilt: bool,
    /// Whether other experiments size memory by what it shows.
    pub sizes_memory: bool,
    /// Short windows whose distribution is taken too.
    pub windows: Option<Windows>,
    /// The follow-up that drafted it, from 0; `None` for a point that is known at the start.
    pub follow_up: Option<usize>,
}

impl PlannedPoint {
    /// The phase that it belongs to.
    pub fn phase(&self) -> PhaseId {
        PhaseId {
            sizes_memory: self.sizes_memory,
            follow_up: self.follow_up.map(|follow_up| follow_up as u64),
        }
    }

    /// The point with its `outcome`. Where the kernel or the number of threads was chosen by
    /// measuring, its coordinates are those of the winner.
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

    /// Whether `point`, of the experiment at position `experiment`, is this one. Where kernels or
    /// numbers of threads were chosen by measuring, it has those of the winner.
    pub fn is_at(&self, point: &Point, experiment: usize) -> bool {
        let is_chosen = point.outcome.measured().is_some_and(|m| m.choice.is_some());
        let here = if is_chosen {
            place_asked_for(&self.coordinates)
        } else {
            self.coordinates.clone()
        };
        experiment == self.experiment && here == drafted_place(point)
    }
}

/// The coordinates of `point` without what was chosen by measuring.
pub(super) fn drafted_place(point: &Point) -> Coordinates {
    if point.outcome.measured().is_some_and(|m| m.choice.is_some()) {
        place_asked_for(&point.coordinates)
    } else {
        point.coordinates.clone()
    }
}
