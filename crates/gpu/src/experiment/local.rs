//! Experiment `gpu-local`: reads of the memory that the work-items of a work-group share.

use super::request::{Request, called, device_coordinate, is_on, kernel_sampling, requested};
use crate::work::{GpuWork, Local, Task};
use engine::{External, Sampling, Work};
use experiments::{Bound, Draft, Experiment, Figure, Scope, axis, bytes_axis};
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, GpuFacts, Outcome, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-local";

/// Memory of a work-group. Every GPU has as much, and several groups fit on a compute unit.
const GROUP: Bytes = Bytes::kib(16);

/// The experiment, with the user's request if there is one.
#[derive(Debug, Clone)]
pub struct GpuLocal {
    request: Option<Request>,
}

impl GpuLocal {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

fn draft(device: &GpuFacts, scope: &Scope<'_>) -> Draft {
    let granted = device.local_memory.get().copied().unwrap_or(GROUP);
    let bytes = GROUP.min(granted);
    let work = match Local::new(device, bytes) {
        Some(local) => Ok(Work::External(External::new(GpuWork {
            device: device.number,
            cpu: scope.cpus.first().copied().unwrap_or(0),
            task: Task::Local(local),
        }))),
        None => Err(Outcome::Unsupported {
            reason: format!("a work-group has {bytes} only"),
        }),
    };
    Draft {
        coordinates: Coordinates::from([
            device_coordinate(device),
            ("operation".to_owned(), Coordinate::Name("read".to_owned())),
            ("size_bytes".to_owned(), Coordinate::Number(bytes.0)),
        ]),
        work,
        bound: Bound::Unknown,
        drop_priority: 1,
    }
}

impl Experiment for GpuLocal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "bandwidth".to_owned(),
            unit: "B/s".to_owned(),
            higher_is_better: true,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        vec![axis("device"), axis("operation"), bytes_axis("size_bytes")]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let devices = &requested(self.request.as_ref())?.devices;
        Ok(devices.iter().map(|device| draft(device, scope)).collect())
    }

    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        Vec::new()
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let devices = self.request.iter().flat_map(|request| &request.devices);
        devices.filter_map(|device| read(dataset, device)).collect()
    }
}

/// Finding about the reads of a device.
fn read(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let mut points = dataset.points.iter().filter(|p| is_on(p, device));
    let figure = Figure::new(points.next()?)?;
    let text = format!(
        "{}: work-groups read the memory that they share at {} GB/s in all.",
        called(device),
        significant(figure.value / 1e9)
    );
    let values = BTreeMap::from([("bytes_per_second".to_owned(), figure.value)]);
    Some(Finding::resting_on(figure.points, "gpu-local", text)?.with(values))
}
