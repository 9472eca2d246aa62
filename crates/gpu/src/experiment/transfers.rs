//! Experiment `gpu-transfers`: copies between main memory and a device.

use super::request::{
    Request, Settings, bounded, called, devices, draft, is_on, largest, named, requested, size,
};
use crate::work::{Copies, Task};
use engine::Sampling;
use experiments::{Draft, Experiment, Figure, Scope, axis, bandwidth_quantity, bytes_axis};
use host::gpu::Direction;
use report::{Axis, Dataset, Finding, GpuFacts, PciRate, Point, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, Nanos, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-transfers";

/// Sizes of transfers if the user names none.
const SIZES: [Bytes; 5] = [
    Bytes(4 << 10),
    Bytes(64 << 10),
    Bytes(1 << 20),
    Bytes(16 << 20),
    Bytes(64 << 20),
];

/// Length of a sample. It is enough for several transfers of the larger sizes.
const SAMPLE: Nanos = Nanos(10e6);

/// Largest number of rounds of a point. Each sample is followed by a comparison of the data, which
/// takes time.
const ROUNDS: u32 = 8;
/// Largest number of samples in a round.
const PER_ROUND: u32 = 2;

/// Unit of the sizes of transfers, in bytes: the largest word of the kernels for any device.
pub(super) const UNIT: u64 = 64;

/// Largest transfer. The kernels count words in 32 bits.
const LARGEST: Bytes = Bytes(16 << 30);

const DIRECTIONS: [(Direction, &str); 3] = [
    (Direction::ToDevice, "to-device"),
    (Direction::ToHost, "to-host"),
    (Direction::Both, "both"),
];

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuTransfers {
    request: Option<Request>,
}

impl GpuTransfers {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// Sizes of the transfers to measure: the user's sizes, or [`SIZES`].
pub(super) fn transfer_sizes(settings: &Settings) -> Vec<Bytes> {
    match &settings.transfer_sizes {
        Some(list) => list.0.clone(),
        None => SIZES.to_vec(),
    }
}

/// The `general` sampling, adapted to transfers.
pub(super) fn transfer_sampling(general: Sampling) -> Sampling {
    bounded(general, SAMPLE, [ROUNDS, PER_ROUND])
}

/// The work for `copies`. The error is the reason why it cannot be measured.
fn task(device: &GpuFacts, copies: Copies, scope: &Scope<'_>) -> std::result::Result<Task, String> {
    let bytes = copies.bytes;
    // Source and target of transfers in main memory each exist twice: pinned and pageable.
    let most = largest(device, scope)
        .min(LARGEST)
        .min(Bytes(scope.usable().0 / 8));
    if !bytes.0.is_multiple_of(UNIT) || bytes.0 == 0 {
        return Err(format!("transfers have a multiple of {UNIT} B"));
    }
    if bytes > most {
        return Err(format!("a transfer here has at most {most}"));
    }
    Ok(Task::Copies(copies))
}

impl Experiment for GpuTransfers {
    fn name(&self) -> &'static str {
        NAME
    }

    fn quantity(&self) -> Quantity {
        bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        vec![
            axis("device"),
            axis("operation"),
            axis("host_memory"),
            bytes_axis("size_bytes"),
        ]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let request = requested(self.request.as_ref())?;
        let sizes = transfer_sizes(&request.settings);
        let mut all = Vec::new();
        for device in &request.devices {
            for (direction, name) in DIRECTIONS {
                for end in &request.settings.host_memory.0 {
                    for &bytes in &sizes {
                        scope.room_for(all.len() + 1)?;
                        let copies = Copies {
                            direction,
                            memory: end.memory(),
                            bytes,
                        };
                        let coordinates = vec![
                            ("operation", named(name)),
                            ("host_memory", named(&end.to_string())),
                            ("size_bytes", size(bytes)),
                        ];
                        let task = task(device, copies, scope);
                        all.push(draft(scope, device, coordinates, task));
                    }
                }
            }
        }
        Ok(all)
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        transfer_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let devices = devices(self.request.as_ref());
        let found = devices.flat_map(|device| {
            [
                both_ways(dataset, device),
                small(dataset, device),
                lanes(dataset, device),
            ]
        });
        found.flatten().collect()
    }
}

/// Figure of the largest transfers with the operation `operation`. If pinned and pageable memory
/// were measured, the faster one counts. `None` if no transfer was measured.
fn largest_transfer<'a>(
    dataset: &'a Dataset,
    device: &GpuFacts,
    operation: &str,
) -> Option<Figure<'a>> {
    let points = dataset.points.iter();
    let points = points.filter(|p| is_on(p, device) && p.name("operation") == Some(operation));
    let points: Vec<&Point> = points.filter(|p| Figure::new(p).is_some()).collect();
    let bytes = points.iter().filter_map(|p| p.number("size_bytes")).max()?;
    let points = points.into_iter();
    let points = points.filter(|p| p.number("size_bytes") == Some(bytes));
    let figures = points.filter_map(Figure::new);
    figures.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Finding about the largest transfers to the device and from it. `None` if one direction was not
/// measured, or if the sizes differ.
fn both_ways(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let to_device = largest_transfer(dataset, device, "to-device")?;
    let to_host = largest_transfer(dataset, device, "to-host")?;
    let bytes = to_device.points.first()?.number("size_bytes")?;
    if to_host.points.first()?.number("size_bytes") != Some(bytes) {
        return None;
    }
    let mut text = format!(
        "{}: transfers of {} reach {} GB/s to it, and {} GB/s from it",
        called(device),
        Bytes(bytes),
        significant(to_device.value / 1e9),
        significant(to_host.value / 1e9)
    );
    let mut values = BTreeMap::from([
        ("to_device".to_owned(), to_device.value),
        ("to_host".to_owned(), to_host.value),
    ]);
    // A device behind a switch may only report its link to the switch. Transfers can be faster than
    // this link, which is then left out.
    let link = device.link.get().map(|link| link.possible());
    let is_way = |most: &PciRate| most.bandwidth().0 > to_device.value.max(to_host.value);
    if let Some(most) = link.filter(is_way) {
        let limit = most.bandwidth().0;
        text += &format!("; {most} allows {} GB/s", significant(limit / 1e9));
        values.insert("link".to_owned(), limit);
    }
    text.push('.');
    let points = to_device.points.into_iter().chain(to_host.points);
    Some(Finding::resting_on(points, "gpu-transfers", text)?.with(values))
}

/// Finding about the time of the smallest transfer to the device. `None` if no transfer was
/// measured.
fn small(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let sent = |p: &&Point| is_on(p, device) && p.name("operation") == Some("to-device");
    let points = dataset.points.iter().filter(sent);
    let points = points.filter(|p| Figure::new(p).is_some());
    let smallest = points.min_by_key(|p| p.number("size_bytes"))?;
    let bytes = smallest.number("size_bytes")?;
    let figure = Figure::new(smallest)?;
    let each = Nanos(bytes as f64 / figure.value * 1e9);
    let text = format!(
        "{}: a transfer of {} to it takes {each}.",
        called(device),
        Bytes(bytes)
    );
    let values = BTreeMap::from([("ns_per_transfer".to_owned(), each.0)]);
    Some(Finding::resting_on(figure.points, "gpu-small-transfer", text)?.with(values))
}

/// Finding about a link that uses fewer lanes than the device has. `None` if the link uses all
/// lanes. A lower rate of the lanes is no finding, because many devices lower this rate while they
/// are idle.
fn lanes(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let link = device.link.get()?;
    let [lanes, of] = [link.current.lanes, link.highest.lanes];
    let figure = largest_transfer(dataset, device, "to-device")?;
    if lanes >= of {
        return None;
    }
    let text = format!(
        "{}: its link has {lanes} of {of} lanes; put it into a slot with {of} lanes.",
        called(device)
    );
    let values = [("lanes", lanes), ("lanes_of_the_device", of)];
    let values = values.map(|(name, value)| (name.to_owned(), f64::from(value)));
    Some(Finding::resting_on(figure.points, "gpu-link", text)?.with(values.into()))
}
