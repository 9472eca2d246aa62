//! Findings from the probes: the size of lines, prefetchers, and the number of ways.

use super::analysis::{PairEffects, followed, pairs, ways};
use super::measured_curve::{MeasuredCurve, finding, note, value};
use super::points::{PAIR, STRIDE, WAYS};
use report::Finding;
use std::collections::BTreeMap;
use units::Bytes;

/// All findings of the probes of `group`.
pub fn findings(group: &MeasuredCurve<'_>) -> Vec<Finding> {
    let shown: Vec<(usize, PairEffects)> = group
        .named()
        .filter_map(|index| Some((index, pairs_of(group, index)?)))
        .collect();
    let mut findings: Vec<Finding> = line(group, &shown)
        .into_iter()
        .chain(neighbours(group, &shown))
        .collect();
    findings.extend(group.named().filter_map(|index| strides(group, index)));
    findings.extend(group.named().filter_map(|index| sets(group, index)));
    findings
}

fn pairs_of(group: &MeasuredCurve<'_>, index: usize) -> Option<PairEffects> {
    let by_distance: BTreeMap<u64, f64> = group
        .points_about(PAIR, index)
        .into_iter()
        .filter_map(|p| Some((p.number("distance_bytes")?, value(p)?)))
        .collect();
    let loads: Vec<(Bytes, f64)> = by_distance
        .into_iter()
        .map(|(distance, load)| (Bytes(distance), load))
        .collect();
    (loads.len() > 2).then(|| {
        pairs(
            &loads,
            group.levels.first().map_or(0.0, |level| level.latency),
        )
    })
}

/// Finding about the size of a cache line, from the nearest cache whose probes show it.
fn line(group: &MeasuredCurve<'_>, shown: &[(usize, PairEffects)]) -> Option<Finding> {
    let (index, line) = shown
        .iter()
        .find_map(|(index, pairs)| Some((*index, pairs.line?)))?;
    let reported = group.reported.first().and_then(|cache| cache.line);
    let reports = reported.map_or("no line".to_owned(), |reported| reported.to_string());
    let text = format!(
        "A line{} has {line}; the system reports {reports}.",
        group.on
    );
    let values = [
        ("line_bytes", Some(line.0 as f64)),
        ("reported_bytes", reported.map(|r| r.0 as f64)),
    ];
    let kind = if reported.is_some_and(|reported| reported != line) {
        "cache-disagrees"
    } else {
        "cache-line"
    };
    finding(group.points_about(PAIR, index), kind, text, &values)
}

/// Finding about neighbouring lines that are fetched together with a missing line. The finding is
/// about the farthest cache whose probes show the size of a line.
fn neighbours(group: &MeasuredCurve<'_>, shown: &[(usize, PairEffects)]) -> Option<Finding> {
    let (index, pairs) = shown.iter().rev().find(|(_, pairs)| pairs.line.is_some())?;
    let line = pairs.line?;
    let behind = group.name(*index)?;
    let on = &group.on;
    let (text, reach, share) = match pairs.ahead {
        Some((distance, share)) if distance == line => (
            format!(
                "Past {behind}{on} lines are fetched in pairs of {}: the second costs {:.0}% of a \
                 miss.",
                Bytes(2 * line.0),
                share * 100.0
            ),
            distance.0 * 2,
            Some(share),
        ),
        Some((distance, share)) => (
            format!(
                "Past {behind}{on} neighbours are fetched with a line: one {distance} away costs \
                 {:.0}% of a miss.",
                share * 100.0
            ),
            distance.0 * 2,
            Some(share),
        ),
        None => (
            format!("Past {behind}{on} no neighbour is fetched with a line."),
            line.0,
            None,
        ),
    };
    let values = [
        ("fetched_bytes", Some(reach as f64)),
        ("share_of_miss", share),
    ];
    finding(
        group.points_about(PAIR, *index),
        "cache-adjacent",
        text,
        &values,
    )
}

/// Finding about the strides that are prefetched into the cache at `index`.
fn strides(group: &MeasuredCurve<'_>, index: usize) -> Option<Finding> {
    let mut both: BTreeMap<u64, [Option<f64>; 2]> = BTreeMap::new();
    for point in group.points_about(STRIDE, index) {
        let which = usize::from(point.name("chain_mode") != Some("sequential"));
        both.entry(point.number("stride_bytes")?).or_default()[which] = value(point);
    }
    let share =
        |(stride, loads): (u64, [Option<f64>; 2])| Some((Bytes(stride), loads[0]? / loads[1]?));
    let shares: Vec<(Bytes, f64)> = both.into_iter().filter_map(share).collect();
    let (least, at_least) = *shares.first()?;
    let (up_to, not) = followed(&shares);
    let text = match (up_to, not) {
        (Some(up_to), Some(not)) => format!("up to {up_to} are prefetched, {not} is not"),
        (Some(up_to), None) => format!("up to {up_to}, the largest tried, are prefetched"),
        (None, _) => format!("are not prefetched, not even {least}"),
    };
    let text = format!(
        "Past {}{} strides {text} ({least} takes {:.0}% of the time of random order).",
        group.name(index)?,
        group.on,
        at_least * 100.0
    );
    let values = [
        ("followed_bytes", up_to.map(|b| b.0 as f64)),
        ("not_followed_bytes", not.map(|b| b.0 as f64)),
        ("share_of_random", Some(at_least)),
    ];
    finding(
        group.points_about(STRIDE, index),
        "cache-stride-prefetch",
        text,
        &values,
    )
}

/// Finding about the number of ways of the cache at `index`, or about the reason why it is unknown.
fn sets(group: &MeasuredCurve<'_>, index: usize) -> Option<Finding> {
    let name = group.name(index)?;
    let (least, most) = match found(group, index) {
        Ok(ways) => ways,
        Err(why) => {
            let text = format!("The ways of {name}{} are unknown: {why}.", group.on);
            return Some(note(
                "cache-ways-unknown",
                text,
                &[("level", group.number(index).map(f64::from))],
            ));
        }
    };
    // Lines in the nearer cache are never looked up in this cache. If this cache has no more ways
    // than the nearer one, its ways do not show.
    let hidden = index > 0 && found(group, 0).is_ok_and(|(_, nearer)| least <= nearer);
    let least = if hidden { 1 } else { least };
    let cache = group.pairs().get(index).copied().flatten();
    let reported = cache.and_then(|cache| cache.ways);
    let ways = if hidden {
        format!("at most {most}")
    } else if least == most {
        format!("{least}")
    } else {
        format!("{least} to {most}")
    };
    let reports = reported.map_or("none".to_owned(), |reported| reported.to_string());
    let text = format!(
        "{name}{} has {ways} ways; the system reports {reports}.",
        group.on
    );
    let values = [
        ("level", group.number(index).map(f64::from)),
        ("ways", Some(least as f64)),
        ("ways_at_most", Some(most as f64)),
        ("reported_ways", reported.map(f64::from)),
    ];
    let differs = reported.is_some_and(|reported| !(least..=most).contains(&u64::from(reported)));
    let kind = if differs {
        "cache-disagrees"
    } else {
        "cache-ways"
    };
    finding(group.points_about(WAYS, index), kind, text, &values)
}

/// Least and largest number of ways of the cache at `index`, or the reason why they are unknown.
fn found(group: &MeasuredCurve<'_>, index: usize) -> Result<(u64, u64), &'static str> {
    if index >= 2 {
        return Err("its sets are chosen by a hash of the address on most processors");
    }
    let probes = group.points_about(WAYS, index);
    let Some(stride) = probes.iter().filter_map(|p| p.number("stride_bytes")).min() else {
        return Err("there was no time or no contiguous memory for it");
    };
    if index > 0 && group.lacking().is_some() {
        return Err("its sets follow physical addresses, and huge pages were not granted");
    }
    let mut together = BTreeMap::new();
    let mut apart = BTreeMap::new();
    for point in &probes {
        let (Some(nodes), Some(load)) = (point.number("nodes"), value(point)) else {
            continue;
        };
        let loads = if point.number("stride_bytes") == Some(stride) {
            &mut together
        } else {
            &mut apart
        };
        loads.insert(nodes, load);
    }
    let latency = |index: usize| group.levels.get(index).map_or(0.0, |level| level.latency);
    let nearest = latency(0);
    let here = latency(index);
    let behind = latency(index + 1);
    // The probe with nodes in different sets shows the cost of the pages alone. This cost is
    // subtracted.
    let sets =
        |(nodes, load): (u64, f64)| Some((nodes, nearest + (load - apart.get(&nodes)?).max(0.0)));
    let loads: Vec<(u64, f64)> = together.into_iter().filter_map(sets).collect();
    ways(&loads, here, behind).ok_or("lines of one set take no longer than lines of different sets")
}
