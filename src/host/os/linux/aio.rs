//! Linux native asynchronous I/O.

pub use crate::host::os::plain_files::{native_aio_availability, open_native_aio};
