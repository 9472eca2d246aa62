//! Probes for lines, prefetchers and ways, drafted when the ends of caches are known.

use super::analysis::{End, MeasuredLevel};
use super::points::{PAIR, STRIDE, SweptCpu, WAYS};
use crate::chains::packed_window;
use crate::experiment::Draft;
use crate::experiment::Scope;
use engine::{ChainShape, ChaseWork};
use host::memory::PageMode;
use units::Bytes;

/// The distances of pairs: 8 B to 1 KiB, each twice the one before.
const DISTANCES: u32 = 8;

/// Blocks that hold a pair: twice the largest distance.
const BLOCK: Bytes = Bytes(2048);

/// A working set this many times a cache hardly hits it, and lies in the next one if that is so
/// much larger again.
const OUTSIDE: u64 = 4;
const LEAST_OUTSIDE: u64 = 2;
const LARGER: u64 = 6;

/// The strides that a prefetcher is asked about: a line and each twice the one before.
const STRIDES: u32 = 7;

/// Nodes in one set of a cache: both sides of every number of ways that caches are known to have.
const NODES: [u64; 17] = [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 20, 21, 25];

/// The most bytes that these take: as many 2 MiB pages.
const WIDEST: Bytes = Bytes(2 << 20);

/// A probe and what it is asked about.
struct CacheProbe {
    operation: &'static str,
    work: ChaseWork,
    /// Further coordinates.
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

/// By rising size, in the order in which the plan gives up the last ones first.
fn stand_in_probes(group: &SweptCpu) -> Vec<CacheProbe> {
    let most = group.most.round_down(4096);
    let span = |bytes: u64| Bytes(bytes).min(most);
    let mut probes = Vec::new();
    let mut add = |operation, bytes: Bytes, stride: Bytes, count: u64| {
        // They differ in nothing but their number.
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

/// The probes of `group` whose caches are known: at most as many and as large as the first `most`
/// of the placeholders.
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
    // A first cache takes its sets from addresses inside a page, whatever memory lies behind them.
    wanted.extend(ways(group, first.capacity, WIDEST));
    if let Some(second) = second {
        wanted.extend(pairs(
            group,
            second.capacity,
            ends.get(2).map(|end| end.capacity),
        ));
        // Only inside a huge page are addresses those of the memory, from which the second cache
        // takes its sets.
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

/// Pairs at every distance in a working set that has left the cache of `inner` and, if it can, not
/// the one of `outer`.
fn pairs(group: &SweptCpu, inner: Bytes, outer: Option<Bytes>) -> Vec<CacheProbe> {
    let roomy = outer.is_none_or(|outer| outer.0 / inner.0.max(1) >= LARGER);
    let lines = if roomy {
        inner.0 * OUTSIDE
    } else {
        ((inner.0 as f64) * outer.unwrap_or(inner).0 as f64).sqrt() as u64
    };
    // As many nodes as were planned for, unless they would hardly leave the cache.
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

/// Every stride by rising address and in random order, as many nodes as have left the cache of
/// `inner`.
fn strides(group: &SweptCpu, inner: Bytes) -> Vec<CacheProbe> {
    let nodes = inner.0 / group.line.0.max(1) * 2;
    let one = |exponent: u32| {
        let stride = Bytes(group.line.0 << exponent);
        // In base pages the random order stays in a few pages at a time, too.
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

/// Numbers of nodes in one set of the cache of `inner`. Nodes lie one power of two apart, no less
/// than the cache: a multiple of the size of a way, up to
/// `contiguous` memory. As many nodes that lie a line further apart share no set, but they lie in
/// the same pages, which may share sets of a TLB: what these take is not for want of ways.
fn ways(group: &SweptCpu, inner: Bytes, contiguous: Bytes) -> Vec<CacheProbe> {
    // A measured size is a little more or less than the true one.
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
