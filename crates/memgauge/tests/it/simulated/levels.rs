//! Tests properties of the levels of the hierarchy on machines of every shape.

use super::machines;
use experiments::{LastLevel, Levels};
use memgauge::plan::Request;
use report::{Cache, CacheKind, HostFacts};
use units::{Bytes, CpuList};

/// Calls `check` for every machine, with one thread, half of the threads and all threads.
fn each(check: impl Fn(&str, &Levels, &HostFacts)) {
    for on in machines::all() {
        for threads in [1, on.cpus.len().div_ceil(2), on.cpus.len()] {
            let name = format!("{} with {threads} threads", on.name);
            check(
                &name,
                &Levels::new(&on.facts, &on.cpus[..threads], on.last_level()),
                &on.facts,
            );
        }
    }
}

#[test]
fn a_sweep_rises_to_memory() {
    each(|name, levels, _| {
        let sizes = levels.sweep(levels.memory);
        assert!(
            sizes.windows(2).all(|pair| pair[0] < pair[1]),
            "{name}: {sizes:?}"
        );
        assert_eq!(sizes.last(), Some(&levels.memory), "{name}");
        assert!(sizes[0].0 >= 1024, "{name}");
        assert!(sizes.len() <= 32, "{name}: {}", sizes.len());
    });
}

#[test]
fn a_sweep_shows_each_level_and_both_sides_of_each_capacity() {
    each(|name, levels, _| {
        let sizes = levels.sweep(levels.memory);
        for (index, level) in levels.caches.iter().enumerate() {
            let share = level.share.0;
            let any = |from: u64, to: u64| sizes.iter().any(|s| (from..=to).contains(&s.0));
            assert!(any(share / 2, share), "{name}: below {}", level.name);
            assert!(any(share + 1, share * 2), "{name}: above {}", level.name);
            let shown = sizes.iter().any(|s| levels.name(*s) == level.name);
            assert!(
                shown || levels.hidden(index).is_some(),
                "{name}: {}",
                level.name
            );
        }
        if levels.caches.is_empty() {
            assert!(
                sizes.windows(2).all(|pair| pair[1].0 <= pair[0].0 * 3),
                "{name}: a gap in {sizes:?}"
            );
        }
    });
}

#[test]
fn names_follow_each_other() {
    let rank = |name: String| match name.as_str() {
        "between" => 8,
        "DRAM" | "unknown" => 9,
        cache => cache[1..].parse::<u32>().expect("a cache level"),
    };
    each(|name, levels, _| {
        let mut sizes = levels.sweep(levels.memory);
        sizes.extend([0, 1, 511, 513, u64::MAX - 1, u64::MAX].map(Bytes));
        sizes.sort_unstable();
        let ranks: Vec<u32> = sizes.iter().map(|s| rank(levels.name(*s))).collect();
        assert!(ranks.is_sorted(), "{name}: {ranks:?}");
        assert_eq!(ranks.last(), Some(&9), "{name}");
    });
}

#[test]
fn targets_lie_in_the_level_that_they_are_for() {
    each(|name, levels, _| {
        let targets = levels.targets();
        assert_eq!(targets.len(), levels.caches.len() + 1);
        for (index, target) in targets.iter().enumerate() {
            if target.hidden.is_none() {
                assert_eq!(levels.name(target.size), target.level, "{name}");
            }
            let share = levels
                .caches
                .get(index)
                .map_or(u64::MAX, |level| level.share.0);
            assert!(target.size.0 <= share, "{name}: {target:?}");
        }
    });
}

#[test]
fn what_a_thread_has_is_the_least_that_any_has() {
    let on = machines::hybrid();
    let share = |cpus: &[u32]| -> Vec<u64> {
        let levels = Levels::new(&on.facts, cpus, on.last_level());
        levels
            .caches
            .iter()
            .map(|level| level.share.0 >> 10)
            .collect()
    };
    assert_eq!(share(&[0]), [48, 2048, 36864]);
    assert_eq!(share(&[0, 1]), [24, 1024, 18432]);
    assert_eq!(share(&[16]), [32, 4096, 36864]);
    assert_eq!(share(&[0, 16]), [32, 2048, 18432]);
    assert_eq!(share(&on.cpus), [24, 1024, 1536]);
}

#[test]
fn a_level_that_some_threads_lack_is_no_level_of_all() {
    let mut on = machines::plain();
    // The second CPU is a core of another kind, without L3.
    for cache in on.facts.topology.caches.iter_mut().filter(|c| c.level == 3) {
        cache.cpus = CpuList(vec![0]);
    }
    let names = |cpus: &[u32]| -> Vec<String> {
        let levels = Levels::new(&on.facts, cpus, on.last_level());
        levels.caches.into_iter().map(|level| level.name).collect()
    };
    assert_eq!(names(&[0]), ["L1", "L2", "L3"]);
    assert_eq!(names(&[0, 1]), ["L1", "L2"]);
    assert_eq!(on.last_level(), Bytes::mib(33));
}

#[test]
fn absurd_caches_do_no_harm() {
    for size in [0, 1, 1023, 1 << 40, u64::MAX / 2, u64::MAX] {
        let mut on = machines::plain();
        let cache = |level| Cache {
            level,
            kind: CacheKind::Unified,
            size: Bytes(size),
            line: None,
            ways: None,
            cpus: CpuList(vec![0, 1]),
        };
        on.facts.topology.caches = [1, 2, 3].map(cache).to_vec();
        for threads in [1, 2] {
            let levels = Levels::new(&on.facts, &on.cpus[..threads], on.last_level());
            let sizes = levels.sweep(levels.memory);
            assert!(sizes.windows(2).all(|pair| pair[0] < pair[1]), "{sizes:?}");
            levels.targets();
        }
    }
}

#[test]
fn what_the_user_knows_of_the_last_level_sizes_memory() {
    let on = machines::large_l3_vm();
    let sizes = |last_level: Option<LastLevel>| {
        let experiments = vec![super::lab::latency("")];
        let requested = Request {
            last_level,
            ..super::lab::request(experiments, &on)
        };
        let plan = super::lab::plan(&on, requested).expect("a plan");
        let size = |level: &str| {
            let at_level = plan.points.iter().filter(|p| {
                p.coordinates
                    .get("level")
                    .is_some_and(|l| l.to_string() == level)
            });
            at_level
                .filter_map(|p| Some(p.work.as_ref().ok()?.working_set()))
                .max()
        };
        (size("DRAM"), size("L3"), plan.adjusted)
    };
    let (memory, _, adjusted) = sizes(None);
    assert_eq!((memory, adjusted.len()), (Some(Bytes::mib(4 * 480)), 0));
    let (memory, l3, adjusted) = sizes(Some(LastLevel::Given(Bytes::mib(24))));
    // On a machine with enough memory, the working set in memory is 256 MiB.
    assert_eq!(memory, Some(Bytes::mib(256)));
    assert!(l3.is_some_and(|l3| l3 <= Bytes::mib(24)), "{l3:?}");
    assert_eq!(
        adjusted,
        ["memory is sized by a last-level cache of 24 MiB, as given; the system reports 480 MiB"]
    );
    let (memory, _, _) = sizes(Some(LastLevel::Given(Bytes::gib(1))));
    assert_eq!(memory, Some(Bytes::gib(4)));
}
