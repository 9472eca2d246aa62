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
    /// Every point that is drafted, in the order of tables. Its number is its position.
    pub points: Vec<PlannedPoint>,
    /// The phases of the session, one after another.
    pub phases: Vec<Phase>,
    /// How points are sampled where their experiment has no way of its own.
    pub sampling: Sampling,
    /// Expected time.
    pub estimate: Nanos,
    /// Rate at which fresh memory becomes usable.
    pub fault: BytesPerSecond,
    /// Parts that were shortened or left out, in words.
    pub shortened: Vec<String>,
    /// Differences between points and request, in words.
    pub adjusted: Vec<String>,
    /// The phases that the session which this plan continues drafted from measured points.
    pub drafted: Vec<DraftedPhase>,
}

impl Plan {
    /// How points are sampled, in the way of their experiment where there is only one.
    pub fn sampling_shown(&self) -> Sampling {
        sampling_shown(&self.request, &self.points, &self.sampling)
    }

    /// How `point` is sampled.
    pub fn sampling_of(&self, point: &PlannedPoint) -> Sampling {
        self.request.sampling_of(point, &self.sampling)
    }

    /// Memory mapped at the same time, at most.
    pub fn memory(&self) -> Bytes {
        let reallocate = self.request.reallocate;
        let phases = self
            .phases
            .iter()
            .map(|phase| phase.most_memory(reallocate));
        phases.max().unwrap_or_default()
    }

    /// The batches of all phases that are drafted, one after another.
    pub fn batches(&self) -> impl Iterator<Item = &Batch> {
        self.phases.iter().flat_map(|phase| &phase.batches)
    }

    /// Number of points, with those that follow-ups have room for.
    pub fn point_count(&self) -> usize {
        self.points.len() + self.phases.iter().map(Phase::room).sum::<usize>()
    }
}
