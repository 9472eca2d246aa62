//! Tests random machines, made from seeds: the caches and TLBs that are found, and those that are
//! invented.

use super::caches::{self, Level, STEP, near};
use super::lab::{self, request, tlb};
use super::machines::Simulated;
use memgauge::plan::Request;
use report::Fact;
use simulated::{Spike, TlbLevel};
use stats::SplitMix64;
use std::io::Write;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::{Bytes, Nanos};

/// A random machine, and the boundaries that should be found on it.
struct Made {
    on: Simulated,
    /// Capacities of its caches, in bytes. Exclusive caches add up.
    ends: Vec<f64>,
    /// Entries of its TLBs for base pages.
    entries: Vec<u64>,
    /// Value of `--max-size` that is large enough to show the end of all caches; `None` if the
    /// default is enough.
    largest: Option<&'static str>,
}

/// Sizes of first to fourth caches, in KiB, from 32 KiB to 1.1 GB. A size is chosen among sizes
/// that are at least four times the previous cache. Nearer slopes run into each other
/// (docs/method/caches.md).
const SIZES: [&[u64]; 4] = [
    &[32, 48, 64, 128, 192],
    &[256, 512, 1024, 1280, 2048, 3072],
    &[
        4 << 10,
        8 << 10,
        16 << 10,
        24 << 10,
        32 << 10,
        36 << 10,
        96 << 10,
        260 << 10,
    ],
    &[64 << 10, 128 << 10, 512 << 10, 1_074_219],
];
const LOADS: [&[f64]; 4] = [
    &[0.9, 1.1, 1.7],
    &[3.0, 4.0, 5.5],
    &[10.0, 14.0, 22.0],
    &[38.0, 50.0],
];

/// Entries of first to third TLBs. Third TLBs are of 4 and 16 KiB pages only, because a sweep does
/// not reach as many pages of 64 KiB.
const ENTRIES: [&[u64]; 3] = [
    &[16, 32, 40, 48, 64, 72, 96, 128, 160],
    &[512, 1024, 1280, 1536, 2048, 3072, 4096],
    &[12000, 16384, 20000],
];
const MISSES: [&[f64]; 3] = [
    &[1.2, 1.8, 2.4, 3.0],
    &[5.0, 8.0, 15.0, 30.0],
    &[15.0, 25.0, 40.0],
];

/// A source of random choices.
struct Draw(SplitMix64);

impl Draw {
    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.0.below(from.len() as u64) as usize]
    }
}

fn made(seed: u64) -> Made {
    let mut draw = Draw(SplitMix64::new(seed));
    let levels = some_levels(&mut draw);
    let mut on = caches::with(&levels, draw.pick(&[85.0, 110.0, 150.0]));
    let base = draw.pick(&[4u64, 4, 16, 64]);
    on.facts.pages.base = Bytes::kib(base);
    // Kernels with larger base pages have huge pages of 32 and 512 MiB, or none.
    if base > 4 || draw.pick(&[false, false, false, true]) {
        on.facts.pages.thp_mode = Fact::known("never".to_owned(), "simulated");
        on.model.granted = 0.0;
    }
    let tlbs = draw.pick(&[1, 2, 2, 3]).min(if base > 16 { 2 } else { 3 });
    let mut level = |at: usize| {
        let entries = draw.pick(ENTRIES[at]);
        TlbLevel {
            entries,
            huge: entries,
            miss: Nanos(draw.pick(MISSES[at])),
        }
    };
    on.model.tlbs = (0..tlbs).map(&mut level).collect();
    // The caches end sharply, keep a part of a larger working set, or have sets that fill by
    // chance. They are inclusive or exclusive.
    let keeping = draw.pick(&[0, 0, 1, 1, 2]);
    (on.model.partial_hits, on.model.caches.scattered) = (keeping == 1, keeping == 2);
    on.model.caches.exclusive = draw.pick(&[false, false, true]);
    on.model.caches.adjacent = draw.pick(&[false, true]);
    let noise = &mut on.model.noise;
    noise.jitter = draw.pick(&[0.01, 0.03, 0.06]);
    noise.spike_every = draw.pick(&[0, 7, 23]);
    noise.spike = draw.pick(&[Spike::Switch, Spike::Neighbour]);
    let exclusive = on.model.caches.exclusive;
    let size = |&(kib, ..): &Level| (kib << 10) as f64;
    let end = |at: usize| {
        levels[if exclusive { 0 } else { at }..=at]
            .iter()
            .map(size)
            .sum()
    };
    let ends: Vec<f64> = (0..levels.len()).map(end).collect();
    let entries = on.model.tlbs.iter().map(|tlb| tlb.entries).collect();
    let last = ends.last().copied().unwrap_or_default();
    let largest = (last > (200 << 20) as f64).then_some("4GiB");
    Made {
        on,
        ends,
        entries,
        largest,
    }
}

fn some_levels(draw: &mut Draw) -> Vec<Level> {
    let count = draw.pick(&[2, 3, 3, 4]);
    let mut levels: Vec<Level> = Vec::new();
    for at in 0..count {
        let least = levels.last().map_or(0, |(kib, ..)| 4 * kib);
        // The last of two or three caches may have any size.
        let from: Vec<u64> = SIZES[at]
            .iter()
            .copied()
            .filter(|kib| *kib >= least)
            .collect();
        levels.push((
            draw.pick(&from),
            draw.pick(&[8, 16]),
            at + 1 == count,
            draw.pick(LOADS[at]),
        ));
    }
    levels
}

/// Results of several machines: numbers of boundaries, of found ones, and of machines with invented
/// ones.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
struct Tally {
    ends: usize,
    /// Ends that were found within a step of the grid.
    found_ends: usize,
    reported_ends: usize,
    /// Reported ends at which no cache ends.
    invented_ends: usize,
    tlbs: usize,
    /// TLBs whose entries are within the reported range.
    found_tlbs: usize,
    reported_tlbs: usize,
    invented_tlbs: usize,
    machines: usize,
    /// Number of machines with an invented end of a cache, and number with an invented TLB.
    troubled: [usize; 2],
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.ends += other.ends;
        self.found_ends += other.found_ends;
        self.reported_ends += other.reported_ends;
        self.invented_ends += other.invented_ends;
        self.tlbs += other.tlbs;
        self.found_tlbs += other.found_tlbs;
        self.reported_tlbs += other.reported_tlbs;
        self.invented_tlbs += other.invented_tlbs;
        self.machines += other.machines;
        self.troubled
            .iter_mut()
            .zip(other.troubled)
            .for_each(|(sum, more)| *sum += more);
    }
}

impl Tally {
    /// Asserts that the promised shares are reached.
    fn assert_good(&self) {
        assert!(
            self.found_ends * 100 >= self.ends * 95 && self.found_tlbs * 100 >= self.tlbs * 95,
            "{self:?}"
        );
        let few = |invented: usize, reported: usize| invented * 100 <= reported;
        assert!(
            few(self.invented_ends, self.reported_ends)
                && few(self.invented_tlbs, self.reported_tlbs),
            "{self:?}"
        );
    }
}

fn look(seed: u64) -> Tally {
    let made = made(seed);
    let mut tally = Tally {
        machines: 1,
        ..Tally::default()
    };
    look_at_caches(seed, &made, &mut tally);
    look_at_tlbs(seed, &made, &mut tally);
    tally
}

fn look_at_caches(seed: u64, made: &Made, tally: &mut Tally) {
    let (options, budget) = match made.largest {
        Some(most) => (format!("--max-size {most}"), Nanos(60e9)),
        None => (String::new(), Nanos(20e9)),
    };
    let experiments = vec![lab::caches(&options)];
    let ran = lab::run(
        &made.on,
        Request {
            sampling: caches::sampling(),
            seed,
            budget,
            ..request(experiments, &made.on)
        },
    );
    let found: Vec<f64> = caches::found(&ran)
        .iter()
        .filter_map(|l| Some(l.end?.capacity.0 as f64))
        .collect();
    // From 32 MiB on the fine grid has half as many steps.
    let step = |end: f64| {
        if end >= (32 << 20) as f64 {
            STEP * STEP
        } else {
            STEP
        }
    };
    let is_found = |end: &&f64| found.iter().any(|f| near(*f, **end, step(**end)));
    let is_none = |f: &&f64| {
        !made
            .ends
            .iter()
            .any(|end| near(**f, *end, step(*end).powi(3)))
    };
    tally.ends += made.ends.len();
    let right = made.ends.iter().filter(is_found).count();
    tally.found_ends += right;
    let invented = found.iter().filter(is_none).count();
    tally.reported_ends += found.len();
    tally.invented_ends += invented;
    tally.troubled[0] += usize::from(invented > 0);
    if right < made.ends.len() || invented > 0 {
        let what = if invented > 0 { "made up" } else { "lost" };
        note(&format!(
            "{seed}: {what}, caches {:?} as {found:?} {}",
            made.ends,
            told(&made.on)
        ));
    }
}

fn look_at_tlbs(seed: u64, made: &Made, tally: &mut Tally) {
    let experiments = vec![tlb("--pages 4k")];
    let ran = lab::run(
        &made.on,
        Request {
            sampling: lab::sampling(),
            seed,
            ..request(experiments, &made.on)
        },
    );
    let levels = ran.report.findings.iter().filter(|f| f.kind == "tlb-level");
    let found: Vec<(f64, f64)> = levels
        .map(|f| (f.values["entries_at_least"], f.values["entries_below"]))
        .collect();
    // A step is a quarter of a doubling, with a margin for rounding.
    let step = 2f64.powf(0.25) * 1.02;
    let is = |(low, high): (f64, f64), entries: u64, beside: f64| {
        low / beside <= entries as f64 && entries as f64 <= high * beside
    };
    tally.tlbs += made.entries.len();
    let right = made
        .entries
        .iter()
        .filter(|e| found.iter().any(|f| is(*f, **e, 1.0)))
        .count();
    tally.found_tlbs += right;
    let invented = found
        .iter()
        .filter(|f| !made.entries.iter().any(|e| is(**f, *e, step)))
        .count();
    tally.reported_tlbs += found.len();
    tally.invented_tlbs += invented;
    tally.troubled[1] += usize::from(invented > 0);
    if right < made.entries.len() || invented > 0 {
        let what = if invented > 0 { "made up" } else { "lost" };
        let tlbs = &made.on.model.tlbs;
        note(&format!(
            "{seed}: {what}, TLBs {:?} as {found:?} {} {tlbs:?}",
            made.entries,
            told(&made.on)
        ));
    }
}

/// Text about the difficulties of a machine.
fn told(on: &Simulated) -> String {
    let caches = &on.model.caches;
    format!(
        "{} pages, partial {}, scattered {}, exclusive {}, loads {:?}, {:?}",
        on.facts.pages.base,
        on.model.partial_hits,
        caches.scattered,
        caches.exclusive,
        on.model
            .levels
            .iter()
            .map(|level| level.latency.0)
            .collect::<Vec<f64>>(),
        on.model.noise
    )
}

/// Prints `text` for a person who runs the test by hand.
fn note(text: &str) {
    // An error is ignored, because nobody has to read the text.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Results of the machines with these seeds. The machines are divided among threads, one for each
/// CPU.
fn tally(seeds: &[u64]) -> Tally {
    let next = AtomicUsize::new(0);
    let one = || {
        let mut sum = Tally::default();
        loop {
            let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) else {
                return sum;
            };
            sum += look(*seed);
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let all: Vec<_> = (0..threads).map(|_| scope.spawn(one)).collect();
        let mut sum = Tally::default();
        all.into_iter()
            .for_each(|thread| sum += thread.join().expect("machines that can be looked at"));
        sum
    })
}

/// Seeds of six hard machines and of two ordinary ones. The hard ones have TLBs that wear off
/// gradually, or fourth caches of four to six times the third.
const HARD: [u64; 8] = [16, 26, 38, 73, 87, 116, 3, 4];

#[test]
fn on_noisy_machines_levels_are_found_and_none_made_up() {
    let sum = tally(&HARD);
    assert_eq!((sum.invented_ends, sum.invented_tlbs), (0, 0), "{sum:?}");
    sum.assert_good();
}

/// Prints the shares of a thousand machines, for docs/performance.md.
#[test]
#[ignore = "minutes"]
fn renew_the_shares_of_a_thousand_noisy_machines() {
    let mut sum = Tally::default();
    for part in 0..20 {
        let seeds: Vec<u64> = (1000 + 50 * part..1050 + 50 * part).collect();
        sum += tally(&seeds);
        note(&format!("{sum:?}"));
    }
    sum.assert_good();
}
