//! Tests a chase under background traffic on this machine: its memory, its kernels, and its counts.

use engine::{
    ChainShape, ChaseWork, Failure, LoadedWork, Machine, MemoryPlan, Probe, RealMachine, Traffic,
    Work,
};
use host::facts::{SystemFiles, discover};
use host::interrupt::StopFlag;
use host::memory::PageMode;
use kernels::Operation;
use units::{Bytes, Nanos};

fn machine() -> RealMachine {
    let files = SystemFiles::real();
    let facts = discover(&files);
    let cpus = facts.topology.allowed();
    RealMachine::new(facts, files, &cpus, StopFlag::never()).expect("this machine")
}

fn chase(cpu: u32) -> ChaseWork {
    let bytes = Bytes::kib(64);
    let stride = Bytes(64);
    let shape = ChainShape::GlobalRandom;
    ChaseWork {
        pages: PageMode::Base,
        cpus: vec![cpu],
        shared: false,
        node: None,
        bytes,
        stride,
        shape,
        seed: 3,
        walkers: 1,
        payload: false,
    }
}

/// Takes one sample of `work`, in memory of its own.
fn sample(machine: &mut RealMachine, work: &Work) -> engine::Observation {
    machine
        .map(
            &MemoryPlan::for_works([work], machine.facts(), false),
            false,
            units::Nanos(f64::INFINITY),
        )
        .expect("memory");
    machine
        .prepare(work)
        .unwrap_or_else(|failure| panic!("{work:?}: {failure:?}"));
    let seen = machine
        .sample(work, Nanos::from_millis(0.2))
        .expect("a sample");
    assert_eq!(
        seen.found_on.as_ref().map(Vec::len),
        Some(work.cpus().len()),
        "{work:?}"
    );
    seen
}

#[test]
fn every_mix_of_traffic_runs_beside_both_probes_and_is_counted_apart() {
    let mut machine = machine();
    let cpus = machine.facts().topology.allowed();
    let [first, second, ..] = cpus[..] else {
        return println!("skipped: one cpu only");
    };
    let reading = Traffic::reading(second, PageMode::Transparent, Bytes::mib(1));
    for (reads, writes, store) in [
        (1, 0, Operation::Write),
        (2, 1, Operation::Write),
        (0, 1, Operation::WriteNt),
    ] {
        for pause in [0, 1000] {
            let traffic = Traffic {
                reads,
                writes,
                store,
                pause,
                ..reading.clone()
            };
            let stream = Traffic {
                cpu: first,
                ..reading.clone()
            };
            for probe in [Probe::Chase(chase(first)), Probe::Stream(stream)] {
                let work = Work::Loaded(LoadedWork::new(probe, vec![traffic.clone()]));
                let seen = sample(&mut machine, &work);
                let beside = seen.traffic.expect("traffic");
                assert!(
                    seen.amount > 0 && beside.payload > 0.0,
                    "{work:?}: {seen:?}"
                );
                assert_eq!(
                    beside.bus / beside.payload,
                    traffic.bus_factor(),
                    "{work:?}"
                );
            }
        }
    }
}

#[test]
fn without_traffic_there_is_nothing_to_count() {
    let mut machine = machine();
    let cpu = machine.facts().topology.allowed()[0];
    let work = Work::Loaded(LoadedWork::new(Probe::Chase(chase(cpu)), Vec::new()));
    let seen = sample(&mut machine, &work);
    assert!(seen.amount > 0 && seen.traffic.is_none(), "{seen:?}");
    let kernels =
        [work, Work::Chase(chase(cpu))].map(|work| machine.kernel(&work).expect("a kernel"));
    assert_eq!(kernels[0], kernels[1]);
}

#[test]
fn two_threads_on_one_cpu_are_refused() {
    let mut machine = machine();
    let cpu = machine.facts().topology.allowed()[0];
    let traffic = Traffic::reading(cpu, PageMode::Base, Bytes::mib(1));
    let work = Work::Loaded(LoadedWork::new(Probe::Chase(chase(cpu)), vec![traffic]));
    machine
        .map(
            &MemoryPlan::for_works([&work], machine.facts(), false),
            false,
            units::Nanos(f64::INFINITY),
        )
        .expect("memory");
    let failure = machine.prepare(&work).expect_err("a cpu for each");
    assert!(
        matches!(&failure, Failure::Failed(why) if why.contains("two threads")),
        "{failure:?}"
    );
}
