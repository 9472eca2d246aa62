//! Probes of caches for their lines, prefetchers and ways. The probes are drafted when the
//! capacities of the caches are known.

use super::analysis::{End, MeasuredLevel};
use super::points::{PAIR, STRIDE, SweptCpu, WAYS};
use crate::chains::packed_window;
use crate::experiment::Draft;
use crate::experiment::Scope;
use engine::{ChainShape, ChaseWork};
use host::memory::PageMode;
use units::Bytes;

/// Number of distances between the two nodes of a pair: from 8 B to 1 KiB, each twice the previous
/// distance.
const DISTANCES: u32 = 8;

/// Size of the block that holds a pair: twice the largest distance.
const BLOCK: Bytes = Bytes(2048);

/// A working set of this many times the size of the probed cache has few hits in this cache.
const OUTSIDE: u64 = 4;
/// A smaller working set than this many times the size of the probed cache is of no use.
const LEAST_OUTSIDE: u64 = 2;
/// A working set of `OUTSIDE` times the probed cache fits into the next cache if that cache is
/// larger by this factor.
const LARGER: u64 = 6;

/// Number of strides. The first stride is a cache line, and each other stride is twice the previous
/// one.
const STRIDES: u32 = 7;

/// Numbers of nodes in one cache set. They range from below to above the numbers of ways of all
/// known caches.
const NODES: [u64; 17] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 20, 21, 25];

/// Largest stride between nodes in one set: a page of 2 MiB.
const WIDEST: Bytes = Bytes(2 << 20);

/// A probe of a cache.
struct CacheProbe {
    operation: &'static str,
    work: ChaseWork,
    /// Coordinates in addition to the coordinates that every point has.
    more: Vec<(&'static str, u64)>,
}

/// Placeholders for the probes of `group`.
pub fn stand_ins(group: &SweptCpu, scope: &Scope<'_>) -> Vec<Draft> {
    let probes = stand_in_probes(group);
    probes
        .into_iter()
        .map(|probe| group.draft(scope, probe.operation, probe.work, &probe.more))
        .collect()
}

/// Placeholder probes by rising size. The plan drops the last probes first.
fn stand_in_probes(group: &SweptCpu) -> Vec<CacheProbe> {
    let most = group.most.round_down(4096);
    let span = |bytes: u64| Bytes(bytes).min(most);
    let mut probes = Vec::new();
    let mut add = |operation, bytes: Bytes, stride: Bytes, count: u64| {
        // Placeholders of one kind differ only in the coordinate `nodes`.
        let one = |at: u64| CacheProbe {
            operation,
            work: chase(group, bytes, stride),
            more: vec![("nodes", at)],
        };
        probes.extend((0..count).map(one));
    };
    let ways = 2 * NODES.len() as u64;
    add(WAYS, span(4 << 20), Bytes(64 << 10), ways);
    add(
        PAIR,
        span(32 << 20),
        Bytes(BLOCK.0 / 2),
        u64::from(DISTANCES),
    );
    add(WAYS, span(64 << 20), WIDEST, ways);
    add(PAIR, most, BLOCK, u64::from(DISTANCES));
    add(STRIDE, most, BLOCK, u64::from(2 * STRIDES));
    probes.sort_by_key(|probe| (probe.work.bytes, probe.work.nodes()));
    probes
}

fn chase(group: &SweptCpu, bytes: Bytes, stride: Bytes) -> ChaseWork {
    group.chase("placeholder", bytes, stride, ChainShape::GlobalRandom)
}

/// Probes of `group` for its known caches. There are at most `most` probes, and each takes no more
/// memory than its placeholder.
pub fn place(
    group: &SweptCpu,
    scope: &Scope<'_>,
    levels: &[MeasuredLevel],
    most: usize,
) -> Vec<Draft> {
    let ends: Vec<End> = levels.iter().filter_map(|level| level.end).collect();
    let Some(first) = ends.first() else {
        return Vec::new();
    };
    let second = ends.get(1).copied();
    let mut wanted = pairs(group, first.capacity, second.map(|end| end.capacity));
    // A first-level cache chooses the set by address bits inside a page. The physical placement of
    // the memory does not matter.
    wanted.extend(ways(group, first.capacity, WIDEST));
    if let Some(second) = second {
        wanted.extend(pairs(
            group,
            second.capacity,
            ends.get(2).map(|end| end.capacity),
        ));
        // A second-level cache chooses the set by physical address. Virtual addresses show physical
        // ones only inside a huge page.
        let contiguous = if group.pages == PageMode::Base {
            Bytes(0)
        } else {
            group.huge
        };
        wanted.extend(ways(group, second.capacity, contiguous));
    }
    wanted.extend(strides(group, second.unwrap_or(*first).capacity));
    let mut free: Vec<ChaseWork> = stand_in_probes(group)
        .into_iter()
        .take(most)
        .map(|probe| probe.work)
        .collect();
    let mut drafts = Vec::new();
    for probe in wanted {
        let room = |work: &ChaseWork| {
            probe.work.slot() <= work.slot() && probe.work.nodes() <= work.nodes().max(64)
        };
        let Some(at) = free.iter().position(room) else {
            continue;
        };
        free.remove(at);
        drafts.push(group.draft(scope, probe.operation, probe.work, &probe.more));
    }
    drafts
}

/// Probes with pairs of nodes at every distance, in a working set that is too large for the cache
/// of size `inner`. If possible, the working set fits into the cache of size `outer`.
fn pairs(group: &SweptCpu, inner: Bytes, outer: Option<Bytes>) -> Vec<CacheProbe> {
    let roomy = outer.is_none_or(|outer| outer.0 / inner.0.max(1) >= LARGER);
    let lines = if roomy {
        inner.0 * OUTSIDE
    } else {
        ((inner.0 as f64) * outer.unwrap_or(inner).0 as f64).sqrt() as u64
    };
    // A block holds a pair of nodes. The number of blocks is limited by the placeholders. If the
    // pairs would nearly fit into the cache, none are measured.
    let blocks = (lines / group.line.0.max(1) / 2).min(group.most.0 / BLOCK.0 / 2);
    if blocks * 2 * group.line.0 < lines.min(inner.0 * LEAST_OUTSIDE) / 16 * 15 {
        return Vec::new();
    }
    let bytes = Bytes(blocks * BLOCK.0);
    let one = |exponent: u32| {
        let distance = Bytes(8 << exponent);
        let work = group.chase(
            PAIR,
            bytes,
            group.line,
            ChainShape::Pairs {
                block: BLOCK,
                distance,
            },
        );
        CacheProbe {
            operation: PAIR,
            work,
            more: vec![("distance_bytes", distance.0), ("cache_bytes", inner.0)],
        }
    };
    (0..DISTANCES).map(one).collect()
}

/// Two probes for every stride: by rising address, and in random order. The working set is too
/// large for the cache of size `inner`.
fn strides(group: &SweptCpu, inner: Bytes) -> Vec<CacheProbe> {
    let nodes = inner.0 / group.line.0.max(1) * 2;
    let one = |exponent: u32| {
        let stride = Bytes(group.line.0 << exponent);
        // In base pages, the random order visits a few pages completely before it goes on.
        let window = packed_window(group.base).0.max(stride.0 * 8);
        let random = match group.pages {
            PageMode::Base => ChainShape::RandomBox(Bytes(window)),
            _ => ChainShape::GlobalRandom,
        };
        let work =
            |shape| group.chase(STRIDE, Bytes(nodes.saturating_mul(stride.0)), stride, shape);
        let probe = |shape| CacheProbe {
            operation: STRIDE,
            work: work(shape),
            more: vec![("cache_bytes", inner.0)],
        };
        [probe(ChainShape::Sequential), probe(random)]
    };
    (0..STRIDES).flat_map(one).collect()
}

/// Probes with all numbers of nodes in one set of the cache of size `inner`. The stride is a power
/// of two that is about the cache's size or more, and so a multiple of the size of a way. Empty if
/// the stride exceeds `contiguous`.
///
/// A second probe has the same number of nodes, with a stride that is one line larger. These nodes
/// are in different cache sets, but may compete for TLB entries like the nodes of the first probe.
/// Only the difference of both probes is due to the ways.
fn ways(group: &SweptCpu, inner: Bytes, contiguous: Bytes) -> Vec<CacheProbe> {
    // A measured capacity may be a little above the true capacity, so an eighth is subtracted.
    let stride = Bytes((inner.0 / 8 * 7).next_power_of_two());
    if stride > contiguous || stride > WIDEST {
        return Vec::new();
    }
    let one = |nodes: u64, stride: Bytes| {
        let work = group.chase(
            WAYS,
            Bytes(nodes * stride.0),
            stride,
            ChainShape::GlobalRandom,
        );
        CacheProbe {
            operation: WAYS,
            work,
            more: vec![("nodes", nodes), ("cache_bytes", inner.0)],
        }
    };
    let apart = Bytes(stride.0 + group.line.0);
    NODES
        .iter()
        .flat_map(|&nodes| [one(nodes, stride), one(nodes, apart)])
        .collect()
}
