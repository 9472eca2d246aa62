//! Tests the default profile on every machine.

use super::lab::{self, Ran, profile};
use super::machines::{self, Simulated};
use engine::Work;
use experiments::Detail;
use report::{Outcome, RunStatus};
use units::Nanos;

const BUDGET: Nanos = Nanos(60e9);

fn default_profile(on: &Simulated) -> Ran {
    lab::run(on, profile(Detail::Levels, on))
}

#[test]
fn every_machine_is_measured_within_its_budget_and_memory() {
    for on in machines::all() {
        let ran = default_profile(&on);
        let name = on.name;
        assert_eq!(ran.report.status, RunStatus::Complete, "{name}");
        assert!(
            ran.plan.estimate <= BUDGET || !ran.plan.shortened.is_empty(),
            "{name}"
        );
        let real = ran
            .report
            .plan
            .real
            .expect("a finished run has taken its time");
        assert!(real <= BUDGET, "{name}: {real}");
        for batch in ran.plan.batches() {
            assert!(
                batch.memory.total() <= on.usable(),
                "{name}: {}",
                batch.memory.total()
            );
        }
        assert_eq!(
            ran.machine.mappings(),
            ran.plan.batches().count() as u64,
            "{name}"
        );
    }
}

#[test]
fn no_point_is_missing_without_a_word() {
    for on in machines::all() {
        let ran = default_profile(&on);
        let mut threads = vec![1, on.cpus.len()];
        threads.dedup();
        let memory = *on.levels.last().expect("a level");
        for level in on.levels {
            for count in &threads {
                for operation in ["read", "write", "copy"] {
                    ran.point(&format!(
                        "operation={operation} level={level} threads={count}"
                    ));
                }
            }
            ran.point(&format!("operation=chase level={level} pages=thp"));
        }
        for count in threads.iter().filter(|_| memory == "DRAM") {
            ran.point(&format!("operation=write-nt level=DRAM threads={count}"));
            ran.point(&format!("operation=copy-nt level=DRAM threads={count}"));
        }
        for point in ran.points() {
            let named = point
                .name("level")
                .is_some_and(|level| on.levels.contains(&level));
            assert!(named, "{}: {:?}", on.name, point.coordinates);
            assert!(
                point.outcome.measured().is_some() || !lab::reasons(&point.outcome).is_empty(),
                "{}",
                on.name
            );
        }
    }
}

#[test]
fn what_is_called_memory_is_beyond_all_caches() {
    for on in machines::all() {
        let last_level = on.last_level().0;
        for detail in [Detail::Brief, Detail::Levels, Detail::Sweep] {
            let plan = lab::plan(&on, profile(detail, &on)).unwrap();
            for point in &plan.points {
                let Ok(work) = &point.work else { continue };
                let level = point.coordinates["level"].to_string();
                let beyond = work.working_set().0 >= 4 * last_level;
                assert_eq!(
                    level == "DRAM",
                    beyond && last_level > 0,
                    "{}: {work:?}",
                    on.name
                );
            }
        }
    }
}

/// True if the working sets of all threads of `work` fit into the caches of `level`, each into the
/// cache of its CPU.
fn fits(on: &Simulated, work: &Work, level: u32) -> bool {
    let each = work.working_set().0 / work.cpus().len() as u64;
    work.cpus().iter().all(|cpu| {
        let caches = on.facts.topology.data_caches(*cpu);
        let cache = caches
            .iter()
            .find(|c| c.level == level)
            .expect("a cache of this level");
        let sharing = work
            .cpus()
            .iter()
            .filter(|cpu| cache.cpus.0.contains(cpu))
            .count() as u64;
        each * sharing <= cache.size.0
    })
}

#[test]
fn every_thread_has_room_for_its_part_of_a_cache_level() {
    for on in machines::all().iter().filter(|on| on.cpus.len() < 1000) {
        let plan = lab::plan(on, profile(Detail::Sweep, on)).unwrap();
        let mut seen = 0;
        for point in &plan.points {
            let Ok(work) = &point.work else { continue };
            let name = point.coordinates["level"].to_string();
            let Some(level) = name.strip_prefix('L').map(|n| n.parse::<u32>().unwrap()) else {
                continue;
            };
            assert!(fits(on, work, level), "{}: {name} {work:?}", on.name);
            assert!(
                level == 1 || !fits(on, work, level - 1),
                "{}: {name} {work:?}",
                on.name
            );
            seen += 1;
        }
        assert!(seen > 0 || on.levels == ["unknown"]);
    }
}

#[test]
fn smaller_cores_decide_what_fits() {
    let on = machines::hybrid();
    let ran = default_profile(&on);
    // Each of 16 threads on the large cores has 24 KiB of L1, each of eight threads on the small
    // cores 32 KiB.
    let size = ran
        .point("operation=read level=L1 threads=24")
        .number("size_bytes");
    assert_eq!(size, Some(12 << 10));
    assert_eq!(
        ran.median("operation=read level=L1 threads=24"),
        machines::READ[0] * 24.0
    );
}

#[test]
fn a_level_that_another_hides_is_unsupported_with_the_reason() {
    let on = machines::small_l3_slices();
    let ran = default_profile(&on);
    for operation in ["read", "write", "copy"] {
        let point = ran.point(&format!("operation={operation} level=L3 threads=64"));
        assert!(matches!(point.outcome, Outcome::Unsupported { .. }));
        assert!(
            lab::reasons(&point.outcome).contains("512 KiB of L3 and 1 MiB of L2"),
            "{:?}",
            point.outcome
        );
    }
    lab::measured(ran.point("operation=read level=L3 threads=1"));
}

#[test]
fn the_estimate_is_what_a_run_takes() {
    for mut on in [
        machines::plain(),
        machines::large_l3_vm(),
        machines::container("144 MiB", machines::mib(144)),
    ] {
        // There is so much noise that no point stops early.
        on.model.noise.jitter = 0.3;
        let ran = default_profile(&on);
        let planned = ran.report.plan.planned;
        let real = ran.report.plan.real.unwrap();
        assert!(planned <= BUDGET && real <= BUDGET);
        assert!(
            (real.0 / planned.0 - 1.0).abs() < 0.25,
            "{}: planned {planned}, took {real}",
            on.name
        );
    }
}

#[test]
fn in_little_memory_what_fits_is_measured_in_turn() {
    let on = machines::container("144 MiB", machines::mib(144));
    let ran = default_profile(&on);
    assert!(ran.plan.batches().count() > 1);
    for point in ran.points() {
        lab::measured(point);
    }
    let on = machines::container("20 MiB", machines::mib(20));
    let ran = default_profile(&on);
    for point in ran.points() {
        if point.name("level") == Some("DRAM") {
            assert!(
                matches!(point.outcome, Outcome::Skipped { .. }),
                "{:?}",
                point.outcome
            );
            assert!(
                lab::reasons(&point.outcome).contains("20 MiB"),
                "{:?}",
                point.outcome
            );
        } else {
            lab::measured(point);
        }
    }
}

#[test]
fn progress_goes_forward_to_the_end() {
    let on = machines::container("144 MiB", machines::mib(144));
    let ran = default_profile(&on);
    let done: Vec<f64> = ran.notes.progress.iter().map(|(done, _)| *done).collect();
    assert!(done.is_sorted());
    assert!(done[0] < 0.01 && done[done.len() - 1] > 0.3, "{done:?}");
    assert!(
        ran.notes
            .progress
            .iter()
            .all(|(_, left)| *left <= ran.plan.estimate)
    );
}
