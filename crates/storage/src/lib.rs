//! Measures operations on files and block devices. docs/method/io.md describes the method.
//!
//! `walk` chooses the next block, `pace` the time of each operation, and `worker` executes the
//! operations of one thread. `observe` combines the results of all threads of a window, and
//! `figures` the windows of a point. `runner` executes works with the engines of [`host::storage`].
//! `experiment` drafts the points. The engine knows this work only as [`engine::ExternalWork`].

#![forbid(unsafe_code)]

pub mod content;
mod experiment;
mod external;
pub mod figures;
pub mod observe;
pub mod pace;
mod runner;
pub mod seeks;
pub mod target;
mod trace;
pub mod walk;
pub mod work;
pub mod worker;

pub use experiment::{
    BlockOrder, Direction, EngineName, FileLookup, Position, Rate, Recorded, STORAGE_EXPERIMENT,
    Settings, Storage, Timing, WriteShare, parse_trace,
};
pub use observe::{COUNTED_WINDOWS, StorageWindow};
pub use runner::{StorageRunner, lookup};
pub use target::IoTarget;
pub use work::{Content, Flush, IoFile, IoWork, Order, Pace, Permission, Recording, Step};
