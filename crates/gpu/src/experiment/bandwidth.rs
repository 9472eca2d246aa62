//! Experiment `gpu-bandwidth`: reads, writes and copies in the memory of a device.

use super::request::{
    Request, called, default_sizes, device_coordinate, is_on, kernel_sampling, requested,
};
use crate::layout::Layout;
use crate::work::{GpuWork, Task};
use engine::{External, Sampling, Work};
use experiments::{Bound, Draft, Experiment, Figure, Scope, axis, bytes_axis, saturation};
use host::gpu::StreamOperation;
use report::{Axis, Coordinate, Coordinates, Dataset, Finding, GpuFacts, Outcome, Point, Quantity};
use std::collections::BTreeMap;
use units::error::Result;
use units::{Bytes, counted, significant};

/// Name of the experiment.
pub(super) const NAME: &str = "gpu-bandwidth";

/// The experiment, with the user's request if there is one.
#[derive(Debug, Clone)]
pub struct GpuBandwidth {
    request: Option<Request>,
}

impl GpuBandwidth {
    pub(super) fn new(request: Option<Request>) -> Self {
        Self { request }
    }
}

/// A point before it is drafted.
struct Wanted<'a> {
    device: &'a GpuFacts,
    operation: StreamOperation,
    bytes: Bytes,
    groups: Option<u32>,
}

/// Points of one device: reads of every size, other operations of the largest, and reads of the
/// largest with fewer work-groups. Sizes that the user names are measured with every operation.
fn wanted<'a>(request: &Request, device: &'a GpuFacts, scope: &Scope<'_>) -> Vec<Wanted<'a>> {
    let settings = &request.settings;
    let sizes = match &settings.sizes {
        Some(list) => list.0.clone(),
        None => default_sizes(device, scope),
    };
    let top = sizes.iter().copied().max().unwrap_or(Bytes(0));
    let mut all = Vec::new();
    for operation in settings.ops.0.iter().map(|operation| operation.stream()) {
        let every = operation == StreamOperation::Read || settings.sizes.is_some();
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

/// The point, with the reason why it cannot be measured if there is one.
fn draft(wanted: &Wanted<'_>, scope: &Scope<'_>) -> Draft {
    let Wanted {
        device,
        operation,
        bytes,
        groups,
    } = *wanted;
    let layout = Layout::new(device, operation, bytes, groups);
    let asked = groups.unwrap_or(0);
    let shown = layout.map_or(asked, |layout| layout.groups);
    let coordinates = Coordinates::from([
        device_coordinate(device),
        (
            "operation".to_owned(),
            Coordinate::Name(operation.name().to_owned()),
        ),
        ("size_bytes".to_owned(), Coordinate::Number(bytes.0)),
        (
            "groups".to_owned(),
            Coordinate::Number(u64::from(if asked > 0 { asked } else { shown })),
        ),
    ]);
    let unsupported = |reason: String| Err(Outcome::Unsupported { reason });
    let largest = device.largest_allocation.get().copied();
    let work = match layout {
        None => unsupported(format!(
            "{bytes} cannot be divided among work-items; sizes are from {} to 32 GiB",
            Bytes(u64::from(operation.streams()) * 256)
        )),
        Some(layout) if largest.is_some_and(|most| layout.bytes() > most) => unsupported(format!(
            "the driver of the device allocates at most {}",
            largest.unwrap_or_default()
        )),
        Some(layout) if asked > 0 && layout.groups != asked => unsupported(format!(
            "{bytes} are enough for {} only",
            counted(layout.groups, "work-group")
        )),
        Some(layout) => Ok(Work::External(External::new(GpuWork {
            device: device.number,
            cpu: scope.cpus.first().copied().unwrap_or(0),
            task: Task::Stream(layout),
        }))),
    };
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        // Fewer work-groups are the first to go when time is short.
        drop_priority: if asked > 0 { 2 } else { 1 },
    }
}

impl Experiment for GpuBandwidth {
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
                all.push(draft(&wanted, scope));
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
        }
        findings
    }
}

/// Reads of the largest working set, by their number of work-groups.
fn reads<'a>(dataset: &'a Dataset, device: &GpuFacts) -> Vec<(u64, Figure<'a>)> {
    let is_read = |p: &&Point| is_on(p, device) && p.name("operation") == Some("read");
    let reads: Vec<&Point> = dataset.points.iter().filter(is_read).collect();
    let top = reads.iter().filter_map(|p| p.number("size_bytes")).max();
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

/// Finding about the bandwidth of the memory.
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

/// Finding about the tokens per second that the memory allows.
fn tokens(dataset: &Dataset, device: &GpuFacts, model: Bytes) -> Option<Finding> {
    let figure = fastest(dataset, device)?;
    let tokens = figure.value / model.0.max(1) as f64;
    let text = format!(
        "{} can read a model of {model} at most {} times per second: that is the limit for tokens \
         per second of one stream.",
        called(device),
        significant(tokens)
    );
    let values = BTreeMap::from([
        ("model_bytes".to_owned(), model.0 as f64),
        ("tokens_per_second".to_owned(), tokens),
    ]);
    Some(Finding::resting_on(figure.points, "gpu-tokens", text)?.with(values))
}

/// Finding about the number of work-groups that the memory needs.
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
