//! Experiment `gpu-tlb`: dependent loads from a few lines in distant pages, and from as many
//! neighbouring lines.

use super::latency::chase;
use super::request::{Request, called, devices, draft, is_on, kernel_sampling, requested, size};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis, bytes_axis, latency_quantity};
use report::{Axis, Coordinate, Dataset, Finding, GpuFacts, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-tlb";

/// Numbers of lines in a chain. All these lines together fit into the cache of a compute unit.
const ENTRIES: [u64; 5] = [8, 16, 32, 64, 128];

/// Distance between distant lines, without the length of a line. Drivers use pages of at most 2
/// MiB for ordinary allocations, so each distant line is in a page of its own. The distance is an
/// odd number of pages for every usual size of pages (4 KiB, 64 KiB, 2 MiB). Lines therefore spread
/// over all sets of a TLB.
const DISTANT: Bytes = Bytes((2 << 20) + (64 << 10) + (4 << 10));

/// Loads from distant lines miss a TLB if they take longer than loads from neighbouring lines by
/// more than this factor.
const MISSES: f64 = 1.1;

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuTlb {
    request: Option<Request>,
}

impl GpuTlb {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// A chain through `entries` lines. The lines are in distant pages if `distant` is true. They have
/// different offsets in their pages, so that they spread over all sets of a cache.
fn point(device: &GpuFacts, entries: u64, distant: bool, scope: &Scope<'_>) -> Draft {
    let line = super::latency::spacing(device);
    let stride = if distant {
        Bytes(DISTANT.0 + line.0)
    } else {
        line
    };
    let bytes = Bytes(entries * stride.0);
    let coordinates = vec![
        ("entries", Coordinate::Number(entries)),
        ("stride_bytes", size(stride)),
        ("size_bytes", size(bytes)),
    ];
    draft(
        scope,
        device,
        coordinates,
        chase(device, bytes, stride, NAME, scope),
    )
}

impl Experiment for GpuTlb {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            axis("device"),
            axis("entries"),
            bytes_axis("stride_bytes"),
            bytes_axis("size_bytes"),
        ]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let request = requested(self.request.as_ref())?;
        let mut all = Vec::new();
        for device in &request.devices {
            for entries in ENTRIES {
                scope.room_for(all.len() + 2)?;
                all.push(point(device, entries, false, scope));
                all.push(point(device, entries, true, scope));
            }
        }
        Ok(all)
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let devices = devices(self.request.as_ref());
        devices
            .filter_map(|device| reach(dataset, device))
            .collect()
    }
}

/// Loads from as many neighbouring and distant lines.
struct Pair<'a> {
    entries: u64,
    near: Figure<'a>,
    far: Figure<'a>,
}

impl Pair<'_> {
    /// True if the intervals show that loads from distant lines miss a TLB.
    fn misses(&self) -> bool {
        self.far.low > self.near.high * MISSES
    }

    /// True if the intervals show that loads from distant lines hit a TLB.
    fn hits(&self) -> bool {
        self.far.high <= self.near.low * MISSES
    }
}

/// The measured pairs of a device, by rising number of lines.
fn pairs<'a>(dataset: &'a Dataset, device: &GpuFacts) -> Vec<Pair<'a>> {
    let figure = |entries: u64, distant: bool| {
        let mut points = dataset.points.iter().filter(|p| is_on(p, device));
        let point = points.find(|p| {
            let is_distant = p.number("stride_bytes").is_some_and(|at| at > DISTANT.0);
            p.number("entries") == Some(entries) && is_distant == distant
        })?;
        Figure::new(point)
    };
    let pair = |entries| {
        Some(Pair {
            entries,
            near: figure(entries, false)?,
            far: figure(entries, true)?,
        })
    };
    ENTRIES.into_iter().filter_map(pair).collect()
}

/// Finding about the number of pages that the first TLB of a device holds. `None` if no pair was
/// measured, or if the intervals do not tell hits from misses.
fn reach(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let pairs = pairs(dataset, device);
    let hits = pairs.iter().take_while(|pair| pair.hits()).last();
    let misses = pairs.iter().find(|pair| pair.misses());
    // If loads from some pages miss, loads from more pages cannot hit.
    let missing = pairs.iter().skip_while(|pair| !pair.misses());
    if missing.skip(1).any(Pair::hits) {
        return None;
    }
    let name = called(device);
    let ns = |figure: &Figure<'_>| significant(figure.value);
    let (text, rests_on) = match (hits, misses) {
        (Some(hits), Some(misses)) if hits.entries < misses.entries => (
            format!(
                "{name}: a load takes {} ns from {} pages, {} ns from {} pages, because the first \
                 TLB does not hold them.",
                ns(&hits.far),
                hits.entries,
                ns(&misses.far),
                misses.entries
            ),
            vec![hits, misses],
        ),
        (None, Some(misses)) => (
            format!(
                "{name}: a load from {} pages takes {} ns, from neighbouring lines {} ns, because \
                 the first TLB does not hold the pages.",
                misses.entries,
                ns(&misses.far),
                ns(&misses.near)
            ),
            vec![misses],
        ),
        (Some(hits), None) => (
            format!(
                "{name}: the first TLB holds {} pages or more: a load from them takes {} ns, from \
                 neighbouring lines {} ns.",
                hits.entries,
                ns(&hits.far),
                ns(&hits.near)
            ),
            vec![hits],
        ),
        _ => return None,
    };
    let mut values = BTreeMap::new();
    if let Some(hits) = hits {
        values.insert("held_pages".to_owned(), hits.entries as f64);
    }
    if let Some(misses) = misses {
        values.insert("missed_pages".to_owned(), misses.entries as f64);
    }
    let points = rests_on
        .iter()
        .flat_map(|pair| pair.near.points.iter().chain(&pair.far.points))
        .copied();
    Some(Finding::resting_on(points, "gpu-tlb", text)?.with(values))
}
