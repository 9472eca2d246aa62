//! Experiment `gpu-local`: reads of the memory that the work-items of a work-group share.

use super::request::{
    Request, called, devices, draft, is_on, kernel_sampling, named, requested, size,
};
use crate::work::{Local, Task};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis, bandwidth_quantity, bytes_axis};
use report::{Axis, Dataset, Finding, GpuFacts, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-local";

/// Size of the shared memory that each work-group reads. Every GPU has this much. Several
/// work-groups that use this much fit on a compute unit.
const GROUP: Bytes = Bytes::kib(16);

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuLocal {
    request: Option<Request>,
}

impl GpuLocal {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

fn point(device: &GpuFacts, scope: &Scope<'_>) -> Draft {
    let granted = device.local_memory.get().copied().unwrap_or(GROUP);
    let bytes = GROUP.min(granted);
    let local = Local::new(device, bytes).map(Task::Local);
    let task = local.ok_or_else(|| format!("a work-group has {bytes} only"));
    let coordinates = vec![("operation", named("read")), ("size_bytes", size(bytes))];
    draft(scope, device, coordinates, task)
}

impl Experiment for GpuLocal {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![axis("device"), axis("operation"), bytes_axis("size_bytes")]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let devices = &requested(self.request.as_ref())?.devices;
        Ok(devices.iter().map(|device| point(device, scope)).collect())
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let devices = devices(self.request.as_ref());
        devices.filter_map(|device| read(dataset, device)).collect()
    }
}

/// Finding about the bandwidth of the shared memory of a device. `None` if it was not measured.
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
