//! Experiment `gpu-peers`: copies from each device to each other device.

use super::request::{Request, called, draft, is_on, largest, requested, size};
use super::transfers::{UNIT, transfer_sampling, transfer_sizes};
use crate::work::{Peer, Task};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis, bandwidth_quantity, bytes_axis};
use report::{Axis, Coordinate, Dataset, Finding, GpuFacts, Point, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-peers";

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuPeers {
    request: Option<Request>,
}

impl GpuPeers {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

impl Experiment for GpuPeers {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![axis("device"), axis("peer"), bytes_axis("size_bytes")]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let request = requested(self.request.as_ref())?;
        let mut all = Vec::new();
        for device in &request.devices {
            let peers = request.devices.iter();
            for peer in peers.filter(|peer| peer.number != device.number) {
                for bytes in transfer_sizes(&request.settings) {
                    scope.room_for(all.len() + 1)?;
                    let most = largest(device, scope).min(largest(peer, scope));
                    let task = if !bytes.0.is_multiple_of(UNIT) || bytes.0 == 0 {
                        Err(format!("transfers have a multiple of {UNIT} B"))
                    } else if platform(device) != platform(peer) {
                        Err("the devices have different drivers".to_owned())
                    } else if bytes > most {
                        Err(format!("a transfer here has at most {most}"))
                    } else {
                        Ok(Task::Peer(Peer {
                            number: peer.number,
                            bytes,
                        }))
                    };
                    let to = Coordinate::Number(u64::from(peer.number));
                    let coordinates = vec![("peer", to), ("size_bytes", size(bytes))];
                    all.push(draft(scope, device, coordinates, task));
                }
            }
        }
        Ok(all)
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        transfer_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let Some(request) = &self.request else {
            return Vec::new();
        };
        extremes(dataset, request).into_iter().collect()
    }
}

/// Name of the OpenCL platform of a device; `None` if it is unknown. Data can only be copied
/// between devices of one platform.
fn platform(device: &GpuFacts) -> Option<&str> {
    device.driver.get()?.split(", ").next()
}

/// Finding about the slowest and the fastest copies from one device to another, for the largest
/// size. `None` if fewer than two pairs of devices were measured.
fn extremes(dataset: &Dataset, request: &Request) -> Option<Finding> {
    let measured = dataset.points.iter().filter(|p| Figure::new(p).is_some());
    let measured: Vec<&Point> = measured.collect();
    let bytes = measured
        .iter()
        .filter_map(|p| p.number("size_bytes"))
        .max()?;
    let largest = measured.into_iter();
    let largest = largest.filter(|p| p.number("size_bytes") == Some(bytes));
    let mut ways: Vec<Figure<'_>> = largest.filter_map(Figure::new).collect();
    ways.sort_by(|a, b| a.value.total_cmp(&b.value));
    let (slowest, fastest) = (ways.first()?, ways.last()?);
    if ways.len() < 2 {
        return None;
    }
    let way = |figure: &Figure<'_>| {
        let point = figure.points.first()?;
        let from = request.devices.iter().find(|device| is_on(point, device))?;
        let to = point.number("peer")?;
        let to = request.devices.iter().find(|d| u64::from(d.number) == to)?;
        let rate = significant(figure.value / 1e9);
        Some(format!(
            "{rate} GB/s from {} to {}",
            called(from),
            called(to)
        ))
    };
    let text = format!(
        "Copies of {} between devices reach {}, and {}.",
        Bytes(bytes),
        way(slowest)?,
        way(fastest)?
    );
    let values = BTreeMap::from([
        ("slowest".to_owned(), slowest.value),
        ("fastest".to_owned(), fastest.value),
    ]);
    let points = slowest.points.iter().chain(&fastest.points).copied();
    Some(Finding::resting_on(points, "gpu-peers", text)?.with(values))
}
