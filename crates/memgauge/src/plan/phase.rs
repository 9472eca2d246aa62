//! Phases of a session: points that are drafted together, and the memory that they share.

use super::{LARGEST_MAX_POINTS, Request};
use engine::MemoryPlan;
use report::{Coordinate, PhaseId, PhaseRoom};
use units::{Bytes, Nanos};

/// Points that are drafted together. The points of a follow-up are known after the phases before
/// it; until then a reserve keeps time and memory for them.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// Identity of the phase, as the journal records it.
    pub id: PhaseId,
    /// Points with their memory, in the order of measurement; empty until the phase is drafted.
    pub batches: Vec<Batch>,
    /// Time and memory for the points of a follow-up; `None` for a phase that is drafted.
    pub reserve: Option<Reserve>,
}

/// Points whose memory is mapped at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// The memory.
    pub memory: MemoryPlan,
    /// Positions in the plan's points.
    pub points: Vec<usize>,
    /// True if all chains share the memory of the largest and are built again in each round. This
    /// is so if they do not fit side by side, or would take far more memory.
    pub chains_share: bool,
    /// True if fresh memory can be mapped before the old memory is released.
    pub keep_old: bool,
    /// Expected time.
    pub estimate: Nanos,
}

impl Batch {
    /// Largest memory mapped at the same time with this number of allocations.
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
    /// Largest numbers of points, by experiment and repeat.
    pub rooms: Vec<Room>,
    /// Largest memory mapped at the same time.
    pub memory: Bytes,
    /// Rounds of all points.
    pub rounds: u64,
    /// Expected time.
    pub estimate: Nanos,
}

/// Largest number of follow-up points of an experiment in one repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Room {
    /// Number of the follow-up.
    pub follow_up: usize,
    /// Position of the experiment in the request.
    pub experiment: usize,
    /// Coordinate of the repeat; `None` if the session has no repeats.
    pub repeat: Option<Coordinate>,
    /// Largest number of points.
    pub points: usize,
}

impl Room {
    /// This limit on the follow-up points, in the form that the journal and the report store.
    pub fn to_record(&self, request: &Request) -> PhaseRoom {
        PhaseRoom {
            experiment: request.experiments[self.experiment].name().to_owned(),
            repeat: self.repeat.clone(),
            points: self.points as u64,
        }
    }

    /// Reads a recorded room of a follow-up; `None` if the request lacks its experiment.
    pub fn from_record(room: &PhaseRoom, follow_up: usize, request: &Request) -> Option<Self> {
        let named = |name: &str| request.experiments.iter().position(|e| e.name() == name);
        Some(Self {
            follow_up,
            experiment: named(&room.experiment)?,
            repeat: room.repeat.clone(),
            // A damaged file cannot request more points than the command line can.
            points: usize::try_from(room.points).ok()?.min(LARGEST_MAX_POINTS),
        })
    }
}

impl Phase {
    /// Expected time.
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

    /// Largest memory mapped at the same time with this number of allocations.
    pub fn most_memory(&self, reallocate: u32) -> Bytes {
        let batches = self
            .batches
            .iter()
            .map(|batch| batch.most_memory(reallocate));
        let reserved = self.reserve.as_ref().map(|reserve| reserve.memory);
        batches.chain(reserved).max().unwrap_or_default()
    }

    /// Rooms of a follow-up that is not drafted yet.
    pub fn rooms(&self) -> &[Room] {
        self.reserve
            .as_ref()
            .map_or(&[], |reserve| reserve.rooms.as_slice())
    }

    /// Largest number of points of the phase before it is drafted.
    pub fn room(&self) -> usize {
        self.rooms().iter().map(|room| room.points).sum()
    }
}

/// Rooms of all follow-ups that are not drafted yet.
pub fn open_rooms<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> Vec<Room> {
    phases.into_iter().flat_map(Phase::rooms).cloned().collect()
}
