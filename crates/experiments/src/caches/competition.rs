//! Findings about the CPUs that compete for each cache according to timing, and about disagreement
//! with the system's report.

use super::measured_curve::{MeasuredCurve, finding, note, value};
use super::points::SHARED;
use crate::series::not_rejected;
use report::{Cache, Finding, Places, Point, Relation};

/// A partner CPU competes for a cache if loads get slower by at least this share of the difference
/// to the next level's latency. CPUs that share only the path to a cache slow loads less.
const COMPETING_SHARE: f64 = 0.25;

/// A competing partner must also slow loads by at least this share of their latency. A smaller
/// effect may come from the core clock, which may be lower if two cores work.
const LEAST_SLOWDOWN: f64 = 0.1;

/// Effect of one partner CPU on the loads from a cache.
struct MeasuredPartner<'a> {
    point: &'a Point,
    partner: u32,
    relation: Option<Relation>,
    latency: f64,
    /// True if the partner competes for the cache; `None` if noise hides the answer.
    competes: Option<bool>,
}

/// Measured latencies of loads from one cache in ns: alone, and while each partner CPU reads.
struct CacheLoads<'a> {
    index: usize,
    /// The point without a partner.
    point: &'a Point,
    alone: f64,
    partners: Vec<MeasuredPartner<'a>>,
}

/// Findings about the CPUs that compete with the CPU of `group` for each cache, and about
/// disagreement with the system's report.
pub fn findings(group: &MeasuredCurve<'_>) -> Vec<Finding> {
    let caches = group.ends().len();
    let requested = group
        .points
        .iter()
        .any(|p| p.name("operation") == Some(SHARED));
    let Some(cpu) = group.cpu.filter(|_| caches > 0) else {
        return Vec::new();
    };
    if !requested {
        let text = format!(
            "The CPUs that share caches{} with CPU {cpu} are unknown: {}.",
            group.mode,
            why(group)
        );
        return vec![note("cache-sharing-unknown", text, &[])];
    }
    let places = group.topology.map(Places::new);
    let levels: Vec<Result<CacheLoads<'_>, Finding>> = group
        .named()
        .map(|index| level(group, index, places.as_ref()))
        .collect();
    let mut findings = Vec::new();
    let mut differ = Vec::new();
    for level in levels {
        match level {
            Ok(level) => {
                findings.extend(said(group, cpu, &level));
                differ.extend(
                    level
                        .partners
                        .iter()
                        .filter_map(|partner| disagrees(group, cpu, &level, partner)),
                );
            }
            Err(unknown) => findings.push(unknown),
        }
    }
    findings.extend(differ);
    findings
}

/// Reason why sharing was not measured.
fn why(group: &MeasuredCurve<'_>) -> String {
    match group.topology.map(|topology| topology.allowed()).as_deref() {
        Some([only]) => {
            format!("this process may use CPU {only} only")
        }
        _ => "there was no second CPU, no time or no memory for it".to_owned(),
    }
}

/// Measured loads of the cache at `index`, or a finding with the reason why they are unknown.
fn level<'a>(
    group: &MeasuredCurve<'a>,
    index: usize,
    places: Option<&Places>,
) -> Result<CacheLoads<'a>, Finding> {
    let unknown = |why: &str| {
        let name = group.name(index).unwrap_or_default();
        let text = format!("The CPUs that share {name}{} are unknown: {why}.", group.on);
        note(
            "cache-sharing-unknown",
            text,
            &[("level", group.number(index).map(f64::from))],
        )
    };
    if group.ends().get(index).is_some_and(|end| end.varies) {
        return Err(unknown("neighbours use a part of it that varies"));
    }
    let points = group.points_about(SHARED, index);
    let (shared, alone): (Vec<&'a Point>, Vec<&'a Point>) = points
        .into_iter()
        .partition(|p| p.number("partner").is_some());
    let not_requested = "there was no time or no memory for it";
    let (Some(one), false) = (alone.first(), shared.is_empty()) else {
        return Err(unknown(not_requested));
    };
    let latency = |index: usize| group.levels.get(index).map_or(0.0, |level| level.latency);
    let taken = (COMPETING_SHARE * (latency(index + 1) - latency(index)))
        .max(LEAST_SLOWDOWN * latency(index));
    let (Some(alone), Some(high)) = (value(one), not_rejected(one).map(|m| m.summary.ci_high))
    else {
        return Err(unknown(not_requested));
    };
    if alone > latency(index) + taken {
        return Err(unknown("its lines were evicted even without a second CPU"));
    }
    let partner = |point: &'a Point| {
        let partner = u32::try_from(point.number("partner")?).ok()?;
        let latency = value(point)?;
        let low = not_rejected(point)?.summary.ci_low;
        let competes = match latency - alone >= taken {
            true if low <= high => None,
            slower => Some(slower),
        };
        let relation = places
            .zip(group.cpu)
            .map(|(places, cpu)| places.relation(cpu, partner));
        Some(MeasuredPartner {
            point,
            partner,
            relation,
            latency,
            competes,
        })
    };
    let mut partners: Vec<MeasuredPartner<'_>> = shared.into_iter().filter_map(partner).collect();
    partners.sort_by_key(|partner| (partner.relation, partner.partner));
    if partners.iter().all(|partner| partner.competes.is_none()) {
        return Err(unknown("samples vary too much"));
    }
    Ok(CacheLoads {
        index,
        point: one,
        alone,
        partners,
    })
}

fn reported<'a>(group: &MeasuredCurve<'a>, index: usize) -> Option<&'a Cache> {
    group.pairs().get(index).copied().flatten()
}

/// Name of a partner, with its relation if known: `CPU 1 (shared-l3)`.
fn named(partner: &MeasuredPartner<'_>) -> String {
    let relation = partner.relation.map(|relation| format!(" ({relation})"));
    format!("CPU {}{}", partner.partner, relation.unwrap_or_default())
}

/// The names as one text: `A, B and C`.
fn list(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Finding about the CPUs that share the cache of `level` with `cpu`.
fn said(group: &MeasuredCurve<'_>, cpu: u32, level: &CacheLoads<'_>) -> Option<Finding> {
    let partners = |competes: bool| {
        level
            .partners
            .iter()
            .filter(move |partner| partner.competes == Some(competes))
    };
    let names = |competes: bool| partners(competes).map(named).collect::<Vec<String>>();
    let shared = names(true);
    let own = names(false);
    let name = group.name(level.index)?;
    let mode = &group.mode;
    let changes = |own: &[String]| {
        let verb = if own.len() == 1 { "changes" } else { "change" };
        format!("{} {verb} nothing", list(own))
    };
    let competes = !shared.is_empty();
    let latencies = partners(competes).map(|partner| partner.latency);
    // The smallest latency among competing partners. Without such partners, the largest latency.
    let extreme = latencies.reduce(if competes { f64::min } else { f64::max })?;
    let alone = level.alone;
    let text = if competes {
        let all: Vec<String> = std::iter::once(format!("CPU {cpu}"))
            .chain(shared.iter().cloned())
            .collect();
        let them = if shared.len() == 1 {
            "ns next to it"
        } else {
            "ns or more next to one of them"
        };
        let rest = if own.is_empty() {
            String::new()
        } else {
            format!("; {}", changes(&own))
        };
        format!(
            "{name}{mode} is shared by {}: a load takes {alone:.1} ns alone and {extreme:.1} \
             {them}{rest}.",
            list(&all)
        )
    } else {
        let them = if own.len() == 1 {
            "ns next to it"
        } else {
            "ns or less next to them"
        };
        let nothing = changes(&own);
        format!(
            "{name}{mode} of CPU {cpu} is its own: {nothing}, a load takes {alone:.1} ns alone \
             and {extreme:.1} {them}."
        )
    };
    let nearest = partners(competes)
        .next()
        .map(|partner| f64::from(partner.partner));
    let values = [
        ("level", group.number(level.index).map(f64::from)),
        ("partner", nearest),
        ("competitors", Some(shared.len() as f64)),
        ("alone_ns", Some(alone)),
        ("with_partner_ns", Some(extreme)),
    ];
    let points = level.partners.iter().map(|partner| partner.point);
    finding(points.chain([level.point]), "cache-sharing", text, &values)
}

/// Finding that timing contradicts the system's report about whether a partner shares the cache.
/// `None` if both agree, or if noise hides the answer.
fn disagrees(
    group: &MeasuredCurve<'_>,
    cpu: u32,
    level: &CacheLoads<'_>,
    measured: &MeasuredPartner<'_>,
) -> Option<Finding> {
    let cache = reported(group, level.index)?;
    let competes = measured.competes?;
    let partner = measured.partner;
    if cache.cpus.0.contains(&partner) == competes {
        return None;
    }
    let name = group.name(level.index)?;
    let loads = format!(
        "a load takes {:.1} ns alone and {:.1} ns next to CPU {partner}",
        level.alone, measured.latency
    );
    let mode = &group.mode;
    let alike = format!("CPU {cpu} and CPU {partner}");
    let text = if competes {
        format!(
            "{alike} compete for {name}{mode}, though the system does not report it as shared: \
             {loads}. The hypervisor may report another topology."
        )
    } else {
        format!(
            "{alike} do not compete for {name}{mode}, though the system reports it as shared: \
             {loads}. It is partitioned, or the hypervisor reports another topology."
        )
    };
    let values = [
        ("level", group.number(level.index).map(f64::from)),
        ("partner", Some(f64::from(partner))),
        ("alone_ns", Some(level.alone)),
        ("with_partner_ns", Some(measured.latency)),
    ];
    finding(
        [level.point, measured.point],
        "cache-disagrees",
        text,
        &values,
    )
}
