//! Pairs of CPUs to measure: all pairs, or a choice that shows most of the machine.

use report::{Places, Relation};
use std::collections::BTreeSet;

/// Number of CPUs in the first group whose pairs with each other have rank 2 or lower. A group is
/// CPUs that share a cache.
const NEIGHBOURS: usize = 16;

/// An ordered pair of CPUs with its rank. Rank 0 is needed most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChosenPair {
    /// The CPU that starts each round trip.
    pub from: u32,
    /// The CPU that answers.
    pub to: u32,
    /// Rank of the pair: when time is short, pairs of the highest rank are dropped first.
    pub rank: u8,
}

/// At most `most` ordered pairs of `cpus`, always in both directions, in the order of `cpus`.
/// `cpus` must be in the order of [`Places::ordered`]. If `cpus` have more pairs, the pairs of
/// lowest rank are kept.
///
/// A pair has the lowest rank for which it qualifies. The first CPU of each group that shares a
/// cache has one pair of each relation in rank 0. Rank 1 has pairs of these first CPUs with each
/// other. Rank 2 has pairs among the first `NEIGHBOURS` CPUs of the first group. Rank 3 has pairs
/// with the first of `cpus`, and rank 4 has all other pairs.
pub fn choose(cpus: &[u32], places: &Places, most: usize) -> Vec<ChosenPair> {
    let count = cpus.len();
    let leaders = leaders(cpus, places);
    let near: BTreeSet<u32> = cpus
        .iter()
        .copied()
        .filter(|c| places.group(*c) == places.group(cpus[0]))
        .take(NEIGHBOURS)
        .collect();
    let is_leader: Vec<bool> = cpus.iter().map(|cpu| leaders.contains(cpu)).collect();
    let is_near: Vec<bool> = cpus.iter().map(|cpu| near.contains(cpu)).collect();
    let mut shown: BTreeSet<(u32, Relation)> = BTreeSet::new();
    let mut pairs = Vec::with_capacity(count * count.saturating_sub(1) / 2);
    for (i, &a) in cpus.iter().enumerate() {
        for (j, &b) in cpus.iter().enumerate().skip(i + 1) {
            let leads = is_leader[i];
            let rank = if leads && shown.insert((a, places.relation(a, b))) {
                0
            } else if leads && is_leader[j] {
                1
            } else if is_near[i] && is_near[j] {
                2
            } else if i == 0 {
                3
            } else {
                4
            };
            pairs.push((rank, j, i));
        }
    }
    if pairs.len().saturating_mul(2) > most {
        // A thousand CPUs have half a million pairs, so only the chosen pairs are sorted.
        pairs.select_nth_unstable(most / 2);
        pairs.truncate(most / 2);
    }
    let both = |&(rank, j, i): &(u8, usize, usize)| [(i, j, rank), (j, i, rank)];
    let mut ordered: Vec<(usize, usize, u8)> = pairs.iter().flat_map(both).collect();
    ordered.sort_unstable();
    ordered
        .into_iter()
        .map(|(i, j, rank)| ChosenPair {
            from: cpus[i],
            to: cpus[j],
            rank,
        })
        .collect()
}

/// The first CPU of each group of CPUs that share a cache.
fn leaders(cpus: &[u32], places: &Places) -> BTreeSet<u32> {
    let mut seen = BTreeSet::new();
    cpus.iter()
        .copied()
        .filter(|&cpu| seen.insert(places.group(cpu)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::{Cache, CacheKind, Cpu, Topology};
    use units::{Bytes, CpuList};

    /// A machine with two packages, a last-level cache for every `sharing` CPUs, and two threads
    /// per core.
    fn places(count: u32, sharing: u32) -> (Vec<u32>, Places) {
        let cpu = |id: u32| Cpu {
            id,
            allowed: true,
            core: Some(id / 2),
            package: Some(id / count.div_ceil(2)),
            node: None,
            siblings: vec![id / 2 * 2, id / 2 * 2 + 1],
            kind: None,
        };
        let cache = |first: u32| Cache {
            level: 3,
            kind: CacheKind::Unified,
            size: Bytes::mib(32),
            line: None,
            ways: None,
            cpus: CpuList((first..first + sharing).collect()),
        };
        let topology = Topology {
            cpus: (0..count).map(cpu).collect(),
            cpus_source: String::new(),
            caches: (0..count).step_by(sharing as usize).map(cache).collect(),
            caches_source: String::new(),
            nodes: Vec::new(),
            nodes_source: String::new(),
        };
        let places = Places::new(&topology);
        (places.ordered(&(0..count).collect::<Vec<u32>>()), places)
    }

    #[test]
    fn few_cpus_have_all_their_pairs_in_order() {
        let (cpus, places) = places(4, 2);
        let pairs: Vec<(u32, u32)> = choose(&cpus, &places, 12)
            .iter()
            .map(|c| (c.from, c.to))
            .collect();
        let all = [
            (0, 1),
            (0, 2),
            (0, 3),
            (1, 0),
            (1, 2),
            (1, 3),
            (2, 0),
            (2, 1),
            (2, 3),
            (3, 0),
            (3, 1),
            (3, 2),
        ];
        assert_eq!(pairs, all);
        assert!(choose(&cpus[..1], &places, 100).is_empty());
    }

    #[test]
    fn a_choice_has_both_directions_every_relation_and_all_first_cpus() {
        let (cpus, places) = places(384, 32);
        for most in [300, 999, 1000] {
            let chosen = choose(&cpus, &places, most);
            assert!(
                chosen.len() <= most && chosen.len() + 2 > most,
                "{}",
                chosen.len()
            );
            let has = |from: u32, to: u32| chosen.iter().any(|c| (c.from, c.to) == (from, to));
            assert!(chosen.iter().all(|c| has(c.to, c.from)));
            let relations: BTreeSet<String> = chosen
                .iter()
                .map(|c| places.relation(c.from, c.to).to_string())
                .collect();
            let expected = ["cross-package", "same-core", "same-package", "shared-l3"];
            assert_eq!(
                relations.iter().map(String::as_str).collect::<Vec<_>>(),
                expected
            );
            let leaders = || (0..384).step_by(32);
            assert!(
                leaders().all(|a| leaders().all(|b| a == b || has(a, b))),
                "{most}"
            );
        }
        let chosen = choose(&cpus, &places, 1000);
        let has = |from: u32, to: u32| chosen.iter().any(|c| (c.from, c.to) == (from, to));
        assert!(
            (0..16).all(|a| (0..16).all(|b| a == b || has(a, b))),
            "the first neighbours"
        );
    }
}
