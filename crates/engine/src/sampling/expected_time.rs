//! The expected time of a point: the steps of sampler and machine, in their order.
//!
//! The steps and their conditions are those of [`super::sample_round`]; the machine says what a
//! step costs ([`Machine::costs`]).

use super::kernel_selection;
use super::{LONGEST_WALK, Sampling, Windows, fills, warm_up_walk};
use crate::machine::{Costs, LONGEST_PREFILL, Machine, PREFILL_PASSES};
use crate::work::{ChaseWork, StreamWork, Work};
use units::{Bytes, Nanos};

/// Samples that a round discards at least while two in a row are compared.
const FEWEST_WARM_UPS: f64 = 2.0;

/// Costs of a point that are known before it is measured. Looking them up takes a pass over all
/// caches of the machine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PointCosts {
    /// Whether the last-level caches could hold the working set.
    fits_last_level: bool,
    /// Size of the cache before the last one.
    inner_cache: Bytes,
    /// Amount of work per second, as `Observation::amount` counts.
    rate: f64,
    /// Building its chains once.
    build: Nanos,
    /// Preparing external work before its first window.
    preparation: Nanos,
    /// Size of a base page.
    base_page: Bytes,
}

impl PointCosts {
    /// Of a point without work.
    pub const NONE: Self = Self {
        fits_last_level: false,
        inner_cache: Bytes(0),
        rate: 1.0,
        build: Nanos::ZERO,
        preparation: Nanos::ZERO,
        base_page: Bytes(4096),
    };

    /// Asks `machine` about `work`.
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

/// A point as far as its time depends on it.
#[derive(Debug, Clone, Copy)]
pub struct TimedPoint<'a> {
    /// The measured work.
    pub work: &'a Work,
    /// Its costs on the machine.
    pub costs: PointCosts,
    /// Its sampling.
    pub sampling: Sampling,
    /// Kernels or numbers of threads to choose from.
    pub candidates: usize,
    /// Short windows taken in addition to the samples.
    pub windows: Option<Windows>,
    /// Pause before each round.
    pub pause: Nanos,
    /// Number of times that its chains are built.
    pub builds: f64,
}

/// Expected time of all rounds of a point, without mapping its memory.
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

/// Expected time of filling streams with doubles: the largest of `works` once for each of
/// `allocations`, or all of them in each of `rounds` if tables come to lie over them.
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

/// Samples of all rounds.
fn total_samples(sampling: &Sampling) -> u32 {
    let all = sampling.per_round.saturating_mul(sampling.rounds);
    sampling.most.map_or(all, |most| most.min(all))
}

/// Choosing the fastest of several kernels.
fn selection(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let (preparations, samples) = kernel_selection::steps(point.candidates);
    (costs.prepare + walk(point, costs)) * preparations + sample(point, costs) * samples
}

/// One sample.
fn sample(point: &TimedPoint<'_>, costs: &Costs) -> Nanos {
    let length = point
        .sampling
        .undisturbed(point.work, point.costs.fits_last_level);
    length * point.work.sample_length_factor() + costs.sample
}

/// A round without the samples that count.
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

/// The warm-up walk before the first sample of a round, in whole samples.
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
