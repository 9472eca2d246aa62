//! Tests that pages that a machine lacks affect only the points that request them, and that the
//! plan reports this.

use super::lab::{self, Ran, bandwidth, latency, request};
use super::machines::{self, Simulated};
use experiments::Experiment;
use report::{Fact, HugePool, Outcome};
use units::Bytes;

/// The plain machine with a pool of `free` reserved pages of 2 MiB, which are all free.
fn with_pool(free: u64) -> Simulated {
    let mut on = machines::plain();
    let pool = HugePool {
        size: Bytes::mib(2),
        total: free,
        free,
    };
    on.facts.pages.huge_pools = Fact::known(vec![pool], "simulated");
    on
}

fn run(on: &Simulated, experiment: Box<dyn Experiment>) -> Ran {
    lab::run(on, request(vec![experiment], on))
}

/// The pages of each point, and true if it was measured.
fn measured_in(ran: &Ran) -> Vec<(String, bool)> {
    let one = |p: &report::Point| {
        (
            p.name("pages").unwrap_or_default().to_owned(),
            p.outcome.measured().is_some(),
        )
    };
    ran.points().map(one).collect()
}

#[test]
fn points_fail_each_for_itself_and_the_plan_says_so() {
    let on = with_pool(0);
    for experiment in ["bandwidth", "latency"] {
        let requested = || match experiment {
            "bandwidth" => bandwidth("--sizes 8MiB --ops read --threads 1 --pages 4k,huge,thp"),
            _ => latency("--sizes 8MiB --pages 4k,huge,thp"),
        };
        let plan = lab::plan(&on, request(vec![requested()], &on)).expect("a plan");
        let unsupported = plan
            .points
            .iter()
            .filter(|p| matches!(p.work, Err(Outcome::Unsupported { .. })))
            .count();
        assert_eq!(unsupported, 1, "{experiment}");
        let seen = measured_in(&run(&on, requested()));
        let expected = [("4k", true), ("huge", false), ("thp", true)]
            .map(|(pages, is)| (pages.to_owned(), is));
        assert_eq!(seen, expected, "{experiment}");
    }
}

#[test]
fn a_pool_with_too_few_pages_skips_the_points_that_need_more() {
    let ran = run(
        &with_pool(10),
        bandwidth("--sizes 8MiB,64MiB --ops read --threads 1 --pages huge"),
    );
    let outcomes: Vec<&Outcome> = ran.points().map(|p| &p.outcome).collect();
    assert!(
        outcomes[0].measured().is_some() && matches!(outcomes[1], Outcome::Skipped { .. }),
        "{outcomes:?}"
    );
    let reason = outcomes[1].reason().unwrap_or_default();
    assert!(
        reason.contains("10 are free") && reason.contains("nr_hugepages"),
        "{reason}"
    );
}

#[test]
fn points_that_share_a_pool_are_measured_one_after_another() {
    // Each chain alone fits into the pool, but all chains together do not.
    let ran = run(
        &with_pool(10),
        latency("--sizes 12MiB,14MiB,16MiB --pages huge"),
    );
    assert!(
        measured_in(&ran).iter().all(|(_, measured)| *measured),
        "{:?}",
        measured_in(&ran)
    );
}

#[test]
fn the_best_pages_are_the_largest_that_there_are_for_a_working_set() {
    let best = |on: &Simulated| -> Vec<String> {
        let ran = run(
            on,
            bandwidth("--sizes 8MiB,64MiB --ops read --threads 1 --pages best"),
        );
        assert!(ran.points().all(|p| p.outcome.measured().is_some()));
        measured_in(&ran)
            .into_iter()
            .map(|(pages, _)| pages)
            .collect()
    };
    assert_eq!(best(&with_pool(100)), ["huge", "huge"]);
    assert_eq!(best(&with_pool(10)), ["huge", "thp"]);
    assert_eq!(best(&with_pool(0)), ["thp", "thp"]);
    let mut never = with_pool(0);
    never.facts.pages.thp_mode = Fact::known("never".to_owned(), "simulated");
    assert_eq!(best(&never), ["4k", "4k"]);
    // A point that is requested twice is measured once.
    let ran = run(
        &with_pool(0),
        bandwidth("--sizes 8MiB --ops read --threads 1 --pages best,thp"),
    );
    assert_eq!(ran.points().count(), 1);
}
