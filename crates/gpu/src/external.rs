//! Implements the engine's external work for work on a GPU.

use crate::work::{GpuWindow, GpuWork, Task};
use engine::{ExternalWindow, ExternalWork};
use report::{Cause, KernelUsed, Limit, Measured};
use sha2::{Digest, Sha256};
use std::any::Any;
use units::{Bytes, BytesPerSecond, Nanos};

/// Typical rate of filling and verifying memory of a device that uses the main memory.
const IN_MAIN_MEMORY: BytesPerSecond = BytesPerSecond(10e9);

/// The same of a device with memory of its own.
const IN_OWN_MEMORY: BytesPerSecond = BytesPerSecond(200e9);

/// Typical rate of the first access to newly allocated memory.
const FIRST_ACCESS: BytesPerSecond = BytesPerSecond(2e9);

/// Buffers of transfers: two of the device, and two kinds of main memory.
const TRANSFER_BUFFERS: f64 = 4.0;

/// Typical rate of the host when it compares what it received.
const BY_THE_HOST: BytesPerSecond = BytesPerSecond(2e9);

/// Typical rate of making a chain and writing it to a device.
const BUILD: BytesPerSecond = BytesPerSecond(0.3e9);

/// Launches and waits around a sample.
const LAUNCHES: Nanos = Nanos(0.2e6);

/// Warm-up before the first window of a round, as a share of a window: clocks of a device rise.
const WARM_UP: f64 = 1.0;

/// A driver may add this to the time of the device, for the submission and the wait.
const SUBMISSION: Nanos = Nanos(0.5e6);

/// And this share of it.
const SUBMISSION_SHARE: f64 = 0.25;

impl ExternalWork for GpuWork {
    fn identity(&self) -> String {
        format!("{self:?}")
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

    /// The digest is that of the source of all kernels. The driver compiles it for its device.
    fn kernel(&self) -> Result<KernelUsed, String> {
        let name = match &self.task {
            Task::Stream(layout) => layout.operation.name(),
            Task::Chase(_) => "chase",
            Task::Local(_) => "read_local",
            Task::Atomics(_) => "count",
            Task::Copies(_) => {
                return Ok(KernelUsed {
                    name: "opencl/transfer".to_owned(),
                    digest: None,
                });
            }
        };
        let digest = Sha256::digest(host::gpu::SOURCE.as_bytes());
        let start = digest.iter().take(8);
        Ok(KernelUsed {
            name: format!("opencl/{name}"),
            digest: Some(start.map(|byte| format!("{byte:02x}")).collect()),
        })
    }

    fn limit(&self) -> Option<Limit> {
        let (Task::Copies(copies), Some(link)) = (&self.task, &self.link) else {
            return None;
        };
        Some(Limit {
            value: (link.bytes_per_second * copies.ways()) as f64,
            source: link.source.clone(),
            tolerance: 1.0,
        })
    }

    fn expected_preparation(&self) -> Nanos {
        match &self.task {
            Task::Chase(chase) => time(chase.bytes, BUILD),
            Task::Stream(layout) => time(layout.bytes(), FIRST_ACCESS),
            Task::Copies(copies) => time(copies.bytes, FIRST_ACCESS) * TRANSFER_BUFFERS,
            Task::Local(_) | Task::Atomics(_) => Nanos::ZERO,
        }
    }

    /// Memory is filled before each sample and verified after it.
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
            Task::Chase(_) | Task::Local(_) | Task::Atomics(_) => Nanos::ZERO,
        };
        proof + LAUNCHES
    }

    fn warm_up(&self) -> f64 {
        WARM_UP
    }

    /// A window is disturbed if the host waited much longer than the device worked. The device was
    /// busy with other work then, or the thread of the driver did not run.
    fn disturbance(&self, window: &ExternalWindow<'_>) -> Option<(Cause, String)> {
        let seen = window.figures.get::<GpuWindow>()?;
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
        let mut shares: Vec<f64> = windows
            .iter()
            .filter_map(|window| {
                let seen = window.figures.get::<GpuWindow>()?;
                Some(seen.device?.0 / seen.host.0)
            })
            .collect();
        shares.sort_by(f64::total_cmp);
        if let Some(&median) = shares.get(shares.len() / 2) {
            measured.also.insert("device_share".to_owned(), median);
        }
        if let Task::Copies(copies) = &self.task {
            let moved = copies.moved().0 as f64;
            let each = moved / measured.summary.median * 1e9;
            measured.also.insert("ns_per_transfer".to_owned(), each);
        }
    }
}

/// Time for `bytes` at `rate`.
fn time(bytes: Bytes, rate: BytesPerSecond) -> Nanos {
    Nanos::from_secs(bytes.0 as f64 / rate.0)
}
