//! Opens the libraries of drivers.

use libloading::Library;
use std::error::Error as _;

/// Opens the library called `name`.
///
/// # Errors
/// The library, or a library that it needs, does not exist. The text is the loader's reason.
pub fn open_library(name: &str) -> Result<Library, String> {
    // SAFETY: the initialisers of a driver's library have no preconditions.
    let library = unsafe { Library::new(name) };
    // The error itself only says that the call failed. Its source has the loader's reason.
    library.map_err(|why| why.source().map_or(why.to_string(), ToString::to_string))
}
