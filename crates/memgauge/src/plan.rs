//! Makes the plan of a session from a request and a machine: points, their memory, the number of
//! samples, and the expected time.

#![forbid(unsafe_code)]

mod drafting;
mod estimate;
mod layout;
mod making;
mod pages;
mod phase;
mod point;
mod replay;
mod request;
mod schedule;
mod session_plan;
mod sizes;
mod words;

pub use drafting::{ResultsSoFar, draft_follow_up};
pub use making::make;
pub use phase::{Batch, Phase, Reserve, Room, open_rooms};
pub use point::PlannedPoint;
pub use replay::is_final;
pub use request::{LARGEST_MAX_POINTS, Request};
pub use schedule::{RemainingPoints, batches_of_phase, most_needed_first};
pub use session_plan::Plan;
pub use sizes::{Remaining, Resized, resized};
