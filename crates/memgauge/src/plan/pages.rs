//! Pages of a point, and the outcome of points whose pages do not exist.

use engine::{Work, lacking_pages};
use experiments::Draft;
use host::memory::PageMode;
use report::{Coordinate, HostFacts};

/// Kinds of pages that `best` stands for, the most preferred first.
const BEST: [PageMode; 3] = [PageMode::Huge, PageMode::Transparent, PageMode::Base];

/// Returns `draft` with a kind of pages that this machine has. On a system without transparent huge
/// pages, `thp` becomes `4k`. `best` becomes the first kind of [`BEST`] that the machine has for
/// the working set of the draft. If there are no reserved pages for the work, the draft gets an
/// outcome with the reason.
pub(super) fn settled(mut draft: Draft, facts: &HostFacts) -> Draft {
    let Ok(work) = &draft.work else { return draft };
    // A system without transparent huge pages would map base pages for `thp`.
    let none = work.pages() == Some(PageMode::Transparent) && facts.pages.lacks_transparent();
    if none || work.pages() == Some(PageMode::Best) {
        let pages = if none {
            PageMode::Base
        } else {
            best(work, facts)
        };
        let name = Coordinate::Name(pages.to_string());
        draft.coordinates.insert("pages".to_owned(), name);
        draft.work = Ok(work.in_pages(pages));
    } else if let Some(outcome) = lacking_pages(work, facts) {
        draft.work = Err(outcome);
    }
    draft
}

/// The first kind of pages in [`BEST`] that the machine has for `work`.
fn best(work: &Work, facts: &HostFacts) -> PageMode {
    let has = |pages: &PageMode| match pages {
        PageMode::Transparent => facts.pages.has_transparent() != Some(false),
        // If the system does not report its pool of huge pages, the pool counts as empty.
        PageMode::Huge => {
            facts.pages.huge_pools.get().is_some()
                && lacking_pages(&work.in_pages(*pages), facts).is_none()
        }
        _ => true,
    };
    BEST.into_iter().find(has).unwrap_or(PageMode::Base)
}
