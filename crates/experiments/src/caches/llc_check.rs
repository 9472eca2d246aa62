//! Compares the points of a session with the last-level cache that the session found by timing.

use super::measured_curve::measured_levels;
use crate::hierarchy::{MEMORY, TimedLastLevel};
use report::{Dataset, Topology};
use std::collections::BTreeSet;
use units::Bytes;
use verdict::{TimedCache, doubt_by_timed_caches};

/// A size exceeds a cache only if it is larger by this factor. The end of a cache is not known more
/// precisely than a step of the grid.
const BEYOND: f64 = 1.25;

/// Compares the points of all other datasets with the last-level caches that the sweep in the
/// dataset at `own` shows. A point becomes doubtful if its loads may have been served by another
/// level than its coordinates name.
pub fn review(datasets: &mut [Dataset], own: usize, topology: &Topology) {
    let caches = datasets
        .get(own)
        .map(|dataset| last_levels(dataset, topology))
        .unwrap_or_default();
    let others = datasets
        .iter_mut()
        .enumerate()
        .filter(|(index, _)| *index != own);
    let points = others.flat_map(|(_, dataset)| &mut dataset.points);
    doubt_by_timed_caches(points, &caches, MEMORY);
}

/// Effective capacity of all last-level caches of `cpus`, according to the sweep in `dataset`.
/// `None` if the sweep shows no end of a last-level cache, or an end that agrees with the reported
/// capacity. If several CPUs were measured, the largest capacity counts.
pub fn timed_last_level(
    dataset: &Dataset,
    topology: &Topology,
    cpus: &[u32],
) -> Option<TimedLastLevel> {
    let found = last_levels(dataset, topology)
        .into_iter()
        .max_by_key(|found| found.capacity)?;
    let one = topology.data_caches(*found.cpus.first()?).last()?.size;
    let all = topology.last_level_total(cpus);
    let capacity = found.capacity;
    if found.low.0 as f64 > one.0 as f64 * BEYOND {
        let nodes: BTreeSet<Option<u32>> = cpus.iter().map(|&cpu| topology.node_of(cpu)).collect();
        return Some(TimedLastLevel::More(
            all.max(Bytes(capacity.0.saturating_mul(nodes.len() as u64))),
        ));
    }
    let less = u128::from(all.0) * u128::from(capacity.0) / u128::from(one.0.max(1));
    let less = Bytes(u64::try_from(less).unwrap_or(u64::MAX));
    ((found.high.0 as f64) * BEYOND < one.0 as f64).then_some(TimedLastLevel::Less(less))
}

/// The last-level cache of each measured CPU, if its end lies beyond the reported capacity of the
/// previous cache. Only the sweep in the largest pages counts. Inside a large page, adjacent
/// virtual addresses are adjacent in physical memory too.
fn last_levels(dataset: &Dataset, topology: &Topology) -> Vec<TimedCache> {
    let cpus = dataset
        .points
        .iter()
        .filter_map(|point| u32::try_from(point.number("cpu")?).ok());
    let for_cpu = |cpu: u32| {
        let cache = topology.data_caches(cpu).last().copied()?;
        let least = topology.inner_cache_size(cpu).0 as f64 * BEYOND;
        let mut pages: Vec<&str> = dataset
            .points
            .iter()
            .filter_map(|point| point.name("pages"))
            .collect();
        pages.sort_by_key(|name| {
            (
                ["huge", "thp"]
                    .iter()
                    .position(|large| large == name)
                    .unwrap_or(2),
                *name,
            )
        });
        pages.dedup();
        let last = |pages: &str| {
            measured_levels(dataset, cpu, pages)
                .iter()
                .rev()
                .find_map(|level| level.end)
        };
        let end = pages.into_iter().find_map(last)?;
        let cpus = cache.cpus.0.iter().copied().collect();
        let level = format!("L{}", cache.level);
        (end.low.0 as f64 > least).then_some(TimedCache {
            cpus,
            level,
            capacity: end.capacity,
            low: end.low,
            high: end.high,
        })
    };
    cpus.collect::<BTreeSet<u32>>()
        .into_iter()
        .filter_map(for_cpu)
        .collect()
}
