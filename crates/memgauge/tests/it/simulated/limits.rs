//! Tests budgets, memory, counts and sizes at and beyond the limits.

use super::lab::{self, Ran, bandwidth, latency, profile, request};
use super::machines::{self, Simulated};
use engine::{Machine, MemoryPlan, PointLog};
use experiments::{Detail, Experiment};
use memgauge::plan::Request;
use memgauge::run::Invocation;
use report::{Coordinate, Fact, Outcome, RunStatus};
use std::collections::BTreeSet;
use units::error::Kind;
use units::{Bytes, Nanos};

fn with_budget(on: &Simulated, budget: Nanos) -> Request {
    Request {
        budget,
        ..profile(Detail::Levels, on)
    }
}

#[test]
fn a_tiny_budget_says_what_was_left_out() {
    for on in [
        machines::plain(),
        machines::large_l3_vm(),
        machines::many_cpus(),
        machines::unknown_caches(),
    ] {
        for budget in [1e6, 1.0, 0.0].map(Nanos) {
            assert_refused(
                &on,
                with_budget(&on, budget),
                &["budget not possible", "--budget "],
            );
        }
        for budget in [1e9, 0.3e9].map(Nanos) {
            let ran = lab::run(&on, with_budget(&on, budget));
            let name = format!("{} in {budget}", on.name);
            assert_eq!(ran.report.status, RunStatus::Complete, "{name}");
            assert!(!ran.plan.shortened.is_empty(), "{name}");
            assert!(
                ran.plan.shortened.len() <= 13,
                "{name}: {:?}",
                ran.plan.shortened
            );
            let mut skipped = 0;
            for point in ran.points() {
                match &point.outcome {
                    Outcome::Measured(_) => {}
                    Outcome::Skipped { reason } => {
                        assert!(reason.contains("--budget"), "{name}: {reason}");
                        skipped += 1;
                    }
                    other => panic!("{name}: {other:?}"),
                }
            }
            assert!(skipped > 0 || budget.0 == 1e9, "{name}");
            let said = ran.plan.shortened.iter().any(|s| s.starts_with("left out"));
            assert_eq!(
                said,
                ran.plan.points.iter().any(|p| p.work.is_err()),
                "{name}"
            );
        }
    }
}

#[test]
fn a_shorter_budget_first_shortens_samples_then_leaves_out_the_least_needed() {
    let on = machines::plain();
    let whole = lab::plan(&on, profile(Detail::Levels, &on)).unwrap();
    assert!(whole.shortened.is_empty(), "{:?}", whole.shortened);
    let shorter = lab::plan(&on, with_budget(&on, whole.estimate * 0.5)).unwrap();
    assert_eq!(shorter.shortened.len(), 1);
    assert!(
        shorter.shortened[0].contains("rounds of"),
        "{:?}",
        shorter.shortened
    );
    assert!(shorter.points.iter().all(|p| p.work.is_ok()));
    let tight = lab::plan(&on, with_budget(&on, Nanos(0.5e9))).unwrap();
    let left_out = tight.points.iter().filter(|p| p.work.is_err());
    let needless = |c: &report::Coordinates| {
        c["operation"].to_string().ends_with("-nt") || c["pages"].to_string() == "4k"
    };
    let mut kept = 0;
    let mut gone = 0;
    for point in left_out {
        if needless(&point.coordinates) {
            gone += 1
        } else {
            kept += 1
        }
    }
    assert!(gone == 6 && kept > 0, "{gone} {kept}");
    assert!(tight.estimate <= Nanos(0.5e9));
}

#[test]
fn a_huge_budget_changes_nothing() {
    let on = machines::plain();
    let whole = lab::plan(&on, profile(Detail::Levels, &on)).unwrap();
    for budget in [1e18, 1e300, f64::INFINITY] {
        let plan = lab::plan(&on, with_budget(&on, Nanos(budget))).unwrap();
        assert_eq!(plan.sampling, whole.sampling);
        assert_eq!(plan.phases, whole.phases);
    }
}

#[test]
fn a_run_that_is_slower_than_planned_ends_with_its_budget() {
    let mut on = machines::plain();
    // Every sample takes four times its planned time.
    on.model.noise.jitter = 6.0;
    let planned = lab::plan(&on, profile(Detail::Levels, &on))
        .unwrap()
        .estimate;
    let ran = lab::run(&on, with_budget(&on, planned * 1.01));
    let real = ran.report.plan.real.unwrap();
    assert!(real <= planned * 1.2, "{real} of {planned}");
    assert_eq!(ran.report.status, RunStatus::Complete);
    assert!(ran.has_finding("budget"), "{:?}", ran.report.findings);
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
}

#[test]
fn nothing_is_mapped_when_the_budget_is_used_up() {
    let mut on = machines::container("144 MiB", machines::mib(144));
    on.model.noise.jitter = 20.0;
    let mut machine = on.machine(lab::SEED);
    let started = machine.now();
    let mut plan =
        memgauge::plan::make(profile(Detail::Levels, &on), &mut machine).expect("a plan");
    plan.request.budget = plan.estimate / 1000.0;
    let mut notes = lab::Notes::default();
    let invocation = Invocation {
        version: String::new(),
        command_line: Vec::new(),
        launch: None,
        past: None,
    };
    let report = memgauge::run::execute(&plan, &mut machine, &mut notes, &invocation, started);
    assert!(machine.mappings() < plan.batches().count() as u64);
    let reasons = report
        .datasets
        .iter()
        .flat_map(|d| &d.points)
        .map(|p| lab::reasons(&p.outcome));
    assert!(
        reasons
            .filter(|text| text.contains("was used up; allow more with --budget"))
            .count()
            > 0
    );
}

#[test]
fn one_number_is_taken_where_mapping_alone_uses_the_budget_up() {
    let on = machines::plain();
    let mut machine = on.machine(lab::SEED);
    let started = machine.now();
    let sizes = vec![bandwidth(
        "--ops read --sizes 256MiB,512MiB --threads 1 --pages 4k",
    )];
    let mut plan = memgauge::plan::make(request(sizes, &on), &mut machine).expect("a plan");
    plan.request.budget = Nanos::from_secs(plan.memory().0 as f64 / on.model.fault.0) / 2.0;
    let mut notes = lab::Notes::default();
    let invocation = Invocation {
        version: String::new(),
        command_line: Vec::new(),
        launch: None,
        past: None,
    };
    let report = memgauge::run::execute(&plan, &mut machine, &mut notes, &invocation, started);
    let [first, second] = &report.datasets[0].points[..] else {
        panic!("two points")
    };
    let one = lab::measured(first);
    assert!(
        (1..=4).contains(&one.samples.len()),
        "{}",
        one.samples.len()
    );
    assert!(
        report
            .findings
            .iter()
            .any(|finding| finding.kind == "budget")
    );
    assert!(lab::reasons(&second.outcome).contains("was used up; allow more with --budget"));
}

#[test]
fn many_points_are_planned_at_once_or_refused() {
    let on = machines::plain();
    let sizes = (1..=250)
        .map(|i| format!("{i}KiB"))
        .collect::<Vec<_>>()
        .join(",");
    let experiments = || -> Vec<Box<dyn Experiment>> {
        vec![
            bandwidth(&format!("--ops read --sizes {sizes}")),
            latency(&format!("--pages 4k,thp --sizes {sizes}")),
        ]
    };
    for budget in [1e9, 10e9, 600e9].map(Nanos) {
        let plan = lab::plan(
            &on,
            Request {
                budget,
                ..request(experiments(), &on)
            },
        )
        .unwrap();
        assert_eq!(plan.points.len(), 1000);
        assert!(plan.estimate <= budget);
        assert!(plan.shortened.len() < 15);
    }
    let few = Request {
        max_points: 999,
        ..request(experiments(), &on)
    };
    assert_refused(&on, few, &["too many points", "--max-points"]);
    // The request is refused while the lists are multiplied, not after.
    let huge = "--sizes 1KiB..90KiB:1 --threads 1,2 --ops read,read-sum,write,write-nt --width \
         64,128,256,512";
    assert_refused(
        &on,
        request(vec![bandwidth(huge)], &on),
        &["too many points: more than 20000"],
    );
    let repeated = Request {
        repeat: u32::MAX,
        ..request(vec![latency("--sizes 4KiB")], &on)
    };
    assert_refused(&on, repeated, &["too many points"]);
}

/// Asserts that planning fails because of the request, with an error that contains `words`.
fn assert_refused(on: &Simulated, request: Request, words: &[&str]) {
    let error = lab::plan(on, request).err().expect("a refusal");
    assert_eq!(error.kind(), Kind::Usage, "{error}");
    for word in words {
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn a_repeat_is_the_same_points_in_fresh_memory() {
    let on = machines::plain();
    let once = lab::run(&on, profile(Detail::Brief, &on));
    let thrice = lab::run(
        &on,
        Request {
            repeat: 3,
            ..profile(Detail::Brief, &on)
        },
    );
    assert_eq!(once.machine.mappings(), 1);
    assert_eq!(thrice.machine.mappings(), 3);
    assert_eq!(thrice.points().count(), 3 * once.points().count());
    for (mine, dataset) in thrice.report.datasets.iter().zip(&once.report.datasets) {
        assert_eq!(mine.axes.last().map(|a| a.name.as_str()), Some("repeat"));
        let mut places = BTreeSet::new();
        for (index, point) in mine.points.iter().enumerate() {
            let mut coordinates = point.coordinates.clone();
            assert!(places.insert(coordinates.clone()));
            let repeat = index / dataset.points.len();
            assert_eq!(
                coordinates.remove("repeat"),
                Some(Coordinate::Number(repeat as u64))
            );
            let same = &dataset.points[index % dataset.points.len()];
            assert_eq!(coordinates, same.coordinates);
            assert_eq!(
                lab::measured(point).summary.median,
                lab::measured(same).summary.median
            );
        }
    }
    let tight = machines::container("144 MiB", machines::mib(144));
    let phases = |repeat: u32| {
        let request = Request {
            repeat,
            budget: Nanos(600e9),
            ..profile(Detail::Levels, &tight)
        };
        lab::run(&tight, request).machine.mappings()
    };
    assert_eq!(phases(2), 2 * phases(1));
    assert_eq!(phases(0), phases(1));
}

#[test]
fn cooling_down_takes_its_time() {
    let on = machines::plain();
    let cool = |millis: f64| {
        let cooldown = Nanos::from_millis(millis);
        let ran = lab::run(
            &on,
            Request {
                cooldown,
                budget: Nanos(600e9),
                ..profile(Detail::Brief, &on)
            },
        );
        (ran.report.plan.planned, ran.report.plan.real.unwrap(), ran)
    };
    let (planned, real, ran) = cool(0.0);
    let (planned_cool, real_cool, _) = cool(100.0);
    let points = ran.points().count() as f64;
    let rounds = f64::from(lab::sampling().rounds);
    // A fifth of the time is reserved for points with wide intervals.
    assert!(((planned_cool - planned).secs() - points * rounds * 0.1 * 1.2).abs() < 1e-6);
    // Six rounds are taken even without noise, because fewer rounds have no 95% interval.
    assert!(((real_cool - real).secs() - points * 6.0 * 0.1).abs() < 1e-6);
}

#[test]
fn what_the_machine_does_not_have_is_refused() {
    let on = machines::plain();
    let refused =
        |experiment, words: &[&str]| assert_refused(&on, request(vec![experiment], &on), words);
    refused(
        bandwidth("--threads 3"),
        &["too many threads: 3", "2 CPUs", "--threads all"],
    );
    refused(bandwidth("--threads 1..8"), &["too many threads: 8"]);
    refused(
        bandwidth("--sizes 25GiB"),
        &["too much memory: 25 GiB", "24 GiB", "--sizes"],
    );
    refused(
        bandwidth("--sizes 13GiB --threads 2"),
        &["too much memory: 13 GiB", "2 threads"],
    );
    refused(
        latency("--sizes 25GiB"),
        &["too much memory: 25 GiB", "24 GiB", "--sizes"],
    );
    refused(latency("--cpu 2"), &["cpu not available: 2", "0-1"]);
    refused(latency("--stride 0"), &["stride not possible: 0 B"]);
    refused(latency("--stride 12"), &["stride not possible: 12 B"]);
    for size in [0u64, 1, 8, 63] {
        refused(
            bandwidth(&format!("--sizes {size} --ops read")),
            &["too small a size", "--sizes 64"],
        );
    }
    for size in [0u64, 1, 8, 63] {
        refused(
            latency(&format!("--sizes {size}")),
            &["too small a size", "--sizes 64"],
        );
    }
    refused(
        bandwidth("--sizes 255 --ops copy"),
        &["too small a size: 255 B", "--sizes 256"],
    );
    for size in [u64::MAX, u64::MAX - 1, u64::MAX / 2, u64::MAX - 4096] {
        refused(bandwidth(&format!("--sizes {size}")), &["too much memory"]);
        refused(latency(&format!("--sizes {size}")), &["too much memory"]);
    }
}

#[test]
fn odd_sizes_become_whole_blocks_and_nodes() {
    let on = machines::plain();
    let sizes = |experiment| -> Vec<u64> {
        let plan = lab::plan(&on, request(vec![experiment], &on)).unwrap();
        plan.points
            .iter()
            .map(|p| p.work.as_ref().unwrap().working_set().0)
            .collect()
    };
    assert_eq!(
        sizes(bandwidth(
            "--ops read --threads 1 --sizes 512,1023,1025,99999"
        )),
        [512, 1024, 99840]
    );
    assert_eq!(
        sizes(bandwidth("--ops copy --threads 1 --sizes 1024,2047,99999")),
        [1024, 99328]
    );
    assert_eq!(
        sizes(latency("--sizes 64,127,128,1000003")),
        [64, 128, 999_936 + 64]
    );
    assert_eq!(
        sizes(latency("--stride 4096 --sizes 4096,10000")),
        [4096, 8192]
    );
    // The level follows from the rounded working set rather than from the typed size. 48 KiB and a
    // byte are rounded down to L1.
    let plan = lab::plan(
        &on,
        request(vec![bandwidth("--ops read --threads 1 --sizes 49153")], &on),
    )
    .unwrap();
    assert_eq!(plan.points[0].coordinates["level"].to_string(), "L1");
}

#[test]
fn the_same_question_is_requested_once() {
    let count = |on: &Simulated, experiment| {
        lab::plan(on, request(vec![experiment], on))
            .unwrap()
            .points
            .len()
    };
    let on = machines::plain();
    assert_eq!(
        count(
            &on,
            bandwidth("--ops read,read --sizes 4KiB,4096,4KiB --threads 1,2,all")
        ),
        2
    );
    assert_eq!(
        count(
            &on,
            bandwidth("--ops read --sizes 4096,4097 --threads all,1 --pages thp,thp")
        ),
        2
    );
    assert_eq!(
        count(
            &on,
            latency("--sizes 4KiB,4KiB --stride 64,64 --pages 4k,4k --cpu 1,1")
        ),
        1
    );
    let one = machines::one_allowed();
    assert_eq!(
        count(&one, bandwidth("--ops read --sizes 4KiB --threads 1,all")),
        1
    );
    // Numbers of threads rise, whatever the order of the list.
    let plan = lab::plan(
        &on,
        request(
            vec![bandwidth("--ops read --sizes 4KiB --threads all,1")],
            &on,
        ),
    )
    .unwrap();
    let threads: Vec<String> = plan
        .points
        .iter()
        .map(|p| p.coordinates["threads"].to_string())
        .collect();
    assert_eq!(threads, ["1", "2"]);
}

fn assert_measured_or_said(ran: &Ran) {
    for point in ran.points() {
        assert!(point.outcome.measured().is_some() || !lab::reasons(&point.outcome).is_empty());
        assert!(
            !matches!(point.outcome, Outcome::Failed { .. }),
            "{:?}: {:?}",
            point.coordinates,
            point.outcome
        );
    }
}

/// Memory that remains unused, in bytes. The values are around the gap between threads, the base
/// page and the huge page.
const SLACK: [u64; 10] = [
    0,
    1,
    4095,
    4096,
    4097,
    8192,
    1 << 20,
    2 << 20,
    (2 << 20) + 1,
    4 << 20,
];

#[test]
fn memory_is_used_to_its_end_and_never_beyond() {
    // 145 MiB end with half a huge page.
    for (usable, slack) in [144, 145]
        .into_iter()
        .flat_map(|usable| SLACK.map(|slack| (machines::mib(usable), slack)))
    {
        let on = machines::container("little memory", usable);
        let size = usable.0 - slack;
        let each = size / 2;
        let options = |size: u64| format!("--sizes {size} --pages 4k,thp");
        let experiments = vec![
            bandwidth(&format!("{} --threads 1", options(size))),
            bandwidth(&format!("{} --threads 2", options(each))),
            latency(&options(size)),
        ];
        let ran = lab::run(&on, request(experiments, &on));
        assert_measured_or_said(&ran);
        assert!(ran.plan.memory() <= usable);
    }
}

#[test]
fn points_that_fit_only_one_by_one_are_measured_one_by_one() {
    // On a machine of 8 nodes, one thread needs its whole working set on one node, while 64 threads
    // spread theirs.
    let mut on = machines::eight_nodes();
    on.facts.memory.usable = Fact::known(Bytes::mib(1100), "simulated");
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    for point in ran.points() {
        lab::measured(point);
    }
    let works = || ran.plan.points.iter().filter_map(|p| p.work.as_ref().ok());
    assert!(MemoryPlan::for_works(works(), &on.facts, true).total() > Bytes::mib(1100));
    let members: BTreeSet<usize> = ran
        .plan
        .batches()
        .flat_map(|batch| batch.points.clone())
        .collect();
    let count: usize = ran.plan.batches().map(|batch| batch.points.len()).sum();
    assert_eq!(
        (members.len(), count),
        (ran.plan.points.len(), ran.plan.points.len())
    );
}

#[test]
fn a_plan_of_nothing_is_a_report_of_nothing() {
    let on = machines::plain();
    let ran = lab::run(&on, request(Vec::new(), &on));
    assert_eq!(ran.report.status, RunStatus::Complete);
    assert!(
        ran.report.datasets.is_empty()
            && ran.plan.phases.is_empty()
            && ran.plan.shortened.is_empty()
    );
    assert_eq!(ran.machine.mappings(), 0);
    assert!(PointLog::default().is_empty());
}

#[test]
fn sizes_without_a_limit_do_not_overflow() {
    let mut on = machines::plain();
    on.facts.memory.usable = Fact::unknown("not told");
    for size in [u64::MAX, u64::MAX - 511, u64::MAX / 2 + 1, 1 << 62] {
        let experiments = vec![
            bandwidth(&format!("--sizes {size}")),
            latency(&format!("--sizes {size}")),
        ];
        // Mapping this much memory would take years.
        assert_refused(
            &on,
            request(experiments, &on),
            &["budget not possible", "--budget"],
        );
    }
}
