//! Tests findings about the shape of curves: ends of levels, and threads that use up the memory.

use super::lab::{self, Ran, bandwidth, latency, request};
use super::machines::{self, LATENCY, READ, Simulated};
use report::Finding;

fn assert_close(value: f64, expected: f64, what: &str) {
    assert!(
        (value / expected - 1.0).abs() < 1e-4,
        "{what}: {value} instead of {expected}"
    );
}

fn only<'a>(ran: &'a Ran, kind: &str) -> &'a Finding {
    let found: Vec<&Finding> = ran
        .report
        .findings
        .iter()
        .filter(|f| f.kind == kind)
        .collect();
    assert_eq!(found.len(), 1, "{kind}: {:?}", ran.report.findings);
    found[0]
}

#[test]
fn a_sweep_says_after_which_size_each_level_ends() {
    let on = machines::plain();
    let ran = lab::run(&on, request(vec![bandwidth("--ops read --threads 1")], &on));
    let capacities = [48u64 << 10, 1 << 20, 32 << 20];
    for (capacity, level) in capacities.iter().zip(0..) {
        let ratio = ran.finding("steps", &format!("step_after_{capacity}_bytes"));
        assert_close(ratio, READ[level + 1] / READ[level], "step");
    }
    // Three sizes are too few for a curve.
    let ran = lab::run(
        &on,
        request(
            vec![bandwidth(
                "--ops read --threads 1 --sizes 16KiB,512KiB,64MiB",
            )],
            &on,
        ),
    );
    assert!(!ran.has_finding("steps"));
}

fn latency_sweep(on: &Simulated, options: &str) -> Ran {
    lab::run(on, request(vec![latency(options)], on))
}

#[test]
fn a_latency_sweep_says_between_which_sizes_each_level_ends() {
    let on = machines::plain();
    let ran = latency_sweep(&on, "");
    let text = "Latency rises from 1.0 to 3.5 ns between 48 KiB and 60 KiB (L1 ends), rises from \
         3.5 to 12.0 ns between 1 MiB and 1.2 MiB (L2 ends), rises from 12.0 to 95.0 ns between \
         32 MiB and 40 MiB (L3 ends).";
    assert_eq!(only(&ran, "latency-steps").text, text);
    for (capacity, level) in [48u64 << 10, 1 << 20, 32 << 20].iter().zip(0..) {
        let ratio = ran.finding("latency-steps", &format!("step_after_{capacity}_bytes"));
        assert_close(ratio, LATENCY[level + 1] / LATENCY[level], "step");
    }
}

#[test]
fn levels_that_run_into_each_other_end_where_they_are_left() {
    let mut on = machines::plain();
    on.model.partial_hits = true;
    for jitter in [0.0, 0.02] {
        on.model.noise.jitter = jitter;
        let ran = latency_sweep(&on, "");
        let finding = only(&ran, "latency-steps");
        let steps: Vec<&str> = finding
            .values
            .keys()
            .filter(|k| k.starts_with("step_after_"))
            .map(String::as_str)
            .collect();
        let expected =
            [48u64 << 10, 1 << 20, 32 << 20].map(|bytes| format!("step_after_{bytes}_bytes"));
        assert!(
            expected.iter().all(|key| steps.contains(&key.as_str())),
            "{jitter}: {}",
            finding.text
        );
        assert_eq!(steps.len(), 3, "{jitter}: {}", finding.text);
    }
}

#[test]
fn noise_neither_hides_nor_adds_latency_steps() {
    let mut on = machines::plain();
    on.model.noise.jitter = 0.1;
    on.model.noise.spike_every = 11;
    let ran = latency_sweep(&on, "");
    assert_eq!(
        only(&ran, "latency-steps").values.len(),
        6,
        "{:?}",
        only(&ran, "latency-steps")
    );
}

#[test]
fn a_flat_curve_has_no_latency_steps() {
    for jitter in [0.0, 0.1] {
        let mut on = machines::plain();
        on.model.noise.jitter = jitter;
        on.model
            .levels
            .iter_mut()
            .for_each(|level| level.latency.0 = 5.0);
        assert!(
            !latency_sweep(&on, "").has_finding("latency-steps"),
            "{jitter}"
        );
    }
    // First, all sizes are in one level. Then there are too few sizes for a curve.
    let on = machines::plain();
    assert!(!latency_sweep(&on, "--sizes 4KiB..40KiB:4KiB").has_finding("latency-steps"));
    assert!(!latency_sweep(&on, "--sizes 16KiB,512KiB,64MiB").has_finding("latency-steps"));
}

#[test]
fn latency_steps_are_those_of_one_curve() {
    let on = machines::plain();
    // Base pages add a step beyond 6 MiB. A second CPU or stride shows the same steps again.
    for options in ["--pages thp,4k", "--cpu 0,1", "--stride 64,128"] {
        let ran = latency_sweep(&on, options);
        assert_eq!(
            only(&ran, "latency-steps").values.len(),
            6,
            "{options}: {}",
            only(&ran, "latency-steps").text
        );
    }
    let ran = latency_sweep(&on, "--pages 4k");
    assert!(
        only(&ran, "latency-steps")
            .text
            .contains("from 12.0 to 42.0 ns"),
        "{:?}",
        only(&ran, "latency-steps")
    );
}

/// A session of reads, writes and copies of memory with these numbers of threads.
fn with_threads(on: &Simulated, threads: &str) -> Ran {
    let options = format!("--ops read,write,copy --sizes 256MiB --threads {threads}");
    lab::run(on, request(vec![bandwidth(&options)], on))
}

#[test]
fn the_fewest_threads_near_the_best_are_named() {
    let on = machines::eight_cores();
    let ran = with_threads(&on, "1,2,3,4,8");
    let text = "3 of 8 threads reach 95% of the highest read bandwidth of memory, 43.5 GB/s, for \
         write 8 (16.3 GB/s), for copy 3 (21.8 GB/s).";
    assert_eq!(only(&ran, "memory-saturation").text, text);
    assert_close(
        ran.finding("memory-saturation", "read_threads"),
        3.0,
        "read",
    );
    // If three threads were not measured, four is the least number.
    assert_close(
        with_threads(&on, "1,2,4,8").finding("memory-saturation", "read_threads"),
        4.0,
        "read",
    );
    // If one thread is enough, the finding says so.
    let mut on = machines::eight_cores();
    on.model.memory_total.0 = READ[3];
    assert_close(
        with_threads(&on, "1,2,8").finding("memory-saturation", "read_threads"),
        1.0,
        "read",
    );
}

#[test]
fn where_the_intervals_leave_it_open_a_range_of_threads_is_told() {
    let mut on = machines::eight_cores();
    // Three threads reach exactly 95% of the memory bandwidth.
    on.model.memory_total.0 = 3.0 * READ[3] / 0.95;
    on.model.noise.jitter = 0.05;
    let ran = with_threads(&on, "1,2,3,4,8");
    let value = |name: &str| ran.finding("memory-saturation", name);
    assert_eq!(
        (value("read_threads_at_least"), value("read_threads")),
        (3.0, 4.0)
    );
}

#[test]
fn one_thread_and_all_are_compared_as_such() {
    let ran = with_threads(&machines::eight_cores(), "1,8");
    assert!(!ran.has_finding("memory-saturation"));
    assert_close(
        ran.finding("memory-scaling", "ratio"),
        2.9,
        "all against one",
    );
}
