//! Provenance of a report: machine, time, command line and kernels.

use super::{Invocation, Past};
use crate::plan::Plan;
use engine::{Machine, Work};
use report::{KernelUsed, Provenance, Tool};

/// Kernels that `works` use, each once.
pub(super) fn used_kernels<'a>(
    machine: &dyn Machine,
    works: impl Iterator<Item = &'a Work>,
) -> Vec<KernelUsed> {
    let mut kernels: Vec<KernelUsed> = Vec::new();
    for kernel in works
        .flat_map(Work::parts)
        .filter_map(|work| machine.kernel(&work).ok())
    {
        if !kernels.contains(&kernel) {
            kernels.push(kernel);
        }
    }
    kernels
}

/// Kernels of the continued session `past`, followed by the kernels in `used` that it did not use.
pub(super) fn with_past(used: Vec<KernelUsed>, past: Option<&Past>) -> Vec<KernelUsed> {
    let mut kernels = past.map(|past| past.kernels.clone()).unwrap_or_default();
    let new: Vec<KernelUsed> = used.into_iter().filter(|k| !kernels.contains(k)).collect();
    kernels.extend(new);
    kernels
}

/// Makes the provenance of the report of `plan`. The end of the session is not known yet.
pub(super) fn provenance(
    plan: &Plan,
    machine: &dyn Machine,
    invocation: &Invocation,
) -> Provenance {
    let works = plan.points.iter().filter_map(|p| p.work.as_ref().ok());
    let kernels = with_past(used_kernels(machine, works), invocation.past.as_ref());
    let now = machine.wall_clock();
    let (started, resumed) = match invocation.past.clone() {
        None => (now.clone(), Vec::new()),
        Some(Past {
            started,
            mut resumed,
            ..
        }) => {
            resumed.push(now.clone());
            (started, resumed)
        }
    };
    Provenance {
        tool: Tool {
            name: "memgauge".to_owned(),
            version: invocation.version.clone(),
            machine: machine.description().to_owned(),
        },
        command_line: invocation.command_line.clone(),
        seed: plan.request.seed.to_string(),
        started,
        resumed,
        launch: invocation.launch.clone(),
        finished: now,
        kernels,
        clock: machine.clock().clone(),
        host: machine.facts().clone(),
        withheld: Vec::new(),
    }
}
