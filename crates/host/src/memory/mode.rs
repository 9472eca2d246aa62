//! The pages to ask the system for.

use std::fmt;
use std::str::FromStr;
use units::{Bytes, ParseError};

/// The pages to ask the system for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageMode {
    /// Base pages, no larger ones even where the system would like to: `4k`, whatever their size
    /// is.
    Base,
    /// Transparent huge pages, as far as the system grants them: `thp`.
    Transparent,
    /// Pages from the pool reserved by the administrator, the one of the smallest pages where there
    /// are several: `huge`.
    Huge,
    /// Pages of this size from the pool reserved by the administrator: `huge-1GiB`.
    Pool(Bytes),
    /// The first of reserved huge pages, transparent huge pages and base pages that the machine has
    /// for a working set: `best`. A plan puts one of these in its place.
    Best,
}

/// Prefix of the page size of a pool.
const POOL: &str = "huge-";

/// Smaller pages are no huge ones anywhere, larger ones are not made.
const POOL_PAGES: std::ops::RangeInclusive<u64> = 1 << 14..=1 << 40;

impl PageMode {
    /// The modes that do not name a size, smallest pages first.
    pub const ALL: [PageMode; 4] = [
        PageMode::Base,
        PageMode::Transparent,
        PageMode::Huge,
        PageMode::Best,
    ];

    /// Whether the pages come from a pool that the administrator reserved.
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

    /// Reads what is displayed, upper or lower case.
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
