//! The user's request to measure devices, and functions that the experiments share.

use crate::work::{GpuWork, RateLimit, Task};
use engine::{External, Sampling, Work};
use experiments::{Bound, Counts, Draft, Effect, Effects, Scope, lists, names};
use host::gpu::StreamOperation;
use report::{Coordinate, GpuFacts, Outcome, Point};
use std::collections::BTreeSet;
use units::error::{Error, Result};
use units::{Bytes, Nanos, SizeList, read_like};

lists! {
    /// Quantities of a device.
    Quantities of DeviceQuantity;
    /// Operations on the memory of a device.
    DeviceOperations of DeviceOperation;
    /// Kinds of main memory at the host's end of transfers.
    HostMemories of HostEnd;
}

names! {
    /// Quantity of a device.
    DeviceQuantity, "quantities":
    Bandwidth "bandwidth" "Bytes per second of the device's own memory.",
    Latency "latency" "Time of a load that depends on the load before.",
    Tlb "tlb" "Loads from many pages, for the TLB.",
    Local "local" "Bytes per second of the memory that work-groups share.",
    Atomics "atomics" "Atomic additions per second.",
    Transfers "transfers" "Bytes per second between main memory and device.",
    Peers "peers" "Bytes per second from one device to another.",
}

names! {
    /// Operation on the memory of a device.
    DeviceOperation, "operations":
    Read "read" "Loads only.",
    Write "write" "Stores only.",
    Copy "copy" "Loads from one half, stores to the other.",
    Update "update" "Loads, changes and stores in place.",
    Triad "triad" "STREAM's triad, on floats.",
}

names! {
    /// Main memory at the host's end of a transfer.
    HostEnd, "kinds of host memory":
    Pinned "pinned" "Allocated by the driver.",
    Pageable "pageable" "Ordinary memory of the process.",
}

impl DeviceOperation {
    pub fn stream(self) -> StreamOperation {
        match self {
            Self::Read => StreamOperation::Read,
            Self::Write => StreamOperation::Write,
            Self::Copy => StreamOperation::Copy,
            Self::Update => StreamOperation::Update,
            Self::Triad => StreamOperation::Triad,
        }
    }
}

impl HostEnd {
    pub fn memory(self) -> host::gpu::HostMemory {
        match self {
            Self::Pinned => host::gpu::HostMemory::Pinned,
            Self::Pageable => host::gpu::HostMemory::Pageable,
        }
    }
}

/// Devices, operations and sizes.
#[derive(Debug, Clone, PartialEq, clap::Args)]
pub struct Settings {
    /// Devices by number, as memgauge list gpus shows them: 0,1 [default: every GPU]
    #[arg(long, value_name = "LIST")]
    pub devices: Option<Counts>,

    /// Quantities to measure: bandwidth, latency, tlb, local (memory that a work-group shares),
    /// atomics, transfers, peers (from one device to another)
    #[arg(
        long,
        value_name = "LIST",
        default_value = "bandwidth,latency,tlb,local,atomics,transfers,peers"
    )]
    pub measure: Quantities,

    /// Operations on the memory of the device: read, write, copy, update, triad
    #[arg(
        long,
        value_name = "LIST",
        default_value = "read,write,copy,update,triad"
    )]
    pub ops: DeviceOperations,

    /// Working sets, all streams together [default: from 256 KiB up, each four times the one
    /// before; operations other than read use the largest only]
    #[arg(long, value_name = "LIST")]
    pub sizes: Option<SizeList>,

    /// Work-groups that read the largest working set: 1,8,64 [default: from 1 up, each twice the
    /// one before]
    #[arg(long, value_name = "LIST")]
    pub groups: Option<Counts>,

    /// Bytes of a transfer [default: 4KiB,64KiB,1MiB,16MiB,64MiB]
    #[arg(long, value_name = "LIST")]
    pub transfer_sizes: Option<SizeList>,

    /// Main memory of transfers: pinned, pageable
    #[arg(long, value_name = "LIST", default_value = "pinned,pageable")]
    pub host_memory: HostMemories,

    /// Size of a language model's weights, for a ceiling on tokens per second: 8GB
    #[arg(long, value_name = "SIZE", value_parser = read_like::<Bytes>("8GB"))]
    pub model_size: Option<Bytes>,
}

impl Settings {
    /// Settings for a session that mainly measures the machine itself. They request the bandwidth
    /// and the latency of a device's memory, and transfers.
    pub fn brief() -> Self {
        Self {
            devices: None,
            measure: Quantities(vec![
                DeviceQuantity::Bandwidth,
                DeviceQuantity::Latency,
                DeviceQuantity::Transfers,
            ]),
            ops: DeviceOperations(vec![
                DeviceOperation::Read,
                DeviceOperation::Write,
                DeviceOperation::Copy,
            ]),
            sizes: None,
            groups: None,
            transfer_sizes: Some(SizeList(vec![Bytes::kib(4), Bytes::mib(64)])),
            host_memory: HostMemories(vec![HostEnd::Pinned]),
            model_size: None,
        }
    }

    /// Validates the numbers in the settings.
    ///
    /// # Errors
    /// The model size is too small, or a number of work-groups is 0.
    fn check(&self) -> Result<()> {
        if let Some(size) = self.model_size.filter(|size| *size < LEAST_MODEL) {
            return Err(Error::usage(format!(
                "model size not possible: {size}; the weights of a model take {LEAST_MODEL} or \
                 more; type --model-size 8GB"
            )));
        }
        let groups = self.groups.iter().flat_map(|list| &list.0);
        if groups.into_iter().any(|count| count.0 == 0) {
            return Err(Error::usage(
                "groups not possible: 0; a kernel has one work-group at least; type --groups 1",
            ));
        }
        Ok(())
    }

    /// True if `quantity` was requested.
    pub fn measures(&self, quantity: DeviceQuantity) -> bool {
        self.measure.0.contains(&quantity)
    }
}

impl Effects for Settings {
    const EFFECTS: &'static [Effect<Self>] = &[
        Effect {
            option: "ops",
            applies: |s| s.measures(DeviceQuantity::Bandwidth),
            only: "only bandwidth has operations",
            enabled_by: Some("--measure bandwidth"),
        },
        Effect {
            option: "sizes",
            applies: |s| {
                s.measures(DeviceQuantity::Bandwidth) || s.measures(DeviceQuantity::Latency)
            },
            only: "only bandwidth and latency have a working set",
            enabled_by: Some("--measure bandwidth,latency"),
        },
        Effect {
            option: "groups",
            applies: |s| {
                s.measures(DeviceQuantity::Bandwidth) && s.ops.0.contains(&DeviceOperation::Read)
            },
            only: "only reads are measured with several numbers of work-groups",
            enabled_by: Some("--ops read"),
        },
        Effect {
            option: "transfer-sizes",
            applies: |s| s.measures(DeviceQuantity::Transfers) || s.measures(DeviceQuantity::Peers),
            only: "only transfers use it",
            enabled_by: Some("--measure transfers"),
        },
        Effect {
            option: "host-memory",
            applies: |s| s.measures(DeviceQuantity::Transfers),
            only: "only transfers use it",
            enabled_by: Some("--measure transfers"),
        },
        Effect {
            option: "model-size",
            applies: |s| {
                s.measures(DeviceQuantity::Bandwidth) && s.ops.0.contains(&DeviceOperation::Read)
            },
            only: "it needs reads of the memory",
            enabled_by: Some("--ops read"),
        },
    ];
}

/// Smallest model size that a user may name.
const LEAST_MODEL: Bytes = Bytes(1 << 20);

/// A request to measure devices.
#[derive(Debug, Clone)]
pub struct Request {
    pub settings: Settings,
    pub devices: Vec<GpuFacts>,
    /// Selects the sizes and the numbers of work-groups to measure if the user names none.
    pub choice: Choice,
}

/// Choice of the sizes and the numbers of work-groups to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// The sizes that show the nearest cache and the memory, with the usual number of work-groups.
    Few,
    /// All sizes. Reads of the largest size are also measured with fewer work-groups.
    All,
}

/// The devices in `all` that the settings choose, each once.
///
/// # Errors
/// A named device does not exist, or a setting is invalid. No device is named, and there is no GPU.
/// Only copies between devices are requested, but a single device is chosen.
pub fn chosen_devices(settings: &Settings, all: &[GpuFacts]) -> Result<Vec<GpuFacts>> {
    settings.check()?;
    let chosen = named_devices(settings, all)?;
    if settings.measure.0 == [DeviceQuantity::Peers] && chosen.len() < 2 {
        return Err(Error::usage(
            "nothing to measure: one device has no peer; type --devices 0,1",
        ));
    }
    Ok(chosen)
}

/// The devices that `--devices` names. Without this option, all GPUs.
fn named_devices(settings: &Settings, all: &[GpuFacts]) -> Result<Vec<GpuFacts>> {
    let Some(numbers) = &settings.devices else {
        let gpus: Vec<GpuFacts> = all.iter().filter(|d| d.kind == "gpu").cloned().collect();
        if !gpus.is_empty() {
            return Ok(gpus);
        }
        let advice = match all.first() {
            Some(other) => format!(
                "{} is a {}; type --devices {} to measure it",
                other.name, other.kind, other.number
            ),
            None => "its driver lists none; type memgauge list gpus".to_owned(),
        };
        return Err(Error::failure(format!("no GPU: {advice}")));
    };
    let named = |number: u32| {
        let device = all.iter().find(|device| device.number == number);
        device.cloned().ok_or_else(|| {
            Error::usage(format!(
                "no such device: {number}; there are {}; type memgauge list gpus",
                all.len()
            ))
        })
    };
    let chosen: BTreeSet<u32> = numbers.0.iter().map(|number| number.0).collect();
    chosen.into_iter().map(named).collect()
}

fn no_device() -> Error {
    Error::usage("no device to measure: gpu experiments have a command; type memgauge gpu")
}

/// Returns the request of an experiment.
///
/// # Errors
/// `request` is `None`: a session requested the experiment without the command `memgauge gpu`.
pub fn requested(request: Option<&Request>) -> Result<&Request> {
    request.ok_or_else(no_device)
}

/// Devices of a request. Empty if `request` is `None`.
pub fn devices(request: Option<&Request>) -> impl Iterator<Item = &GpuFacts> {
    request.into_iter().flat_map(|request| &request.devices)
}

/// Length of a sample of a kernel. It is about a hundred times the duration of a launch.
const SAMPLE: Nanos = Nanos(5e6);

/// Largest number of rounds of a point with a kernel. Each sample is followed by the proof that the
/// kernel did its work, which takes time.
const ROUNDS: u32 = 10;
/// Largest number of samples in a round of a point with a kernel.
const PER_ROUND: u32 = 3;

/// The `general` sampling, adapted to points with a kernel.
pub fn kernel_sampling(general: Sampling) -> Sampling {
    bounded(general, SAMPLE, [ROUNDS, PER_ROUND])
}

/// The `general` sampling with samples of length `length`. Points have at most `rounds` rounds, and
/// a round has at most `per_round` samples.
pub fn bounded(general: Sampling, length: Nanos, [rounds, per_round]: [u32; 2]) -> Sampling {
    Sampling {
        length,
        in_memory: 1.0,
        rounds: general.rounds.min(rounds),
        per_round: general.per_round.min(per_round),
        ..general
    }
}

/// Largest default working set.
const LARGEST: Bytes = Bytes(4 << 30);

/// Size that is assumed for a cache if the driver does not report it. No GPU of today has a larger
/// cache.
const LARGE_CACHE: Bytes = Bytes::mib(256);

/// Smallest default working set.
const SMALLEST: Bytes = Bytes(256 << 10);

/// Largest working set of a device. Limits are 4 GiB, a quarter of the device's memory, and the
/// largest allocation that its driver grants. For a device without memory of its own, a quarter of
/// the memory that this process may use is a limit too.
pub fn largest(device: &GpuFacts, scope: &Scope<'_>) -> Bytes {
    let memory = device.memory.get().map_or(LARGEST, |all| Bytes(all.0 / 4));
    let allocation = device.largest_allocation.get().copied();
    let shares = device.shares_host_memory.get() != Some(&false);
    let usable = if shares {
        Bytes(scope.usable().0 / 4)
    } else {
        LARGEST
    };
    memory
        .min(allocation.unwrap_or(LARGEST))
        .min(usable)
        .min(LARGEST)
}

/// Default working sets in rising order. They begin with 256 KiB, and each is four times the
/// previous one. The last one is eight times as large as the cache, but at least 256 MiB, and at
/// most [`largest`].
pub fn default_sizes(device: &GpuFacts, scope: &Scope<'_>) -> Vec<Bytes> {
    let memory = Bytes(least_in_memory(device).0.saturating_mul(2));
    let top = memory.max(Bytes::mib(256)).min(largest(device, scope));
    let mut sizes = Vec::new();
    let mut size = SMALLEST;
    while size.0 < top.0 {
        sizes.push(size);
        size = Bytes(size.0 * 4);
    }
    sizes.push(top);
    sizes
}

/// Smallest working set that shows the memory of a device. The cache of the device holds at most a
/// quarter of this working set.
pub fn least_in_memory(device: &GpuFacts) -> Bytes {
    let cache = device.cache.get().copied().unwrap_or(LARGE_CACHE);
    Bytes(cache.0.saturating_mul(4))
}

/// Drafts a point of `device`. `coordinates` are all coordinates except the device. `task` is the
/// work of the point, or the reason why the device does not support it.
pub fn draft(
    scope: &Scope<'_>,
    device: &GpuFacts,
    coordinates: Vec<(&str, Coordinate)>,
    task: std::result::Result<Task, String>,
) -> Draft {
    let number = Coordinate::Number(u64::from(device.number));
    let coordinates = coordinates
        .into_iter()
        .chain([("device", number)])
        .map(|(axis, at)| (axis.to_owned(), at));
    let work = task.map(|task| {
        let limit = match &task {
            // A cache could hold a smaller working set, and the limit of the memory would not
            // apply.
            Task::Stream(layout) if layout.bytes() >= least_in_memory(device) => {
                RateLimit::of_memory(device)
            }
            _ => None,
        };
        Work::External(External::new(GpuWork {
            device: device.number,
            cpu: scope.cpus.first().copied().unwrap_or(0),
            uses_host_memory: device.shares_host_memory.get() != Some(&false),
            limit,
            task,
        }))
    });
    Draft {
        coordinates: coordinates.collect(),
        work: work.map_err(|reason| Outcome::Unsupported { reason }),
        bound: Bound::Unknown,
        drop_priority: 1,
    }
}

/// A coordinate that is a name.
pub fn named(name: &str) -> Coordinate {
    Coordinate::Name(name.to_owned())
}

/// A coordinate that is a size in bytes.
pub fn size(bytes: Bytes) -> Coordinate {
    Coordinate::Number(bytes.0)
}

/// True if `point` belongs to `device`.
pub fn is_on(point: &Point, device: &GpuFacts) -> bool {
    point.number("device") == Some(u64::from(device.number))
}

/// Name of a device in findings: `GPU 0 (NVIDIA H100)`, or `Device 1 (NAME)` if it is no GPU.
pub fn called(device: &GpuFacts) -> String {
    let kind = match device.kind.as_str() {
        "gpu" => "GPU",
        _ => "Device",
    };
    format!("{kind} {} ({})", device.number, device.name)
}
