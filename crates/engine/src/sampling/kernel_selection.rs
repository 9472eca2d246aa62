//! Kernel selection: finds the fastest of several kernels, or of several numbers of threads.
//!
//! The samples of the selection serve only to choose. The headline (the reported value of the
//! point) comes from later samples. In the selection, the samples of the chosen kernel are too fast
//! on average, because chance helped it to win.

use super::warm_up::{timely, warm_up};
use crate::machine::{Failure, Machine};
use crate::work::Work;
use report::{Candidate, Choice};
use units::Nanos;

/// Number of samples of each candidate in the first trial.
const FIRST_TRIAL: usize = 2;

/// Largest number of candidates in the second trial.
const FINALISTS: usize = 5;

/// Number of samples of each candidate in each of the two passes of the second trial. The second
/// pass tries the candidates in the reverse order of the first pass.
const SECOND_TRIAL: usize = 3;

/// The chosen kernel, and the results of all candidates.
#[derive(Debug, Clone)]
pub struct Selection {
    /// The work with the chosen kernel.
    pub work: Work,
    /// The candidates for the report; `None` if there was only one candidate, or no time to try
    /// one.
    pub choice: Option<Choice>,
}

/// A candidate with the values of its samples.
struct Trial {
    work: Work,
    values: Vec<f64>,
}

impl Trial {
    fn median(&self) -> f64 {
        stats::median(&self.values).unwrap_or(0.0)
    }
}

/// Finds the fastest candidate of `work`. If the time `until` is reached, the samples taken so far
/// decide. Without any sample, the first candidate is taken and no choice is reported.
pub fn select_kernel(
    machine: &mut dyn Machine,
    work: &Work,
    length: Nanos,
    until: Nanos,
) -> Result<Selection, Failure> {
    let mut trials: Vec<Trial> = machine
        .candidates(work)
        .into_iter()
        .map(|work| Trial {
            work,
            values: Vec::new(),
        })
        .collect();
    if trials.len() < 2 {
        let work = trials
            .pop()
            .map_or_else(|| work.clone(), |trial| trial.work);
        return Ok(Selection { work, choice: None });
    }
    for trial in &mut trials {
        match sample_candidate(machine, trial, length, FIRST_TRIAL, until) {
            Err(Failure::OutOfTime) => break,
            other => other?,
        }
    }
    if trials.iter().all(|trial| trial.values.is_empty()) {
        return Ok(Selection {
            work: trials.swap_remove(0).work,
            choice: None,
        });
    }
    trials.retain(|trial| !trial.values.is_empty());
    let better = |a: &Trial, b: &Trial| match work.higher_is_better() {
        true => b.median().total_cmp(&a.median()),
        false => a.median().total_cmp(&b.median()),
    };
    trials.sort_by(better);
    let finalists = FINALISTS.min(trials.len());
    for pass in [
        (0..finalists).collect::<Vec<_>>(),
        (0..finalists).rev().collect(),
    ] {
        for index in pass {
            match sample_candidate(machine, &mut trials[index], length, SECOND_TRIAL, until) {
                Ok(()) | Err(Failure::OutOfTime) => {}
                Err(failure) => return Err(failure),
            }
        }
    }
    trials[..finalists].sort_by(better);
    let candidates: Vec<Candidate> = trials
        .iter()
        .map(|trial| candidate(machine, work, trial))
        .collect();
    let kernel = candidates
        .first()
        .map(|c| c.kernel.clone())
        .unwrap_or_default();
    let work = trials.swap_remove(0).work;
    Ok(Selection {
        work,
        choice: Some(Choice { kernel, candidates }),
    })
}

/// Takes samples of one candidate after a short warm-up.
fn sample_candidate(
    machine: &mut dyn Machine,
    trial: &mut Trial,
    length: Nanos,
    samples: usize,
    until: Nanos,
) -> Result<(), Failure> {
    if machine.now() >= until {
        return Err(Failure::OutOfTime);
    }
    machine.prepare(&trial.work)?;
    warm_up(machine, &trial.work, length, 1, until)?;
    for _ in 0..samples {
        let o = timely(machine, &trial.work, length, until)?;
        trial
            .values
            .push(trial.work.value(o.amount, o.elapsed.secs()));
    }
    Ok(())
}

fn candidate(machine: &dyn Machine, requested: &Work, trial: &Trial) -> Candidate {
    let counted = match (requested, &trial.work) {
        (Work::Stream(requested), Work::Stream(w)) if !requested.counts.is_empty() => {
            Some((w.cpus.len() as u64, w.bytes.0))
        }
        _ => None,
    };
    let distance = match &trial.work {
        Work::Stream(w) if w.contract().prefetches => Some(w.distance.0),
        _ => None,
    };
    Candidate {
        kernel: machine
            .kernel(&trial.work)
            .map(|k| k.name)
            .unwrap_or_default(),
        prefetch_distance_bytes: distance,
        threads: counted.map(|(threads, _)| threads),
        size_bytes: counted.map(|(_, bytes)| bytes),
        median: trial.median(),
        samples: trial.values.len() as u64,
    }
}

/// Number of steps of a selection among `candidates`. The first value counts preparations, each
/// with a warm-up walk. The second value counts samples, including warm-up samples.
pub(super) fn steps(candidates: usize) -> (f64, f64) {
    if candidates < 2 {
        return (0.0, 0.0);
    }
    let finalists = FINALISTS.min(candidates);
    let preparations = candidates + 2 * finalists;
    let samples = candidates * (FIRST_TRIAL + 1) + 2 * finalists * (SECOND_TRIAL + 1);
    (preparations as f64, samples as f64)
}
