//! What there is: the machine as its system describes it.

mod files;

pub use files::SystemFiles;
pub(crate) use files::{field, kilobytes};
