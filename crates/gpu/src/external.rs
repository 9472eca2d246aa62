//! Implements the engine's external work for work on a GPU.

use crate::work::{GpuWindow, GpuWork, Task};
use engine::{ExternalWindow, ExternalWork};
use report::{Cause, KernelUsed, Measured};
use sha2::{Digest, Sha256};
use std::any::Any;
use units::{BytesPerSecond, Nanos};

/// Typical rate of allocating and filling memory of a device, or of both ends of transfers.
const FILL: BytesPerSecond = BytesPerSecond(2e9);

/// Typical rate of making a chain and writing it to a device.
const BUILD: BytesPerSecond = BytesPerSecond(0.3e9);

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

    fn expected_preparation(&self) -> Nanos {
        let (bytes, rate) = match &self.task {
            Task::Stream(layout) => (layout.bytes(), FILL),
            Task::Chase(chase) => (chase.bytes, BUILD),
            Task::Copies(copies) => (copies.bytes, FILL),
            Task::Local(_) | Task::Atomics(_) => return Nanos::ZERO,
        };
        Nanos::from_secs(bytes.0 as f64 / rate.0)
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
