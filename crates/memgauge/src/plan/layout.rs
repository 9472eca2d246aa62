//! Groups points into batches that share memory.

use super::{Batch, PlannedPoint};
use engine::{MemoryPlan, Work};
use report::HostFacts;
use std::collections::BTreeSet;
use units::{Bytes, Nanos};

/// Groups points into batches that fit into memory.
pub(super) struct Layout<'a> {
    facts: &'a HostFacts,
    /// Bytes of memory that this process may use.
    usable: Bytes,
    /// Memory that each point needs if it is measured alone, by index of the point.
    alone: Vec<MemoryPlan>,
    /// Largest memory that may be mapped before the first sample. If a batch needs more, points
    /// with little memory get a batch of their own before it.
    first_mapping: Bytes,
}

/// A point has little memory if it needs at most [`Layout::first_mapping`] divided by this number.
const SMALL_SHARE: u64 = 8;

impl<'a> Layout<'a> {
    /// Makes the layout of `points` on the machine with these `facts`.
    pub fn new(facts: &'a HostFacts, points: &[PlannedPoint]) -> Self {
        Self {
            facts,
            usable: facts
                .memory
                .usable
                .get()
                .copied()
                .unwrap_or(Bytes(u64::MAX)),
            alone: points
                .iter()
                .map(|p| MemoryPlan::for_works(p.work.as_ref().ok(), facts, false))
                .collect(),
            first_mapping: Bytes(u64::MAX),
        }
    }

    /// Sets [`Layout::first_mapping`]. If all memory together is larger, points with little memory
    /// go first. If mapping is slower than planned, there is still time to sample these points.
    pub fn with_first_mapping(mut self, first_mapping: Bytes) -> Self {
        self.first_mapping = first_mapping;
        self
    }

    /// True if the machine has enough memory to measure the point at `index` alone.
    pub fn fits(&self, index: usize) -> bool {
        self.alone[index].fits(self.facts)
    }

    /// Reason why a point that needs too much memory is left out, in words.
    pub fn lacks_memory(&self) -> String {
        let or_node = if self.facts.topology.nodes.len() > 1 {
            ", or into that of a node"
        } else {
            ""
        };
        format!(
            "does not fit into the {} of memory that may be used{or_node}",
            self.usable
        )
    }

    /// Makes the batches of all `points` except `left_out`.
    ///
    /// All points of a repetition share memory if the machine has enough. Otherwise points with the
    /// same kind of work and the same kind of pages share it, or as many of these points as fit.
    /// Points whose chains are rebuilt have batches of their own, and so has each follow-up. Points
    /// whose results size the memory of others come first.
    pub fn batches(&self, points: &[PlannedPoint], left_out: &BTreeSet<usize>) -> Vec<Batch> {
        let mut wanted: Vec<usize> = (0..points.len())
            .filter(|i| points[*i].work.is_ok() && !left_out.contains(i))
            .collect();
        wanted.sort_by_key(|&i| !points[i].sizes_memory);
        let mut batches = Vec::new();
        let alike = |i: usize| {
            let point = &points[i];
            (
                point.coordinates.get("repeat"),
                point.rebuilt,
                point.follow_up,
                point.sizes_memory,
            )
        };
        let repeats = by_key(&wanted, alike);
        let groups = repeats
            .into_iter()
            .flat_map(|repeat| self.small_first(points, repeat));
        for repeat in groups {
            let rebuilt = repeat.first().is_some_and(|&i| points[i].rebuilt);
            let whole = self.batch(points, repeat.clone(), rebuilt);
            if whole.memory.fits(self.facts) {
                batches.push(whole);
                continue;
            }
            let kind = |i: usize| {
                points[i]
                    .work
                    .as_ref()
                    .ok()
                    .map(|w| (matches!(w, Work::Chase(_)), w.pages()))
            };
            for part in by_key(&repeat, kind) {
                let own = self.batch(points, part.clone(), rebuilt);
                if own.memory.fits(self.facts) {
                    batches.push(own);
                } else {
                    batches.extend(
                        self.pack(&part)
                            .into_iter()
                            .map(|group| self.batch(points, group, true)),
                    );
                }
            }
        }
        batches
    }

    /// If the memory of all `members` exceeds `first_mapping`, splits them into points with little
    /// memory and the rest. Otherwise returns them as one group.
    fn small_first(&self, points: &[PlannedPoint], members: Vec<usize>) -> Vec<Vec<usize>> {
        let works = members.iter().filter_map(|&i| points[i].work.as_ref().ok());
        if MemoryPlan::for_works(works, self.facts, false).total() <= self.first_mapping {
            return vec![members];
        }
        let limit = Bytes(self.first_mapping.0 / SMALL_SHARE);
        let (small, large): (Vec<usize>, Vec<usize>) = members
            .into_iter()
            .partition(|&index| self.alone[index].total() <= limit);
        let groups = [small, large].into_iter();
        groups.filter(|group| !group.is_empty()).collect()
    }

    fn batch(&self, points: &[PlannedPoint], members: Vec<usize>, chains_share: bool) -> Batch {
        let works = members.iter().filter_map(|&i| points[i].work.as_ref().ok());
        let memory = MemoryPlan::for_works(works, self.facts, chains_share);
        let keep_old = memory.twice().fits(self.facts);
        Batch {
            memory,
            points: members,
            chains_share,
            keep_old,
            estimate: Nanos::ZERO,
        }
    }

    /// Splits `members` into groups of consecutive points. Each group is as large as memory allows.
    fn pack(&self, members: &[usize]) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut used = MemoryPlan::default();
        for &index in members {
            let mut with = used.clone();
            for (key, &bytes) in &self.alone[index].mappings {
                let size = with.mappings.entry(key.clone()).or_default();
                *size = (*size).max(bytes);
            }
            match groups.last_mut().filter(|_| with.fits(self.facts)) {
                Some(group) => {
                    group.push(index);
                    used = with;
                }
                None => {
                    groups.push(vec![index]);
                    used = self.alone[index].clone();
                }
            }
        }
        groups
    }
}

/// Groups `members` by `key`. The groups are in the order in which their keys first appear.
fn by_key<K: PartialEq>(members: &[usize], key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for &index in members {
        let k = key(index);
        match groups.iter_mut().find(|(known, _)| *known == k) {
            Some((_, group)) => group.push(index),
            None => groups.push((k, vec![index])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
