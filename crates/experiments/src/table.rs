//! The table of experiments. Each row gives an experiment its command with help, its name for
//! `--only`, and its entry in lists.

use crate::choices::Choices;
use crate::command::ExperimentCommand;
use crate::command::MachineOption::{Cpus, DramPeak, LastLevel};
use crate::experiment::{Detail, Experiment};
use crate::{
    bandwidth, caches, core_to_core, instructions, latency, loaded_latency, locks, numa, patterns,
    scaling, tlb,
};

/// Makes the experiment for memory that the user chose; `None` if the choice excludes the
/// experiment.
pub type FromChoices = fn(&Choices, Detail) -> Option<Box<dyn Experiment>>;

/// An experiment with its setup in profiles and its command.
pub struct ExperimentRow {
    /// Name of the experiment, as users type it.
    pub name: &'static str,
    /// The question that the experiment answers.
    pub question: &'static str,
    /// Least detailed profile that includes the experiment even if the user does not name it.
    /// `None` if no profile does, because the user must choose the points.
    pub least: Option<Detail>,
    /// Makes the experiment as part of a profile.
    pub in_profile: fn(Detail) -> Box<dyn Experiment>,
    /// Makes the experiment for memory that the user chose for a whole session; `None` if such a
    /// session never has this experiment.
    pub chosen: Option<FromChoices>,
    /// Command of the experiment; `None` if the command of another experiment or of the program
    /// runs it.
    pub command: Option<ExperimentCommand>,
}

/// Every experiment, in the order in which profiles and lists have them.
pub static EXPERIMENTS: &[ExperimentRow] = &[
    ExperimentRow {
        name: "bandwidth",
        question: "how many bytes per second do threads read, write and copy at each level of the \
             hierarchy?",
        least: Some(Detail::Brief),
        in_profile: |detail| Box::new(bandwidth::Bandwidth::in_profile(detail)),
        chosen: Some(|choices, detail| {
            let bandwidth = || Box::new(bandwidth::Bandwidth::chosen(detail, choices));
            choices
                .has_bandwidth()
                .then(|| bandwidth() as Box<dyn Experiment>)
        }),
        command: Some(ExperimentCommand::new::<bandwidth::Settings>(
            "Bandwidth of reads, writes and copies",
            "bandwidth --ops read,copy --sizes 16KiB..1GiB --threads 1,all",
            &[Cpus, DramPeak, LastLevel],
        )),
    },
    ExperimentRow {
        name: "latency",
        question: "how long does a load take that depends on the load before, at each level of \
            the hierarchy?",
        least: Some(Detail::Brief),
        in_profile: |detail| Box::new(latency::Latency::in_profile(detail)),
        chosen: Some(|choices, detail| {
            let latency = || Box::new(latency::Latency::chosen(detail, choices));
            choices
                .has_latency()
                .then(|| latency() as Box<dyn Experiment>)
        }),
        command: Some(ExperimentCommand::new::<latency::Settings>(
            "Latency of a load whose address is the result of the load before",
            "latency --sizes 4KiB..1GiB --pages 4k,thp",
            &[LastLevel],
        )),
    },
    ExperimentRow {
        name: "scaling",
        question: "how does bandwidth grow with the number of threads, and how many does memory \
             need?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(scaling::Scaling::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<scaling::Settings>(
            "Bandwidth over the number of threads and their placement",
            "scaling --ops read,triad --placement spread,compact",
            &[Cpus, DramPeak, LastLevel],
        )),
    },
    ExperimentRow {
        name: "core-to-core",
        question: "how long does a value take from one core to another and back, for every pair \
             of cores?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(core_to_core::CoreToCore::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<core_to_core::Settings>(
            "Round trip of a cache line between CPUs",
            "core-to-core --kernel compare-and-swap,store-load",
            &[Cpus],
        )),
    },
    ExperimentRow {
        name: "numa",
        question: "how many bytes per second does each NUMA node's CPUs get from each node's \
             memory?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(numa::NumaBandwidth::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<numa::Settings>(
            "Bandwidth and latency between NUMA nodes",
            "numa --ops read,copy --sizes 256MiB",
            &[Cpus, DramPeak, LastLevel],
        )),
    },
    ExperimentRow {
        name: "numa-latency",
        question: "how long does a load from each NUMA node's memory take on each node's CPUs?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(numa::NumaLatency::in_profile(detail)),
        chosen: None,
        command: None,
    },
    ExperimentRow {
        name: "loaded-latency",
        question: "how long does a load take while other CPUs use the memory, and how much do \
             they move then?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(loaded_latency::LoadedLatency::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<loaded_latency::Settings>(
            "Latency of a load under background traffic, idle to saturation",
            "loaded-latency --mixes 100:0,67:33",
            &[DramPeak, LastLevel],
        )),
    },
    ExperimentRow {
        name: "patterns",
        question: "which share of the forward bandwidth do reverse, strided and random orders \
            reach?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(patterns::Patterns::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<patterns::Settings>(
            "Bandwidth of reverse, strided and random order",
            "patterns --sizes 256MiB --stride 256,4KiB",
            &[Cpus, LastLevel],
        )),
    },
    ExperimentRow {
        name: "tlb",
        question: "how many pages does each TLB cover, and what does a miss in it cost?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(tlb::Tlb::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<tlb::Settings>(
            "Entries and reach of each TLB, cost of a miss",
            "tlb --pages 4k,thp --density high",
            &[],
        )),
    },
    ExperimentRow {
        name: "caches",
        question: "how many caches are there, how large are they, and how do they fetch and \
            replace lines?",
        least: Some(Detail::Levels),
        in_profile: |detail| Box::new(caches::Caches::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<caches::Settings>(
            "Capacity, latency, lines, ways and prefetchers of each cache",
            "caches --density high",
            &[LastLevel],
        )),
    },
    ExperimentRow {
        name: "instructions",
        question: "what are the throughput and the latency of instructions?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(instructions::InstructionTimes::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<instructions::Settings>(
            "Throughput and latency of instructions",
            "instructions --timing latency",
            &[],
        )),
    },
    ExperimentRow {
        name: "locks",
        question: "how many atomic operations, locks and fences do threads do on shared and \
             separate lines?",
        least: Some(Detail::Sweep),
        in_profile: |detail| Box::new(locks::Locks::in_profile(detail)),
        chosen: None,
        command: Some(ExperimentCommand::new::<locks::Settings>(
            "Atomic operations, locks and fences, on shared and separate lines",
            "locks --threads 1,all --inside 0,100",
            &[Cpus],
        )),
    },
];
