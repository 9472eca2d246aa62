//! Work on files and devices: which operations, when, and what they took. Method:
//! docs/method/io.md.
//!
//! `walk` says which block comes next, `pace` when, `worker` does it for one thread; `observe` puts
//! the threads of a window together and `figures` the windows of a point.

pub mod content;
pub mod figures;
pub mod observe;
pub mod pace;
pub mod seeks;
pub mod target;
pub mod trace;
pub mod walk;
pub mod work;
pub mod worker;

pub use figures::{also, storage};
pub use observe::{COUNTED_WINDOWS, IoSeen};
pub use seeks::by_distance;
pub use target::IoTarget;
pub use walk::Step;
pub use work::{Content, Flush, IoFile, IoWork, Order, Pace, Permission, Recording};
