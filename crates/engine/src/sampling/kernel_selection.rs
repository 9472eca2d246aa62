//! Which of several kernels, or numbers of threads, is fastest at a point: a short race before the
//! samples that count.
//!
//! The samples of the race only choose. The headline comes from samples taken afterwards, so that
//! the winner is not the one that was lucky once.

use super::warm_up::{timely, warm_up};
use crate::machine::{Failure, Machine};
use crate::work::Work;
use report::{Candidate, Choice};
use units::Nanos;

/// Samples of each kernel in the first heat, which most leave.
const FIRST_TRIAL: usize = 2;

/// Kernels in the second heat at most.
const FINALISTS: usize = 5;

/// Samples of each kernel in each turn of the second heat; the second turn goes the other way
/// round.
const SECOND_TRIAL: usize = 3;

/// The kernel that won, and what the others reached.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The work with the winner.
    pub work: Work,
    /// For the report; `None` where there was no choice.
    pub choice: Option<Choice>,
}

/// A kernel in the race.
struct Contender {
    work: Work,
    values: Vec<f64>,
}

impl Contender {
    fn median(&self) -> f64 {
        stats::median(&self.values).unwrap_or(0.0)
    }
}

/// Finds the fastest of the kernels that `work` leaves the choice of. A race that is not over at
/// the time `until` is decided by what is known then: where that is nothing, for the first
/// candidate, without a choice to report.
pub fn select_kernel(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<Selection, Failure> {
    let mut runners: Vec<Contender> = machine
        .candidates(work)
        .into_iter()
        .map(|work| Contender {
            work,
            values: Vec::new(),
        })
        .collect();
    if runners.len() < 2 {
        let work = runners.pop().map_or_else(|| work.clone(), |r| r.work);
        return Ok(Selection { work, choice: None });
    }
    for runner in &mut runners {
        match trial(machine, runner, length, FIRST_TRIAL, until) {
            Err(Failure::OutOfTime) => break,
            other => other?,
        }
    }
    if runners.iter().all(|runner| runner.values.is_empty()) {
        return Ok(Selection {
            work: runners.swap_remove(0).work,
            choice: None,
        });
    }
    runners.retain(|runner| !runner.values.is_empty());
    let better = |a: &Contender, b: &Contender| match work.higher_is_better() {
        true => b.median().total_cmp(&a.median()),
        false => a.median().total_cmp(&b.median()),
    };
    runners.sort_by(better);
    let finalists = FINALISTS.min(runners.len());
    for turn in [
        (0..finalists).collect::<Vec<_>>(),
        (0..finalists).rev().collect(),
    ] {
        for index in turn {
            match trial(machine, &mut runners[index], length, SECOND_TRIAL, until) {
                Ok(()) | Err(Failure::OutOfTime) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
    runners[..finalists].sort_by(better);
    let candidates: Vec<Candidate> = runners
        .iter()
        .map(|r| candidate(machine, work, r))
        .collect();
    let kernel = candidates
        .first()
        .map(|c| c.kernel.clone())
        .unwrap_or_default();
    let work = runners.swap_remove(0).work;
    Ok(Selection {
        work,
        choice: Some(Choice { kernel, candidates }),
    })
}

/// Takes samples of one kernel after a short warm-up.
fn trial(
    machine: &mut dyn Machine,
    runner: &mut Contender,
    length: Nanos,
    samples: usize,
    until: Nanos,
) -> Result<(), Failure> {
    if machine.now() >= until {
        return Err(Failure::OutOfTime);
    }
    machine.prepare(&runner.work)?;
    warm_up(machine, &runner.work, length, 1, until)?;
    for _ in 0..samples {
        let o = timely(machine, &runner.work, length, until)?;
        runner
            .values
            .push(runner.work.value(o.amount, o.elapsed.secs()));
    }
    Ok(())
}

fn candidate(machine: &dyn Machine, asked: &Work, runner: &Contender) -> Candidate {
    let counted = match (asked, &runner.work) {
        (Work::Stream(asked), Work::Stream(w)) if !asked.counts.is_empty() => {
            Some((w.cpus.len() as u64, w.bytes.0))
        }
        _ => None,
    };
    let distance = match &runner.work {
        Work::Stream(w) if w.contract().prefetches => Some(w.distance.0),
        _ => None,
    };
    Candidate {
        kernel: machine
            .kernel(&runner.work)
            .map(|k| k.name)
            .unwrap_or_default(),
        prefetch_distance_bytes: distance,
        threads: counted.map(|(threads, _)| threads),
        size_bytes: counted.map(|(_, bytes)| bytes),
        median: runner.median(),
        samples: runner.values.len() as u64,
    }
}

/// Steps of a selection among `candidates`: preparations with their warm-up walk, and the samples
/// that follow, warm-ups included.
pub(super) fn steps(candidates: usize) -> (f64, f64) {
    if candidates < 2 {
        return (0.0, 0.0);
    }
    let finalists = FINALISTS.min(candidates);
    let heats = candidates + 2 * finalists;
    let samples = candidates * (FIRST_TRIAL + 1) + 2 * finalists * (SECOND_TRIAL + 1);
    (heats as f64, samples as f64)
}
