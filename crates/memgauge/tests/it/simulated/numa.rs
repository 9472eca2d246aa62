//! Tests NUMA: matrices of machines whose nodes are known, and kernels that place pages on other
//! nodes.

use super::lab::{self, Ran, numa, request};
use super::machines::{self, LATENCY, READ, Simulated};
use experiments::{Detail, EXPERIMENTS};
use render::{Options, by_name};
use report::{Cause, Dataset, Fact, MemoryBus, Node, Outcome, RunStatus, VerdictGrade};
use simulated::Link;
use units::{Bytes, BytesPerSecond, CpuList, Nanos};

/// Bandwidth of every node in B/s, and extra time of a remote load in ns.
const CARRIES: f64 = 20e9;
const REMOTE: f64 = 60.0;

/// Returns `on` with costs of its nodes. A link has half the bandwidth at distance 21, and three
/// quarters at distance 12.
fn with_costs(mut on: Simulated, carries: f64) -> Simulated {
    let ids: Vec<u32> = on.facts.topology.nodes.iter().map(|node| node.id).collect();
    on.model.nodes.nodes = ids
        .iter()
        .map(|&id| (id, (BytesPerSecond(carries), Nanos::ZERO)))
        .collect();
    let link = |distance, share, ns| Link {
        distance,
        share,
        latency: Nanos(ns),
    };
    on.model.nodes.links = vec![link(12, 0.75, REMOTE / 4.0), link(21, 0.5, REMOTE)];
    on
}

/// Two sockets of 96 cores.
fn two_large_sockets() -> Simulated {
    with_costs(machines::two_large_sockets(), 250e9)
}

/// Two sockets of four nodes each.
fn sub_numa_clusters() -> Simulated {
    let mut on = machines::eight_nodes();
    for node in &mut on.facts.topology.nodes {
        let socket = |id: u32| id / 4;
        let distance = |other: u32| match other {
            same if same == node.id => 10,
            near if socket(near) == socket(node.id) => 12,
            _ => 21,
        };
        node.distances = (0..8).map(distance).collect();
    }
    with_costs(on, CARRIES)
}

/// Two nodes with CPUs, and one without. The latter has a quarter of the bandwidth and a longer
/// latency.
fn with_far_memory() -> Simulated {
    let mut on = machines::nodes_of(&[4, 4]);
    for (node, row) in on
        .facts
        .topology
        .nodes
        .iter_mut()
        .zip([[10, 21, 31], [21, 10, 31]])
    {
        node.distances = row.to_vec();
    }
    let far = Node {
        id: 2,
        memory: Some(Bytes::gib(64)),
        distances: vec![31, 31, 10],
        ..Node::default()
    };
    on.facts.topology.nodes.push(far);
    let mut on = with_costs(on, CARRIES);
    on.model
        .nodes
        .nodes
        .insert(2, (BytesPerSecond(CARRIES / 4.0), Nanos(200.0)));
    on
}

/// Four nodes with CPUs in unequal numbers.
fn unequal() -> Simulated {
    with_costs(machines::nodes_of(&[4, 2, 1, 1]), CARRIES)
}

fn run(on: &Simulated, options: &str) -> Ran {
    lab::run(on, request(numa(options), on))
}

fn dataset<'a>(ran: &'a Ran, name: &str) -> &'a Dataset {
    ran.report
        .datasets
        .iter()
        .find(|d| d.experiment == name)
        .expect(name)
}

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-3,
        "{what}: {value} instead of {expected}"
    );
}

/// Measured values of an operation from every node with CPUs to every node with memory, as
/// `(cpu_node, memory_node, value)`.
fn matrix(ran: &Ran, name: &str, operation: &str) -> Vec<(u64, u64, f64)> {
    let points = dataset(ran, name)
        .points
        .iter()
        .filter(|p| p.name("operation") == Some(operation));
    let number = |p: &report::Point| {
        Some((
            p.number("cpu_node")?,
            p.number("memory_node")?,
            lab::measured(p).summary.median,
        ))
    };
    points.filter_map(number).collect()
}

/// Expected bandwidth of `threads` threads that read from a node's memory at distance `distance`.
/// The node has the bandwidth `carries`.
fn expected_read(threads: usize, carries: f64, distance: u32) -> f64 {
    let share = match distance {
        10 | 31 => 1.0,
        12 => 0.75,
        _ => 0.5,
    };
    (threads as f64 * READ[3]).min(carries * share)
}

#[test]
fn every_matrix_is_complete_and_recovers_the_model() {
    for (on, carries) in [
        (two_large_sockets(), 250e9),
        (sub_numa_clusters(), CARRIES),
        (with_far_memory(), CARRIES),
        (unequal(), CARRIES),
    ] {
        let ran = run(&on, "");
        let topology = &on.facts.topology;
        let with_cpus: Vec<&Node> = topology
            .nodes
            .iter()
            .filter(|node| !node.cpus.0.is_empty())
            .collect();
        let cells = with_cpus.len() * topology.nodes.len();
        assert_eq!(ran.report.status, RunStatus::Complete, "{}", on.name);
        let latencies = matrix(&ran, "numa-latency", "chase");
        for operation in ["read", "write", "copy"] {
            assert_eq!(
                matrix(&ran, "numa", operation).len(),
                cells,
                "{} {operation}",
                on.name
            );
        }
        assert_eq!(latencies.len(), cells, "{}", on.name);
        for (from, to, value) in matrix(&ran, "numa", "read") {
            let from = from as u32;
            let to = to as u32;
            let distance = topology.distance(from, to).expect("a distance");
            let threads = topology.node(from).expect("a node").cpus.0.len();
            let carries = if distance == 31 {
                carries / 4.0
            } else {
                carries
            };
            assert_close(
                value,
                expected_read(threads, carries, distance),
                &format!("{} {from} to {to}", on.name),
            );
        }
        for (from, to, value) in latencies {
            let extra = match topology.distance(from as u32, to as u32) {
                Some(12) => REMOTE / 4.0,
                Some(21) => REMOTE,
                Some(31) => 200.0,
                _ => 0.0,
            };
            assert_close(
                value,
                LATENCY[3] + extra,
                &format!("{} {from} to {to}", on.name),
            );
        }
        for point in ran
            .points()
            .filter(|p| p.name("memory_node") != Some("weighted"))
        {
            let pages = &lab::measured(point).evidence.pages;
            assert_eq!(
                (
                    pages.pages_on_other_nodes,
                    pages.requested_placement.is_some()
                ),
                (Some(0), true),
                "{:?}",
                point.coordinates
            );
            assert_eq!(
                lab::measured(point).verdict.grade,
                VerdictGrade::Solid,
                "{:?}",
                point.coordinates
            );
        }
    }
}

#[test]
fn threads_run_on_the_node_and_one_on_each_core() {
    let mut on = unequal();
    // Both CPUs of node 1 become hardware threads of one core.
    for cpu in on
        .facts
        .topology
        .cpus
        .iter_mut()
        .filter(|cpu| [4, 5].contains(&cpu.id))
    {
        cpu.siblings = vec![4, 5];
    }
    let ran = run(&on, "--ops read --size 64MiB");
    let cpus = |place: &str| ran.measured(place).evidence.cpus.clone();
    assert_eq!(
        cpus("operation=read cpu_node=0 memory_node=3"),
        [0, 1, 2, 3]
    );
    assert_eq!(cpus("operation=read cpu_node=1 memory_node=0"), [4]);
    assert_eq!(
        cpus("operation=read cpu_node=all memory_node=local"),
        [0, 1, 2, 3, 4, 6, 7]
    );
    let ran = run(&on, "--ops read --size 64MiB --threads all --cpu-nodes 1,0");
    assert_eq!(
        ran.measured("operation=read cpu_node=1 memory_node=0")
            .evidence
            .cpus,
        [4, 5]
    );
    let ran = run(
        &on,
        "--ops read --size 64MiB --threads 2 --interleave none --memory-nodes 2",
    );
    assert_eq!(
        dataset(&ran, "numa").points.len(),
        4,
        "memory of node 2 only"
    );
    assert_eq!(
        ran.measured("operation=read cpu_node=0 memory_node=2")
            .evidence
            .cpus,
        [0, 1]
    );
}

#[test]
fn interleaved_memory_and_all_nodes_at_once() {
    let mut on = two_large_sockets();
    for node in &mut on.facts.topology.nodes {
        node.weight = Some(if node.id == 0 { 3 } else { 1 });
    }
    let ran = run(&on, "--ops read");
    let read = |place: &str| ran.median(&format!("operation=read {place}"));
    assert_close(read("cpu_node=all memory_node=local"), 500e9, "all");
    // Half of the pages are remote, so the link to them limits the bandwidth.
    assert_close(read("cpu_node=0 memory_node=interleaved"), 250e9, "even");
    assert_close(
        read("cpu_node=0 memory_node=weighted"),
        250e9 / 0.75,
        "weighted",
    );
    assert_close(
        read("cpu_node=1 memory_node=weighted"),
        125e9 / 0.75,
        "weighted, from the light node",
    );
    let pages = &ran
        .measured("operation=read cpu_node=0 memory_node=weighted")
        .evidence
        .pages;
    let per_node: Vec<u64> = pages
        .pages_by_node
        .as_ref()
        .expect("counts")
        .iter()
        .map(|p| p.pages)
        .collect();
    assert_close(
        per_node[0] as f64,
        3.0 * per_node[1] as f64,
        "pages by weight",
    );
    assert_close(ran.finding("numa-total", "total"), 500e9, "total");
    assert_close(ran.finding("numa-total", "sum"), 500e9, "sum");
    let plain = run(&two_large_sockets(), "--ops read --measure bandwidth");
    let refused = &plain.point("cpu_node=0 memory_node=weighted").outcome;
    assert!(
        matches!(refused, Outcome::Unsupported { reason } if reason.contains("Linux 6.9")),
        "{refused:?}"
    );
}

#[test]
fn what_differs_between_nodes_is_told() {
    let ran = run(&sub_numa_clusters(), "--ops read --size 64MiB");
    assert_close(
        ran.finding("numa-bandwidth", "distance_21"),
        CARRIES / 2.0,
        "far",
    );
    assert_close(
        ran.finding("numa-bandwidth", "distance_12"),
        CARRIES * 0.75,
        "near",
    );
    assert_close(
        ran.finding("numa-latency", "distance_21"),
        LATENCY[3] + REMOTE,
        "latency",
    );
    let text = &ran
        .report
        .findings
        .iter()
        .find(|f| f.kind == "numa-latency")
        .expect("a finding")
        .text;
    let told = "95.0 ns local, 110 ns at distance 12 (1.2 times the local one), 1.16 of local, \
         mean of 24 pairs";
    assert!(text.contains(told), "{text}");
    assert!(!ran.has_finding("numa-asymmetric"));

    let ran = run(&with_far_memory(), "--ops read");
    let worst: Vec<f64> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == "numa-worst-link")
        .map(|f| f.values["memory_node"])
        .collect();
    assert_eq!(worst, [2.0, 2.0], "for bandwidth and for latency");

    let mut on = two_large_sockets();
    on.model
        .nodes
        .nodes
        .insert(1, (BytesPerSecond(100e9), Nanos::ZERO));
    let ran = run(&on, "--ops read --measure bandwidth");
    assert_close(
        ran.finding("numa-asymmetric", "most_ratio"),
        2.5,
        "from node 0 to the slow one and back",
    );
}

#[test]
fn a_kernel_that_puts_pages_elsewhere_makes_points_fail() {
    let mut on = unequal();
    on.model.nodes.misplaced = Some(1);
    let ran = run(&on, "--ops read --size 64MiB");
    assert_eq!(ran.report.status, RunStatus::Partial);
    for point in ran
        .points()
        .filter(|p| p.name("memory_node") != Some("weighted"))
    {
        let right = point.number("memory_node") == Some(1);
        assert_eq!(
            point.outcome.measured().is_some(),
            right,
            "{:?}",
            point.coordinates
        );
        let reason = lab::reasons(&point.outcome);
        assert!(right || reason.contains("was requested"), "{reason}");
    }
    let local = lab::reasons(
        &ran.point("operation=read cpu_node=all memory_node=local")
            .outcome,
    );
    // Two of 8 threads are on node 1.
    let strays = 64 * 256 * 6;
    let told = format!(
        "{strays} of {} pages lie on other nodes (1); each thread's node was \
         requested",
        64 * 256 * 8
    );
    assert_eq!(local, told);
}

#[test]
fn a_kernel_that_tells_nothing_leaves_doubt() {
    let mut on = unequal();
    on.model.nodes.unreported = true;
    let ran = run(
        &on,
        "--ops read --size 64MiB --interleave none --cpu-nodes 0",
    );
    for point in ran.points() {
        let verdict = &lab::measured(point).verdict;
        assert_eq!(verdict.grade, VerdictGrade::Doubtful);
        assert!(
            verdict
                .text()
                .contains("does not report whether its memory is on"),
            "{}",
            verdict.text()
        );
    }
}

#[test]
fn a_node_carries_its_share_of_all_channels() {
    let rejected = |on: &Simulated, place: &str| {
        let ran = run(on, "--ops read --measure bandwidth");
        let verdict = ran.measured(place).verdict.clone();
        (verdict.names(Cause::AboveLimit), verdict.text())
    };
    let local = "cpu_node=0 memory_node=0";
    let all = "cpu_node=all memory_node=local";
    let mut on = two_large_sockets();
    let bus = |channels, peak| {
        Fact::known(
            MemoryBus {
                channels,
                modules: channels,
                peak: BytesPerSecond(peak),
            },
            "modules",
        )
    };
    on.facts.memory.bus = bus(24, 600e9);
    assert!(!rejected(&on, local).0 && !rejected(&on, all).0);
    on.facts.memory.bus = bus(24, 360e9);
    let (above, text) = rejected(&on, local);
    assert!(
        above && text.contains("180 GB/s (1 of 2 nodes, modules)"),
        "{text}"
    );
    // The share of a node is unknown if channels, memory sizes or distances are not those of equal
    // nodes.
    let odd = Simulated {
        facts: on.facts.clone(),
        ..two_large_sockets()
    };
    for change in [
        (|on: &mut Simulated| on.facts.memory.bus.value.as_mut().expect("a bus").channels = 23)
            as fn(&mut Simulated),
        |on| on.facts.topology.nodes[1].memory = Some(Bytes::gib(1)),
        |on| {
            on.facts
                .topology
                .nodes
                .iter_mut()
                .for_each(|node| node.distances = vec![10, 10])
        },
        |on| {
            on.facts
                .topology
                .nodes
                .iter_mut()
                .for_each(|node| node.distances.clear())
        },
    ] {
        let mut on = Simulated {
            facts: odd.facts.clone(),
            ..two_large_sockets()
        };
        change(&mut on);
        let ran = run(
            &on,
            "--ops read --measure bandwidth --size 64MiB --cpu-nodes 0 --memory-nodes 0",
        );
        assert!(
            !ran.measured(local).verdict.names(Cause::AboveLimit),
            "{:?}",
            on.facts.topology.nodes
        );
    }
}

#[test]
fn one_node_is_measured_and_said() {
    let on = machines::plain();
    let ran = run(&on, "");
    assert_eq!(
        ran.points().count(),
        4,
        "read, write, copy and a chase in the memory of the only node"
    );
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
    let ran = run(&on, "--measure bandwidth");
    assert_close(
        ran.finding("one-node", "read"),
        ran.median("operation=read"),
        "bandwidth",
    );
    let ran = run(&on, "--measure latency");
    assert_close(ran.finding("one-node", "chase"), LATENCY[3], "latency");
    let mut unknown = machines::plain();
    unknown.facts.topology.nodes.clear();
    unknown
        .facts
        .topology
        .cpus
        .iter_mut()
        .for_each(|cpu| cpu.node = None);
    assert_eq!(
        run(&unknown, "")
            .points()
            .filter(|p| p.outcome.measured().is_some())
            .count(),
        4,
        "no node is told"
    );
    let ran = run(&on, "--cpu-nodes 0 --ops read");
    assert_eq!(
        ran.points().count(),
        2,
        "memory of the only node, bandwidth and latency"
    );
    assert!(ran.points().all(|p| p.outcome.measured().is_some()));
}

#[test]
fn nodes_without_room_or_leave_are_skipped_with_a_reason() {
    let mut on = unequal();
    on.facts.topology.nodes[1].available = Some(Bytes::mib(100));
    on.facts.topology.nodes[2].allowed = Some(false);
    let ran = run(&on, "--ops read --size 64MiB");
    let reason = |place: &str| match &ran.point(place).outcome {
        Outcome::Skipped { reason } => reason.clone(),
        other => panic!("{place}: {other:?}"),
    };
    let small = reason("operation=read cpu_node=0 memory_node=1");
    assert_eq!(
        small,
        "256.0 MiB do not fit into the 90 MiB that may be used of node 1; type smaller --sizes"
    );
    assert!(
        reason("operation=chase cpu_node=3 memory_node=2").contains("may not use memory of node 2")
    );
    assert!(
        ran.point("operation=chase cpu_node=3 memory_node=1")
            .outcome
            .measured()
            .is_some(),
        "there is room for one"
    );
    let pages = |place: &str| {
        ran.measured(place)
            .evidence
            .pages
            .requested_placement
            .clone()
            .expect("a place")
    };
    assert_eq!(
        pages("cpu_node=3 memory_node=interleaved"),
        "nodes 0-1,3 interleaved"
    );
}

#[test]
fn nodes_that_are_not_there_are_refused() {
    let on = with_far_memory();
    for (options, told) in [
        (
            "--cpu-nodes 2",
            "node not available: 2; nodes with CPUs of this session are 0-1; type --cpu-nodes 0",
        ),
        (
            "--memory-nodes 7",
            "node not available: 7; nodes with memory are 0-2; type --memory-nodes 0",
        ),
        ("--threads 1,2", "several thread counts"),
        ("--size 8", "too small a size"),
    ] {
        let refused = lab::plan(&on, request(numa(options), &on))
            .err()
            .expect(options)
            .to_string();
        assert!(refused.contains(told), "{refused}");
    }
}

#[test]
fn cpus_without_a_node_are_named() {
    let mut on = unequal();
    for cpu in on.facts.topology.cpus.iter_mut().filter(|cpu| cpu.id == 3) {
        cpu.node = None;
    }
    let plan = lab::plan(&on, request(numa("--ops read"), &on)).expect("a plan");
    let told = "numa: the system does not report the node of cpus 3, which are left out";
    assert!(
        plan.adjusted.contains(&told.to_owned()),
        "{:?}",
        plan.adjusted
    );
    let mut on = with_far_memory();
    on.cpus.truncate(4);
    let plan = lab::plan(&on, request(numa("--ops read"), &on)).expect("a plan");
    let told = "numa: node 1-2 has no cpu of this session; its memory is measured from other nodes";
    assert!(
        plan.adjusted.contains(&told.to_owned()),
        "{:?}",
        plan.adjusted
    );
}

#[test]
fn profiles_measure_what_there_is_time_for() {
    let rows = || {
        EXPERIMENTS
            .iter()
            .filter(|row| row.name.starts_with("numa"))
    };
    let drafted = |on: &Simulated, detail| {
        let experiments = rows().map(|row| (row.in_profile)(detail)).collect();
        lab::plan(on, request(experiments, on)).expect("a plan")
    };
    assert_eq!(
        rows().map(|row| row.least).collect::<Vec<_>>(),
        [Some(Detail::Levels); 2]
    );
    assert_eq!(
        drafted(&machines::plain(), Detail::Levels).points.len(),
        2,
        "requested by name, the node is measured"
    );
    let whole = EXPERIMENTS
        .iter()
        .filter(|row| ["bandwidth", "numa", "numa-latency"].contains(&row.name));
    let whole = request(
        whole.map(|row| (row.in_profile)(Detail::Levels)).collect(),
        &machines::plain(),
    );
    let plan = lab::plan(&machines::plain(), whole).expect("a plan");
    assert!(
        plan.points.iter().all(|point| point.experiment == 0),
        "among others there is nothing to say"
    );
    for row in rows() {
        let alone = request(vec![(row.in_profile)(Detail::Levels)], &machines::plain());
        let plan = lab::plan(&machines::plain(), alone).expect("a plan");
        assert_eq!(
            plan.points
                .iter()
                .filter(|point| point.work.is_ok())
                .count(),
            1
        );
    }
    for on in [
        two_large_sockets(),
        sub_numa_clusters(),
        with_far_memory(),
        unequal(),
    ] {
        let plan = drafted(&on, Detail::Levels);
        assert!(
            plan.estimate <= Nanos::from_secs(8.0),
            "{}: {}",
            on.name,
            plan.estimate
        );
        assert!(
            plan.points.iter().all(|point| point.work.is_ok()),
            "{}",
            on.name
        );
    }
    let plan = drafted(&sub_numa_clusters(), Detail::Levels);
    assert_eq!(
        plan.points.len(),
        3 + 1 + 3,
        "each distance from one node, and all at once"
    );
    let told = "numa: 3 of 64 pairs of nodes, one of each distance; memgauge numa has all";
    assert_eq!(plan.adjusted, [told]);
}

#[test]
fn tables_are_matrices() {
    let on = with_far_memory();
    let ran = run(&on, "--ops read --size 64MiB");
    let table = by_name("table")
        .expect("table")
        .render(&ran.report, &Options::default())
        .expect("a table");
    let text = String::from_utf8(table).expect("text");
    let lines: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let heading = "cpu node / memory node 0 1 2 interleaved weighted local";
    assert!(lines.contains(&heading.split(' ').collect()), "{text}");
    assert!(
        lines.contains(&vec!["0", "20.0", "10.0", "5.00", "15.0", "-"]),
        "{text}"
    );
    assert!(lines.contains(&vec!["1", "155", "95.0", "295"]), "{text}");
}

#[test]
fn cpus_of_a_node_are_those_of_the_run() {
    let mut on = two_large_sockets();
    on.cpus = (90..100).collect();
    let ran = run(&on, "--ops read --measure bandwidth --size 64MiB");
    let cpus = |place: &str| CpuList(ran.measured(place).evidence.cpus.clone()).to_string();
    assert_eq!(cpus("cpu_node=0 memory_node=1"), "90-95");
    assert_eq!(cpus("cpu_node=all memory_node=interleaved"), "90-99");
}
