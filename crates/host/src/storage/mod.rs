//! Storage: opens files and block devices safely, and provides engines that transfer blocks.
//!
//! A [`Target`] is an opened file or device with facts about it. An [`IoEngine`] carries out the
//! requests of one thread, and [`IO_ENGINES`] lists all engines. [`Pattern`] generates data that
//! can be verified, and [`Faulty`] injects faults into any engine.

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
