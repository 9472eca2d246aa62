//! Implements [`ExternalWork`], the engine's trait for external work, for work on a device.

use crate::work::{GpuWindow, GpuWork, Task};
use engine::{ExternalWindow, ExternalWork};
use host::gpu::{GpuConditions, Slowdown};
use report::{Cause, KernelUsed, Limit, Measured};
use sha2::{Digest, Sha256};
use std::any::Any;
use units::{Bytes, BytesPerSecond, Nanos, counted};

/// Name of a figure of a point: the share of samples in which the device was at its limit of power.
pub const POWER_LIMITED: &str = "power_limited_share";

/// Factor by which a measured rate may exceed the limit of the memory. A limit only applies if the
/// cache holds at most a quarter of the working set, so a cache cannot raise the rate further.
const MOST_CACHED: f64 = 1.0 / 0.75;

/// Typical rate at which a device without memory of its own fills and verifies main memory.
const IN_MAIN_MEMORY: BytesPerSecond = BytesPerSecond(10e9);

/// Typical rate at which a device with memory of its own fills and verifies it.
const IN_OWN_MEMORY: BytesPerSecond = BytesPerSecond(200e9);

/// Typical rate of the first access to newly allocated memory.
const FIRST_ACCESS: BytesPerSecond = BytesPerSecond(2e9);

/// Number of buffers that are prepared for transfers, for the expected time: two on the device, two
/// pageable and two pinned ones on the host.
const TRANSFER_BUFFERS: f64 = 6.0;

/// Typical rate at which the host compares received data with the expected data.
const BY_THE_HOST: BytesPerSecond = BytesPerSecond(2e9);

/// Typical rate of data in the pipe to the process that opened the driver.
const PIPE: BytesPerSecond = BytesPerSecond(1e9);

/// Typical rate of making a chain and writing it to a device.
const BUILD: BytesPerSecond = BytesPerSecond(0.3e9);

/// Typical time of the launches and waits of one sample.
const LAUNCHES: Nanos = Nanos(0.2e6);

/// Length of the warm-up before the first window of a round, as a share of a window. The clocks of
/// a device rise during the warm-up.
const WARM_UP: f64 = 1.0;

/// Time by which the host may wait longer than the device works, without a disturbance. It covers
/// the submission of work and the wait.
const SUBMISSION: Nanos = Nanos(0.5e6);

/// Further time by which the host may wait longer than the device works, as a share of the device's
/// time.
const SUBMISSION_SHARE: f64 = 0.25;

impl ExternalWork for GpuWork {
    /// Text of the device, the CPU and the task. The limit of the memory is left out, because it
    /// does not change the work.
    fn identity(&self) -> String {
        format!("device {}, CPU {}, {:?}", self.device, self.cpu, self.task)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cpus(&self) -> &[u32] {
        std::slice::from_ref(&self.cpu)
    }

    fn higher_is_better(&self) -> bool {
        !matches!(self.task, Task::Chase(_))
    }

    /// Name of the kernel, and a digest of the source of all kernels, which the driver compiles for
    /// its device. Transfers have no digest, because the driver itself carries them out.
    fn kernel(&self) -> Result<KernelUsed, String> {
        let name = match &self.task {
            Task::Stream(layout) => layout.operation.name(),
            Task::Chase(_) => "chase",
            Task::Local(_) => "read_local",
            Task::Atomics(_) => "count",
            Task::Copies(_) | Task::Peer(_) => {
                return Ok(KernelUsed {
                    name: "opencl/transfer".to_owned(),
                    digest: None,
                    c_library: None,
                });
            }
        };
        let digest = Sha256::digest(host::gpu::SOURCE.as_bytes());
        let start = digest.iter().take(8);
        Ok(KernelUsed {
            name: format!("opencl/{name}"),
            digest: Some(start.map(|byte| format!("{byte:02x}")).collect()),
            c_library: None,
        })
    }

    fn limit(&self) -> Option<Limit> {
        let limit = self.limit.as_ref()?;
        Some(Limit {
            value: limit.bytes_per_second as f64,
            source: limit.source.clone(),
            tolerance: MOST_CACHED,
        })
    }

    fn expected_preparation(&self) -> Nanos {
        match &self.task {
            Task::Chase(chase) => time(chase.bytes, BUILD),
            Task::Stream(layout) => time(layout.bytes(), FIRST_ACCESS),
            Task::Copies(copies) => time(copies.bytes, FIRST_ACCESS) * TRANSFER_BUFFERS,
            Task::Peer(peer) => time(peer.bytes, FIRST_ACCESS) * 2.0,
            Task::Local(_) | Task::Atomics(_) => Nanos::ZERO,
        }
    }

    /// Expected time to fill memory before each sample and to verify it afterwards.
    fn expected_proof(&self) -> Nanos {
        let rate = if self.uses_host_memory {
            IN_MAIN_MEMORY
        } else {
            IN_OWN_MEMORY
        };
        let proof = match &self.task {
            Task::Stream(layout) => time(layout.bytes(), rate) * 2.0,
            Task::Copies(copies) => {
                time(copies.moved(), rate) * 2.0 + time(copies.bytes, BY_THE_HOST)
            }
            Task::Peer(peer) => time(peer.bytes, rate) * 3.0,
            Task::Atomics(atomics) => time(atomics.bytes(), PIPE) * 2.0,
            Task::Chase(_) | Task::Local(_) => Nanos::ZERO,
        };
        proof + LAUNCHES
    }

    fn warm_up(&self) -> f64 {
        WARM_UP
    }

    /// Cause and text of the disturbance of a window. `None` if the window is undisturbed. A window
    /// is disturbed if the conditions of the device were unusual. A window is also disturbed if the
    /// host waited much longer than the device worked. A long wait means that the device did other
    /// work, or that the thread of the driver did not run.
    fn disturbance(&self, window: &ExternalWindow<'_>) -> Option<(Cause, String)> {
        let seen = window.figures.get::<GpuWindow>()?;
        if let Some(unusual) = unusual(&seen.conditions) {
            return Some(unusual);
        }
        let device = seen.device?;
        let allowed = device * (1.0 + SUBMISSION_SHARE) + SUBMISSION;
        (seen.host > allowed).then(|| {
            let text = format!(
                "the device worked for {device}, and the host waited for {}",
                seen.host
            );
            (Cause::Others, text)
        })
    }

    fn complete(
        &self,
        windows: &[ExternalWindow<'_>],
        _memory: Option<u64>,
        measured: &mut Measured,
    ) {
        let windows = windows.iter();
        let windows: Vec<&GpuWindow> = windows.filter_map(|w| w.figures.get()).collect();
        for (name, figure) in MEDIANS {
            let mut values: Vec<f64> = windows.iter().filter_map(|seen| figure(seen)).collect();
            values.sort_by(f64::total_cmp);
            if let Some(&median) = values.get(values.len() / 2) {
                measured.also.insert(name.to_owned(), median);
            }
        }
        let limited = |seen: &&&GpuWindow| seen.conditions.slowdown == Some(Slowdown::PowerLimit);
        let limited = windows.iter().filter(limited).count();
        if limited > 0 {
            let share = limited as f64 / windows.len() as f64;
            measured.also.insert(POWER_LIMITED.to_owned(), share);
        }
        let moved = match &self.task {
            Task::Copies(copies) => Some(copies.moved()),
            Task::Peer(peer) => Some(peer.bytes),
            _ => None,
        };
        if let Some(Bytes(moved)) = moved {
            let moved = moved as f64;
            let each = moved / measured.summary.median * 1e9;
            measured.also.insert("ns_per_transfer".to_owned(), each);
        }
    }
}

/// A function that returns a figure of a window, or `None` if the figure is unknown.
type WindowFigure = fn(&GpuWindow) -> Option<f64>;

/// The figures of a window, each with its name and its function. A point contains the median of
/// each figure.
const MEDIANS: [(&str, WindowFigure); 5] = [
    ("device_share", |seen| Some(seen.device?.0 / seen.host.0)),
    ("device_core_hz", |seen| Some(seen.conditions.core_clock?.0)),
    ("device_memory_hz", |seen| {
        Some(seen.conditions.memory_clock?.0)
    }),
    ("device_celsius", |seen| seen.conditions.celsius),
    ("device_watts", |seen| seen.conditions.watts),
];

/// Cause and text of an unusual condition of the device, which disturbs a window. `None` if the
/// conditions are usual. A limit of power is usual, because large devices reach it with any load.
fn unusual(conditions: &GpuConditions) -> Option<(Cause, String)> {
    if let Some(count) = conditions.other_programs.filter(|&count| count > 0) {
        let programs = counted(count, "other program");
        return Some((Cause::Others, format!("{programs} used the device")));
    }
    match conditions.slowdown? {
        Slowdown::Heat => Some((
            Cause::Heat,
            "the device lowered its clocks because of heat".to_owned(),
        )),
        Slowdown::PowerSupply => Some((
            Cause::CoreClock,
            "the device lowered its clocks because its power supply gave too little".to_owned(),
        )),
        Slowdown::HeatOrPower => Some((
            Cause::CoreClock,
            "the device lowered its clocks because of heat or power".to_owned(),
        )),
        Slowdown::PowerLimit => None,
    }
}

/// Time that `bytes` take at `rate`.
fn time(bytes: Bytes, rate: BytesPerSecond) -> Nanos {
    Nanos::from_secs(bytes.0 as f64 / rate.0)
}
