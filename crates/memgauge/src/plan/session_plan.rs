//! The plan of a session.

use super::request::sampling_shown;
use super::{Batch, Phase, PlannedPoint, Request};
use engine::Sampling;
use report::DraftedPhase;
use units::{Bytes, BytesPerSecond, Nanos};

/// Plan of a session.
pub struct Plan {
    /// The request.
    pub request: Request,
    /// Every drafted point, in the order of tables. The index of a point is its number.
    pub points: Vec<PlannedPoint>,
    /// The phases of the session, one after another.
    pub phases: Vec<Phase>,
    /// Sampling of points whose experiment has none of its own.
    pub sampling: Sampling,
    /// Expected time of the session.
    pub estimate: Nanos,
    /// Rate at which the system provides newly mapped memory. The time of mapping is computed from
    /// it.
    pub fault: BytesPerSecond,
    /// Sentences about shortened samples and points that were left out.
    pub shortened: Vec<String>,
    /// Sentences about points that differ from the request, such as rounded sizes.
    pub adjusted: Vec<String>,
    /// Phases that the continued session drafted from measured points.
    pub drafted: Vec<DraftedPhase>,
}

impl Plan {
    /// Sampling that messages show: the experiment's if the plan has one experiment, otherwise the
    /// general one.
    pub fn sampling_shown(&self) -> Sampling {
        sampling_shown(&self.request, &self.points, &self.sampling)
    }

    /// Sampling of `point`.
    pub fn sampling_of(&self, point: &PlannedPoint) -> Sampling {
        self.request.sampling_of(point, &self.sampling)
    }

    /// Largest number of bytes mapped at the same time.
    pub fn memory(&self) -> Bytes {
        let reallocate = self.request.reallocate;
        let phases = self
            .phases
            .iter()
            .map(|phase| phase.most_memory(reallocate));
        phases.max().unwrap_or_default()
    }

    /// Batches of all drafted phases in order.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.phases.iter().flat_map(|phase| &phase.batches)
    }

    /// Number of points. A follow-up that is not drafted yet counts with its largest number of
    /// points.
    pub fn point_count(&self) -> usize {
        self.points.len() + self.phases.iter().map(Phase::room).sum::<usize>()
    }
}
