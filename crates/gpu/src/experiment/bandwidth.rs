//! Experiment `gpu-bandwidth`: reads, writes and copies in the memory of a device.

use super::request::{
    Choice, Request, called, default_sizes, draft, is_on, kernel_sampling, least_in_memory, named,
    requested, size,
};
use crate::external::POWER_LIMITED;
use crate::layout::{Groups, Layout};
use crate::work::Task;
use engine::Sampling;
use experiments::{
    Draft, Experiment, Figure, Scope, axis, bandwidth_quantity, bytes_axis, saturation,
};
use host::gpu::StreamOperation;
use report::{Axis, Coordinate, Dataset, Finding, GpuFacts, Outcome, Point, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, counted, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-bandwidth";

/// The experiment with the user's request. `request` is `None` in the rows of `GPU_EXPERIMENTS`.
#[derive(Debug, Clone)]
pub struct GpuBandwidth {
    request: Option<Request>,
}

impl GpuBandwidth {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// Parameters of a point that is not drafted yet.
struct Wanted<'a> {
    device: &'a GpuFacts,
    operation: StreamOperation,
    bytes: Bytes,
    groups: Option<u32>,
}

/// Parameters of the points of one device. Reads cover all sizes, and other operations only the
/// largest size. Additional reads of the largest size use fewer work-groups. Sizes that the user
/// names are measured with every operation. With [`Choice::Few`], only the largest size is
/// measured.
fn wanted<'a>(request: &Request, device: &'a GpuFacts, scope: &Scope<'_>) -> Vec<Wanted<'a>> {
    let settings = &request.settings;
    let sizes = match &settings.sizes {
        Some(list) => list.0.clone(),
        None => default_sizes(device, scope),
    };
    let top = sizes.iter().copied().max().unwrap_or(Bytes(0));
    let is_few = request.choice == Choice::Few;
    let mut all = Vec::new();
    for operation in settings.ops.0.iter().map(|operation| operation.stream()) {
        let every = !is_few && (operation == StreamOperation::Read || settings.sizes.is_some());
        for &bytes in sizes.iter().filter(|&&bytes| every || bytes == top) {
            all.push(Wanted {
                device,
                operation,
                bytes,
                groups: None,
            });
        }
    }
    let usual = Layout::new(device, StreamOperation::Read, top, None).map_or(1, |l| l.groups);
    let doubling = || (0..31).map(|n| 1 << n).take_while(|&n| n < usual).collect();
    let groups = match &settings.groups {
        Some(list) => list.0.iter().map(|count| count.0).collect(),
        None if is_few => Vec::new(),
        None => doubling(),
    };
    let reads = settings.ops.0.iter().map(|operation| operation.stream());
    if reads.into_iter().any(|o| o == StreamOperation::Read) {
        let groups: Vec<u32> = groups;
        for groups in groups.into_iter().filter(|&groups| groups != usual) {
            all.push(Wanted {
                device,
                operation: StreamOperation::Read,
                bytes: top,
                groups: Some(groups),
            });
        }
    }
    all
}

/// Drafts a point. If it cannot be measured, the draft has the reason in place of the work.
fn point(wanted: &Wanted<'_>, scope: &Scope<'_>) -> Draft {
    let Wanted {
        device,
        operation,
        bytes,
        groups,
    } = *wanted;
    let layout = Layout::new(device, operation, bytes, groups);
    let made = layout.map_or(Groups::usual(device).groups, |layout| layout.groups);
    let coordinates = vec![
        ("operation", named(operation.name())),
        ("size_bytes", size(bytes)),
        (
            "groups",
            Coordinate::Number(u64::from(groups.unwrap_or(made))),
        ),
    ];
    let largest = device.largest_allocation.get().copied();
    let largest = largest.unwrap_or(Bytes(u64::MAX));
    let task = match layout {
        None => Err(format!(
            "{bytes} cannot be divided among work-items; sizes are from {} to 32 GiB",
            Bytes(u64::from(operation.streams()) * 256)
        )),
        Some(layout) if layout.bytes() > largest => Err(format!(
            "the driver of the device allocates at most {largest}"
        )),
        Some(layout) if groups.is_some_and(|groups| groups != layout.groups) => Err(format!(
            "{bytes} are enough for {} only",
            counted(layout.groups, "work-group")
        )),
        Some(layout) => Ok(Task::Stream(layout)),
    };
    Draft {
        // If time is short, points with fewer work-groups are dropped first.
        drop_priority: if groups.is_some() { 2 } else { 1 },
        ..draft(scope, device, coordinates, task)
    }
}

impl Experiment for GpuBandwidth {
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
            bytes_axis("size_bytes"),
            axis("groups"),
        ]
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let request = requested(self.request.as_ref())?;
        let mut all = Vec::new();
        for device in &request.devices {
            for wanted in wanted(request, device, scope) {
                scope.room_for(all.len() + 1)?;
                all.push(point(&wanted, scope));
            }
        }
        Ok(all)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        let Some(request) = &self.request else {
            return Vec::new();
        };
        let all = request.devices.iter();
        let rounded = all.flat_map(|device| wanted(request, device, scope));
        let rounded = rounded.filter_map(|wanted| {
            let made = Layout::new(wanted.device, wanted.operation, wanted.bytes, wanted.groups)?;
            (made.bytes() != wanted.bytes && request.settings.sizes.is_some()).then(|| {
                format!(
                    "gpu-bandwidth: {} of {} are measured for {}, because work-items share them \
                     evenly",
                    made.bytes(),
                    wanted.bytes,
                    wanted.operation.name()
                )
            })
        });
        let mut rounded: Vec<String> = rounded.collect();
        rounded.dedup();
        rounded
    }

    fn sampling(&self, general: Sampling) -> Sampling {
        kernel_sampling(general)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        let Some(request) = &self.request else {
            return Vec::new();
        };
        let mut findings = Vec::new();
        for device in &request.devices {
            findings.extend(memory(dataset, device));
            findings.extend(
                request
                    .settings
                    .model_size
                    .and_then(|model| tokens(dataset, device, model)),
            );
            findings.extend(groups(dataset, device));
            findings.extend(power(dataset, device));
        }
        findings
    }
}

/// Reads of the largest working set, each with its number of work-groups, in rising order of this
/// number. Empty if this working set is too small to show the memory ([`least_in_memory`]).
fn reads<'a>(dataset: &'a Dataset, device: &GpuFacts) -> Vec<(u64, Figure<'a>)> {
    let is_read = |p: &&Point| is_on(p, device) && p.name("operation") == Some("read");
    let reads: Vec<&Point> = dataset.points.iter().filter(is_read).collect();
    let top = reads.iter().filter_map(|p| p.number("size_bytes")).max();
    let top = top.filter(|&bytes| bytes >= least_in_memory(device).0);
    if top.is_none() {
        return Vec::new();
    }
    let reads = reads.into_iter().filter(|p| p.number("size_bytes") == top);
    let mut reads: Vec<(u64, Figure<'a>)> = reads
        .filter_map(|p| Some((p.number("groups")?, Figure::new(p)?)))
        .collect();
    reads.sort_by_key(|(groups, _)| *groups);
    reads
}

fn fastest<'a>(dataset: &'a Dataset, device: &GpuFacts) -> Option<Figure<'a>> {
    let reads = reads(dataset, device).into_iter().map(|(_, figure)| figure);
    reads.max_by(|a, b| a.value.total_cmp(&b.value))
}

/// Finding about the highest bandwidth of reads from the memory of the device. `None` if no read
/// shows the memory.
fn memory(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let figure = fastest(dataset, device)?;
    let size = figure.points.first()?.number("size_bytes")?;
    let text = format!(
        "{} reads {} of its memory at {} GB/s.",
        called(device),
        Bytes(size),
        significant(figure.value / 1e9)
    );
    let values = BTreeMap::from([("bytes_per_second".to_owned(), figure.value)]);
    Some(Finding::resting_on(figure.points, "gpu-memory", text)?.with(values))
}

/// Finding about the tokens per second that the bandwidth of the memory allows. `model` is the size
/// of a language model's weights.
fn tokens(dataset: &Dataset, device: &GpuFacts, model: Bytes) -> Option<Finding> {
    let figure = fastest(dataset, device)?;
    let tokens = figure.value / model.0.max(1) as f64;
    let text = format!(
        "{} can read a model of {} GB at most {} times per second: that is the limit for tokens per \
         second of one stream.",
        called(device),
        significant(model.0 as f64 / 1e9),
        significant(tokens)
    );
    let values = BTreeMap::from([
        ("model_bytes".to_owned(), model.0 as f64),
        ("tokens_per_second".to_owned(), tokens),
    ]);
    Some(Finding::resting_on(figure.points, "gpu-tokens", text)?.with(values))
}

/// Finding about the number of work-groups that reach 95% of the highest bandwidth.
fn groups(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let curve = reads(dataset, device);
    let found = saturation(&curve)?;
    let text = format!(
        "{}: {} {} 95% of the highest bandwidth of its memory, {} GB/s.",
        called(device),
        // The number may be a range.
        format_args!("{} work-groups", found.count()),
        found.reach(),
        significant(found.reached / 1e9)
    );
    let values = [
        ("groups", found.at_most as f64),
        ("groups_at_least", found.at_least as f64),
        ("bytes_per_second", found.reached),
    ];
    let values = values.map(|(name, value)| (name.to_owned(), value)).into();
    Some(Finding::resting_on(found.points, "gpu-groups", text)?.with(values))
}

/// Smallest share of samples at the limit of power for which there is a finding.
const LIMITED: f64 = 0.1;

/// Finding that the device was at its limit of power while its memory was read. `None` if the share
/// of such samples is unknown or below [`LIMITED`].
fn power(dataset: &Dataset, device: &GpuFacts) -> Option<Finding> {
    let figure = fastest(dataset, device)?;
    let Outcome::Measured(measured) = &figure.points.first()?.outcome else {
        return None;
    };
    let share = measured.also.get(POWER_LIMITED).copied()?;
    if share < LIMITED {
        return None;
    }
    let limit = device.power_limit.get();
    let limit = limit.map_or(String::new(), |watts| format!(" of {watts:.0} W"));
    let text = format!(
        "{} was at its limit of power{limit} in {:.0}% of the samples of its memory, so its clocks \
         were lower.",
        called(device),
        share * 100.0
    );
    let values = BTreeMap::from([(POWER_LIMITED.to_owned(), share)]);
    Some(Finding::resting_on(figure.points, "gpu-power-limit", text)?.with(values))
}
