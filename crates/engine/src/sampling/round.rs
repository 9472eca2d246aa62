//! One round of a point: warm-up, samples, and readings of the machine around them.

use super::baselines::Baselines;
use super::kernel_selection::select_kernel;
use super::point_log::PointLog;
use super::recorded::RecordedSample;
use super::settings::Sampling;
use super::system_activity::between;
use super::warm_up::{MAX_WARM_UPS, SAMPLES_PER_PREFILL, fills, timely, warm_caches, warm_up};
use crate::machine::{Failure, Machine};
use crate::work::Work;
use units::Nanos;

/// Kernel selection may use at most this share of the remaining time.
const SELECTION_SHARE: f64 = 0.25;

/// Takes one round of samples of `work` for `log`, and notes readings for the `baselines` of the
/// session. No sample begins after the time `until`. If this time comes or the session is
/// interrupted, the round keeps its samples so far.
pub fn sample_round(
    machine: &mut dyn Machine,
    baselines: &mut Baselines,
    work: &Work,
    sampling: &Sampling,
    log: &mut PointLog,
    until: Nanos,
) {
    match try_round(machine, baselines, work, sampling, log, until) {
        Ok(()) | Err(Failure::OutOfTime) => {}
        Err(failure) => log.failure = Some(failure),
    }
}

fn try_round(
    machine: &mut dyn Machine,
    baselines: &mut Baselines,
    requested: &Work,
    sampling: &Sampling,
    log: &mut PointLog,
    until: Nanos,
) -> Result<(), Failure> {
    // A sample does not begin if it would probably end after `until`. A window of external work is
    // shortened instead.
    let until = match requested {
        Work::External(_) => until,
        _ => {
            let fits = requested.fits_last_level(machine.facts());
            let length = sampling.undisturbed(requested, fits) * requested.sample_length_factor();
            until - baselines.expected_duration(length)
        }
    };
    if log.chosen.is_none() {
        // The selection must leave time for the samples.
        let now = machine.now();
        log.chosen = Some(select_kernel(
            machine,
            requested,
            sampling.length,
            now + (until - now) * SELECTION_SHARE,
        )?);
    }
    let work = &log.work(requested).clone();
    machine.shift_placement();
    machine.prepare(work)?;
    let computes = work.computes();
    let first_cpu = work.cpus().first().copied().filter(|_| computes);
    log.core_before.extend(
        first_cpu
            .and_then(|cpu| machine.core_clock(cpu))
            .map(|hz| hz.0),
    );
    let round = log.rounds;
    log.vcpu_placement.read(machine, baselines, work, round);
    let before = machine.system_activity(work.cpus());
    let could_hold = work.fits_last_level(machine.facts());
    let length = sampling.length_of(work, could_hold, &log.samples);
    // Samples follow the warm-up at once, without readings of the system in between. Such readings
    // take one or two milliseconds, in which an idle CPU loses a part of its cache contents.
    warm_up(machine, work, length, MAX_WARM_UPS, until)?;
    let samples_before = log.samples.len();
    let mut result = Ok(());
    let samples = sampling.in_round(log.samples.len());
    let fills = if could_hold {
        fills(work, work.inner_cache(machine.facts()), samples)
    } else {
        1
    };
    for taken in 0..samples {
        let anew = fills > 1 && taken > 0 && taken.is_multiple_of(SAMPLES_PER_PREFILL);
        let ready = if anew {
            warm_caches(machine, work, length, until)
        } else {
            Ok(())
        };
        let begun = machine.now();
        match ready.and_then(|()| timely(machine, work, length, until)) {
            Ok(seen) => {
                if computes {
                    let requested = length * work.sample_length_factor();
                    baselines.note_duration(requested, machine.now() - begun);
                }
                let is_last = seen.is_last;
                baselines.note(work, &seen);
                log.samples.push(RecordedSample {
                    round,
                    allocation: log.allocation,
                    placement: None,
                    seen,
                });
                if is_last {
                    log.exhausted = true;
                    break;
                }
            }
            Err(failure) => {
                result = Err(failure);
                break;
            }
        }
    }
    // Short windows are taken after this reading, so that it covers only the activity during the
    // samples.
    let system_activity = machine.system_activity(work.cpus());
    log.note(&between(&before, &system_activity), machine.clock_drift());
    log.core_after.extend(
        first_cpu
            .and_then(|cpu| machine.core_clock(cpu))
            .map(|hz| hz.0),
    );
    log.vcpu_placement.read(machine, baselines, work, round);
    log.mark(machine.facts(), baselines, work);
    let placed = log.read_pages(machine, work);
    match result {
        // A round that ran out of time counts as a round if it has samples.
        Err(Failure::OutOfTime) if log.samples.len() > samples_before => {}
        other => other?,
    }
    placed?;
    log.rounds += 1;
    log.enough = log.exhausted || log.is_enough(work, sampling);
    if let Some(windows) = log.windows {
        let share = windows
            .count
            .div_ceil(sampling.rounds.max(1))
            .saturating_mul(log.rounds);
        let wanted = if log.enough { windows.count } else { share };
        let pace = log.pace(work)?;
        log.in_windows
            .take(machine, work, &windows, pace, wanted as usize, until)?;
    }
    Ok(())
}
