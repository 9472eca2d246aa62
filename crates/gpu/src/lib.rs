//! Measures the memory of GPUs, and of other devices that a driver offers. Method:
//! docs/method/gpu.md.
//!
//! `layout` divides a working set among the work-items of a kernel. `pattern` makes chains of
//! indices. `work` describes what a device does for a point, `runner` carries it out, and
//! `experiment` drafts the points. The engine knows this work only as [`engine::ExternalWork`].
//!
//! [`host::gpu`] opens the drivers. Only the module `host::gpu` knows OpenCL.

#![forbid(unsafe_code)]

mod experiment;
mod external;
mod layout;
mod pattern;
mod runner;
mod work;

#[cfg(test)]
mod tests;

pub use experiment::{GPU_EXPERIMENTS, Settings, brief_experiments, chosen_devices, experiments};
pub use layout::width;
pub use runner::GpuRunner;
