//! Phases of a session: points that are drafted together, and the memory that they share.

use super::Request;
use engine::MemoryPlan;
use report::{Coordinate, PhaseId, PhaseRoom};
use units::{Bytes, Nanos};

/// Points that are drafted together. Those of a follow-up are known when the phases before it are
/// measured: until then a reserve keeps time and memory free for them.
#[derive(Debug, Clone, PartialEq)]
pub struct Phase {
    /// What drafts it.
    pub id: PhaseId,
    /// Its points, in the order of measurement; none until it is drafted.
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
    /// Whether chains are built anew each round, because all of them do not fit at once or would
    /// take far more memory than the largest.
    pub chains_share: bool,
    /// Whether fresh memory can be mapped before the old is given up.
    pub beside: bool,
    /// Expected time.
    pub estimate: Nanos,
}

impl Batch {
    /// Memory mapped at the same time, at most, with this number of allocations.
    pub fn most_memory(&self, reallocate: u32) -> Bytes {
        let one = self.memory.total();
        if self.beside && reallocate > 1 {
            one + one
        } else {
            one
        }
    }
}

/// Time and memory that are kept free for a follow-up.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reserve {
    /// Room for points, by experiment and repeat.
    pub rooms: Vec<Room>,
    /// Memory mapped at the same time, at most.
    pub memory: Bytes,
    /// Rounds of all points.
    pub rounds: u64,
    /// Expected time.
    pub estimate: Nanos,
}

/// Room for points of an experiment in one repeat.
#[derive(Debug, Clone, PartialEq)]
pub struct Room {
    /// Position of the experiment in the request.
    pub experiment: usize,
    /// The coordinate of the repeat; `None` where there is one only.
    pub repeat: Option<Coordinate>,
    /// Number of points, at most.
    pub points: usize,
}

impl Room {
    /// The same as a phase is recorded with it.
    pub fn recorded(&self, request: &Request) -> PhaseRoom {
        PhaseRoom {
            experiment: request.experiments[self.experiment].name().to_owned(),
            repeat: self.repeat.clone(),
            points: self.points as u64,
        }
    }

    /// The room that a phase is recorded with; `None` where the request lacks its experiment.
    pub fn of_record(room: &PhaseRoom, request: &Request) -> Option<Self> {
        let named = |name: &str| request.experiments.iter().position(|e| e.name() == name);
        Some(Self {
            experiment: named(&room.experiment)?,
            repeat: room.repeat.clone(),
            points: usize::try_from(room.points).ok()?,
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

    /// Memory mapped at the same time, at most, with this number of allocations.
    pub fn most_memory(&self, reallocate: u32) -> Bytes {
        let batches = self
            .batches
            .iter()
            .map(|batch| batch.most_memory(reallocate));
        let reserved = self.reserve.as_ref().map(|reserve| reserve.memory);
        batches.chain(reserved).max().unwrap_or_default()
    }

    /// Number of points that there is room for while the phase is not drafted.
    pub fn room(&self) -> usize {
        let rooms = self.reserve.iter().flat_map(|reserve| &reserve.rooms);
        rooms.map(|room| room.points).sum()
    }
}

/// The rooms of the follow-ups that are not drafted yet, each with the number of its follow-up.
pub fn open_rooms<'a>(phases: impl IntoIterator<Item = &'a Phase>) -> Vec<(usize, Room)> {
    let rooms = phases.into_iter().flat_map(|phase| {
        let follow_up = phase
            .id
            .follow_up
            .and_then(|number| usize::try_from(number).ok());
        let reserved = phase.reserve.iter().flat_map(|reserve| &reserve.rooms);
        reserved.filter_map(move |room| Some((follow_up?, room.clone())))
    });
    rooms.collect()
}
