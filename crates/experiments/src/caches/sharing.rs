//! Probes of the CPUs that compete for each cache. One CPU follows a chain through most of a cache,
//! alone and while one other CPU reads the same number of bytes.

use super::analysis::{End, MeasuredLevel};
use super::points::{SHARED, SweptCpu};
use crate::experiment::Draft;
use crate::experiment::Scope;
use engine::{ChaseWork, LoadedWork, Probe, Traffic, Work};
use kernels::BLOCK_BYTES;
use report::{Places, Relation};
use std::collections::BTreeMap;
use units::Bytes;

/// Share of a cache that each of two CPUs reads. One such working set fits into the cache, two do
/// not.
const PART: f64 = 0.75;

/// A working set is at least this many times the capacity of the nearer cache, unless
/// [`LARGEST_SHARE`] limits it.
const OUTSIDE_FACTOR: f64 = 1.5;
/// A working set is at most this share of the capacity of the probed cache.
const LARGEST_SHARE: f64 = 0.9;

/// Largest number of partners of a CPU, one for each relation of CPUs.
const PARTNERS: usize = 8;

/// Sizes of placeholder working sets. Another size is the share [`PART`] of half the largest
/// working set.
const STAND_INS: [Bytes; 3] = [Bytes(1 << 20), Bytes(8 << 20), Bytes(48 << 20)];

/// A probe of a cache: the working set of each CPU, and the partner CPU if there is one.
#[derive(Debug, Clone, Copy)]
struct SharingProbe<'a> {
    group: &'a SweptCpu,
    bytes: Bytes,
    partner: Option<u32>,
    /// Capacity of the probed cache.
    cache: Bytes,
}

impl SharingProbe<'_> {
    fn chase(&self) -> ChaseWork {
        self.group
            .chase(SHARED, self.bytes, self.group.line, self.group.order())
    }

    fn draft(&self, scope: &Scope<'_>) -> Draft {
        let partner = self.partner.map(|cpu| ("partner", u64::from(cpu)));
        let more: Vec<(&str, u64)> = partner
            .into_iter()
            .chain([("cache_bytes", self.cache.0)])
            .collect();
        let draft = self.group.draft(scope, SHARED, self.chase(), &more);
        // Without a partner, the same kind of work runs, but with no traffic.
        let loaded = |_| scope.runnable(Work::Loaded(self.work(scope)));
        Draft {
            work: draft.work.and_then(loaded),
            ..draft
        }
    }

    fn work(&self, scope: &Scope<'_>) -> LoadedWork {
        let chase = self.chase();
        // All memory is on the NUMA node of the chain, also that of the partner. Once a line is in
        // a cache, its node does not matter.
        let node = Some(chase.memory_node(scope.facts()));
        let bytes = self.bytes.round_up(BLOCK_BYTES);
        let reading = |cpu| Traffic {
            node,
            ..Traffic::reading(cpu, self.group.pages, bytes)
        };
        LoadedWork::new(
            Probe::Chase(chase),
            self.partner.map(reading).into_iter().collect(),
        )
    }
}

/// The first CPU of each [`Relation`] to the CPU of `group`, nearest relation first. Empty if the
/// session has only one CPU.
fn partners(group: &SweptCpu, scope: &Scope<'_>) -> Vec<u32> {
    let places = Places::new(&scope.facts().topology);
    let mut first: BTreeMap<Relation, u32> = BTreeMap::new();
    for &cpu in scope.cpus.iter().filter(|cpu| **cpu != group.cpu) {
        first.entry(places.relation(group.cpu, cpu)).or_insert(cpu);
    }
    first.into_values().take(PARTNERS).collect()
}

/// Partners to measure with: `None` for the CPU alone, then each partner. Empty without a partner.
fn requested(group: &SweptCpu, scope: &Scope<'_>) -> Vec<Option<u32>> {
    let partners = partners(group, scope);
    let alone = (!partners.is_empty()).then_some(None);
    alone
        .into_iter()
        .chain(partners.into_iter().map(Some))
        .collect()
}

/// Placeholder probes. The plan drops the last probes first.
fn rooms<'a>(groups: &'a [SweptCpu], scope: &Scope<'_>) -> Vec<SharingProbe<'a>> {
    let mut rooms = Vec::new();
    for group in groups {
        let most = Bytes((group.most.0 as f64 / 2.0 * PART) as u64).round_down(4096);
        let more = (most > STAND_INS[2]).then_some(most);
        let sizes: Vec<Bytes> = STAND_INS
            .iter()
            .map(|&size| size.min(most))
            .chain(more)
            .collect();
        let with_partner = |partner| {
            sizes.iter().map(move |&bytes| SharingProbe {
                group,
                bytes,
                partner,
                cache: bytes,
            })
        };
        rooms.extend(requested(group, scope).into_iter().flat_map(with_partner));
    }
    rooms.sort_by_cached_key(|room| (room.bytes.0.max(1).ilog2(), room.work(scope).working_set()));
    rooms
}

/// Placeholders for the probes of [`place`].
pub fn stand_ins(groups: &[SweptCpu], scope: &Scope<'_>) -> Vec<Draft> {
    rooms(groups, scope)
        .iter()
        .map(|room| room.draft(scope))
        .collect()
}

/// Probes for the known caches of each group. There are at most `most` probes, and each is no
/// larger than its placeholder.
pub fn place(
    groups: &[(SweptCpu, Vec<MeasuredLevel>)],
    scope: &Scope<'_>,
    most: usize,
) -> Vec<Draft> {
    let all: Vec<SweptCpu> = groups.iter().map(|(group, _)| *group).collect();
    let mut free: Vec<SharingProbe<'_>> = rooms(&all, scope).into_iter().take(most).collect();
    let mut drafts = Vec::new();
    for (group, levels) in groups {
        let requested = requested(group, scope);
        for (bytes, cache) in sizes(group, levels) {
            let questions: Vec<SharingProbe<'_>> = requested
                .iter()
                .map(|&partner| SharingProbe {
                    group,
                    bytes,
                    partner,
                    cache,
                })
                .collect();
            for question in questions {
                let room = |room: &SharingProbe<'_>| {
                    let same = (room.group.cpu, room.group.pages, room.partner);
                    same == (group.cpu, group.pages, question.partner) && bytes <= room.bytes
                };
                let Some(at) = free.iter().position(room) else {
                    continue;
                };
                free.remove(at);
                drafts.push(question.draft(scope));
            }
        }
    }
    drafts
}

/// For each cache, a working set that fits into the cache but not into the nearer cache, and the
/// capacity of the cache. A cache whose capacity varies is left out, because two working sets may
/// then both fit.
fn sizes(group: &SweptCpu, levels: &[MeasuredLevel]) -> Vec<(Bytes, Bytes)> {
    let mut nearer = 0.0;
    let mut size = |end: End| {
        let capacity = end.capacity.0 as f64;
        let bytes = (capacity * PART)
            .max(nearer * OUTSIDE_FACTOR)
            .min(capacity * LARGEST_SHARE);
        nearer = capacity;
        (
            Bytes(bytes as u64).round_down(group.line.0.max(1)),
            end.capacity,
        )
    };
    levels
        .iter()
        .filter_map(|level| level.end)
        .filter_map(|end| {
            // A cache whose capacity varies is not probed, but the next one lies outside it too.
            let sized = size(end);
            (!end.varies).then_some(sized)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::memory::PageMode;

    #[test]
    fn a_cache_that_is_left_out_is_still_the_nearer_cache_of_the_next() {
        let group = SweptCpu {
            cpu: 0,
            pages: PageMode::Transparent,
            line: Bytes(64),
            base: Bytes::kib(4),
            huge: Bytes::mib(2),
            most: Bytes::mib(64),
            seed: 1,
        };
        let level = |capacity: Bytes, varies: bool| MeasuredLevel {
            latency: 1.0,
            end: Some(End {
                capacity,
                low: capacity,
                high: capacity,
                varies,
            }),
        };
        let levels = |varies: bool| {
            [
                level(Bytes::kib(32), false),
                level(Bytes::kib(1024), varies),
                level(Bytes::kib(1800), false),
            ]
        };
        let all = sizes(&group, &levels(false));
        let left = sizes(&group, &levels(true));
        // Three quarters of the third cache would not lie outside the second by enough.
        assert_eq!(all[2].0, Bytes(1024 * 1536));
        assert_eq!(left, [all[0], all[2]]);
    }
}
