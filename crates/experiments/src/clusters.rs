//! Findings from a matrix of round trips: the time of each relation of CPUs, groups of near CPUs,
//! and pairs whose two directions differ.

use crate::difference::{ComparisonResult, Difference, Figure};
use report::{Dataset, Finding, PlacementStratum, Point, VcpuPlacement};
use std::collections::{BTreeMap, BTreeSet};
use units::{CpuList, counted, significant};

/// CPUs form groups only if all pairs inside groups are faster than all other pairs by at least
/// this factor. Noise is smaller than this factor. Round trips inside a core, a cache and a machine
/// differ by more.
const GAP: f64 = 1.25;

/// A pair has two round trips, one started by each CPU. The pair is asymmetric if the two differ by
/// more than this factor and their intervals do not overlap.
const ASYMMETRIC: f64 = 1.1;

/// Largest number of groups that a finding lists one by one.
const MAX_NAMED: usize = 16;

/// Round trip times of a pair of CPUs in ns, measured twice: each CPU starts once.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    /// The shorter of the two times.
    least: f64,
    /// The longer of the two times.
    most: f64,
}

/// A division of CPUs into groups.
#[derive(Debug, Clone, PartialEq)]
struct Division {
    /// The groups in the order of their first CPUs; each lists its CPUs in rising order.
    groups: Vec<Vec<u32>>,
    /// Median round trip inside the groups, in ns.
    inside: f64,
    /// Median round trip between the groups, in ns.
    between: f64,
}

/// An ordered pair of CPUs that was measured.
struct MeasuredPair<'a> {
    from: u32,
    to: u32,
    relation: &'a str,
    ns: f64,
    /// The rounds of the pair, divided by vCPU placement. Empty if placements were not measured.
    strata: &'a [PlacementStratum],
    point: &'a Point,
}

/// Round trips of one kind of pairs, in ns.
#[derive(Default)]
struct Kind {
    ns: Vec<f64>,
    /// For each round trip in `ns`, the share of its pair's rounds in which the pair was of this
    /// kind.
    shares: Vec<f64>,
}

/// Findings from the points with `operation`.
pub(super) fn findings(dataset: &Dataset, operation: &str) -> Vec<Finding> {
    let points = dataset
        .points
        .iter()
        .filter(|p| p.name("operation") == Some(operation));
    let pairs: Vec<MeasuredPair<'_>> = points.filter_map(measured).collect();
    let mut findings: Vec<Finding> = relations(&pairs, operation).into_iter().collect();
    findings.extend(
        divisions(&spans(&pairs))
            .iter()
            .filter_map(|division| described(division, &pairs, operation)),
    );
    findings.extend(asymmetric(&pairs, operation));
    findings
}

fn measured(point: &Point) -> Option<MeasuredPair<'_>> {
    let outcome = point.usable()?;
    let cpu = |axis: &str| point.number(axis).and_then(|n| u32::try_from(n).ok());
    Some(MeasuredPair {
        from: cpu("from")?,
        to: cpu("to")?,
        relation: point.name("relation")?,
        ns: outcome.summary.median,
        strata: outcome
            .evidence
            .vcpu_placement
            .as_ref()
            .map_or(&[], |evidence| &evidence.strata),
        point,
    })
}

/// Name of the kind of `pair` in the rounds of `stratum`. The kind is the relation that the
/// topology reports, if timing agrees with it. Otherwise, the kind is the placement according to
/// timing.
fn kind(pair: &MeasuredPair<'_>, stratum: &PlacementStratum) -> String {
    let promised = pair.relation.parse().ok();
    if promised.and_then(VcpuPlacement::promised) == Some(stratum.placement) {
        pair.relation.to_owned()
    } else {
        format!("{}-by-timing", stratum.placement)
    }
}

/// Finding about the round trip of each relation: the median and the range over the pairs of the
/// relation. If the host moves the vCPUs, the finding also has the share of time in each relation.
fn relations(pairs: &[MeasuredPair<'_>], operation: &str) -> Option<Finding> {
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for pair in pairs {
        let mut add = |name: String, ns: f64, share: f64| {
            let kind = kinds.entry(name).or_default();
            kind.ns.push(ns);
            kind.shares.push(share);
        };
        if pair.strata.is_empty() {
            add(pair.relation.to_owned(), pair.ns, 1.0);
        }
        for stratum in pair.strata {
            if let Some(ns) = stratum.median {
                add(kind(pair, stratum), ns, stratum.share);
            }
        }
    }
    let mut said: Vec<(f64, String)> = Vec::new();
    let mut values = BTreeMap::new();
    for (name, Kind { ns, shares }) in &kinds {
        let median = stats::median(ns)?;
        let least = stats::quantile(ns, 0.0)?;
        let most = stats::quantile(ns, 1.0)?;
        let share = stats::mean(shares)?;
        let mut notes = Vec::new();
        if ns.len() > 1 {
            notes.push(format!("{} to {}", significant(least), significant(most)));
        }
        if share < 1.0 {
            notes.push(format!("{:.0}% of the time", share * 100.0));
        }
        let notes = match notes.is_empty() {
            true => String::new(),
            false => format!(" ({})", notes.join("; ")),
        };
        said.push((median, format!("{name} {} ns{notes}", significant(median))));
        let figures = [
            ("ns", median),
            ("least_ns", least),
            ("most_ns", most),
            ("pairs", ns.len() as f64),
            ("share", share),
        ];
        values.extend(figures.map(|(what, value)| (format!("{name}_{what}"), value)));
    }
    said.sort_by(|a, b| a.0.total_cmp(&b.0));
    let said: Vec<String> = said.into_iter().map(|(_, text)| text).collect();
    let text = format!("Round trip of a line by {operation}: {}.", said.join(", "));
    Some(Finding::shown_by(pairs.iter().map(|pair| pair.point), "core-to-core", text)?.with(values))
}

/// Round trips of each unordered pair of CPUs in `pairs`, in the one or two measured directions.
/// The lower CPU comes first.
fn spans(pairs: &[MeasuredPair<'_>]) -> BTreeMap<(u32, u32), Span> {
    let mut spans: BTreeMap<(u32, u32), Span> = BTreeMap::new();
    for pair in pairs {
        let key = (pair.from.min(pair.to), pair.from.max(pair.to));
        let span = spans.entry(key).or_insert(Span {
            least: pair.ns,
            most: pair.ns,
        });
        *span = Span {
            least: span.least.min(pair.ns),
            most: span.most.max(pair.ns),
        };
    }
    spans
}

/// Every division of the CPUs into groups with a gap: all pairs inside groups are faster by the
/// factor [`GAP`] than all pairs between groups. The division with the fastest pairs inside its
/// groups comes first. CPUs with a pair that was not measured are left out.
fn divisions(spans: &BTreeMap<(u32, u32), Span>) -> Vec<Division> {
    let spans = complete(spans);
    let mut sorted: Vec<Span> = spans.values().copied().collect();
    sorted.sort_by(|a, b| (a.least + a.most).total_cmp(&(b.least + b.most)));
    // The slowest pair up to each position, and the fastest pair from each position on.
    let mut slowest = Vec::with_capacity(sorted.len());
    for span in &sorted {
        slowest.push(slowest.last().copied().unwrap_or(0.0f64).max(span.most));
    }
    let mut fastest: Vec<f64> = Vec::with_capacity(sorted.len());
    for span in sorted.iter().rev() {
        fastest.push(fastest.last().copied().unwrap_or(f64::MAX).min(span.least));
    }
    fastest.reverse();
    let gap = |at: &usize| fastest[*at] >= slowest[at - 1] * GAP;
    (1..sorted.len())
        .filter(gap)
        .filter_map(|at| division(&spans, slowest[at - 1]))
        .collect()
}

/// The groups of CPUs that pairs of at most `limit` ns connect. `None` if a pair inside a group is
/// slower.
fn division(spans: &BTreeMap<(u32, u32), Span>, limit: f64) -> Option<Division> {
    let mut group: BTreeMap<u32, u32> = spans
        .keys()
        .flat_map(|(a, b)| [(*a, *a), (*b, *b)])
        .collect();
    for ((a, b), _) in spans.iter().filter(|(_, span)| span.most <= limit) {
        let one = group[a].min(group[b]);
        let other = group[a].max(group[b]);
        if one != other {
            group
                .values_mut()
                .filter(|g| **g == other)
                .for_each(|g| *g = one);
        }
    }
    let middle = |span: &Span| (span.least + span.most) / 2.0;
    let (inside, between): (Vec<_>, Vec<_>) =
        spans.iter().partition(|((a, b), _)| group[a] == group[b]);
    if inside.iter().any(|(_, span)| span.most > limit) {
        return None;
    }
    let median = |part: &[(&(u32, u32), &Span)]| {
        stats::median(&part.iter().map(|(_, s)| middle(s)).collect::<Vec<_>>())
    };
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (cpu, first) in &group {
        groups.entry(*first).or_default().push(*cpu);
    }
    Some(Division {
        groups: groups.into_values().collect(),
        inside: median(&inside)?,
        between: median(&between)?,
    })
}

/// The pairs of CPUs among which all pairs were measured. The CPU with the most missing pairs is
/// removed until no pair is missing.
fn complete(spans: &BTreeMap<(u32, u32), Span>) -> BTreeMap<(u32, u32), Span> {
    let mut partners: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
    for &(a, b) in spans.keys() {
        partners.entry(a).or_default().insert(b);
        partners.entry(b).or_default().insert(a);
    }
    while let Some((&fewest, count)) = partners
        .iter()
        .map(|(cpu, with)| (cpu, with.len()))
        .min_by_key(|p| (p.1, !p.0))
        && count + 1 < partners.len()
    {
        partners.remove(&fewest);
        partners.values_mut().for_each(|with| {
            with.remove(&fewest);
        });
    }
    let kept = |(a, b): &(u32, u32)| partners.contains_key(a) && partners.contains_key(b);
    spans
        .iter()
        .filter(|(pair, _)| kept(pair))
        .map(|(pair, span)| (*pair, *span))
        .collect()
}

/// Finding about a division. If the system reports the same relation inside and between the groups,
/// the text says so. `None` if the intervals do not show that pairs inside are faster.
fn described(division: &Division, pairs: &[MeasuredPair<'_>], operation: &str) -> Option<Finding> {
    let together = |a: u32, b: u32| {
        division
            .groups
            .iter()
            .any(|group| group.contains(&a) && group.contains(&b))
    };
    let known = |cpu: u32| division.groups.iter().any(|group| group.contains(&cpu));
    let mut kinds: [BTreeSet<&str>; 2] = Default::default();
    let mut figures: [Vec<Figure<'_>>; 2] = Default::default();
    for pair in pairs
        .iter()
        .filter(|pair| known(pair.from) && known(pair.to))
    {
        let is_inside = usize::from(together(pair.from, pair.to));
        kinds[is_inside].insert(pair.relation);
        figures[is_inside].extend(Figure::new(pair.point));
    }
    let difference = Difference {
        from: Figure::mean(&figures[1])?,
        to: Figure::mean(&figures[0])?,
    };
    if difference.shows() != ComparisonResult::Higher {
        return None;
    }
    let both: Vec<&str> = kinds[0].intersection(&kinds[1]).copied().collect();
    let system = match both.as_slice() {
        [] => String::new(),
        kinds => format!("; the system calls both {}", kinds.join(", ")),
    };
    let groups: Vec<&Vec<u32>> = division
        .groups
        .iter()
        .filter(|group| group.len() > 1)
        .collect();
    let named: Vec<String> = groups
        .iter()
        .take(MAX_NAMED)
        .map(|g| CpuList((*g).clone()).to_string())
        .collect();
    let more = groups.len().saturating_sub(MAX_NAMED);
    let more = if more > 0 {
        format!(" and {}", counted(more, "more group"))
    } else {
        String::new()
    };
    let inside = significant(division.inside);
    let between = significant(division.between);
    let text = format!(
        "CPUs form groups by {operation}: {}{more}; a round trip takes {inside} ns inside a group \
         and {between} ns between groups{system}.",
        named.join(" / "),
    );
    let values = BTreeMap::from([
        ("groups".to_owned(), division.groups.len() as f64),
        ("inside_ns".to_owned(), division.inside),
        ("between_ns".to_owned(), division.between),
    ]);
    Some(Finding::shown_by(difference.points(), "clusters", text)?.with(values))
}

/// Finding about pairs whose two directions differ. Causes are the NUMA node of the line, a slower
/// core, or noise. `None` without such pairs.
fn asymmetric(pairs: &[MeasuredPair<'_>], operation: &str) -> Option<Finding> {
    let way: BTreeMap<(u32, u32), &MeasuredPair<'_>> = pairs
        .iter()
        .map(|pair| ((pair.from, pair.to), pair))
        .collect();
    let both = |one: &&MeasuredPair<'_>| way.contains_key(&(one.to, one.from));
    let slower = |slow: &&MeasuredPair<'_>| {
        let quick = way.get(&(slow.to, slow.from));
        let difference = quick.and_then(|quick| Difference::shown(quick.point, slow.point));
        difference.is_some_and(|difference| difference.ratio() > ASYMMETRIC)
    };
    let all = way.values().copied().filter(both).count() / 2;
    let slow: Vec<&MeasuredPair<'_>> = way.values().copied().filter(slower).collect();
    let ratio = |slow: &MeasuredPair<'_>| slow.ns / way[&(slow.to, slow.from)].ns;
    let worst = slow
        .iter()
        .copied()
        .max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let ns = significant(worst.ns);
    let quick = significant(way[&(worst.to, worst.from)].ns);
    let text = format!(
        "The direction matters by more than 10% for {} of {all} pairs by {operation}: at most \
         {ns} ns from {} to {} and {quick} ns back.",
        slow.len(),
        worst.from,
        worst.to,
    );
    let values = BTreeMap::from([
        ("pairs".to_owned(), slow.len() as f64),
        ("of".to_owned(), all as f64),
        ("most_ratio".to_owned(), ratio(worst)),
    ]);
    let both = slow
        .iter()
        .flat_map(|slow| [slow.point, way[&(slow.to, slow.from)].point]);
    Some(Finding::shown_by(both, "asymmetric", text)?.with(values))
}

#[cfg(test)]
mod tests {
    use super::super::difference::tests::measured_point;
    use super::*;
    use report::Summary;
    use stats::SplitMix64;

    /// Divisions of `count` CPUs whose round trips are `ns`, with relative noise of up to `noise`.
    fn found(count: u32, noise: f64, ns: impl Fn(u32, u32) -> f64) -> Vec<Vec<Vec<u32>>> {
        found_with(5, count, noise, ns)
    }

    /// Like [`found`], with noise that `seed` determines.
    fn found_with(
        seed: u64,
        count: u32,
        noise: f64,
        ns: impl Fn(u32, u32) -> f64,
    ) -> Vec<Vec<Vec<u32>>> {
        let mut random = SplitMix64::new(seed);
        let mut noisy = |ns: f64| ns * (1.0 + noise * (2.0 * random.fraction() - 1.0));
        let mut spans = BTreeMap::new();
        for (a, b) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
            let one = noisy(ns(a, b));
            let other = noisy(ns(a, b));
            spans.insert(
                (a, b),
                Span {
                    least: one.min(other),
                    most: one.max(other),
                },
            );
        }
        divisions(&spans)
            .into_iter()
            .map(|division| division.groups)
            .collect()
    }

    /// Groups of `size` consecutive CPUs.
    fn consecutive(count: u32, size: u32) -> Vec<Vec<u32>> {
        (0..count)
            .step_by(size as usize)
            .map(|first| (first..first + size).collect())
            .collect()
    }

    #[test]
    fn every_level_of_groups_is_found() {
        let ns = |a: u32, b: u32| {
            if a / 2 == b / 2 {
                16.0
            } else if a / 8 == b / 8 {
                45.0
            } else if a / 16 == b / 16 {
                110.0
            } else {
                230.0
            }
        };
        for noise in [0.0, 0.05, 0.1] {
            assert_eq!(
                found(32, noise, ns),
                [2, 8, 16].map(|size| consecutive(32, size)),
                "{noise}"
            );
        }
        assert_eq!(
            found(2, 0.0, ns),
            Vec::<Vec<Vec<u32>>>::new(),
            "a pair is near nobody else"
        );
        assert_eq!(found(3, 0.0, ns), [vec![vec![0, 1], vec![2]]]);
    }

    #[test]
    fn flat_matrices_have_no_groups() {
        for count in [2, 3, 4, 8, 64] {
            for noise in [0.0, 0.02, 0.1] {
                assert!(
                    found(count, noise, |_, _| 80.0).is_empty(),
                    "{count} with {noise}"
                );
            }
        }
        // With few pairs, gaps by chance are more likely. Therefore 200 seeds are tried.
        for (seed, count) in (0..200).flat_map(|seed| [(seed, 3), (seed, 4)]) {
            assert!(
                found_with(seed, count, 0.1, |_, _| 80.0).is_empty(),
                "{count}, seed {seed}"
            );
        }
        // A mesh: latency grows with distance, without a gap.
        assert!(found(32, 0.03, |a, b| 60.0 + 2.0 * f64::from(a.abs_diff(b))).is_empty());
    }

    #[test]
    fn slow_pairs_here_and_there_are_no_groups() {
        let odd = |a: u32, b: u32| {
            if (a * 7 + b * 3).is_multiple_of(5) {
                200.0
            } else {
                80.0
            }
        };
        assert!(found(16, 0.02, odd).is_empty());
        // The CPUs form a chain: each is near its neighbour, but the neighbour's neighbour is far.
        let chain = |a: u32, b: u32| if b == a + 1 && b < 3 { 40.0 } else { 100.0 };
        assert!(found(4, 0.02, chain).is_empty());
    }

    #[test]
    fn cpus_with_missing_pairs_are_left_out() {
        let span = |ns: f64| Span {
            least: ns,
            most: ns,
        };
        let mut spans: BTreeMap<(u32, u32), Span> = BTreeMap::new();
        for (a, b) in (0..8).flat_map(|a| (a + 1..8).map(move |b| (a, b))) {
            spans.insert((a, b), span(if a / 4 == b / 4 { 40.0 } else { 120.0 }));
        }
        spans.insert((0, 90), span(40.0));
        spans.insert((0, 91), span(10.0));
        assert_eq!(
            divisions(&spans)
                .iter()
                .map(|d| d.groups.clone())
                .collect::<Vec<_>>(),
            [consecutive(8, 4)]
        );
        assert!(divisions(&BTreeMap::new()).is_empty());
    }

    #[test]
    fn who_starts_matters_only_beyond_noise() {
        let point = |ns: f64, half: f64| {
            let ci_low = ns - half;
            let ci_high = ns + half;
            let confidence = 0.95;
            let undisturbed_samples = 20;
            measured_point(Summary {
                median: ns,
                best: ns,
                ci_low,
                ci_high,
                confidence,
                mad: None,
                mean: None,
                standard_deviation: None,
                coefficient_of_variation: None,
                undisturbed_samples,
            })
        };
        let told = |pairs: &[(u32, u32, f64, f64)]| {
            let points: Vec<Point> = pairs
                .iter()
                .map(|&(.., ns, half)| point(ns, half))
                .collect();
            let both = pairs.iter().zip(&points);
            let pairs: Vec<MeasuredPair<'_>> = both
                .map(|(&(from, to, ns, _), point)| MeasuredPair {
                    from,
                    to,
                    relation: "shared-l3",
                    ns,
                    strata: &[],
                    point,
                })
                .collect();
            asymmetric(&pairs, "exchange").map(|f| (f.values["pairs"], f.values["of"]))
        };
        assert_eq!(told(&[(0, 1, 100.0, 1.0), (1, 0, 109.0, 1.0)]), None);
        assert_eq!(
            told(&[(0, 1, 100.0, 1.0), (1, 0, 120.0, 1.0), (0, 2, 90.0, 1.0)]),
            Some((1.0, 1.0))
        );
        assert_eq!(
            told(&[(0, 1, 100.0, 15.0), (1, 0, 120.0, 15.0)]),
            None,
            "intervals that meet"
        );
        assert_eq!(told(&[]), None);
    }
}
