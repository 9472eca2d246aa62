//! The experiments of `memgauge gpu`.

mod atomics;
mod bandwidth;
mod latency;
mod local;
mod peers;
mod request;
mod tlb;
mod transfers;

pub use request::{Settings, chosen_devices};

use atomics::GpuAtomics;
use bandwidth::GpuBandwidth;
use experiments::{Experiment, ExperimentRow};
use latency::GpuLatency;
use local::GpuLocal;
use peers::GpuPeers;
use report::GpuFacts;
use request::{Choice, DeviceQuantity, Request};
use tlb::GpuTlb;
use transfers::GpuTransfers;

/// Rows for the table of all experiments. They have no `command`, because these experiments need
/// devices, which the command `memgauge gpu` chooses.
pub static GPU_EXPERIMENTS: [ExperimentRow; 7] = [
    ExperimentRow {
        name: bandwidth::NAME,
        question: "how many bytes per second does a GPU read, write and copy in its own memory, and \
             how much of the GPU does that need?",
        least: None,
        in_profile: |_| Box::new(GpuBandwidth::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: latency::NAME,
        question: "how long does a load of a GPU from its caches and its memory take?",
        least: None,
        in_profile: |_| Box::new(GpuLatency::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: tlb::NAME,
        question: "how many pages does the first TLB of a GPU hold, and how long does a load take that \
             misses it?",
        least: None,
        in_profile: |_| Box::new(GpuTlb::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: local::NAME,
        question: "how many bytes per second do work-groups of a GPU read from the memory that their \
             work-items share?",
        least: None,
        in_profile: |_| Box::new(GpuLocal::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: atomics::NAME,
        question: "how many atomic additions per second does a GPU do, to one counter and to many?",
        least: None,
        in_profile: |_| Box::new(GpuAtomics::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: transfers::NAME,
        question: "how fast does data move between main memory and a GPU?",
        least: None,
        in_profile: |_| Box::new(GpuTransfers::new(None)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: peers::NAME,
        question: "how fast does data move from one GPU to another?",
        least: None,
        in_profile: |_| Box::new(GpuPeers::new(None)),
        chosen: None,
        command: None,
    },
];

/// Experiments that `settings` requests, with points for each of `devices`.
pub fn experiments(settings: &Settings, devices: &[GpuFacts]) -> Vec<Box<dyn Experiment>> {
    made(settings, devices, Choice::All)
}

/// Experiments with few points for each of `devices`, for a session that mainly measures the
/// machine itself.
pub fn brief_experiments(devices: &[GpuFacts]) -> Vec<Box<dyn Experiment>> {
    made(&Settings::brief(), devices, Choice::Few)
}

fn made(settings: &Settings, devices: &[GpuFacts], choice: Choice) -> Vec<Box<dyn Experiment>> {
    let request = || {
        Some(Request {
            settings: settings.clone(),
            devices: devices.to_vec(),
            choice,
        })
    };
    let mut all: Vec<Box<dyn Experiment>> = Vec::new();
    if settings.measures(DeviceQuantity::Bandwidth) {
        all.push(Box::new(GpuBandwidth::new(request())));
    }
    if settings.measures(DeviceQuantity::Latency) {
        all.push(Box::new(GpuLatency::new(request())));
    }
    if settings.measures(DeviceQuantity::Tlb) {
        all.push(Box::new(GpuTlb::new(request())));
    }
    if settings.measures(DeviceQuantity::Local) {
        all.push(Box::new(GpuLocal::new(request())));
    }
    if settings.measures(DeviceQuantity::Atomics) {
        all.push(Box::new(GpuAtomics::new(request())));
    }
    if settings.measures(DeviceQuantity::Transfers) {
        all.push(Box::new(GpuTransfers::new(request())));
    }
    if settings.measures(DeviceQuantity::Peers) && devices.len() > 1 {
        all.push(Box::new(GpuPeers::new(request())));
    }
    all
}
