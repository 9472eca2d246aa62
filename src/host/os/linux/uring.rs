//! Linux io_uring.

pub use crate::host::os::plain_files::{io_uring_availability, open_io_uring};
