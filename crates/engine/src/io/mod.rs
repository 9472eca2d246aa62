//! Work on files and devices: which operations, when, and what they took. Method: docs/method/io.md.
//!
//! `walk` says which block comes next, `pace` when, `worker` does it for one thread; `real` and `device` are this machine
//! and a simulated one; `observe` puts the threads of a window together and `figures` the windows of a point.

mod content;
mod device;
mod figures;
mod observe;
mod pace;
mod real;
mod seeks;
mod target;
mod trace;
mod walk;
mod work;
mod worker;

pub use device::{SimulatedStorage, StorageModel};
pub use figures::{also, storage};
pub use observe::{COUNTED_WINDOWS, IoSeen};
pub use real::{Means, RealStorage, engine};
pub use seeks::by_distance;
pub use target::IoTarget;
pub use walk::Step;
pub use work::{Content, Flush, IoFile, IoWork, Order, Pace, Permission, Recording};
