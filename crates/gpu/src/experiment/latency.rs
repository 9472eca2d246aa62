//! Experiment `gpu-latency`: dependent loads by one work-item.

use super::request::{
    Request, called, default_sizes, device_coordinate, is_on, kernel_sampling, requested,
};
use crate::work::{Chase, GpuWork, Task};
use engine::{External, Sampling, Work};
use experiments::{Bound, Draft, Experiment, Figure, Scope, axis, bytes_axis};
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, GpuFacts, Outcome, Point, Quantity};
use stats::derive;
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-latency";

/// Distance between nodes if the driver does not give the size of a cache line: no GPU has longer
/// ones.
const SPACING: Bytes = Bytes(128);

/// Smallest working set: the caches nearest to a compute unit have some 16 KiB.
const SMALLEST: Bytes = Bytes(4 << 10);

/// Fewest nodes of a chain.
const FEWEST_NODES: u32 = 8;

/// The experiment, with the user's request if there is one.
#[derive(Debug, Clone)]
pub struct GpuLatency {
    request: Option<Request>,
}

impl GpuLatency {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// Working sets of a device. Smaller ones than those of bandwidth show the caches of one compute
/// unit.
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
    sizes
}

fn draft(device: &GpuFacts, bytes: Bytes, scope: &Scope<'_>) -> Draft {
    let line = device.line.get().copied().unwrap_or(SPACING);
    let spacing = Bytes(line.0.clamp(64, 1024) / 4 * 4);
    let chase = Chase {
        bytes,
        spacing,
        seed: derive(scope.seed, NAME, bytes.0),
    };
    let unsupported = |reason: String| Err(Outcome::Unsupported { reason });
    // The host makes the chain, and has to hold it once.
    let most = device.largest_allocation.get().copied();
    let most = most.unwrap_or(Bytes(u64::MAX)).min(scope.usable());
    let indices = u64::from(chase.nodes()) * u64::from(chase.indices());
    let work = if chase.nodes() < FEWEST_NODES || indices > u64::from(u32::MAX) {
        unsupported(format!(
            "a chain has {FEWEST_NODES} nodes at least, and 16 GiB at most; here nodes are \
             {spacing} apart"
        ))
    } else if bytes > most {
        unsupported(format!("a chain here has at most {most}"))
    } else {
        Ok(Work::External(External::new(GpuWork {
            device: device.number,
            cpu: scope.cpus.first().copied().unwrap_or(0),
            task: Task::Chase(chase),
        })))
    };
    Draft {
        coordinates: Coordinates::from([
            device_coordinate(device),
            ("size_bytes".to_owned(), Coordinate::Number(bytes.0)),
        ]),
        work,
        bound: Bound::Unknown,
        drop_priority: 1,
    }
}

impl Experiment for GpuLatency {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "latency".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
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
                all.push(draft(device, bytes, scope));
            }
        }
        Ok(all)
    }

    fn adjustments(&self, _scope: &Scope<'_>) -> Vec<String> {
        Vec::new()
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let devices = self.request.iter().flat_map(|request| &request.devices);
        devices
            .filter_map(|device| nearest_and_farthest(dataset, device))
            .collect()
    }
}

/// Finding about the smallest and the largest working set.
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
