//! Kinds of pages that can be requested.

use std::fmt;
use std::str::FromStr;
use units::{Bytes, ParseError};

/// Kind of pages to request from the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageMode {
    /// Base pages only, whatever their size is on the machine: `4k`.
    Base,
    /// Transparent huge pages, as far as the system grants them: `thp`.
    Transparent,
    /// Pages from the pool reserved by the administrator; from the pool with the smallest pages if
    /// there are several: `huge`.
    Huge,
    /// Pages of this size from the pool reserved by the administrator: `huge-1GiB`.
    Pool(Bytes),
    /// The first of three kinds that the machine has for a working set: reserved huge pages,
    /// transparent huge pages, base pages. A plan replaces this mode by the kind that it finds:
    /// `best`.
    Best,
}

/// Prefix of the page size of a pool.
const POOL: &str = "huge-";

/// Possible page sizes of pools, in bytes. Smaller pages are not huge, larger ones do not exist.
const POOL_PAGES: std::ops::RangeInclusive<u64> = 1 << 14..=1 << 40;

impl PageMode {
    /// All modes without a page size. Modes with smaller pages are first, and [`PageMode::Best`] is
    /// last.
    pub const ALL: [PageMode; 4] = [
        PageMode::Base,
        PageMode::Transparent,
        PageMode::Huge,
        PageMode::Best,
    ];

    /// True if the pages come from a pool that the administrator reserved.
    pub fn is_reserved(self) -> bool {
        matches!(self, PageMode::Huge | PageMode::Pool(_))
    }
}

impl fmt::Display for PageMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageMode::Base => f.pad("4k"),
            PageMode::Transparent => f.pad("thp"),
            PageMode::Huge => f.pad("huge"),
            PageMode::Best => f.pad("best"),
            PageMode::Pool(size) => f.pad(&format!("{POOL}{size}").replace(' ', "")),
        }
    }
}

impl FromStr for PageMode {
    type Err = ParseError;

    /// Parses the text that `Display` writes, in upper or lower case.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let name = text.trim().to_ascii_lowercase();
        let of_pool = || {
            let size: Bytes = name.strip_prefix(POOL)?.parse().ok()?;
            (size.0.is_power_of_two() && POOL_PAGES.contains(&size.0))
                .then_some(PageMode::Pool(size))
        };
        PageMode::ALL
            .into_iter()
            .find(|mode| mode.to_string() == name)
            .or_else(of_pool)
            .ok_or_else(|| {
                let allowed = "pages are 4k (base pages), thp (transparent huge pages), huge \
                 (reserved ones), of one of several pools huge-2MiB, huge-1GiB, or best (the \
                 largest of these that there are)";
                ParseError::new(text, allowed).with_example("4k")
            })
    }
}
