//! Options whose values are lists, and the thread counts that an option requests.

use crate::experiment::Scope;
use host::memory::PageMode;
use kernels::{
    CONTRACTS, CodeOrigin, Contract, Family, HandOff, Instruction, LockOperation, Operation,
    Timing, Width,
};
use report::HostFacts;
use std::fmt;
use std::str::FromStr;
use units::error::{Error, Result};
use units::{Bytes, ParseError, SizeList, ThreadCount, ThreadList, counted, parse_list};

/// Defines types for lists in options. The elements of a list are parsed one by one.
#[macro_export]
macro_rules! lists {
    ($($(#[$doc:meta])* $name:ident of $one:ty;)*) => {
        $($(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct $name(pub Vec<$one>);

        impl ::std::str::FromStr for $name {
            type Err = ::units::ParseError;

            fn from_str(text: &str) -> ::std::result::Result<Self, ::units::ParseError> {
                ::units::parse_list(text, str::parse).map($name)
            }
        })*
    };
}

lists! {
    /// Operations: `read`, `write,write-nt`, `read-best`.
    Operations of OperationSpec;
    /// Register widths: `512`, `128,256,best`, `avx2`.
    Widths of Width;
    /// Page modes: `4k`, `thp`, `huge`, or several.
    PageModes of PageMode;
    /// Instructions by name.
    Instructions of Instruction;
    /// Ways to time instructions.
    Timings of Timing;
    /// Operations on locks.
    LockOperations of LockOperation;
    /// Ways in which threads use cache lines: one shared line or separate lines.
    Lines of LineSharing;
    /// Orders of accesses.
    Orders of OrderKind;
    /// Orders of chains.
    ChainModes of ChainMode;
    /// Ways in which threads use chains: one chain for each thread, or one chain for all.
    Regions of Region;
    /// Orders in which threads are placed.
    Placements of Placement;
    /// Kernels of hand-offs.
    HandOffs of HandOff;
    /// Pairs of CPUs.
    Pairs of Pair;
    /// Quantities to measure between NUMA nodes.
    Quantities of Studied;
    /// Ways to spread memory over nodes.
    Interleavings of Spread;
}

/// Words that end a phrase about memory: ` for each of 4 threads`. Empty for one thread.
pub(super) fn for_each_thread(threads: u64) -> String {
    if threads == 1 {
        String::new()
    } else {
        format!(" for each of {threads} threads")
    }
}

/// Fails if `usable` bytes have no room for `threads` working sets of one of `sizes`. The error
/// names the first size that is too large.
pub(super) fn refuse_too_large(sizes: &SizeList, threads: u64, usable: Bytes) -> Result<()> {
    let fits = |size: &&Bytes| size.0.saturating_mul(threads) <= usable.0;
    match sizes.0.iter().find(|size| !fits(size)) {
        None => Ok(()),
        Some(size) => Err(Error::usage(format!(
            "too much memory: {size}{}; {usable} may be used; type smaller --sizes",
            for_each_thread(threads)
        ))),
    }
}

/// Kinds of pages that this machine has, smallest first. Reserved huge pages are included for each
/// pool that has a free page.
pub(super) fn available(facts: &HostFacts) -> Vec<PageMode> {
    let transparent = facts.pages.has_transparent() == Some(true);
    let pools = facts
        .pages
        .huge_pools
        .get()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let reserved = pools
        .iter()
        .filter(|pool| pool.free > 0)
        .map(|pool| PageMode::Pool(pool.size));
    let transparent = transparent.then_some(PageMode::Transparent);
    [PageMode::Base]
        .into_iter()
        .chain(transparent)
        .chain(reserved)
        .collect()
}

impl PageModes {
    /// The requested modes for a machine with these `facts`, with `best` replaced by the largest
    /// kind of pages. Use it in an experiment that needs the sizes of pages.
    pub(super) fn on(&self, facts: &HostFacts) -> Vec<PageMode> {
        let largest = || available(facts).pop().unwrap_or(PageMode::Base);
        self.0
            .iter()
            .map(|&mode| {
                if mode == PageMode::Best {
                    largest()
                } else {
                    mode
                }
            })
            .collect()
    }
}

/// A pair of CPUs. In `0:1`, CPU 0 starts every round trip. `0-1` requests two points, and each CPU
/// starts the round trips of one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// CPU that starts each round trip.
    pub from: u32,
    /// CPU that answers each round trip.
    pub to: u32,
    /// True if a second point is requested, in which `to` starts and `from` answers.
    pub both: bool,
}

impl FromStr for Pair {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(
                text,
                "a pair is two different cpus: 0-1, or 0:1 where only cpu 0 starts",
            )
            .with_example("0-1")
        };
        let both = text.contains('-');
        let (from, to) = text
            .split_once(if both { '-' } else { ':' })
            .ok_or_else(wrong)?;
        let cpu = |text: &str| text.trim().parse::<u32>().ok().filter(|&n| n < 1 << 20);
        let (from, to) = cpu(from)
            .zip(cpu(to))
            .filter(|(from, to)| from != to)
            .ok_or_else(wrong)?;
        Ok(Self { from, to, both })
    }
}

/// Whole numbers without a unit: `0,10`, `1..32`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counts(pub Vec<Count>);

impl FromStr for Counts {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        /// Largest number of members in a range. A longer range is probably a typing error.
        const LONGEST: u32 = 1000;
        let range = |text: &str| -> std::result::Result<Vec<Count>, ParseError> {
            let Some((first, last)) = text.split_once("..") else {
                return Ok(vec![text.parse()?]);
            };
            let Count(first) = first.parse()?;
            let Count(last) = last.parse()?;
            if first > last || last - first >= LONGEST {
                let allowed = format!("a range rises and has at most {LONGEST} members: 1..32");
                return Err(ParseError::new(text, allowed).with_example("1..32"));
            }
            Ok((first..=last).map(Count).collect())
        };
        parse_list(text, range).map(|lists| Counts(lists.concat()))
    }
}

/// A whole number without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Count(pub u32);

impl FromStr for Count {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        /// Largest accepted number. A larger number is probably a typing error.
        const MOST: u32 = 1_000_000;
        let number = text.trim().parse().ok().filter(|n| *n <= MOST);
        let wrong = || {
            ParseError::new(text.trim(), format!("a whole number from 0 to {MOST}"))
                .with_example("1")
        };
        number.map(Count).ok_or_else(wrong)
    }
}

/// A request for the bandwidth of one operation, or of the fastest kernel of its family.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum OperationSpec {
    /// This operation and no other.
    Exactly(Operation),
    /// The fastest kernel of the family that this operation represents: `read-best`.
    BestOf(Operation),
}

/// Names of families with several kernels, each with the operation that represents the family.
const FAMILIES: [(&str, Operation); 7] = [
    ("read-best", Operation::Read),
    ("write-best", Operation::Write),
    ("copy-best", Operation::Copy),
    ("touch-best", Operation::Touch),
    ("scale-best", Operation::Scale),
    ("add-best", Operation::Add),
    ("triad-best", Operation::Triad),
];

impl OperationSpec {
    /// The operation itself, or the operation that represents the family.
    pub fn operation(self) -> Operation {
        match self {
            OperationSpec::Exactly(operation) | OperationSpec::BestOf(operation) => operation,
        }
    }

    /// Number of streams that a working set is divided into. For a family, a number that suits all
    /// of its kernels.
    pub fn streams(self) -> u32 {
        let own = self.operation().contract();
        match self {
            OperationSpec::Exactly(_) => own.streams(),
            OperationSpec::BestOf(_) => {
                let same = |c: &&Contract| c.family == own.family && c.visits == own.visits;
                // Kernels have 1, 2, 3 or 4 streams, and within a family each number divides the
                // larger ones.
                CONTRACTS
                    .iter()
                    .filter(same)
                    .map(Contract::streams)
                    .max()
                    .unwrap_or(1)
            }
        }
    }

    /// Family of the operation.
    pub fn family(self) -> Family {
        self.operation().contract().family
    }
}

impl fmt::Display for OperationSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OperationSpec::Exactly(operation) => operation.fmt(f),
            OperationSpec::BestOf(operation) => f.pad(
                FAMILIES
                    .iter()
                    .find(|(_, o)| o == operation)
                    .map_or("best", |(name, _)| name),
            ),
        }
    }
}

impl FromStr for OperationSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> std::result::Result<Self, ParseError> {
        let text = text.trim();
        if let Some((_, operation)) = FAMILIES.iter().find(|(name, _)| *name == text) {
            return Ok(OperationSpec::BestOf(*operation));
        }
        let plain = || CONTRACTS.iter().filter(|c| !c.by_table());
        if let Some(contract) = plain().find(|c| c.name == text) {
            return Ok(OperationSpec::Exactly(contract.operation));
        }
        if text == "latency" {
            let wrong_experiment = "operations of a bandwidth move bytes; type memgauge latency, or \
                 memgauge run --ops read,write,copy,latency for both";
            return Err(ParseError::new(text, wrong_experiment));
        }
        let names: Vec<&str> = plain()
            .map(|c| c.name)
            .chain(FAMILIES.map(|(name, _)| name))
            .collect();
        Err(ParseError::unknown_name(text, &names, "operations"))
    }
}

/// True if the kernel of an operation is a function of the C library (a reference kernel).
pub fn is_reference_kernel(operation: Operation) -> bool {
    operation.contract().origin == CodeOrigin::CLibrary
}

/// Defines an enum. Each value has a name, as users type it, and a help text.
#[macro_export]
macro_rules! names {
    ($(#[$doc:meta])* $name:ident, $what:literal: $($variant:ident $text:literal $help:literal,)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $name {
            $(#[doc = $help] $variant,)*
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(match self { $($name::$variant => $text,)* })
            }
        }

        impl ::std::str::FromStr for $name {
            type Err = ::units::ParseError;

            fn from_str(text: &str) -> ::std::result::Result<Self, ::units::ParseError> {
                match text.trim() {
                    $($text => Ok($name::$variant),)*
                    other => Err(::units::ParseError::unknown_name(other, &[$($text),*], $what)),
                }
            }
        }
    };
}

names! {
    /// One cache line for all threads, or one line for each thread.
    LineSharing, "lines":
    Shared "shared" "All threads on one line.",
    Separate "separate" "Each thread on a line of its own.",
}

names! {
    /// One chain for all threads, or one chain for each thread.
    Region, "regions":
    Private "private" "Each thread a chain in memory of its own.",
    Shared "shared" "All threads one chain in the same memory.",
}

names! {
    /// Quantities that are measured between NUMA nodes.
    Studied, "quantities":
    Bandwidth "bandwidth" "Bytes per second of all threads of a node.",
    Latency "latency" "Time of a load that depends on the load before.",
}

names! {
    /// Ways to spread memory over NUMA nodes.
    Spread, "ways to interleave":
    Even "even" "A page from each node in turn.",
    Weighted "weighted" "Pages from each node by the administrator's weights.",
    None "none" "Not at all.",
}

names! {
    /// Order in which a window is visited.
    OrderKind, "orders":
    Forward "forward" "From low to high addresses.",
    Reverse "reverse" "From high to low addresses.",
    Strided "strided" "One line per stride, then the next line of each stride, until all were \
        visited.",
    Random "random" "Blocks in the order of a seeded permutation.",
    Indexed "indexed" "From low to high addresses, but by a table: what tables cost.",
}

names! {
    /// Order in which a chain visits its nodes.
    ChainMode, "chain modes":
    GlobalRandom "global-random" "All nodes in one random order.",
    RandomBox "random-box" "Window by window, windows and the nodes of each in random order.",
    SameRandomInBox "same-random-in-box" "Windows by rising address, the same random order inside \
         each.",
    DiffRandomInBox "diff-random-in-box" "Windows by rising address, a random order of its own \
         inside each.",
    Sequential "sequential" "By rising address.",
}

/// Requested thread counts on the CPUs of the session, in rising order, each once. Fails on `best`,
/// which only some experiments support, and on more threads than CPUs.
pub fn thread_counts(list: &ThreadList, scope: &Scope<'_>) -> Result<Vec<usize>> {
    thread_counts_on(list, scope.cpus)
}

/// Requested thread counts on `cpus`, see [`thread_counts`].
pub fn thread_counts_on(list: &ThreadList, cpus: &[u32]) -> Result<Vec<usize>> {
    if list.0.contains(&ThreadCount::Best) {
        return Err(Error::usage(
            "thread count not possible: best; only memgauge bandwidth lets counts race; type \
             --threads all",
        ));
    }
    fixed_thread_counts(list, cpus)
}

/// Requested thread counts on `cpus`, in rising order, each once; `best` is left out. Fails on more
/// threads than CPUs.
pub fn fixed_thread_counts(list: &ThreadList, cpus: &[u32]) -> Result<Vec<usize>> {
    let available = cpus.len();
    let mut counts: Vec<usize> = list.0.iter().filter_map(|t| t.resolve(available)).collect();
    counts.sort_unstable();
    counts.dedup();
    // The error names the largest count. Lower counts may come from a range, so the user may not
    // have typed them.
    match counts.last().filter(|&&n| n > available) {
        Some(n) => Err(Error::usage(format!(
            "too many threads: {n}; {} may be used, one thread on each; type --threads all",
            counted(available, "CPU")
        ))),
        None => Ok(counts),
    }
}

names! {
    /// Order in which threads are placed on CPUs.
    Placement, "placements":
    Spread "spread" "One in each socket, node, cluster and core first, threads of one core last.",
    Compact "compact" "The next one as near to the last as can be.",
}

names! {
    /// Number of sizes, or of numbers of pages, that are measured in each doubling.
    Density, "densities":
    Low "low" "2 places in each doubling.",
    Medium "medium" "4 places in each doubling.",
    High "high" "8 places in each doubling.",
}

impl Density {
    /// Number of sizes, or of numbers of pages, that are measured in each doubling.
    pub fn steps(self) -> u32 {
        match self {
            Density::Low => 2,
            Density::Medium => 4,
            Density::High => 8,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_threads_than_cpus_are_refused_with_the_number_of_cpus() {
        let two = "2".parse().unwrap();
        assert_eq!(fixed_thread_counts(&two, &[0, 5]), Ok(vec![2]));
        let refused = fixed_thread_counts(&two, &[5]).unwrap_err().to_string();
        assert!(refused.contains("1 CPU may be used"), "{refused}");
    }

    #[test]
    fn what_is_requested_is_read_as_it_is_printed() {
        let exactly = CONTRACTS
            .iter()
            .filter(|c| !c.by_table())
            .map(|c| OperationSpec::Exactly(c.operation));
        for requested in exactly.chain(FAMILIES.map(|(_, o)| OperationSpec::BestOf(o))) {
            assert_eq!(requested.to_string().parse(), Ok(requested));
        }
        for no in ["read-lines", "copy-chunks", "best", "", "Read"] {
            assert!(no.parse::<OperationSpec>().is_err(), "{no}");
        }
    }

    #[test]
    fn a_family_takes_whole_blocks_of_every_member() {
        for (_, operation) in FAMILIES {
            let requested = OperationSpec::BestOf(operation);
            for contract in CONTRACTS
                .iter()
                .filter(|c| c.family == requested.family() && !c.by_table())
            {
                assert!(
                    requested.streams().is_multiple_of(contract.streams()),
                    "{}",
                    contract.name
                );
            }
        }
        assert_eq!(
            (
                OperationSpec::BestOf(Operation::Read).streams(),
                OperationSpec::Exactly(Operation::Read).streams()
            ),
            (4, 1)
        );
    }

    #[test]
    fn pairs_of_cpus() {
        let pair = |from, to, both| Pair { from, to, both };
        assert_eq!(
            "0-1, 3:2".parse(),
            Ok(Pairs(vec![pair(0, 1, true), pair(3, 2, false)]))
        );
        for no in [
            "",
            "0",
            "0-0",
            "1:1",
            "0-",
            "-1",
            "0-1-2",
            "0:1:2",
            "0-1:2",
            "a-b",
            "0-99999999",
            "0-1,",
        ] {
            assert!(no.parse::<Pairs>().is_err(), "{no}");
        }
    }

    #[test]
    fn timings_and_counts() {
        assert_eq!(
            "latency,throughput".parse(),
            Ok(Timings(vec![Timing::Latency, Timing::Throughput]))
        );
        assert_eq!("0,10".parse(), Ok(Counts(vec![Count(0), Count(10)])));
        assert_eq!(
            "7,1..3".parse(),
            Ok(Counts([7, 1, 2, 3].map(Count).to_vec()))
        );
        for no in [
            "-1", "1e3", "", "1000001", "1,", "3..1", "1..", "..2", "0..1000",
        ] {
            assert!(no.parse::<Counts>().is_err(), "{no}");
        }
    }
}
