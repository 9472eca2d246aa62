//! Experiment `gpu-latency`: dependent loads by one work-item.

use super::request::{
    Choice, Request, called, default_sizes, devices, draft, is_on, kernel_sampling, requested, size,
};
use crate::work::{Chase, Task};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis, bytes_axis, latency_quantity};
use report::{Axis, Dataset, Finding, GpuFacts, Point, Quantity};
use stats::derive;
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-latency";

/// Distance between nodes of a chain if the driver does not report the size of a cache line. No GPU
/// has longer cache lines.
const SPACING: Bytes = Bytes(128);

/// Smallest default working set. It fits into the caches nearest to a compute unit, which have
/// about 16 KiB.
const SMALLEST: Bytes = Bytes(4 << 10);

/// Largest chain, in bytes. The indices of a chain have 32 bits, and each index takes 4 B.
const LARGEST: Bytes = Bytes((1 << 34) - 4096);

/// Smallest number of nodes in a chain.
const FEWEST_NODES: u32 = 8;

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuLatency {
    request: Option<Request>,
}

impl GpuLatency {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// Working sets to measure on a device. They begin with smaller sizes than `gpu-bandwidth`, because
/// small chains show the caches of one compute unit.
fn sizes(request: &Request, device: &GpuFacts, scope: &Scope<'_>) -> Vec<Bytes> {
    if let Some(list) = &request.settings.sizes {
        return list.0.clone();
    }
    let larger = default_sizes(device, scope);
    let first = larger.first().copied().unwrap_or(SMALLEST);
    let mut sizes: Vec<Bytes> = std::iter::successors(Some(SMALLEST), |s| Some(Bytes(s.0 * 4)))
        .take_while(|size| *size < first)
        .collect();
    sizes.extend(larger);
    match (request.choice, sizes.as_slice()) {
        (Choice::Few, [first, .., last]) => vec![*first, *last],
        _ => sizes,
    }
}

fn point(device: &GpuFacts, bytes: Bytes, scope: &Scope<'_>) -> Draft {
    let line = device.line.get().copied().unwrap_or(SPACING);
    let spacing = Bytes(line.0.clamp(64, 1024) / 4 * 4);
    let chase = Chase {
        bytes,
        spacing,
        seed: derive(scope.seed, NAME, bytes.0),
    };
    let least = Bytes(spacing.0 * u64::from(FEWEST_NODES));
    // Two processes hold the chain in main memory while it is made, and the driver may hold it too.
    let granted = device.largest_allocation.get().copied();
    let most = granted
        .unwrap_or(LARGEST)
        .min(Bytes(scope.usable().0 / 4))
        .min(LARGEST);
    let task = if (least..=most).contains(&bytes) {
        Ok(Task::Chase(chase))
    } else {
        Err(format!("chains are from {least} to {most} here"))
    };
    draft(scope, device, vec![("size_bytes", size(bytes))], task)
}

impl Experiment for GpuLatency {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![axis("device"), bytes_axis("size_bytes")]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let request = requested(self.request.as_ref())?;
        let mut all = Vec::new();
        for device in &request.devices {
            for bytes in sizes(request, device, scope) {
                scope.room_for(all.len() + 1)?;
                all.push(point(device, bytes, scope));
            }
        }
        Ok(all)
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        devices(self.request.as_ref())
            .filter_map(|device| nearest_and_farthest(dataset, device))
            .collect()
    }
}

/// Finding that compares the smallest with the largest measured working set. `None` if fewer than
/// two sizes were measured.
fn nearest_and_farthest(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let size = |p: &&Point| p.number("size_bytes");
    let measured = || {
        dataset
            .points
            .iter()
            .filter(|p| is_on(p, device) && Figure::new(p).is_some())
    };
    let smallest = measured().min_by_key(size)?;
    let largest = measured().max_by_key(size)?;
    let near = Figure::new(smallest)?;
    let far = Figure::new(largest)?;
    if smallest.number("size_bytes") == largest.number("size_bytes") {
        return None;
    }
    let text = format!(
        "{}: a load takes {} ns from a working set of {}, {} ns from one of {}.",
        called(device),
        significant(near.value),
        Bytes(size(&smallest)?),
        significant(far.value),
        Bytes(size(&largest)?)
    );
    let values = BTreeMap::from([
        ("nearest_ns".to_owned(), near.value),
        ("farthest_ns".to_owned(), far.value),
    ]);
    Some(Finding::resting_on([smallest, largest], "gpu-latency", text)?.with(values))
}
