//! How many pages do the TLBs cover, and what does a miss in each cost?
//!
//! Method and limits: docs/method/tlb.md.

mod analysis;
mod findings;
#[cfg(test)]
mod tests;

use crate::chains::{few_samples, line_of};
use crate::command::{CommandSettings, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::cpus::chosen_cpus;
use crate::experiment::{self, Bound, Detail, Draft, Experiment, Scope, axis};
use crate::lists::{Count, Density, PageModes, available};
use engine::{ChainShape, ChaseWork, MemoryPlan, Sampling, Work, lacking_pages, page_bytes};
use findings::{PACKED, SPREAD};
use host::memory::PageMode;
use kernels::chase_name;
use report::{Axis, Coordinates, Dataset, Finding, Outcome, Quantity};
use stats::derive;
use units::error::{Error, Result};
use units::{Bytes, CpuList, Nanos, read_like};

/// Which TLBs to look for, and how closely.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Pages: 4k (base pages), thp (transparent huge pages), huge (reserved huge pages), huge-1GiB
    /// (of one of several pools), best (the largest of these that there are) [default: all that
    /// there are]
    #[arg(long, value_name = "LIST")]
    pub pages: Option<PageModes>,

    /// Numbers of pages to try: low (2 per doubling), medium (4), high (8)
    #[arg(long, value_name = "DENSITY", default_value = "medium")]
    pub density: Density,

    /// The most pages to spread a chain over [default: 65536 base pages, 2048 larger ones]
    #[arg(long, value_name = "N", value_parser = read_like::<Count>("4096"))]
    pub max_pages: Option<Count>,

    /// CPUs to measure, one after another [default: the first that is allowed]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,
}

impl Effects for Settings {}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(Tlb::new(self))]
    }
}

/// Smallest measured number of pages, for pages below the size [`GIGANTIC`]. No first-level TLB is
/// known to have fewer entries for such pages.
const FEWEST: u64 = 8;

/// Chains in pages of at least this size start at [`FEWEST_GIGANTIC`] pages. The first-level TLB
/// has few entries for such pages (4 on many cores), and machines have few such pages.
const GIGANTIC: Bytes = Bytes(1 << 29);
/// Smallest number of pages of at least the size [`GIGANTIC`].
const FEWEST_GIGANTIC: u64 = 2;

/// Largest number of base pages by default. Second-level TLBs have up to 4096 entries, and further
/// levels show above that number.
const MAX_BASE: u64 = 65536;

/// By default, the base pages of a chain take at most this many bytes, for every size of base
/// pages.
const MAX_BASE_BYTES: u64 = 1 << 30;

/// Largest number of base pages in the default profile. This number exceeds the entries of every
/// second-level TLB.
const BRIEF_PAGES: u32 = 8192;
/// Number of rounds in the default profile.
const BRIEF_ROUNDS: u32 = 8;
/// Length of a sample in the default profile.
const BRIEF_SAMPLE: Nanos = Nanos(0.3e6);

/// Largest number of pages that are larger than base pages, by default: 4 GiB in pages of 2 MiB.
const MAX_LARGE: u64 = 2048;

/// The experiment `tlb`.
#[derive(Debug, Clone)]
pub struct Tlb {
    settings: Settings,
    /// Density for pages that are larger than base pages. Profiles use a lower density for larger
    /// pages, because most programs have base pages.
    large: Density,
    /// True in the default profile.
    brief: bool,
}

/// A number of pages of one kind, over which a chain is spread.
#[derive(Debug, Clone, Copy)]
struct PageSet {
    cpu: u32,
    pages: PageMode,
    page: Bytes,
    line: Bytes,
    entries: u64,
}

impl Tlb {
    /// The experiment with the settings of its own command.
    pub fn new(settings: Settings) -> Self {
        Self {
            large: settings.density,
            settings,
            brief: false,
        }
    }

    /// The experiment as part of a profile. `detail` decides which pages are measured, and how
    /// densely.
    pub fn in_profile(detail: Detail) -> Self {
        let brief = detail != Detail::Sweep;
        let density = if brief { Density::Low } else { Density::Medium };
        let pages = brief.then(|| PageModes(vec![PageMode::Base]));
        let max_pages = brief.then_some(Count(BRIEF_PAGES));
        Self {
            settings: Settings {
                pages,
                density,
                max_pages,
                cpus: None,
            },
            large: Density::Low,
            brief,
        }
    }

    /// Numbers of pages to try, for pages of `page` bytes.
    fn numbers(&self, pages: PageMode, page: Bytes) -> Result<Vec<u64>> {
        let most = match (self.settings.max_pages, pages) {
            (Some(Count(most)), _) if u64::from(most) < FEWEST => {
                return Err(Error::usage(format!(
                    "too few pages: {most}; a chain is spread over {FEWEST} pages or more; type \
                     --max-pages 4096"
                )));
            }
            (Some(Count(most)), _) => u64::from(most),
            (None, PageMode::Base) => (MAX_BASE_BYTES / page.0.max(1)).clamp(MAX_LARGE, MAX_BASE),
            (None, _) => MAX_LARGE,
        };
        let density = if pages == PageMode::Base {
            self.settings.density
        } else {
            self.large
        };
        let steps = density.steps();
        let first = if page >= GIGANTIC {
            FEWEST_GIGANTIC
        } else {
            FEWEST
        };
        let number =
            |i: u32| (first as f64 * (f64::from(i) / f64::from(steps)).exp2()).round() as u64;
        let mut numbers: Vec<u64> = (0..).map(number).take_while(|&n| n <= most).collect();
        numbers.dedup();
        Ok(numbers)
    }
}

impl PageSet {
    /// The works of the spread and of the packed chain. Each pass has its own random orders.
    fn works(&self, seed: u64, pass: u64) -> [ChaseWork; 2] {
        let PageSet {
            cpu,
            pages,
            page,
            line,
            entries,
        } = *self;
        let chain = |name: &str, bytes: Bytes, shape: ChainShape| {
            let seed = derive(seed, name, entries ^ (pass << 48));
            ChaseWork {
                pages,
                cpus: vec![cpu],
                shared: false,
                bytes,
                stride: line,
                shape,
                seed,
                walkers: 1,
                payload: false,
                node: None,
            }
        };
        [
            chain(
                SPREAD,
                Bytes(entries.saturating_mul(page.0)),
                ChainShape::OnePerPage(page),
            ),
            chain(
                PACKED,
                Bytes(entries.saturating_mul(line.0)),
                ChainShape::GlobalRandom,
            ),
        ]
    }

    /// Outcome of a point that cannot be measured here. The chain with one node in each page
    /// (`spread`) needs more memory, or more huge pages, than this machine has. `None` if it has both.
    fn known(&self, scope: &Scope<'_>, spread: &ChaseWork) -> Option<Outcome> {
        let facts = scope.facts();
        let spread = Work::Chase(spread.clone());
        let entries = self.entries;
        let page = self.page;
        let needed = MemoryPlan::for_works([&spread], facts, true).total();
        scope
            .no_room(needed, format_args!("{entries} pages of {page}"))
            .or_else(|| lacking_pages(&spread, facts))
    }

    /// Points of both chains in both passes. The chains of a pair are measured in succession.
    fn draft(&self, scope: &Scope<'_>) -> Vec<Draft> {
        let mut drafts = Vec::new();
        for pass in 0..2 {
            let works = self.works(scope.seed, pass);
            let known = self.known(scope, &works[0]);
            // When time is short, the chains with most memory are dropped first. Both chains of a
            // pair have the same priority.
            let drop_priority = 2 + works[0].bytes.0.max(1).ilog2() as u8;
            for (operation, work) in [SPREAD, PACKED].into_iter().zip(works) {
                let coordinates = self.coordinates(operation, pass, &work);
                let work = scope
                    .runnable(Work::Chase(work))
                    .and_then(|work| known.clone().map_or(Ok(work), Err));
                drafts.push(Draft {
                    coordinates,
                    work,
                    bound: Bound::Unknown,
                    drop_priority,
                });
            }
        }
        drafts
    }

    fn coordinates(&self, operation: &str, pass: u64, work: &ChaseWork) -> Coordinates {
        coordinates([
            ("operation", name(operation)),
            ("kernel", name(chase_name(1, false))),
            ("pages", name(self.pages)),
            ("entries", number(self.entries)),
            ("pass", number(pass)),
            ("size_bytes", number(work.bytes.0)),
            ("threads", number(1u64)),
            ("cpu", number(self.cpu)),
        ])
    }
}

impl Experiment for Tlb {
    fn name(&self) -> &'static str {
        "tlb"
    }

    fn quantity(&self) -> Quantity {
        experiment::latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "pages",
            "entries",
            "operation",
            "pass",
            "kernel",
            "threads",
            "cpu",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let facts = scope.facts();
        let modes = self
            .settings
            .pages
            .as_ref()
            .map_or_else(|| available(facts), |pages| pages.on(facts));
        let mut drafts = Vec::new();
        for cpu in chosen_cpus(self.settings.cpus.as_ref(), "--cpus", scope)? {
            let line = line_of(scope, cpu);
            for &pages in &modes {
                let page = page_bytes(pages, facts);
                for entries in self.numbers(pages, page)? {
                    drafts.extend(
                        PageSet {
                            cpu,
                            pages,
                            page,
                            line,
                            entries,
                        }
                        .draft(scope),
                    );
                    scope.room_for(drafts.len())?;
                }
            }
        }
        Ok(drafts)
    }

    fn is_auxiliary(&self) -> bool {
        true
    }

    /// Few samples are enough for a point, because a boundary comes from many points that agree. In
    /// the default profile, a sample has only hundreds of loads. Pauses for counter readings do not
    /// matter, because both chains pause equally often.
    fn sampling(&self, general: Sampling) -> Sampling {
        if self.brief {
            few_samples(general, 2, BRIEF_ROUNDS, BRIEF_SAMPLE)
        } else {
            few_samples(general, 4, 12, general.length)
        }
    }

    fn rebuilds_chains(&self) -> bool {
        true
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::findings(dataset)
    }
}
