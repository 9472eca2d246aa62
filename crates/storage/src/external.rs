//! Implements [`ExternalWork`] of the engine for work on storage.

use super::figures::{also, storage};
use super::observe::StorageWindow;
use super::seeks::by_distance;
use super::work::IoWork;
use engine::{ExternalWindow, ExternalWork};
use host::storage::{engine_named, nearest_available};
use report::{Cause, KernelUsed, Measured};
use std::any::Any;
use std::collections::BTreeSet;
use units::{BytesPerSecond, Nanos};

/// Typical rate at which a new file is written before measurements of it.
const FILE_FILL: BytesPerSecond = BytesPerSecond(300e6);

/// Length of the warm-up, divided by the length of a window. A warm-up fills the queue and wakes
/// the device.
const WARM_UP: f64 = 0.2;

/// Largest number of involuntary context switches in a window that counts as no disturbance. The
/// system's own work causes such switches. Each hundred operations allow one switch more.
const FEW_SWITCHES: u64 = 20;

impl ExternalWork for IoWork {
    fn identity(&self) -> String {
        format!("{self:?}")
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn cpus(&self) -> &[u32] {
        &self.cpus
    }

    fn kernel(&self) -> Result<KernelUsed, String> {
        let row =
            engine_named(&self.engine).ok_or_else(|| format!("unknown engine: {}", self.engine))?;
        (row.availability)().map_err(|why| match nearest_available(row) {
            Some(near) => format!(
                "{} cannot be used here: {why}; the nearest is --engine {}",
                row.name, near.name
            ),
            None => format!("{} cannot be used here: {why}", row.name),
        })?;
        Ok(KernelUsed {
            name: row.name.to_owned(),
            digest: None,
            c_library: None,
        })
    }

    /// Expected time to write the created files, for the first point. The time is zero for other
    /// points, which use the same files.
    fn expected_preparation(&self) -> Nanos {
        if self.point == 0 {
            Nanos::from_secs(self.filled().0 as f64 / FILE_FILL.0)
        } else {
            Nanos::ZERO
        }
    }

    /// Length of the warm-up, divided by the length of a window. It is 0 if the number of
    /// operations is fixed, because every operation then has to be measured.
    fn warm_up(&self) -> f64 {
        if self.total().is_none() { WARM_UP } else { 0.0 }
    }

    /// Reports a disturbance if a window has too many involuntary context switches, unless threads
    /// share a CPU. Waiting for storage and page faults of mapped files are no disturbance, because
    /// they are part of the work.
    fn disturbance(&self, window: &ExternalWindow<'_>) -> Option<(Cause, String)> {
        let seen = window.figures.get::<StorageWindow>()?;
        let often = FEW_SWITCHES + seen.whole / 100;
        let switches = window
            .noise
            .map(|noise| noise.involuntary_switches)
            .filter(|&n| n > often)?;
        // If there are more threads than CPUs, threads take turns on a CPU, and each turn ends with
        // a switch.
        let cpus = window.found_on.map_or(usize::MAX, |cpus| {
            cpus.iter().collect::<BTreeSet<_>>().len()
        });
        (seen.threads.len() <= cpus).then(|| {
            (
                Cause::Others,
                format!("{switches} involuntary context switches"),
            )
        })
    }

    /// Adds the figures of the operations in all windows, including disturbed windows.
    fn complete(
        &self,
        windows: &[ExternalWindow<'_>],
        memory: Option<u64>,
        measured: &mut Measured,
    ) {
        let seen: Vec<(u32, &StorageWindow)> = windows
            .iter()
            .filter_map(|window| Some((window.round, window.figures.get()?)))
            .collect();
        let all = seen.iter().map(|(_, window)| *window);
        let mut figures = storage(self, all.clone(), memory);
        let seeks = seen
            .iter()
            .map(|(round, window)| (*round, window.elapsed, &window.seeks));
        figures.seeks = by_distance(seeks);
        let cpu_time = all.map(|window| window.cpu).sum();
        let median = measured.summary.median;
        measured.also.extend(also(&figures, median, cpu_time));
        measured.storage = Some(Box::new(figures));
    }
}
