//! Page evidence: reads the sizes and nodes of a window's pages back from the system.

use super::PageMode;
use crate::facts::{SystemFiles, field, kilobytes};
use crate::os;
use std::collections::BTreeMap;
use std::ops::Range;
use units::Bytes;

/// Page evidence of a window. `None` in a field means that the system does not report it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageReading {
    /// Share (0 to 1) of the resident memory that is in pages of the requested size.
    pub granted_share: Option<f64>,
    /// Size of the pages in which most of the resident memory is.
    pub granted_bytes: Option<Bytes>,
    /// Share (0 to 1) of the window that is resident. The shared page of zeros does not count.
    pub resident_share: Option<f64>,
    /// True if no part of the window is mapped to the system's shared page of zeros.
    pub non_zero: Option<bool>,
    /// NUMA nodes of the sampled pages, in rising order.
    pub nodes: Option<Vec<u32>>,
    /// Number of sampled pages on each NUMA node.
    pub pages_by_node: Option<BTreeMap<u32, u64>>,
    /// In words: which evidence is missing and why, and which evidence covers more than the window.
    pub unchecked: Vec<String>,
}

/// The window to inspect.
pub(super) struct ReadingRequest {
    /// Addresses of the window.
    pub window: Range<usize>,
    /// Addresses of the whole mapping. Because of the guards, its entry in smaps covers no other
    /// memory.
    pub mapping: Range<usize>,
    /// Requested kind of pages.
    pub mode: PageMode,
    /// Size of a huge page; 0 if no huge pages were requested.
    pub huge: u64,
}

/// Residency of a window. `resident` is the share of the window that is resident. `huge` is the
/// share of the resident memory that is in huge pages. `non_zero` is true if no part of the window
/// is mapped to the shared page of zeros. `None` means unknown.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ResidentShare {
    resident: Option<f64>,
    huge: Option<f64>,
    non_zero: Option<bool>,
}

/// Reads the page evidence from the best available source: page tables, else smaps and mincore.
pub(super) fn read(requested: &ReadingRequest, node_samples: usize) -> PageReading {
    let mut unchecked = Vec::new();
    let share = from_page_tables(requested, &mut unchecked).unwrap_or_else(|| ResidentShare {
        resident: resident_share(requested, &mut unchecked),
        huge: huge_share_of_smaps(requested, &SystemFiles::real(), &mut unchecked),
        non_zero: None,
    });
    let base = os::page_size() as u64;
    let granted_bytes = match share.huge {
        Some(huge) if huge > 0.5 && requested.mode != PageMode::Base => Some(Bytes(requested.huge)),
        // The system granted huge pages without a request, so their size is unknown.
        Some(huge) if huge > 0.5 => None,
        Some(_) => Some(Bytes(base)),
        None => None,
    };
    let pages_by_node = nodes(requested, node_samples, &mut unchecked);
    PageReading {
        granted_share: share.huge.map(|huge| {
            if requested.mode == PageMode::Base {
                1.0 - huge
            } else {
                huge
            }
        }),
        granted_bytes,
        resident_share: share.resident,
        non_zero: share.non_zero,
        nodes: pages_by_node
            .as_ref()
            .map(|pages| pages.keys().copied().collect()),
        pages_by_node,
        unchecked,
    }
}

/// The addresses of all pages that the window touches.
fn pages_of(window: &Range<usize>) -> Range<usize> {
    let page = os::page_size();
    window.start / page * page..window.end.next_multiple_of(page)
}

/// The shares according to PAGEMAP_SCAN, which covers exactly the pages of the window. `None` if
/// the kernel lacks this request.
fn from_page_tables(
    requested: &ReadingRequest,
    unchecked: &mut Vec<String>,
) -> Option<ResidentShare> {
    let range = pages_of(&requested.window);
    let counts = os::page_counts(&range).ok()?;
    if counts.zero > 0 {
        unchecked.push(format!(
            "{} of the window lie on the shared page of zeros",
            Bytes(counts.zero)
        ));
    }
    let huge = (counts.present > 0).then(|| counts.huge as f64 / counts.present as f64);
    if huge.is_none() {
        unchecked.push("page size: nothing of the window is resident".to_owned());
    }
    let resident = Some(counts.present as f64 / range.len() as f64);
    Some(ResidentShare {
        resident,
        huge,
        non_zero: Some(counts.zero == 0),
    })
}

/// Share of the window that is resident, according to mincore. `None` if the call fails.
pub(super) fn resident_share(
    requested: &ReadingRequest,
    unchecked: &mut Vec<String>,
) -> Option<f64> {
    let range = pages_of(&requested.window);
    match os::resident_bytes(&range) {
        Ok(bytes) => Some((bytes as f64 / range.len() as f64).min(1.0)),
        Err(error) => {
            unchecked.push(format!(
                "residency: neither PAGEMAP_SCAN nor mincore: {error}"
            ));
            None
        }
    }
}

/// Share of the resident memory that is in huge pages, according to smaps, which describes the
/// whole mapping. `None` if smaps is missing or shows nothing resident.
pub(super) fn huge_share_of_smaps(
    requested: &ReadingRequest,
    files: &SystemFiles,
    unchecked: &mut Vec<String>,
) -> Option<f64> {
    let Some(smaps) = files.read("/proc/self/smaps") else {
        unchecked.push(match os::HAS_SYSTEM_FILES {
            true => "page size: neither PAGEMAP_SCAN nor /proc/self/smaps".to_owned(),
            false => "page size: this system does not report it".to_owned(),
        });
        return None;
    };
    let mut resident = 0u64;
    let mut huge = 0u64;
    for entry in entries(&smaps).filter(|entry| overlaps(entry, &requested.mapping)) {
        let bytes = |key: &str| field(entry, key).and_then(kilobytes).unwrap_or(0);
        // Rss does not include the pages of pools (Documentation/filesystems/proc.rst).
        let pool = bytes("Private_Hugetlb").saturating_add(bytes("Shared_Hugetlb"));
        resident = resident.saturating_add(bytes("Rss")).saturating_add(pool);
        huge = huge
            .saturating_add(bytes("AnonHugePages"))
            .saturating_add(pool);
    }
    if resident == 0 {
        unchecked.push("page size: /proc/self/smaps shows nothing resident here".to_owned());
        return None;
    }
    if requested.window != requested.mapping {
        unchecked.push(
            "page size: from /proc/self/smaps, which counts the mapping, not the window alone"
                .to_owned(),
        );
    }
    Some((huge as f64 / resident as f64).min(1.0))
}

/// The entries of smaps. An entry is a line `start-end access ...` and its `Key: value` lines.
fn entries(smaps: &str) -> impl Iterator<Item = &str> {
    let heads = smaps.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let mut starts: Vec<usize> = heads
        .filter(|(_, line)| addresses(line).is_some())
        .map(|(start, _)| start)
        .collect();
    starts.push(smaps.len());
    (1..starts.len()).map(move |i| &smaps[starts[i - 1]..starts[i]])
}

/// Address range at the start of a line of maps or smaps; `None` if the line has none.
fn addresses(text: &str) -> Option<Range<usize>> {
    let (start, end) = text.split_whitespace().next()?.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

fn overlaps(entry: &str, range: &Range<usize>) -> bool {
    addresses(entry).is_some_and(|here| here.start < range.end && range.start < here.end)
}

/// Largest number of pages in one call of move_pages.
const PAGES_AT_A_TIME: usize = 1 << 16;

/// Number of pages on each node. Asks move_pages about `samples` pages of the window. If this
/// fails, reads numa_maps, which counts all pages of the mapping. `None` if both fail, no page is
/// resident, or `samples` is 0.
fn nodes(
    requested: &ReadingRequest,
    samples: usize,
    unchecked: &mut Vec<String>,
) -> Option<BTreeMap<u32, u64>> {
    if samples == 0 {
        return None;
    }
    let pages = pages_of(&requested.window);
    let page = os::page_size();
    let count = (pages.len() / page).min(samples);
    // The product has 128 bits, because an index times a length may exceed 64 bits.
    let address = |i: usize| {
        pages.start + (i as u128 * (pages.len() / page) as u128 / count as u128) as usize * page
    };
    let error = match count_by_node(count, address) {
        Ok((found, absent)) => {
            if absent > 0 {
                unchecked.push(format!(
                    "node: {absent} of {count} sampled pages are not resident"
                ));
            }
            return (!found.is_empty()).then_some(found);
        }
        Err(error) => error,
    };
    let found = SystemFiles::real()
        .read("/proc/self/numa_maps")
        .and_then(|maps| nodes_of_map(&maps, &requested.mapping));
    unchecked.push(match found {
        Some(_) => format!(
            "node: from /proc/self/numa_maps for the whole mapping, since \
             move_pages failed: {error}"
        ),
        None if os::HAS_SYSTEM_FILES => {
            format!("node: neither move_pages ({error}) nor /proc/self/numa_maps")
        }
        None => format!("node: this system does not report it ({error})"),
    });
    found
}

/// Number of pages on each node for the pages at `count` addresses, and number of pages on no node.
fn count_by_node(
    count: usize,
    address: impl Fn(usize) -> usize,
) -> std::io::Result<(BTreeMap<u32, u64>, u64)> {
    let mut found = BTreeMap::new();
    let mut absent = 0;
    for first in (0..count).step_by(PAGES_AT_A_TIME) {
        let some: Vec<usize> = (first..count.min(first + PAGES_AT_A_TIME))
            .map(&address)
            .collect();
        for node in os::node_of_each(&some)? {
            match u32::try_from(node) {
                Ok(node) => *found.entry(node).or_default() += 1,
                Err(_) => absent += 1,
            }
        }
    }
    Ok((found, absent))
}

/// Number of pages on each node in the lines of numa_maps whose address is in `range`. A line is
/// `7f... default anon=3 N0=2 N1=1`.
fn nodes_of_map(maps: &str, range: &Range<usize>) -> Option<BTreeMap<u32, u64>> {
    let inside = |line: &&str| {
        let start = line
            .split_whitespace()
            .next()
            .and_then(|word| usize::from_str_radix(word, 16).ok());
        start.is_some_and(|start| range.contains(&start))
    };
    let node = |word: &str| {
        let (node, pages) = word.strip_prefix('N')?.split_once('=')?;
        Some((node.parse::<u32>().ok()?, pages.parse::<u64>().ok()?))
    };
    let mut found: BTreeMap<u32, u64> = BTreeMap::new();
    for (node, pages) in maps
        .lines()
        .filter(inside)
        .flat_map(|line| line.split_whitespace().filter_map(node))
    {
        let sum = found.entry(node).or_default();
        *sum = sum.saturating_add(pages);
    }
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &str = "1000-3000 rw-p 00000000 00:00 0 \nSize: 8 kB\nRss: 8 kB\nAnonHugePages: \
         0 kB\nVmFlags: rd wr\n200000-600000 rw-p 00000000 00:00 0 \nRss: 4096 \
         kB\nAnonHugePages:  2048 kB\nTHPeligible: 1\n600000-800000 rw-p 00000000 00:00 0 [anon: \
         x]\nRss: 0 kB\nPrivate_Hugetlb: 2048 kB\nAnonHugePages: 0 kB\n";

    fn requested(window: Range<usize>, mapping: Range<usize>) -> ReadingRequest {
        ReadingRequest {
            window,
            mapping,
            mode: PageMode::Transparent,
            huge: 2 << 20,
        }
    }

    fn share(text: &str, question: &ReadingRequest) -> (Option<f64>, Vec<String>) {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("proc/self")).unwrap();
        std::fs::write(tree.path().join("proc/self/smaps"), text).unwrap();
        let mut unchecked = Vec::new();
        (
            huge_share_of_smaps(question, &SystemFiles::under(tree.path()), &mut unchecked),
            unchecked,
        )
    }

    #[test]
    fn smaps_counts_the_entries_of_the_mapping_only() {
        let whole = |range: Range<usize>| share(SMAPS, &requested(range.clone(), range));
        assert_eq!(whole(0x200000..0x600000), (Some(0.5), vec![]));
        assert_eq!(
            whole(0x600000..0x800000),
            (Some(1.0), vec![]),
            "pages of a pool are not in Rss"
        );
        assert_eq!(whole(0x1000..0x3000), (Some(0.0), vec![]));
        assert_eq!(
            whole(0x200000..0x800000).0,
            Some(4.0 / 6.0),
            "two entries of one mapping"
        );
        assert_eq!(whole(0x900000..0xa00000).0, None);
    }

    #[test]
    fn smaps_says_when_it_counts_more_than_the_window() {
        let (value, unchecked) = share(SMAPS, &requested(0x200000..0x400000, 0x200000..0x600000));
        assert_eq!(value, Some(0.5));
        assert!(unchecked[0].contains("counts the mapping"), "{unchecked:?}");
    }

    #[test]
    fn garbage_in_smaps_is_unchecked() {
        for text in [
            "",
            "x",
            "zz-yy rw\nRss: 1 kB",
            "200000-600000",
            "200000-600000 rw-p\nRss: many\n",
        ] {
            let (value, unchecked) =
                share(text, &requested(0x200000..0x600000, 0x200000..0x600000));
            assert_eq!((value, unchecked.len()), (None, 1), "{text}");
        }
    }

    #[test]
    fn numa_maps_names_the_nodes_of_the_mapping() {
        let maps = "7000 default anon=3 N0=2 N9=1\n8000 bind:1 anon=1 N3=1 N1=4 \
             kernelpagesize_kB=4\ngarbage N7=1\n";
        assert_eq!(
            nodes_of_map(maps, &(0x8000..0x9000)),
            Some(BTreeMap::from([(1, 4), (3, 1)]))
        );
        assert_eq!(nodes_of_map(maps, &(0x9000..0xa000)), None);
    }
}
