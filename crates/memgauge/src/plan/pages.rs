//! Pages of a point, and the outcome of points whose pages do not exist.

use engine::{Work, lacking_pages};
use experiments::Draft;
use host::memory::PageMode;
use report::{Coordinate, HostFacts};

/// Kinds of pages that `best` stands for, in order of preference.
const BEST: [PageMode; 3] = [PageMode::Huge, PageMode::Transparent, PageMode::Base];

/// `draft` with pages that this machine has. On a system without transparent huge pages, `thp`
/// becomes `4k`. `best` becomes the first kind that exists for its
/// working set. Work whose reserved pages do not exist gets an outcome with the reason.
pub(super) fn settled(mut draft: Draft, facts: &HostFacts) -> Draft {
    let Ok(work) = &draft.work else { return draft };
    // A system without transparent huge pages gives base pages to who asks for them.
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

/// The first kind of pages that the machine has for `work`.
fn best(work: &Work, facts: &HostFacts) -> PageMode {
    let has = |pages: &PageMode| match pages {
        PageMode::Transparent => facts.pages.has_transparent() != Some(false),
        // A pool that the system does not report does not count.
        PageMode::Huge => {
            facts.pages.huge_pools.get().is_some()
                && lacking_pages(&work.in_pages(*pages), facts).is_none()
        }
        _ => true,
    };
    BEST.into_iter().find(has).unwrap_or(PageMode::Base)
}
