//! Tests the coverage of the headline's interval on simulated samples that resemble memory
//! measurements.

use super::SplitMix64;
use super::levels::headline;
use super::order::tests::{exponential, normal};

/// Numbers of rounds, and numbers of samples in each round, that are simulated.
const ROUNDS: [usize; 6] = [6, 7, 8, 10, 12, 25];
const EACH: [usize; 2] = [5, 25];

/// Lowest and highest promised coverage of intervals, in percent.
const PROMISED: [f64; 2] = [93.0, 97.0];

/// Cases that the tests always check: number of rounds, samples in each round, trials.
const CHECKED: [(usize, usize, u32); 7] = [
    (6, 5, 2000),
    (7, 5, 1000),
    (8, 5, 1000),
    (10, 5, 700),
    (12, 5, 700),
    (25, 5, 500),
    (6, 25, 300),
];

type Rounds = Vec<Vec<f64>>;

/// A kind of simulated samples: a random process that generates them, and its true level.
struct Kind {
    name: &'static str,
    /// Generates rounds from their number and the number of samples in each round.
    draw: fn(usize, usize, &mut SplitMix64) -> Rounds,
    /// The true level: half of all possible rounds lie above it. The argument is the number of
    /// samples in each round.
    truth: fn(usize) -> f64,
    /// Lowest and highest accepted percentage of intervals that contain the true level.
    held: [f64; 2],
}

/// Samples of a first-order autoregression with variance 1. With `gap`, each round is independent
/// of earlier rounds.
fn autoregression(phi: f64, gap: bool, shape: [usize; 2], random: &mut SplitMix64) -> Rounds {
    let mut state = normal(random);
    let mut round = |_| {
        state = if gap { normal(random) } else { state };
        let mut step = |_| {
            state = phi * state + (1.0 - phi * phi).sqrt() * normal(random);
            state
        };
        (0..shape[1]).map(&mut step).collect()
    };
    (0..shape[0]).map(&mut round).collect()
}

/// One round for each of `levels`. Its samples are normal around the level, with standard deviation
/// `within`.
fn around(levels: &[f64], within: f64, each: usize, random: &mut SplitMix64) -> Rounds {
    levels
        .iter()
        .map(|level| (0..each).map(|_| level + within * normal(random)).collect())
        .collect()
}

/// `rounds` rounds of `each` samples that are all drawn by `one`.
fn alike(rounds: usize, each: usize, mut one: impl FnMut() -> f64) -> Rounds {
    (0..rounds)
        .map(|_| (0..each).map(|_| one()).collect())
        .collect()
}

/// Normal samples around levels that rise over all rounds. The total rise is `total` standard
/// deviations of a round's median.
fn drifting(total: f64, rounds: usize, each: usize, random: &mut SplitMix64) -> Rounds {
    let rise = total * (std::f64::consts::FRAC_PI_2 / each as f64).sqrt();
    let levels: Vec<f64> = (0..rounds)
        .map(|i| rise * (i as f64 / (rounds - 1) as f64 - 0.5))
        .collect();
    around(&levels, 1.0, each, random)
}

/// Rounds whose levels are correlated: `phi` is the correlation of each level with the next level.
fn wandering(phi: f64, rounds: usize, each: usize, random: &mut SplitMix64) -> Rounds {
    let levels = autoregression(phi, false, [rounds, 1], random).concat();
    around(&levels, 0.1, each, random)
}

/// Rounds around a low level with probability 0.7, or else around a high level. Each level is
/// shifted by a normal value with standard deviation `off`.
fn choosing(off: f64, rounds: usize, each: usize, random: &mut SplitMix64) -> Rounds {
    let mut level = |_| if random.fraction() < 0.7 { 0.0 } else { 20.0 } + off * normal(random);
    let levels: Vec<f64> = (0..rounds).map(&mut level).collect();
    around(&levels, 1.0, each, random)
}

/// Standard deviation of the median of normal samples, for the numbers in [`EACH`].
fn median_deviation(each: usize) -> f64 {
    if each == 5 { 0.5356 } else { 0.2476 }
}

/// Normal quantile at 0.5 / 0.7. It is the true level of [`choosing`], in standard deviations of
/// the medians of low rounds.
const LOW_SHARE: f64 = 0.5659;

const KINDS: [Kind; 15] = [
    Kind {
        name: "normal",
        draw: |n, k, r| alike(n, k, || normal(r)),
        truth: |_| 0.0,
        held: PROMISED,
    },
    Kind {
        name: "exponential",
        draw: |n, k, r| alike(n, k, || exponential(r)),
        truth: |_| std::f64::consts::LN_2,
        held: PROMISED,
    },
    Kind {
        name: "lognormal",
        draw: |n, k, r| alike(n, k, || normal(r).exp()),
        truth: |_| 1.0,
        held: PROMISED,
    },
    Kind {
        name: "correlated 0.9 in rounds apart",
        draw: |n, k, r| autoregression(0.9, true, [n, k], r),
        truth: |_| 0.0,
        held: PROMISED,
    },
    Kind {
        name: "correlated 0.9, no time between rounds",
        draw: |n, k, r| autoregression(0.9, false, [n, k], r),
        truth: |_| 0.0,
        held: [59.0, 95.0],
    },
    Kind {
        name: "rounds differ, 3 times the spread within",
        draw: |n, k, r| {
            let levels: Vec<f64> = (0..n).map(|_| 3.0 * normal(r)).collect();
            around(&levels, 1.0, k, r)
        },
        truth: |_| 0.0,
        held: PROMISED,
    },
    Kind {
        name: "rounds differ, exponential",
        draw: |n, k, r| {
            let levels: Vec<f64> = (0..n).map(|_| 3.0 * exponential(r)).collect();
            around(&levels, 0.05, k, r)
        },
        truth: |_| 3.0 * std::f64::consts::LN_2,
        held: PROMISED,
    },
    Kind {
        name: "rounds correlated with the next 0.3",
        draw: |n, k, r| wandering(0.3, n, k, r),
        truth: |_| 0.0,
        held: [83.0, 95.0],
    },
    Kind {
        name: "rounds correlated with the next 0.6",
        draw: |n, k, r| wandering(0.6, n, k, r),
        truth: |_| 0.0,
        held: [65.0, 92.0],
    },
    Kind {
        name: "two groups of samples, 60/40",
        draw: |n, k, r| {
            alike(n, k, || {
                normal(r) + if r.fraction() < 0.4 { 4.0 } else { 0.0 }
            })
        },
        truth: |_| 0.9674,
        held: PROMISED,
    },
    Kind {
        name: "two groups of rounds, 70/30",
        draw: |n, k, r| choosing(0.0, n, k, r),
        truth: |k| LOW_SHARE * median_deviation(k),
        held: PROMISED,
    },
    Kind {
        name: "two groups of rounds that differ, 70/30",
        draw: |n, k, r| choosing(2.0, n, k, r),
        truth: |k| LOW_SHARE * 2.0f64.hypot(median_deviation(k)),
        held: PROMISED,
    },
    Kind {
        name: "drift of 1",
        draw: |n, k, r| drifting(1.0, n, k, r),
        truth: |_| 0.0,
        held: PROMISED,
    },
    Kind {
        name: "drift of 3",
        draw: |n, k, r| drifting(3.0, n, k, r),
        truth: |_| 0.0,
        held: PROMISED,
    },
    Kind {
        name: "drift of 10",
        draw: |n, k, r| drifting(10.0, n, k, r),
        truth: |_| 0.0,
        held: PROMISED,
    },
];

/// Percentage of simulated intervals that contain the true level of `kind`.
fn held(kind: &Kind, rounds: usize, each: usize, trials: u32) -> f64 {
    let mut random = SplitMix64::new((1000 * rounds + each) as u64);
    let truth = (kind.truth)(each);
    let mut contains = || {
        let drawn = (kind.draw)(rounds, each, &mut random);
        headline(&[drawn])
            .is_some_and(|h| h.interval.contains(truth) && h.interval.contains(h.median))
    };
    f64::from((0..trials).map(|_| u32::from(contains())).sum::<u32>()) * 100.0 / f64::from(trials)
}

/// Asserts that `kinds` have the accepted coverage.
fn assert_held(kinds: &[Kind]) {
    for kind in kinds {
        for (rounds, each, trials) in CHECKED {
            let held = held(kind, rounds, each, trials);
            // The slack is 2.5 standard deviations of a share of 95% in this number of trials.
            let slack = 2.5 * (5.0 * 95.0 / f64::from(trials)).sqrt();
            let [least, most] = [kind.held[0] - slack, kind.held[1] + slack];
            assert!(
                (least..=most).contains(&held),
                "{}, {rounds} rounds of {each}: {held}",
                kind.name
            );
        }
    }
}

#[test]
fn intervals_hold_the_truth_of_independent_and_correlated_samples() {
    assert_held(&KINDS[..8]);
}

#[test]
fn intervals_hold_the_truth_of_wandering_bimodal_and_drifting_samples() {
    assert_held(&KINDS[8..]);
}

#[test]
fn rounds_that_wander_are_merged() {
    let wave = |phi: fn(usize, usize, &mut SplitMix64) -> Rounds| Kind {
        name: "",
        draw: phi,
        truth: |_| 0.0,
        held: PROMISED,
    };
    let slow = held(&wave(|n, k, r| wandering(0.6, n, k, r)), 25, 3, 400);
    let slower = held(&wave(|n, k, r| wandering(0.8, n, k, r)), 50, 3, 400);
    assert!(slow > 84.0 && slower > 80.0, "{slow} {slower}");
}

/// `count` allocations of three rounds of five samples. The standard deviation of the allocations'
/// levels is `apart`, and the standard deviation of samples is 1.
fn allocations(count: usize, apart: f64, random: &mut SplitMix64) -> Vec<Rounds> {
    (0..count)
        .map(|_| {
            let level = apart * normal(random);
            around(&[level; 3], 1.0, 5, random)
        })
        .collect()
}

#[test]
fn intervals_of_allocations_hold_what_they_attain() {
    let mut random = SplitMix64::new(21);
    for (count, apart, attained) in [
        (2, 30.0, 0.5),
        (3, 30.0, 0.75),
        (5, 30.0, 0.9375),
        (6, 30.0, 0.95),
        (9, 30.0, 0.95),
        (2, 0.0, 0.95),
        (4, 0.0, 0.95),
    ] {
        let mut found = 0.0;
        let mut stated = 0.0;
        for _ in 0..500 {
            let headline = headline(&allocations(count, apart, &mut random)).unwrap();
            found += f64::from(u8::from(headline.interval.contains(0.0))) / 500.0;
            stated += headline.interval.attained / 500.0;
        }
        assert!(
            (stated - attained).abs() < 0.035,
            "{count} {apart} apart: {stated} stated"
        );
        assert!(
            (found - attained).abs() < 0.05,
            "{count} {apart} apart: {found} found, {attained}"
        );
    }
}

#[test]
fn intervals_of_few_rounds_hold_what_they_attain() {
    let mut random = SplitMix64::new(22);
    for (count, attained) in [(2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)] {
        let mut found = 0;
        for _ in 0..1000 {
            let levels: Vec<f64> = (0..count).map(|_| 30.0 * normal(&mut random)).collect();
            let headline = headline(&[around(&levels, 1.0, 5, &mut random)]).unwrap();
            assert_eq!(headline.interval.attained, attained);
            found += i32::from(headline.interval.contains(0.0));
        }
        // The upper limit is wider: the interval reaches at least as far as the interval of
        // independent samples.
        assert!(
            (attained - 0.04..attained + 0.08).contains(&(f64::from(found) / 1000.0)),
            "{count}: {found}"
        );
    }
}

/// Percentage of intervals that contain the true level, and percentage of points that got further
/// rounds. A point has 20 rounds of eight samples, whose levels differ by `apart` of the median. It
/// gets further rounds if its interval is wider than 5% and 60 rounds could make it narrow enough.
fn held_by_those_that_go_on(apart: f64, trials: u32) -> [f64; 2] {
    let mut random = SplitMix64::new(23);
    let mut found = 0;
    let mut longer = 0;
    for _ in 0..trials {
        let mut rounds = Rounds::new();
        let mut round = || {
            let level = 1.0 + apart * normal(&mut random);
            around(&[level], 0.02, 8, &mut random).concat()
        };
        rounds.extend((0..20).map(|_| round()));
        let mut headline_of = |rounds: &mut Rounds| loop {
            let headline = headline(std::slice::from_ref(rounds)).unwrap();
            let spread = (headline.interval.high - headline.interval.low) / 2.0 / headline.median;
            if spread <= 0.05 || rounds.len() as f64 * (spread / 0.05).powi(2) > 60.0 {
                return headline;
            }
            rounds.push(round());
        };
        found += u32::from(headline_of(&mut rounds).interval.contains(1.0));
        longer += u32::from(rounds.len() > 20);
    }
    [found, longer].map(|n| f64::from(n) * 100.0 / f64::from(trials))
}

#[test]
fn going_on_to_be_solid_costs_little_coverage() {
    for (apart, most) in [(0.05, 10.0), (0.1, 100.0), (0.15, 100.0)] {
        let [held, longer] = held_by_those_that_go_on(apart, 1000);
        assert!(
            held > 92.0 && longer <= most,
            "{apart}: {held} held, {longer} went on"
        );
    }
}

/// Writes the table of docs/method/coverage.md.
#[test]
#[ignore = "takes minutes; cargo test --release --lib renew_coverages -- --ignored"]
fn renew_coverages() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/method/coverage.md");
    let page = std::fs::read_to_string(path).unwrap();
    let (before, rest) = page.split_once("<!-- coverages -->\n").unwrap();
    let (_, after) = rest.split_once("<!-- end of coverages -->").unwrap();
    let head = ROUNDS.map(|n| n.to_string()).join(" | ");
    let mut table = format!(
        "| samples | each | {head} |\n|---|---|{}\n",
        "---|".repeat(ROUNDS.len())
    );
    for kind in &KINDS {
        for each in EACH {
            let cells = ROUNDS
                .map(|rounds| format!("{:.1}", held(kind, rounds, each, 10_000)))
                .join(" | ");
            table += &format!("| {} | {each} | {cells} |\n", kind.name);
        }
    }
    std::fs::write(
        path,
        format!("{before}<!-- coverages -->\n{table}<!-- end of coverages -->{after}"),
    )
    .unwrap();
}
