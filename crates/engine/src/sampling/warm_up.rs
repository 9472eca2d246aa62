//! Warm-up: samples that do not count, until the next ones do.

use super::recorded::value;
use crate::machine::{Failure, Machine, Observation};
use crate::work::Work;
use units::{Bytes, Nanos};

/// Samples discarded at most at the start of a round, once the working set has been walked.
pub(super) const MOST_WARM_UPS: usize = 8;

/// And of a chain that was filled.
const MOST_WARM_UPS_OF_PREFILLED: usize = 2;

/// Samples after which it is filled again, since neighbours may evict its lines within
/// milliseconds.
pub const SAMPLES_PER_PREFILL: u32 = 4;

/// Longest chain that is filled before samples: filled twice within the time limit at a few GB/s.
/// Longer chains are warmed up in another way, and the change looks like the end of a cache. So no
/// CPU should have a cache of this size.
const LARGEST_PREFILL: Bytes = Bytes::mib(512);

/// Longest chain that is filled again within a round: beyond, filling takes longer than the
/// samples.
const LARGEST_REPEATED_PREFILL: Bytes = Bytes::mib(32);

/// Time spent at most on walking a working set that could lie in a cache, or page tables that do,
/// before it is sampled.
pub const LONGEST_WALK: Nanos = Nanos(100e6);

/// A window of external work that the end of the time cuts is not shorter than this.
const LEAST_WINDOW: Nanos = Nanos(10e6);

/// Two samples in a row that differ by less than this are warm.
const WARM: f64 = 0.02;

/// One sample, if there is time for it. A window of external work is as short as the time that is
/// left.
pub(super) fn timely(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<Observation, Failure> {
    let left = until - machine.now();
    let is_external = work.external().is_some();
    let least = if is_external {
        LEAST_WINDOW.min(length)
    } else {
        Nanos::ZERO
    };
    if left <= least {
        return Err(Failure::OutOfTime);
    }
    let length = if is_external {
        length.min(left)
    } else {
        length
    };
    machine.sample(work, length)
}

/// Takes samples that do not count: until a working set that a cache could hold has been walked
/// once, and of a larger one the page tables behind it, which the caches do hold; then until two in
/// a row agree or `most` were taken.
///
/// Page tables are counted in base pages: a virtual machine's huge pages are base pages on many
/// hosts.
pub fn warm_up(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    most: usize,
    until: Nanos,
) -> Result<(), Failure> {
    if let Some(external) = work.external() {
        let share = external.work().warm_up();
        return if share > 0.0 {
            timely(machine, work, length * share, until).map(|_| ())
        } else {
            Ok(())
        };
    }
    warm_caches(machine, work, length, until)?;
    // A prefilled chain is warm, and only gets colder.
    let most = if work.fits_last_level(machine.facts()) && is_prefilled(work) {
        most.min(MOST_WARM_UPS_OF_PREFILLED)
    } else {
        most
    };
    let mut last = value(work, &timely(machine, work, length, until)?);
    for _ in 1..most {
        let this = value(work, &timely(machine, work, length, until)?);
        if (this / last - 1.0).abs() < WARM {
            break;
        }
        last = this;
    }
    Ok(())
}

/// Fills the caches, and walks what there is to walk once.
pub(super) fn warm_caches(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<(), Failure> {
    machine.fill()?;
    let facts = machine.facts();
    let mut left = match work.fits_last_level(facts) {
        true => warm_up_walk(work, work.inner_cache(facts)),
        false => work.translations(facts.pages.base),
    };
    let end = machine.now() + LONGEST_WALK;
    while left > 0 && machine.now() < end {
        left = left.saturating_sub(timely(machine, work, length, until)?.amount);
    }
    Ok(())
}

/// Number of fills of `work`, which the caches could hold, for `samples` in a row; the cache before
/// the last one has `nearer` bytes. Lines in that one belong to this CPU alone.
pub fn fills(work: &Work, nearer: Bytes, samples: u32) -> u32 {
    if is_prefilled(work)
        && work.working_set() > nearer
        && work.working_set() <= LARGEST_REPEATED_PREFILL
    {
        samples.div_ceil(SAMPLES_PER_PREFILL).max(1)
    } else {
        1
    }
}

/// Whether `work` is a chain that [`Machine::fill`] brings into the caches whole, if they can hold
/// it.
fn is_prefilled(work: &Work) -> bool {
    matches!(work, Work::Chase(chase) if chase.touched() <= LARGEST_PREFILL)
}

/// Length of the walk before samples of a working set that a cache could hold; the cache before the
/// last one has `nearer` bytes. It covers all of it. A chain that is in the last cache already is
/// walked as far as twice the nearer cache, which is then in its steady state.
pub fn warm_up_walk(work: &Work, nearer: Bytes) -> u64 {
    match work {
        Work::Chase(chase) if is_prefilled(work) => chase
            .nodes()
            .min(2 * nearer.0 / chase.stride.0.max(1))
            .saturating_mul(chase.threads()),
        _ => work.pass(),
    }
}
