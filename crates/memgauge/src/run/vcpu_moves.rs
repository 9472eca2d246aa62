//! Finding about a hypervisor that moves vCPUs between cores. It has the share of rounds with each
//! placement of the vCPUs, and the effect of the placement on figures.

use super::place::{Scale, place};
use report::{
    Dataset, Finding, HostFacts, Measured, PlacementStratum, Places, Point, VcpuPlacement, headline,
};
use std::collections::BTreeMap;
use units::CpuList;

/// Least share of the rounds that a placement must have for a finding to mention it.
const LEAST_SHARE: f64 = 0.01;

/// Least number of rounds of a placement that is compared. Fewer rounds have no 95% interval.
const FEWEST_ROUNDS: u64 = 6;

/// Least ratio of the figures of two placements that is reported as a difference.
const DIFFERENCE: f64 = 1.05;

/// A point whose figure depends on the placement of the vCPUs.
struct Dependent<'a> {
    dataset: &'a Dataset,
    point: &'a Point,
    usual: &'a PlacementStratum,
    other: &'a PlacementStratum,
    /// Larger figure divided by the smaller one.
    ratio: f64,
}

/// Finding about the placements of the vCPUs on cores. `None` if all vCPUs stayed where the
/// topology places them.
pub(super) fn vcpu_moves(facts: &HostFacts, datasets: &[Dataset]) -> Option<Finding> {
    let points = || datasets.iter().flat_map(|dataset| &dataset.points);
    let mut rounds: BTreeMap<VcpuPlacement, u64> = BTreeMap::new();
    let strata = points()
        .filter_map(|point| point.outcome.measured()?.evidence.vcpu_placement.as_ref())
        .flat_map(|evidence| &evidence.strata);
    for stratum in strata {
        *rounds.entry(stratum.placement).or_default() += stratum.rounds;
    }
    let all: u64 = rounds.values().sum();
    let share = |rounds: u64| rounds as f64 / all as f64;
    let mut shares: Vec<(VcpuPlacement, f64)> = rounds
        .iter()
        .map(|(placement, rounds)| (*placement, share(*rounds)))
        .filter(|(_, share)| *share >= LEAST_SHARE)
        .collect();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1));
    let pair = points().find_map(|point| {
        Some(
            point
                .outcome
                .measured()?
                .evidence
                .vcpu_placement
                .as_ref()?
                .cpus,
        )
    })?;
    let relation = Places::new(&facts.topology).relation(pair[0], pair[1]);
    let cpus = CpuList(pair.to_vec());
    let mut text = match shares.as_slice() {
        [] => return None,
        [(placement, _)] if VcpuPlacement::promised(relation).is_none_or(|p| p == *placement) => {
            return None;
        }
        [(placement, _)] => format!(
            "The round trip of a line shows CPUs {cpus} {}; the topology says {relation}.",
            placement.phrase()
        ),
        [(most, share), others @ ..] => {
            let others: Vec<String> = others
                .iter()
                .map(|(placement, share)| format!("{:.0}% {}", share * 100.0, placement.phrase()))
                .collect();
            format!(
                "The host moves CPUs {cpus} between cores: {:.0}% of the time they are {}, {}.",
                share * 100.0,
                most.phrase(),
                others.join(", ")
            )
        }
    };
    let dependent = most_dependent(datasets);
    if let Some(dependent) = &dependent {
        text.push(' ');
        text.push_str(&sentence(dependent)?);
    }
    let values = shares
        .into_iter()
        .map(|(placement, share)| (format!("{placement}_share"), share))
        .chain(dependent.as_ref().map(|d| ("ratio".to_owned(), d.ratio)));
    let values: BTreeMap<String, f64> = values.collect();
    let finding = match &dependent {
        Some(dependent) => Finding::shown_by([dependent.point], "vcpu-moves", text)?,
        None => Finding::note("vcpu-placement", text),
    };
    Some(finding.with(values))
}

/// The bandwidth point whose figure depends most on the placement. If no bandwidth depends on it, a
/// point of another experiment except `core-to-core`.
fn most_dependent(datasets: &[Dataset]) -> Option<Dependent<'_>> {
    let largest = |wanted: fn(&str) -> bool| {
        headline(datasets)
            .filter(|dataset| wanted(&dataset.experiment))
            .flat_map(|dataset| dataset.points.iter().map(move |point| (dataset, point)))
            .filter_map(|(dataset, point)| dependence(dataset, point))
            .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
    };
    largest(|name| name == "bandwidth").or_else(|| largest(|name| name != "core-to-core"))
}

/// The largest difference between the figures of two placements of `point`. `None` if no figures
/// differ.
fn dependence<'a>(dataset: &'a Dataset, point: &'a Point) -> Option<Dependent<'a>> {
    let measured: &Measured = point.usable()?;
    let strata = &measured.evidence.vcpu_placement.as_ref()?.strata;
    let (usual, others) = strata.split_first()?;
    let differs = |other: &'a PlacementStratum| {
        let apart = usual.ci_low? > other.ci_high? || other.ci_low? > usual.ci_high?;
        let ratio = usual.median? / other.median?;
        let ratio = ratio.max(1.0 / ratio);
        (apart && other.rounds >= FEWEST_ROUNDS && ratio >= DIFFERENCE).then_some(Dependent {
            dataset,
            point,
            usual,
            other,
            ratio,
        })
    };
    others
        .iter()
        .filter(|_| usual.rounds >= FEWEST_ROUNDS)
        .filter_map(differs)
        .max_by(|a, b| a.ratio.total_cmp(&b.ratio))
}

/// Sentence such as `read, DRAM, 2 threads: 56.0 GB/s without a shared cache, 34.3 GB/s with a
/// shared cache.`
fn sentence(dependent: &Dependent<'_>) -> Option<String> {
    let [usual, other] = [dependent.usual, dependent.other];
    let scale = Scale::for_unit(&dependent.dataset.quantity.unit);
    Some(format!(
        "{}: {} {}, {} {}.",
        place(dependent.point),
        scale.text(usual.median?),
        usual.placement.phrase(),
        scale.text(other.median?),
        other.placement.phrase(),
    ))
}
