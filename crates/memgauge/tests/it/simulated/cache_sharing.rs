//! Tests that timing finds which CPUs compete for which cache, and that findings compare this with
//! the system's report.

use super::lab::{self, Ran, caches, request};
use super::machines::{self, Simulated};
use engine::Sampling;
use memgauge::plan::Request;
use report::Finding;
use units::{Bytes, CpuList, Nanos};

/// Runs the experiment as its command does.
fn run(on: &Simulated, options: &str, budget: Nanos) -> Ran {
    let sampling = Sampling {
        length: Nanos::from_millis(1.0),
        in_memory: 1.0,
        per_round: 4,
        rounds: 6,
        target: 0.005,
        most: None,
    };
    lab::run(
        on,
        Request {
            sampling,
            budget,
            ..request(vec![caches(options)], on)
        },
    )
}

const BUDGET: Nanos = Nanos(20e9);

/// A machine on which page walks cost nothing.
fn without_tlbs(mut on: Simulated) -> Simulated {
    on.model.tlb_reach = Bytes(u64::MAX);
    on
}

fn of_kind<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a Finding> {
    ran.report
        .findings
        .iter()
        .filter(|f| f.kind == kind)
        .collect()
}

fn texts<'a>(ran: &'a Ran, kind: &str) -> Vec<&'a str> {
    of_kind(ran, kind).iter().map(|f| f.text.as_str()).collect()
}

/// Findings: level, nearest partner that decides, and number of competing CPUs.
fn competitors(ran: &Ran) -> Vec<(f64, f64, f64)> {
    let row = |f: &&Finding| {
        (
            f.values["level"],
            f.values["partner"],
            f.values["competitors"],
        )
    };
    of_kind(ran, "cache-sharing").iter().map(row).collect()
}

/// CPU and partner of each point of the operation `shared`.
fn requested(ran: &Ran) -> Vec<(u64, Option<u64>)> {
    let points = ran
        .points()
        .filter(|p| p.name("operation") == Some("shared"));
    points
        .map(|p| (p.number("cpu").expect("a cpu"), p.number("partner")))
        .collect()
}

#[test]
fn cores_have_caches_of_their_own_and_share_the_last_one() {
    let ran = run(&without_tlbs(machines::plain()), "", BUDGET);
    assert_eq!(
        texts(&ran, "cache-sharing"),
        [
            "L1 of CPU 0 is its own: CPU 1 (shared-l3) changes nothing, a load takes 1.0 ns alone \
             and 1.0 ns next to it.",
            "L2 of CPU 0 is its own: CPU 1 (shared-l3) changes nothing, a load takes 3.5 ns alone \
             and 3.5 ns next to it.",
            "L3 is shared by CPU 0 and CPU 1 (shared-l3): a load takes 12.0 ns alone and 130.6 ns \
             next to it.",
        ]
    );
    assert_eq!(
        competitors(&ran),
        [(1.0, 1.0, 0.0), (2.0, 1.0, 0.0), (3.0, 1.0, 1.0)]
    );
    assert!(!ran.has_finding("cache-disagrees") && !ran.has_finding("cache-sharing-unknown"));
    assert_eq!(
        requested(&ran),
        [
            (0, None),
            (0, Some(1)),
            (0, None),
            (0, Some(1)),
            (0, None),
            (0, Some(1))
        ]
    );
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
    // Samples may be shortened, but no point is left out.
    let left_out = ran
        .plan
        .shortened
        .iter()
        .any(|text| text.contains("left out"));
    assert!(
        ran.plan.estimate <= BUDGET && !left_out,
        "{:?}",
        ran.plan.shortened
    );
}

#[test]
fn siblings_clusters_and_sockets_are_told_apart() {
    let ran = run(&without_tlbs(machines::two_sockets()), "", BUDGET);
    let text = texts(&ran, "cache-sharing");
    assert_eq!(
        text,
        [
            "L1 is shared by CPU 0 and CPU 1 (same-core): a load takes 1.0 ns alone and 3.5 ns \
             next to it; CPU 2 (shared-l3), CPU 4 (same-package) and CPU 8 (cross-package) change \
             nothing.",
            "L2 is shared by CPU 0 and CPU 1 (same-core): a load takes 3.5 ns alone and 12.0 ns \
             next to it; CPU 2 (shared-l3), CPU 4 (same-package) and CPU 8 (cross-package) change \
             nothing.",
            "L3 is shared by CPU 0, CPU 1 (same-core) and CPU 2 (shared-l3): a load takes 12.0 ns \
             alone and 130.6 ns or more next to one of them; CPU 4 (same-package) and CPU 8 \
             (cross-package) change nothing.",
        ]
    );
    assert!(!ran.has_finding("cache-disagrees"));
    assert!(ran.plan.estimate <= BUDGET);
}

#[test]
fn partial_hits_and_noise_change_no_answer() {
    for (partial, jitter, spikes) in [(true, 0.0, 0), (false, 0.06, 7), (true, 0.06, 23)] {
        let mut on = without_tlbs(machines::two_sockets());
        on.model.partial_hits = partial;
        (on.model.noise.jitter, on.model.noise.spike_every) = (jitter, spikes);
        let ran = run(&on, "", BUDGET);
        let what = format!(
            "{partial} {jitter} {spikes}: {:?}",
            texts(&ran, "cache-sharing")
        );
        assert_eq!(
            competitors(&ran),
            [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (3.0, 1.0, 2.0)],
            "{what}"
        );
        assert!(
            !ran.has_finding("cache-disagrees") && !ran.has_finding("cache-sharing-unknown"),
            "{what}"
        );
    }
}

#[test]
fn what_is_shared_otherwise_than_reported_is_a_finding() {
    let single = |cpus: &[u32]| {
        cpus.iter()
            .map(|&cpu| CpuList(vec![cpu]))
            .collect::<Vec<_>>()
    };
    // Both CPUs of a virtual machine are hardware threads of one core of its host.
    let mut on = without_tlbs(machines::plain());
    on.model.caches.shared = [
        (1, vec![CpuList(vec![0, 1])]),
        (2, vec![CpuList(vec![0, 1])]),
    ]
    .into();
    let ran = run(&on, "", BUDGET);
    assert_eq!(
        competitors(&ran),
        [(1.0, 1.0, 1.0), (2.0, 1.0, 1.0), (3.0, 1.0, 1.0)]
    );
    let text = texts(&ran, "cache-disagrees");
    assert_eq!(text.len(), 2, "{text:?}");
    assert!(
        text[1].starts_with(
            "CPU 0 and CPU 1 compete for L2, though the system does not report it as shared: a \
             load takes 3.5 ns alone and 12.0 ns next to CPU 1."
        ),
        "{text:?}"
    );
    // The last-level cache is partitioned.
    let mut on = without_tlbs(machines::plain());
    on.model.caches.shared = [(3, single(&[0, 1]))].into();
    let ran = run(&on, "", BUDGET);
    assert_eq!(
        competitors(&ran),
        [(1.0, 1.0, 0.0), (2.0, 1.0, 0.0), (3.0, 1.0, 0.0)]
    );
    let found = of_kind(&ran, "cache-disagrees");
    assert_eq!(found.len(), 1);
    assert!(
        found[0].text.starts_with(
            "CPU 0 and CPU 1 do not compete for L3, though the system reports it as shared: a load \
             takes 12.0 ns alone and 12.0 ns next to CPU 1."
        ),
        "{}",
        found[0].text
    );
    assert_eq!(
        (found[0].values["level"], found[0].values["partner"]),
        (3.0, 1.0)
    );
}

#[test]
fn one_cpu_shares_with_nobody() {
    let ran = run(
        &without_tlbs(machines::one_allowed()),
        "--density low",
        BUDGET,
    );
    assert_eq!(requested(&ran), []);
    assert_eq!(
        texts(&ran, "cache-sharing-unknown"),
        ["The CPUs that share caches with CPU 37 are unknown: this process may use CPU 37 only."]
    );
    let mut on = without_tlbs(machines::plain());
    on.cpus = vec![1];
    let ran = run(&on, "--density low", BUDGET);
    assert_eq!(requested(&ran), []);
    assert!(texts(&ran, "cache-sharing-unknown")[0].contains("there was no second CPU"));
}

#[test]
fn several_cpus_have_each_its_own_answer() {
    let ran = run(
        &without_tlbs(machines::hybrid()),
        "--cpu 0,16 --density low",
        Nanos(60e9),
    );
    let text = texts(&ran, "cache-sharing");
    assert_eq!(text.len(), 6, "{text:?}");
    assert!(
        text[0].starts_with("L1 is shared by CPU 0 and CPU 1 (same-core): "),
        "{text:?}"
    );
    assert!(
        text[3].starts_with(
            "L1 of CPU 16 is its own: CPU 17 (shared-l2) and CPU 0 (shared-l3) change"
        ),
        "{text:?}"
    );
    assert!(
        text[4].starts_with("L2 is shared by CPU 16 and CPU 17 (shared-l2): "),
        "{text:?}"
    );
    assert!(
        text[5].starts_with("L3 is shared by CPU 16, CPU 17 (shared-l2) and CPU 0 (shared-l3): "),
        "{text:?}"
    );
    assert!(
        !ran.has_finding("cache-disagrees"),
        "{:?}",
        texts(&ran, "cache-disagrees")
    );
}

#[test]
fn little_time_and_little_memory_ask_less() {
    for (memory, budget) in [
        (Bytes::mib(20), 20e9),
        (Bytes::mib(144), 20e9),
        (Bytes::gib(24), 3e9),
        (Bytes::gib(24), 1e9),
    ] {
        let ran = run(
            &without_tlbs(machines::container("little", memory)),
            "",
            Nanos(budget),
        );
        assert!(
            ran.plan.memory() <= memory && ran.plan.estimate <= Nanos(budget) * 1.05,
            "{memory} {budget}"
        );
        let failed = ran
            .points()
            .filter(|p| matches!(p.outcome, report::Outcome::Failed { .. }))
            .count();
        assert_eq!(failed, 0, "{memory} {budget}");
        for found in of_kind(&ran, "cache-sharing") {
            assert_eq!(
                found.values["competitors"] > 0.0,
                found.values["level"] > 2.0,
                "{}",
                found.text
            );
        }
        assert!(
            !ran.has_finding("cache-disagrees") || memory < Bytes::mib(144),
            "{:?}",
            texts(&ran, "cache-disagrees")
        );
    }
}
