//! Tests unusual sizes, strides and numbers in every experiment. A request that can be planned can
//! be measured. Any other request is refused as invalid, never with an internal error.

use crate::simulated::lab;
use engine::{Failure, Machine, MemoryPlan, RealMachine};
use experiments::{Experiment, Scope};
use host::facts::{SystemFiles, discover};
use host::interrupt::StopFlag;
use units::Nanos;
use units::error::Kind;

/// Sizes that are no whole lines, blocks or pages, and sizes next to such multiples.
const SIZES: &str =
    "1,8,16,24,56,63,64,65,72,100,120,511,512,513,1000,1025,4095,4097,12345,65544,1000000";

/// Each kind of request. `{size}`, `{stride}` and `{n}` stand for every value of these.
const REQUESTS: [(&str, &str); 21] = [
    ("latency", "--sizes {size} --stride {stride} --pages 4k"),
    (
        "latency",
        "--sizes 1000 --stride {stride} --pages 4k --chains {n} --payload",
    ),
    (
        "latency",
        "--sizes {size} --stride {stride} --pages 4k --chain-mode random-box,sequential \
         --locality {size}",
    ),
    (
        "latency",
        "--sizes {size} --stride {stride} --pages 4k --threads all --region private,shared",
    ),
    (
        "latency",
        "--sizes {size} --stride 64 --pages 4k --threads all --shared --chains {n}",
    ),
    (
        "latency",
        "--sizes 4096 --stride 64 --pages 4k --windows {n} --window 1us",
    ),
    (
        "bandwidth",
        "--sizes {size} --ops read,write,copy,triad,write-nt --pages 4k --threads all",
    ),
    (
        "bandwidth",
        "--sizes 64KiB --ops read-prefetch --prefetch-distance {size} --pages 4k",
    ),
    (
        "patterns",
        "--sizes {size} --orders forward,reverse --pages 4k",
    ),
    (
        "patterns",
        "--sizes {size} --orders strided --stride {stride} --pages 4k",
    ),
    (
        "patterns",
        "--sizes {size} --orders random --blocks {size} --pages 4k",
    ),
    ("scaling", "--sizes {size} --threads all --pages 4k"),
    (
        "loaded-latency",
        "--sizes {size} --mixes 50:50 --pauses {n} --pages 4k",
    ),
    ("numa", "--sizes {size} --pages 4k"),
    ("tlb", "--pages 4k --max-pages {n}"),
    ("caches", "--max-size {size}"),
    (
        "locks",
        "--ops atomic-add,spin-lock --threads all --inside {n} --between {n}",
    ),
    ("core-to-core", "--lines {n}"),
    ("core-to-core", "--windows {n}"),
    ("instructions", "--ops add"),
    (
        "bandwidth",
        "--sizes {size} --ops read-best --width best --pages 4k --memory-nodes 0",
    ),
];

const STRIDES: [&str; 10] = [
    "1", "8", "16", "24", "40", "64", "72", "520", "4096", "4104",
];
const NUMBERS: [&str; 7] = ["0", "1", "2", "7", "31", "33", "1000"];

/// Copies of `text`, each with one of `values` in place of `name`.
fn with<'a>(text: &str, name: &str, values: impl Iterator<Item = &'a str>) -> Vec<String> {
    if text.contains(name) {
        values.map(|value| text.replace(name, value)).collect()
    } else {
        vec![text.to_owned()]
    }
}

fn experiments(name: &str, options: &str) -> Vec<Box<dyn Experiment>> {
    match name {
        "latency" => vec![lab::latency(options)],
        "bandwidth" => vec![lab::bandwidth(options)],
        "patterns" => vec![lab::patterns(options)],
        "scaling" => vec![lab::scaling(options)],
        "loaded-latency" => vec![lab::loaded_latency(options)],
        "numa" => lab::numa(options),
        "tlb" => vec![lab::tlb(options)],
        "caches" => vec![lab::caches(options)],
        "locks" => vec![lab::locks(options)],
        "core-to-core" => vec![lab::core_to_core(options)],
        _ => vec![lab::instructions(options)],
    }
}

/// Plans a request and samples each kind of its work. Returns the first failure; `None` if nothing
/// fails.
fn failure(machine: &mut RealMachine, experiment: &dyn Experiment, cpus: &[u32]) -> Option<String> {
    let scope = Scope {
        machine,
        cpus,
        experiments: vec![experiment.name()],
        seed: 1,
        most_points: 10_000,
        last_level: None,
    };
    let _ = experiment.adjustments(&scope);
    let drafts = match experiment.draft(&scope) {
        Err(error) if error.kind() == Kind::Usage && error.to_string().split("; ").count() >= 3 => {
            return None;
        }
        Err(error) => return Some(error.to_string()),
        Ok(drafts) => drafts,
    };
    // Only small work is measured, because it is as odd as large work and quicker.
    let small = |work: &engine::Work| work.working_set().0 <= 8 << 20;
    for work in drafts
        .into_iter()
        .filter_map(|draft| draft.work.ok())
        .filter(small)
        .take(12)
    {
        let plan = MemoryPlan::for_works([&work], machine.facts(), false);
        let done = machine
            .map(&plan, false, Nanos(f64::INFINITY))
            .and_then(|()| machine.prepare(&work));
        let mut sampled = done
            .and_then(|()| machine.fill())
            .and_then(|()| machine.sample(&work, Nanos(20e3)));
        // On a busy machine, threads may not run at the same time during a short sample. Longer
        // samples are then tried.
        for length in [1e6, 20e6, 200e6] {
            if matches!(&sampled, Err(Failure::Failed(why)) if why.contains("at the same time")) {
                sampled = machine.sample(&work, Nanos(length));
            }
        }
        match sampled {
            Ok(_) | Err(Failure::Unsupported(_)) => {}
            Err(failure) => return Some(format!("{work:?}: {failure:?}")),
        }
    }
    None
}

#[test]
fn what_is_planned_can_be_measured_and_the_rest_is_refused_as_a_request() {
    let files = SystemFiles::real();
    let facts = discover(&files);
    let cpus = facts.topology.allowed();
    let mut machine =
        RealMachine::new(facts, files, &cpus, StopFlag::never()).expect("this machine");
    let mut found = Vec::new();
    for (name, form) in REQUESTS {
        let sized = with(form, "{size}", SIZES.split(','));
        let strided = sized
            .iter()
            .flat_map(|text| with(text, "{stride}", STRIDES.into_iter()));
        for options in strided.flat_map(|text| with(&text, "{n}", NUMBERS.into_iter())) {
            for experiment in experiments(name, &options) {
                let what = failure(&mut machine, experiment.as_ref(), &cpus);
                found.extend(what.map(|what| format!("{name} {options}: {what}")));
            }
        }
    }
    assert!(
        found.is_empty(),
        "{} of them:\n{}",
        found.len(),
        found[..found.len().min(40)].join("\n")
    );
}
