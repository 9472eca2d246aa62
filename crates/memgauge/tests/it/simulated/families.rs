//! Tests orders, instructions, locks, parallel chains and kernel selection on simulated time.

use super::lab::{self, Ran, bandwidth, instructions, latency, locks, patterns, profile, request};
use super::machines::{self, CORE, LATENCY, READ, Simulated};
use experiments::{Detail, Experiment};
use kernels::SetId;

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{what}: {value} instead of {expected}"
    );
}

fn run(experiment: Box<dyn Experiment>) -> Ran {
    let on = machines::plain();
    lab::run(&on, request(vec![experiment], &on))
}

/// A machine with three instruction sets, on which the second widest is the fastest.
fn with_choices() -> Simulated {
    let mut on = machines::plain();
    on.model.choices = vec![(SetId::Avx512, 0.8), (SetId::Avx2, 1.0), (SetId::Sse2, 0.5)];
    on
}

#[test]
fn the_fastest_kernel_is_chosen_and_the_others_are_kept() {
    let on = with_choices();
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth("--ops read,copy --sizes 1MiB --threads 1")],
            &on,
        ),
    );
    for operation in ["read", "copy"] {
        let point = ran.point(&format!("operation={operation}"));
        assert_eq!(
            point.name("kernel"),
            Some(&*format!("{operation}/simulated-avx2"))
        );
        assert_eq!(point.name("width"), Some("best"));
        let choice = lab::measured(point).choice.as_ref().expect("a choice");
        assert_eq!(choice.kernel, format!("{operation}/simulated-avx2"));
        let order: Vec<&str> = choice
            .candidates
            .iter()
            .map(|c| c.kernel.rsplit('-').next().unwrap())
            .collect();
        assert_eq!(order, ["avx2", "avx512", "sse2"]);
        assert_close(
            choice.candidates[2].median / choice.candidates[0].median,
            0.5,
            "sse2",
        );
        assert!(
            choice
                .candidates
                .iter()
                .all(|c| c.samples >= 2 && c.prefetch_distance_bytes.is_none())
        );
    }
    assert_close(ran.median("operation=read"), READ[1], "read");
    let kernels: Vec<&str> = ran
        .report
        .provenance
        .kernels
        .iter()
        .map(|k| k.name.as_str())
        .collect();
    assert_eq!(kernels, ["read/simulated-avx2", "copy/simulated-avx2"]);
    let told = |line: &String| line.contains("copy/simulated-avx2") && line.contains("candidates");
    assert!(
        ran.notes.journal().iter().any(told),
        "the journal says which kernel won"
    );
}

#[test]
fn a_width_that_is_named_is_no_choice() {
    let on = with_choices();
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth(
                "--ops read --sizes 1MiB --threads 1 --width avx512,best",
            )],
            &on,
        ),
    );
    let named = ran.point("width=avx512");
    assert!(lab::measured(named).choice.is_none());
    assert_close(lab::measured(named).summary.median, 0.8 * READ[1], "avx512");
    assert_close(ran.median("width=best"), READ[1], "best");
}

#[test]
fn the_time_of_races_is_planned() {
    let estimate = |on: &Simulated| {
        lab::plan(
            on,
            request(vec![bandwidth("--ops read --sizes 1MiB --threads 1")], on),
        )
        .expect("a plan")
        .estimate
    };
    let with = estimate(&with_choices());
    let without = estimate(&machines::plain());
    assert!((with - without).0 > 20e6, "{with} against {without}");
    let on = with_choices();
    let ran = lab::run(&on, profile(Detail::Levels, &on));
    let took = ran.report.plan.real.expect("an end");
    assert!(
        took <= ran.report.plan.planned * 1.3,
        "{took}, planned {}",
        ran.report.plan.planned
    );
}

#[test]
fn orders_are_shares_of_the_forward_one() {
    let ran = run(patterns(
        "--sizes 256MiB --stride 256,4KiB --blocks 64,4KiB",
    ));
    let share = |operation: &str, order: &str| {
        let point = ran
            .points()
            .find(|p| p.name("operation") == Some(operation) && p.name("order") == Some(order));
        lab::measured(point.expect(order)).also["share_of_forward"]
    };
    for operation in ["read", "write", "copy"] {
        assert_close(share(operation, "forward"), 1.0, operation);
        assert_close(share(operation, "reverse"), 0.98, operation);
        assert_close(share(operation, "strided 256 B"), 0.25, operation);
        assert_close(share(operation, "strided 4 KiB"), 0.05, operation);
        assert_close(share(operation, "random 64 B"), 0.2, operation);
        assert_close(share(operation, "random 4 KiB"), 16.0 / 17.0, operation);
    }
    assert_eq!(ran.points().count(), 18);
    let findings: Vec<&str> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "orders")
        .map(|f| f.text.as_str())
        .collect();
    assert_eq!(findings.len(), 3);
    assert!(
        findings[0].contains("sequential bandwidth: reverse 98%, strided 256 B 25%"),
        "{findings:?}"
    );
}

#[test]
fn non_temporal_accesses_have_every_order() {
    let ran = run(patterns(
        "--ops read-nt,write-nt,copy-nt --sizes 256MiB --stride 4KiB --blocks 64,4KiB",
    ));
    for operation in ["read-nt", "write-nt", "copy-nt"] {
        let points = || {
            ran.points()
                .filter(|p| p.name("operation") == Some(operation))
        };
        let kernels: Vec<&str> = points()
            .map(|p| p.name("kernel").unwrap().split('/').next().unwrap())
            .collect();
        let expected = ["", "-reverse", "-lines", "-lines", "-chunks"]
            .map(|order| format!("{operation}{order}"));
        assert_eq!(kernels, expected, "{operation}");
        assert!(
            points().all(|p| lab::measured(p).also["share_of_forward"] > 0.0),
            "{operation}"
        );
    }
    assert_eq!(
        ran.report
            .findings
            .iter()
            .filter(|f| f.kind == "orders")
            .count(),
        3
    );
}

#[test]
fn sizes_that_are_no_whole_blocks_are_measured_as_they_are_where_a_kernel_can() {
    let ran = run(bandwidth(
        "--threads 1 --sizes 256,768,1280,1536 --ops read,write,copy",
    ));
    let seen = |operation: &str| -> Vec<(u64, &str)> {
        let points = ran
            .points()
            .filter(|p| p.name("operation") == Some(operation));
        points
            .map(|p| {
                (
                    p.number("size_bytes").unwrap(),
                    p.name("kernel").unwrap().split('/').next().unwrap(),
                )
            })
            .collect()
    };
    let with = |short: &'static str, whole: &'static str| {
        vec![(256, short), (768, short), (1280, short), (1536, whole)]
    };
    assert_eq!(seen("read"), with("read-unroll-256", "read"));
    assert_eq!(seen("write"), with("write-unroll-128", "write"));
    // The streams of a copy are half as long.
    assert_eq!(seen("copy"), with("copy-unroll-128", "copy-unroll-128"));
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
}

#[test]
fn an_order_of_too_few_accesses_is_unsupported_with_the_reason() {
    let ran = run(patterns(
        "--ops read --orders strided,random --stride 64,2MiB --blocks 4KiB --sizes 32KiB",
    ));
    let reason = |order: &str| {
        let point = ran
            .points()
            .find(|p| p.name("order") == Some(order))
            .expect(order);
        (
            point.outcome.status(),
            point.outcome.reason().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(reason("strided 64 B").0, "measured");
    let indexed = run(patterns(
        "--ops read --orders forward,indexed --sizes 32KiB",
    ));
    let orders: Vec<_> = indexed.points().filter_map(|p| p.name("order")).collect();
    assert_eq!(orders, ["forward", "indexed 64 B", "indexed 512 B"]);
    let (status, why) = reason("strided 2 MiB");
    assert_eq!(status, "unsupported");
    assert_eq!(
        why,
        "strided 2 MiB leaves 0 accesses of a pass in 32 KiB; 16 are needed"
    );
    assert!(reason("random 4 KiB").1.contains("leaves 8 blocks"));
}

#[test]
fn tables_are_part_of_the_planned_memory() {
    let on = machines::plain();
    let memory = |orders: &str| {
        let options =
            format!("--ops read --sizes 64MiB --orders {orders} --blocks 64 --stride 256");
        lab::plan(&on, request(vec![patterns(&options)], &on))
            .expect("a plan")
            .memory()
            .0
    };
    let plain = memory("forward");
    let with = memory("random");
    assert!(
        with >= plain + (4 << 20),
        "4 B for each line of 64 MiB: {plain} and {with}"
    );
}

#[test]
fn instructions_are_times_with_cycles() {
    let ran = run(instructions("--ops add,multiply"));
    assert_eq!(ran.points().count(), 4);
    let latency = ran.measured("operation=add timing=latency");
    assert_close(latency.summary.median, 1e9 / CORE, "one cycle");
    assert_close(latency.also["core_cycles"], 1.0, "one cycle");
    let throughput = ran.measured("operation=add timing=throughput");
    assert_close(throughput.also["per_cycle"], 4.0, "four a cycle");
    assert_close(throughput.also["per_second"], 4.0 * CORE, "four a cycle");
    assert!(
        throughput.evidence.working_set_bytes.is_none()
            && throughput.evidence.pages.requested_bytes.is_none()
    );
    assert_eq!(ran.plan.memory().0, 0);
}

#[test]
fn instructions_of_other_architectures_are_only_shown_when_named() {
    let all = run(instructions(""));
    assert!(all.points().all(|p| p.name("assembly") != Some("-")));
    let named = run(instructions(
        "--ops vector-move-any,load-string-8,vector-add-512 --timing latency",
    ));
    assert_eq!(named.points().count(), 3);
}

#[test]
fn locks_count_operations_of_all_threads() {
    let ran = run(locks("--ops atomic-add,fence --inside 0,80"));
    let rate = |place: &str| ran.measured(place).summary.median;
    assert_close(
        rate("operation=atomic-add threads=1 inside=0"),
        CORE / 20.0,
        "one thread",
    );
    assert_close(
        rate("operation=atomic-add threads=2 inside=0 lines=separate"),
        CORE / 10.0,
        "two lines",
    );
    assert_close(
        rate("operation=atomic-add threads=2 inside=0 lines=shared"),
        CORE / 20.0,
        "one line",
    );
    assert_close(
        rate("operation=atomic-add threads=1 inside=80"),
        CORE / 100.0,
        "with work inside",
    );
    let shared = ran.measured("operation=atomic-add threads=2 inside=0 lines=shared");
    assert_close(
        shared.also["ns_per_operation"],
        10.0,
        "two threads take turns of 5 ns",
    );
    assert_close(ran.finding("line-contention", "shared_ns"), 10.0, "finding");
    assert_close(
        ran.finding("line-contention", "separate_ns"),
        5.0,
        "finding",
    );
}

#[test]
fn one_thread_shares_its_line_with_nobody() {
    let ran = run(locks("--ops exchange --threads 1 --lines shared,separate"));
    assert_eq!(ran.points().count(), 1);
    assert_eq!(
        ran.points().next().expect("a point").name("lines"),
        Some("separate")
    );
}

#[test]
fn parallel_chains_are_walked_on_one_chain() {
    let ran = run(latency("--sizes 256MiB --chains 1,4,32"));
    let at = |chains: u32| ran.median(&format!("chains={chains}"));
    assert_close(at(1), LATENCY[3], "one");
    assert_close(at(4), LATENCY[3] / 4.0, "four");
    assert_close(
        at(32),
        LATENCY[3] / 10.0,
        "as many as the machine has under way",
    );
    assert_close(
        ran.finding("memory-level-parallelism", "one_ns"),
        LATENCY[3],
        "finding",
    );
    assert!(ran.plan.memory().0 < 300 << 20, "one chain serves all");
    let crowded = run(latency("--sizes 1KiB --chains 32"));
    let why = crowded
        .points()
        .next()
        .and_then(|p| p.outcome.reason())
        .unwrap_or_default()
        .to_owned();
    assert_eq!(why, "32 chains at once need as many nodes; 1 KiB has 16");
}

#[test]
fn only_the_full_profile_asks_about_orders_instructions_and_locks() {
    use experiments::EXPERIMENTS;
    let experiments_in = |detail: Detail| {
        EXPERIMENTS
            .iter()
            .filter(|e| e.least.is_some_and(|least| least <= detail))
            .map(|e| e.name)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        experiments_in(Detail::Levels),
        [
            "bandwidth",
            "latency",
            "scaling",
            "core-to-core",
            "numa",
            "numa-latency",
            "loaded-latency",
            "tlb",
            "caches"
        ]
    );
    let more = [
        "bandwidth",
        "latency",
        "scaling",
        "core-to-core",
        "numa",
        "numa-latency",
        "loaded-latency",
        "patterns",
        "tlb",
        "caches",
        "instructions",
        "locks",
    ];
    assert_eq!(experiments_in(Detail::Sweep), more);
}
