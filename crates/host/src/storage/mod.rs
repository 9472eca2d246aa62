//! Storage: files and block devices opened safely, and the ways to move blocks to and from them.
//!
//! A [`Target`] is an opened file or device with what is known of it, an [`IoEngine`] carries
//! requests out on behalf of one thread, [`IO_ENGINES`] lists the engines there are. [`Pattern`]
//! makes data that can be told apart and verified, [`Faulty`] makes any engine fail on purpose.

mod buffers;
mod engine;
mod faults;
mod mmap;
mod null;
mod pattern;
mod ready;
mod sync;
mod table;
mod targets;

#[cfg(test)]
mod tests;

pub use buffers::IoBuffers;
pub use engine::{
    EngineSettings, INVALID, IO_ERROR, IoCompletion, IoEngine, IoRequest, LONGEST_WAIT, Transfer,
};
pub use faults::{Faults, Faulty};
pub use pattern::{Filler, Mismatch, Nature, Pattern};
pub use targets::{Access, Direct, Opening, Target, TargetKind, check_creation, is_named};

pub use table::{EngineRow, IO_ENGINES, OpenEngine, engine_named, nearest_available};

pub(crate) use ready::{Admission, Ready};
pub(crate) use sync::{number_of, synchronize};
