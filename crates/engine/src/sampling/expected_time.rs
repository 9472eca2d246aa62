//! Computes the expected time of a point from the steps of the sampler and their costs.
//!
//! The steps and their conditions are the same as in [`super::sample_round`]. The costs come from
//! [`Machine::costs`].

use super::kernel_selection;
use super::{LONGEST_WALK, Sampling, Windows, fills, warm_up_walk};
use crate::machine::{Costs, LONGEST_PREFILL, Machine, PREFILL_PASSES};
use crate::work::{ChaseWork, StreamWork, Work};
use units::{Bytes, Nanos};

/// Fewest warm-up samples of a round, because two samples in a row are compared.
const FEWEST_WARM_UPS: f64 = 2.0;

/// Costs of a point that are known before it is measured. They are found once and kept, because
/// finding them takes a pass over the list of all caches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointCosts {
    /// True if the working set fits into the last-level caches.
    fits_last_level: bool,
    /// Size of the data cache one level nearer than the last-level cache.
    inner_cache: Bytes,
    /// Rate of the work, in units of `Observation::amount` per second.
    rate: f64,
    /// Time to build the chains of the work once.
    build: Nanos,
    /// Time to prepare external work before its first window.
    preparation: Nanos,
    /// Size of a base page.
    base_page: Bytes,
}

impl PointCosts {
    /// Costs of a point without work.
    pub const NONE: Self = Self {
        fits_last_level: false,
        inner_cache: Bytes(0),
        rate: 1.0,
        build: Nanos::ZERO,
        preparation: Nanos::ZERO,
        base_page: Bytes(4096),
    };

    /// Finds the costs of `work` on `machine`.
    pub fn look_up(work: &Work, machine: &dyn Machine) -> Self {
        let facts = machine.facts();
        Self {
            fits_last_level: work.fits_last_level(facts),
            inner_cache: work.inner_cache(facts),
            rate: machine.expected_rate(work),
            build: work
                .chase()
                .map_or(Nanos::ZERO, |chase| machine.expected_build(chase)),
            preparation: machine.expected_preparation(work),
            base_page: facts.pages.base,
        }
    }
}

/// A point with all facts that determine its expected time.
#[derive(Debug, Clone, Copy)]
pub struct TimedPoint<'a> {
    /// The measured work.
    pub work: &'a Work,
    /// Costs of the work on the machine.
    pub costs: PointCosts,
    /// Settings of the sampling.
    pub sampling: Sampling,
    /// Number of candidates for kernel selection.
    pub candidates: usize,
    /// Short windows in addition to the samples.
    pub windows: Option<Windows>,
    /// Pause before each round.
    pub pause: Nanos,
    /// Number of times that the chains of the work are built.
    pub builds: f64,
}

/// Expected time of a point: all rounds, kernel selection and windows, without mapping its memory.
pub fn expected_time(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let windows = point.windows.map_or(Nanos::ZERO, |w| {
        w.length * f64::from(w.count) * costs.window
    });
    let chains = point.costs.build * point.builds;
    let samples = f64::from(total_samples(&point.sampling));
    let rounds =
        round(point, costs) * f64::from(point.sampling.rounds) + sample(point, costs) * samples;
    point.costs.preparation + chains + selection(point, costs) + windows + rounds
}

/// Expected time to write doubles into streams. Streams of different works share memory. Doubles
/// for the largest of `works` are therefore written once in each of `allocations` allocations. An
/// index table overwrites doubles. If a work has such a table, the doubles of all works are written
/// again in each of `rounds` rounds.
pub fn expected_fill<'a>(
    works: impl Iterator<Item = &'a Work>,
    allocations: f64,
    rounds: f64,
    costs: &Costs,
) -> Nanos {
    let mut largest = 0.0f64;
    let mut all = 0.0;
    let mut tables = false;
    for work in works {
        let Work::Stream(work) = work else { continue };
        let doubles = doubles(work);
        tables |= work.table_bytes() > 0;
        largest = largest.max(doubles);
        all += doubles;
    }
    costs.double
        * if tables {
            all * rounds
        } else {
            largest * allocations
        }
}

fn doubles(work: &StreamWork) -> f64 {
    if work.contract().on_doubles() {
        work.bytes.0 as f64 / 8.0
    } else {
        0.0
    }
}

/// Number of samples in all rounds.
fn total_samples(sampling: &Sampling) -> u32 {
    let all = sampling.per_round.saturating_mul(sampling.rounds);
    sampling.most.map_or(all, |most| most.min(all))
}

/// Expected time of kernel selection.
fn selection(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let (preparations, samples) = kernel_selection::steps(point.candidates);
    (costs.prepare + walk(point, costs)) * preparations + sample(point, costs) * samples
}

/// Expected time of one sample.
fn sample(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let length = point
        .sampling
        .undisturbed(point.work, point.costs.fits_last_level);
    let proof = point.work.external().map(|w| w.work().expected_proof());
    length * point.work.sample_length_factor() + costs.sample + proof.unwrap_or(Nanos::ZERO)
}

/// Expected time of a round, without the samples that count.
fn round(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let table = match point.work {
        Work::Stream(stream) => costs.table_entry * (stream.table_bytes() / 8) as f64,
        _ => Nanos::ZERO,
    };
    let warm_ups = match point.work {
        Work::External(external) => {
            let warm_up = sample(point, costs) * external.work().warm_up();
            return costs.round + point.pause + warm_up;
        }
        Work::Chase(_) if point.costs.fits_last_level => FEWEST_WARM_UPS,
        _ if point.costs.fits_last_level => costs.warm_ups,
        _ => costs.warm_ups_in_memory,
    };
    costs.round + point.pause + table + walk(point, costs) + sample(point, costs) * warm_ups
}

/// Expected time of all prefills and warm-up walks of a round. A walk consists of whole samples.
fn walk(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let TimedPoint {
        work,
        costs: of_point,
        ..
    } = point;
    let amount = if of_point.fits_last_level {
        warm_up_walk(work, of_point.inner_cache)
    } else {
        work.translations(of_point.base_page)
    };
    let sample = sample(point, costs);
    let length = (sample - costs.sample).0.max(1.0);
    let samples = (amount as f64 / of_point.rate * 1e9 / length).ceil();
    let once = (sample * samples).min(LONGEST_WALK + sample);
    if !of_point.fits_last_level {
        return once;
    }
    let filling =
        |chase: &ChaseWork| costs.filling_hop * chase.nodes().saturating_mul(PREFILL_PASSES) as f64;
    let fill = work
        .chase()
        .map_or(Nanos::ZERO, filling)
        .min(LONGEST_PREFILL);
    (fill + once) * f64::from(fills(work, of_point.inner_cache, point.sampling.per_round))
}
