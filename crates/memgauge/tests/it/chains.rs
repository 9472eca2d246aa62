//! Builds, proves and walks chains of every shape on this machine, in memory of each kind.

use crate::helper::{folder, json, typed};
use engine::{ChainShape, ChaseWork, Failure, Machine, MemoryPlan, RealMachine, Work};
use host::facts::{SystemFiles, discover};
use host::interrupt::StopFlag;
use host::memory::PageMode;
use units::{Bytes, Nanos};

fn machine() -> RealMachine {
    let files = SystemFiles::real();
    let facts = discover(&files);
    let cpus = facts.topology.allowed();
    RealMachine::new(facts, files, &cpus, StopFlag::never()).expect("this machine")
}

fn chase(machine: &RealMachine, pages: PageMode, shape: ChainShape, bytes: u64) -> Work {
    let cpu = machine.facts().topology.allowed()[0];
    let bytes = Bytes(bytes);
    let stride = Bytes(64);
    Work::Chase(ChaseWork {
        pages,
        cpus: vec![cpu],
        shared: false,
        node: None,
        bytes,
        stride,
        shape,
        seed: 3,
        walkers: 1,
        payload: false,
    })
}

#[test]
fn chains_of_every_shape_share_a_mapping() {
    let mut machine = machine();
    let window = Bytes(4096);
    let base = machine.facts().pages.base;
    let shapes = [
        ChainShape::GlobalRandom,
        ChainShape::RandomBox(window),
        ChainShape::SameRandomInBox(window),
        ChainShape::DiffRandomInBox(window),
        ChainShape::Sequential,
        ChainShape::OnePerPage(base),
        ChainShape::OnePerPage(Bytes(base.0 * 2)),
        ChainShape::OnePerPage(Bytes(2 << 20)),
        ChainShape::Pairs {
            block: Bytes(2048),
            distance: Bytes(8),
        },
        ChainShape::Pairs {
            block: Bytes(2048),
            distance: Bytes(1024),
        },
    ];
    for pages in [PageMode::Base, PageMode::Transparent] {
        let bytes = |shape: &ChainShape| {
            if let ChainShape::OnePerPage(page) = shape {
                page.0 * 5
            } else {
                100_032
            }
        };
        let works: Vec<Work> = shapes
            .iter()
            .map(|shape| chase(&machine, pages, *shape, bytes(shape)))
            .collect();
        machine
            .map(
                &MemoryPlan::for_works(&works, machine.facts(), false),
                false,
                units::Nanos(f64::INFINITY),
            )
            .expect("memory");
        for work in works.iter().chain(&works) {
            machine
                .prepare(work)
                .unwrap_or_else(|failure| panic!("{work:?}: {failure:?}"));
            let seen = machine
                .sample(work, Nanos::from_millis(0.1))
                .expect("a sample");
            assert!(seen.amount > 0, "{work:?}");
        }
    }
}

#[test]
fn what_is_no_page_has_no_nodes() {
    let mut machine = machine();
    for page in [0, 64, machine.facts().pages.base.0 + 64] {
        let work = chase(
            &machine,
            PageMode::Base,
            ChainShape::OnePerPage(Bytes(page)),
            1 << 20,
        );
        machine
            .map(
                &MemoryPlan::for_works([&work], machine.facts(), false),
                false,
                units::Nanos(f64::INFINITY),
            )
            .expect("memory");
        let failure = machine.prepare(&work).expect_err("no pages");
        assert!(
            matches!(&failure, Failure::Unsupported(why) if why.contains("is no page size")),
            "{page}: {failure:?}"
        );
    }
}

#[test]
fn modes_are_measured_as_typed() {
    let folder = folder();
    let modes = "global-random,random-box,same-random-in-box,diff-random-in-box,sequential";
    let words = format!(
        "latency --chain-mode {modes} --locality 4KiB --sizes 64KiB --chains 1,3 --samples 3 \
         --budget 10s --format json -o -"
    );
    let run = typed(&words, folder.path());
    assert!(
        run.code == Some(0) && !run.timed_out && !run.panicked(),
        "{run:?}"
    );
    let report = json(&run.stdout);
    let points = report["datasets"][0]["points"]
        .as_array()
        .expect("points")
        .clone();
    assert_eq!(points.len(), 10);
    for point in points {
        assert_eq!(point["outcome"]["status"], "measured", "{point}");
        let windows = point["coordinates"]["chain_mode"]
            .as_str()
            .expect("a mode")
            .ends_with("-box");
        assert_eq!(
            point["coordinates"]["window_bytes"].as_u64(),
            windows.then_some(4096),
            "{point}"
        );
    }
}
