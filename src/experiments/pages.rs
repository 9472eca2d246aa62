//! The list of page modes as an option.

use crate::host::memory::PageMode;
use crate::units::{ParseError, parse_list};
use std::str::FromStr;

/// Page modes: `4k`, `thp`, `huge`, or several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageModes(pub Vec<PageMode>);

impl FromStr for PageModes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_list(text, str::parse).map(PageModes)
    }
}
