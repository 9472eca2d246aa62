//! Phases of a session: points that are drafted together, and the memory that they share.

use super::{LARGEST_MAX_POINTS, Request};
use engine::MemoryPlan;
use report::{Coordinate, PhaseId, PhaseRoom};
use units::{Bytes, Nanos};

/// Points that are drafted together. The points of a follow-up become known when earlier phases are
/// measured. Until then the `reserve` of the follow-up holds time and memory for its points.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Identity of the phase, as the journal records it.
    pub id: PhaseId,
    /// Points with their memory, in the order of measurement; empty until the phase is drafted.
    pub batches: Vec<Batch>,
    /// Time and memory for the points of a follow-up; `None` once the phase is drafted.
    pub reserve: Option<Reserve>,
}

/// Points whose memory is mapped together.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Memory that all points of the batch share.
    pub memory: MemoryPlan,
    /// Indices of the points in the plan's list of points.
    pub points: Vec<usize>,
    /// True if all chains share the memory of the largest chain and are built again in each round.
    /// This saves memory if the chains together would need too much.
    pub chains_share: bool,
    /// True if there is enough memory to map a second allocation before the first one is released.
    pub keep_old: bool,
    /// Expected time of mapping the memory and measuring the points.
    pub estimate: Nanos,
}

impl Batch {
    /// Largest number of bytes mapped at the same time, if the rounds are spread over `reallocate`
    /// successive allocations.
    pub fn most_memory(&self, reallocate: u32) -> Bytes {
        let one = self.memory.total();
        if self.keep_old && reallocate > 1 {
            one + one
        } else {
            one
        }
    }
}

/// Time and memory reserved for a follow-up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reserve {
    /// Largest number of points for each experiment and repeat.
    pub rooms: Vec<Room>,
    /// Largest memory of a batch of follow-up points.
    pub memory: Bytes,
    /// Number of rounds of all follow-up points together.
    pub rounds: u64,
    /// Expected time of the follow-up points.
    pub estimate: Nanos,
}

/// Limit on the number of follow-up points of an experiment in one repetition.
#[derive(Debug, Clone, PartialEq)]
pub struct Room {
    /// Number of the follow-up.
    pub follow_up: usize,
    /// Position of the experiment in the request.
    pub experiment: usize,
    /// Coordinate of the repetition; `None` if the session measures everything once.
    pub repeat: Option<Coordinate>,
    /// Largest number of points.
    pub points: usize,
}

impl Room {
    /// Converts this limit to the form that journal and report store.
    pub fn to_record(&self, request: &Request) -> PhaseRoom {
        PhaseRoom {
            experiment: request.experiments[self.experiment].name().to_owned(),
            repeat: self.repeat.clone(),
            points: self.points as u64,
        }
    }

    /// Makes a limit from its stored form. `None` if the request lacks the experiment of the limit.
    pub fn from_record(room: &PhaseRoom, follow_up: usize, request: &Request) -> Option<Self> {
        let named = |name: &str| request.experiments.iter().position(|e| e.name() == name);
        Some(Self {
            follow_up,
            experiment: named(&room.experiment)?,
            repeat: room.repeat.clone(),
            // The number is capped, because the stored file may be damaged.
            points: usize::try_from(room.points).ok()?.min(LARGEST_MAX_POINTS),
        })
    }
}

impl Phase {
    /// Expected time of the phase: the time of its batches, or the reserved time.
    pub fn estimate(&self) -> Nanos {
        let batches = self
            .batches
            .iter()
            .map(|batch| batch.estimate)
            .sum::<Nanos>();
        self.reserve
            .as_ref()
            .map_or(batches, |reserve| reserve.estimate)
    }

    /// Largest number of bytes mapped at the same time, if the rounds are spread over `reallocate`
    /// successive allocations.
    pub fn most_memory(&self, reallocate: u32) -> Bytes {
        let batches = self
            .batches
            .iter()
            .map(|batch| batch.most_memory(reallocate));
        let reserved = self.reserve.as_ref().map(|reserve| reserve.memory);
        batches.chain(reserved).max().unwrap_or_default()
    }

    /// Limits of a follow-up that is not drafted yet; empty for other phases.
    pub fn rooms(&self) -> &[Room] {
        self.reserve
            .as_ref()
            .map_or(&[], |reserve| reserve.rooms.as_slice())
    }

    /// Largest number of points that the phase can still draft; 0 unless it is a follow-up that is
    /// not drafted yet.
    pub fn room(&self) -> usize {
        self.rooms().iter().map(|room| room.points).sum()
    }
}

/// Limits of all follow-ups in `phases` that are not drafted yet.
pub fn open_rooms<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> Vec<Room> {
    phases.into_iter().flat_map(Phase::rooms).cloned().collect()
}
