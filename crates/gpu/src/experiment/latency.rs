//! Experiment `gpu-latency`: dependent loads by one work-item.

use super::request::{
    Choice, Request, called, default_sizes, devices, draft, is_on, kernel_sampling,
    least_in_memory, requested, size,
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

/// Distance between the nodes of a chain in neighbouring cache lines.
pub(super) fn spacing(device: &GpuFacts) -> Bytes {
    let line = device.line.get().copied().unwrap_or(SPACING);
    Bytes(line.0.clamp(64, 1024) / 4 * 4)
}

/// A chase through `bytes` with nodes that are `spacing` apart, for experiment `name`.
///
/// # Errors
/// The chain is too short or too long. The error is the reason in words.
pub(super) fn chase(
    device: &GpuFacts,
    bytes: Bytes,
    spacing: Bytes,
    name: &str,
    scope: &Scope<'_>,
) -> std::result::Result<Task, String> {
    let least = Bytes(spacing.0 * u64::from(FEWEST_NODES));
    // Two processes hold the chain in main memory while it is made, and the driver may hold it too.
    let granted = device.largest_allocation.get().copied();
    let most = granted
        .unwrap_or(LARGEST)
        .min(Bytes(scope.usable().0 / 4))
        .min(LARGEST);
    if !(least..=most).contains(&bytes) {
        return Err(format!("chains are from {least} to {most} here"));
    }
    Ok(Task::Chase(Chase {
        bytes,
        spacing,
        seed: derive(scope.seed, name, bytes.0),
    }))
}

fn point(device: &GpuFacts, bytes: Bytes, scope: &Scope<'_>) -> Draft {
    let task = chase(device, bytes, spacing(device), NAME, scope);
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
            .filter_map(|device| levels(dataset, device))
            .collect()
    }
}

/// A level of the memory hierarchy ends at the first size whose latency exceeds that of the level's
/// smallest size by more than this factor.
const STEP: f64 = 1.25;

/// Neighbouring sizes with about the same latency: a cache, or the memory.
struct Plateau<'a> {
    /// Measured points in the order of rising size.
    points: Vec<(&'a Point, f64)>,
}

impl Plateau<'_> {
    /// Median latency of the points, in ns.
    fn latency(&self) -> Option<f64> {
        let all: Vec<f64> = self.points.iter().map(|(_, ns)| *ns).collect();
        stats::median(&all)
    }

    /// Largest working set on this plateau.
    fn end(&self) -> Bytes {
        let size = self.points.last().and_then(|(p, _)| p.number("size_bytes"));
        Bytes(size.unwrap_or(0))
    }
}

/// Plateaus of `points`, which are in the order of rising size. A single size on the slope between
/// two plateaus is left out. The last plateau may be a single size.
fn plateaus<'a>(points: &[(&'a Point, f64)]) -> Vec<Plateau<'a>> {
    let mut all: Vec<Plateau<'a>> = Vec::new();
    for &(point, ns) in points {
        match all.last_mut() {
            Some(plateau) if ns <= plateau.points[0].1 * STEP => plateau.points.push((point, ns)),
            _ => all.push(Plateau {
                points: vec![(point, ns)],
            }),
        }
    }
    let last = all.len().saturating_sub(1);
    let mut place = 0..;
    all.retain(|plateau| place.next() == Some(last) || plateau.points.len() > 1);
    all
}

/// Finding about the latency of each level. `None` if fewer than two sizes were measured.
fn levels(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let mut measured: Vec<(&Point, f64)> = dataset
        .points
        .iter()
        .filter(|p| is_on(p, device))
        .filter_map(|p| Some((p, Figure::new(p)?.value)))
        .collect();
    measured.sort_by_key(|(p, _)| p.number("size_bytes"));
    let (&(_, near), &(_, far)) = (measured.first()?, measured.last()?);
    if measured.len() < 2 {
        return None;
    }
    let plateaus = plateaus(&measured);
    let mut parts = Vec::new();
    for (index, plateau) in plateaus.iter().enumerate() {
        let is_memory = index + 1 == plateaus.len() && plateau.end() >= least_in_memory(device);
        let level = match index {
            _ if is_memory => "memory",
            0 => "the nearest cache",
            _ => "the next level",
        };
        parts.push(format!(
            "{} ns from {level} (working sets up to {})",
            significant(plateau.latency()?),
            plateau.end()
        ));
    }
    let text = format!("{}: a load takes {}.", called(device), parts.join(", "));
    let values = BTreeMap::from([
        ("nearest_ns".to_owned(), near),
        ("farthest_ns".to_owned(), far),
    ]);
    let points = plateaus
        .iter()
        .flat_map(|plateau| plateau.points.iter().map(|(point, _)| *point));
    Some(Finding::resting_on(points, "gpu-latency", text)?.with(values))
}
