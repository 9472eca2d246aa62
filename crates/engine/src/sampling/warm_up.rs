//! Warm-up: samples that do not count, taken before the samples that count.

use super::recorded::value;
use crate::machine::{Failure, Machine, Observation};
use crate::work::Work;
use units::{Bytes, Nanos};

/// Largest number of samples that are discarded at the start of a round, after the warm-up walk.
pub(super) const MAX_WARM_UPS: usize = 8;

/// Largest number of samples that are discarded at the start of a round if the chain was prefilled.
const MAX_WARM_UPS_OF_PREFILLED: usize = 2;

/// Number of samples after which a chain is prefilled again, because other programs may evict its
/// lines within milliseconds.
pub const SAMPLES_PER_PREFILL: u32 = 4;

/// Size of the largest chain that is prefilled. At a few GB/s, it can be loaded twice within the
/// time limit. Larger chains are warmed up in another way. The latency may therefore change at this
/// size, as at the end of a cache. The limit is above the size of any expected cache.
const LARGEST_PREFILL: Bytes = Bytes::mib(512);

/// Size of the largest chain that is prefilled again within a round. For larger chains, a prefill
/// takes longer than the samples.
const LARGEST_REPEATED_PREFILL: Bytes = Bytes::mib(32);

/// Time limit of a warm-up walk, through a working set that could fit into a cache or through page
/// tables.
pub const LONGEST_WALK: Nanos = Nanos(100e6);

/// Shortest window of external work that is taken if less time remains than the requested length.
const LEAST_WINDOW: Nanos = Nanos(10e6);

/// The caches are warm if two samples in a row differ by less than this share.
const WARM: f64 = 0.02;

/// Takes one sample. Fails with [`Failure::OutOfTime`] if no time remains before `until`. A window
/// of external work is shortened to the remaining time, but not below [`LEAST_WINDOW`].
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

/// Takes samples that do not count. First, a working set that could fit into a cache is walked
/// once. For a larger working set, the walk is only long enough to use its page tables, which could
/// fit into a cache. Then samples follow until two in a row agree or `most` were taken.
///
/// The size of the page tables is computed for base pages, because many hosts map huge pages of a
/// virtual machine with base pages.
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
    // A prefilled chain is in the caches, and each further sample may lose lines of it.
    let most = if work.fits_last_level(machine.facts()) && is_prefilled(work) {
        most.min(MAX_WARM_UPS_OF_PREFILLED)
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

/// Prefills the caches and does the warm-up walk.
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

/// Number of prefills of a `work` that could fit into a cache, during `samples` samples in a row.
/// `nearer` is the size of the cache one level nearer than the last, which no other CPU uses.
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

/// True if `work` is a chase that [`Machine::fill`] can load completely, provided that the caches
/// are large enough.
fn is_prefilled(work: &Work) -> bool {
    matches!(work, Work::Chase(chase) if chase.touched() <= LARGEST_PREFILL)
}

/// Amount of work in the warm-up walk of a working set that could fit into a cache. The walk is one
/// pass. A prefilled chain is walked only as far as twice `nearer`, the size of the cache one level
/// nearer than the last. That nearer cache is then in its steady state.
pub fn warm_up_walk(work: &Work, nearer: Bytes) -> u64 {
    match work {
        Work::Chase(chase) if is_prefilled(work) => chase
            .nodes()
            .min(2 * nearer.0 / chase.stride.0.max(1))
            .saturating_mul(chase.threads()),
        _ => work.pass(),
    }
}
