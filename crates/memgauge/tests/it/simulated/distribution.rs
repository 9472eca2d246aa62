//! The distribution of latencies over short windows.

use super::lab::{latency, plan, request, run};
use super::machines;
use simulated::Spike;

const CHASE: &str = "--sizes 1GiB --stride 64";

#[test]
fn windows_are_as_many_as_asked_for_and_as_long_as_can_be() {
    let on = machines::plain();
    for (asked, count, nanos) in [("--windows 100", 100.0, 10e3), ("--windows 5003 --window 2us", 5003.0, 2e3)] {
        let ran = run(&on, request(vec![latency(&format!("{CHASE} {asked}"))], &on));
        let also = &ran.measured("operation=chase").also;
        assert_eq!(also["windows"], count);
        assert!((also["window_ns"] / nanos - 1.0).abs() < 1e-9, "{also:?}");
        assert_eq!(ran.finding("latency-windows", "windows"), count);
    }
}

#[test]
fn what_the_headline_leaves_out_is_in_the_slowest_window() {
    let mut on = machines::plain();
    on.model.noise.spike_every = 8;
    on.model.noise.spike = Spike::Stop;
    let plain = run(&on, request(vec![latency(CHASE)], &on));
    let ran = run(&on, request(vec![latency(&format!("{CHASE} --windows 10000"))], &on));
    let headline = ran.median("operation=chase");
    assert_eq!(headline, plain.median("operation=chase"));
    let also = &ran.measured("operation=chase").also;
    assert!((also["p50"] / headline - 1.0).abs() < 0.01, "{also:?}");
    assert!((also["p99"] / headline - 1.0).abs() < 0.01, "one window in 128 holds a gap: {also:?}");
    // The gap is as long as 32 windows, and lies in one of them.
    assert!((also["max"] / headline - 33.0).abs() < 0.5, "{also:?}");
    assert_eq!(also["p99_9"], also["max"]);
    assert!(!plain.measured("operation=chase").also.contains_key("p50"));
}

#[test]
fn their_time_is_part_of_the_plan() {
    let on = machines::plain();
    let estimate = |options: &str| plan(&on, request(vec![latency(options)], &on)).expect("a plan").estimate;
    let more = estimate(&format!("{CHASE} --windows 100000 --window 100us")) - estimate(CHASE);
    assert!(more.secs() >= 10.0, "{more}");
    let ran = run(&on, request(vec![latency(&format!("{CHASE} --windows 100000 --window 100us"))], &on));
    let real = ran.report.plan.real.expect("a finished run");
    assert!(real <= ran.plan.estimate * 1.05, "{real} {}", ran.plan.estimate);
}

#[test]
fn windows_that_show_nothing_are_refused() {
    let on = machines::plain();
    for (options, word) in [
        ("--windows 0", "windows not possible: 0"),
        ("--windows 99", "100 to 1000000"),
        ("--windows 1000 --window 1ns", "window not possible: 1.00 ns"),
        ("--windows 1000 --window 1s", "type --window 10us"),
    ] {
        let refused = plan(&on, request(vec![latency(options)], &on)).err().expect(options).to_string();
        assert!(refused.contains(word), "{options}: {refused}");
    }
}
