//! Opens the libraries of drivers.

use libloading::Library;
use std::error::Error as _;

/// Opens the library called `name`.
///
/// # Errors
/// There is no such library, or it lacks one that it needs: the loader's reason.
pub fn open_library(name: &str) -> Result<Library, String> {
    // SAFETY: the initialisers of a driver's library have no preconditions.
    let library = unsafe { Library::new(name) };
    // The error itself only says that the call failed.
    library.map_err(|why| why.source().map_or(why.to_string(), ToString::to_string))
}
