//! Experiment `gpu-atomics`: atomic additions to one shared counter, and to a separate counter of
//! each work-item.

use super::request::{Request, called, devices, draft, is_on, kernel_sampling, named, requested};
use crate::layout::Groups;
use crate::work::{Atomics, Task};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis};
use report::{Axis, Dataset, Finding, GpuFacts, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::significant;

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-atomics";

/// Distance between separate counters, in units of 4 B. No GPU has longer cache lines than these
/// 128 B, so each counter has a cache line of its own.
const STRIDE: u32 = 32;

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuAtomics {
    request: Option<Request>,
}

impl GpuAtomics {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// Name of the operation in which all work-items add to one counter.
const SHARED: &str = "add-shared";

/// Name of the operation in which each work-item adds to a counter of its own.
const SEPARATE: &str = "add-separate";

fn point(device: &GpuFacts, shared: bool, scope: &Scope<'_>) -> Draft {
    let Groups { groups, group_size } = Groups::usual(device);
    let atomics = Atomics {
        shared,
        stride: STRIDE,
        groups,
        group_size,
    };
    let name = if shared { SHARED } else { SEPARATE };
    let coordinates = vec![("operation", named(name))];
    draft(scope, device, coordinates, Ok(Task::Atomics(atomics)))
}

impl Experiment for GpuAtomics {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "operations".to_owned(),
            unit: "1/s".to_owned(),
            higher_is_better: true,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![axis("device"), axis("operation")]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let devices = &requested(self.request.as_ref())?.devices;
        let both = |device| [true, false].map(|shared| point(device, shared, scope));
        Ok(devices.iter().flat_map(both).collect())
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        devices(self.request.as_ref())
            .filter_map(|device| contention(dataset, device))
            .collect()
    }
}

/// Finding that compares additions to one counter with additions to separate counters. `None` if
/// one of the two was not measured.
fn contention(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let figure = |operation| {
        let mut points = dataset.points.iter();
        let found = points.find(|p| is_on(p, device) && p.name("operation") == Some(operation));
        Figure::new(found?)
    };
    let shared = figure(SHARED)?;
    let separate = figure(SEPARATE)?;
    let text = format!(
        "{}: atomic additions to one counter reach {} million per second, to separate counters {} \
         million.",
        called(device),
        significant(shared.value / 1e6),
        significant(separate.value / 1e6)
    );
    let values = BTreeMap::from([
        ("shared_per_second".to_owned(), shared.value),
        ("separate_per_second".to_owned(), separate.value),
    ]);
    let points = shared.points.into_iter().chain(separate.points);
    Some(Finding::resting_on(points, "gpu-atomics", text)?.with(values))
}
