//! Prints the cost of evidence: the time of the readings inside, next to and around a sample. Each
//! figure is a median.
//!
//! `cargo run --release --example evidence_cost`

use host::facts::SystemFiles;
use host::noise::{ThreadNoise, Watch};
use host::{counter, pin};
use std::io::Write;
use units::Nanos;

/// Number of readings of the counter inside a sample: one before the first chunk, and one after
/// each of 16 chunks.
const STAMPS: u64 = 17;

/// Length of a sample of the default profile.
const SAMPLE: Nanos = Nanos(1e6);

/// Median time of one call. It is measured `times` times, in batches of 100 calls.
fn cost(times: usize, mut call: impl FnMut()) -> Nanos {
    let mut batches: Vec<f64> = (0..times)
        .map(|_| {
            let start = counter::monotonic();
            (0..100).for_each(|_| call());
            (counter::monotonic() - start).0 / 100.0
        })
        .collect();
    batches.sort_by(f64::total_cmp);
    Nanos(batches[batches.len() / 2])
}

fn main() -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let stamp = cost(200, || {
        std::hint::black_box(counter::ticks());
    });
    let noise = cost(200, || {
        std::hint::black_box(ThreadNoise::of_this_thread());
    });
    let cpu = cost(200, || {
        std::hint::black_box(pin::current_cpu());
    });
    let watch = Watch::new(SystemFiles::real());
    let around = cost(20, || {
        std::hint::black_box(watch.read(&[0, 1]));
    });
    let inside = stamp * STAMPS as f64;
    let beside = (noise + cpu) * 2.0;
    let percent = |time: Nanos| time.0 / SAMPLE.0 * 100.0;
    writeln!(
        out,
        "inside a sample: {STAMPS} readings of the counter, {stamp} each: {inside}, {:.3}% of 1 ms",
        percent(inside)
    )?;
    writeln!(
        out,
        "beside a sample: 2 readings of faults and switches ({noise}), 2 of the cpu ({cpu}): \
         {beside}, {:.3}%",
        percent(beside)
    )?;
    writeln!(
        out,
        "around a round of 25 samples: 2 readings of the system, {around} each: {:.3}% of 25 ms",
        percent(around * 2.0) / 25.0
    )?;
    Ok(())
}
