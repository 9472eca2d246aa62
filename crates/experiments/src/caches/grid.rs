//! Sizes to measure: a coarse grid, and a fine grid around the steps found on the coarse one.

use super::analysis::{CurvePoint, Rise, rises};
use units::Bytes;

/// From this size on, grids are half as dense, because building a chain takes time for each node.
const HALF_DENSITY_FROM: Bytes = Bytes(32 << 20);

/// Sizes of the fine grid in each doubling; half as many from [`HALF_DENSITY_FROM`] on.
const FINE: u32 = 16;

/// The fine grid extends beyond a step by this part of a doubling, on both sides.
const MARGIN: f64 = 0.25;

/// Two sizes that differ by less than this factor count as one.
const SAME: f64 = 1.01;

/// Placeholders for sizes of the fine grid: their number, and the largest size that each can hold.
const STAND_INS: [(usize, Bytes); 3] = [
    (12, Bytes(512 << 10)),
    (12, Bytes(8 << 20)),
    (6, Bytes(64 << 20)),
];

/// Number of additional placeholders that can each hold half the largest working set.
const LARGEST: usize = 4;

/// Size number `index` (from 0) of a grid that starts at `least` and has `steps` sizes per
/// doubling. The size is rounded down to whole cache lines.
fn at(least: Bytes, index: u32, steps: u32, line: Bytes) -> Bytes {
    Bytes((least.0 as f64 * (f64::from(index) / f64::from(steps)).exp2()).round() as u64)
        .round_down(line.0.max(1))
}

/// The coarse grid: `steps` sizes per doubling from `least` to `most`, and `most` itself. From
/// [`HALF_DENSITY_FROM`] on, the grid is half as dense.
pub fn coarse(least: Bytes, most: Bytes, steps: u32, line: Bytes) -> Vec<Bytes> {
    let wanted = |i: &u32| {
        at(least, *i, steps, Bytes(1)) <= HALF_DENSITY_FROM
            || i.is_multiple_of((steps / 2).clamp(1, 2))
    };
    let mut sizes: Vec<Bytes> = (0..64 * steps)
        .filter(wanted)
        .map(|i| at(least, i, steps, line))
        .collect();
    sizes.retain(|&size| size.0 as f64 * SAME < most.0 as f64);
    sizes.push(most);
    sizes.dedup();
    sizes
}

/// Sizes of the placeholders for the sizes of [`closer`], in rising order. The plan reserves time
/// and memory for these placeholders. `most` is the largest working set.
pub fn stand_ins(most: Bytes) -> Vec<Bytes> {
    let half = Bytes(most.0 / 2).round_down(4096);
    let mut sizes: Vec<Bytes> = STAND_INS
        .iter()
        .flat_map(|&(count, size)| vec![size.min(half); count])
        .collect();
    sizes.extend(vec![half; if half > STAND_INS[2].1 { LARGEST } else { 0 }]);
    sizes
}

/// Sizes around the rises of `curve` that were not measured yet, in rising order. There are at most
/// `most` sizes. Each takes the place of an equal or larger size in `stand_ins`, which are in
/// rising order. Sizes nearest to the middle of their rise get a place first.
pub fn closer(curve: &[CurvePoint], stand_ins: &[Bytes], most: usize, line: Bytes) -> Vec<Bytes> {
    let mut wanted: Vec<(f64, Bytes)> = rises(curve)
        .iter()
        .flat_map(|rise| around(rise, line))
        .collect();
    let near = |a: Bytes, b: Bytes| a.0.max(b.0) as f64 <= a.0.min(b.0) as f64 * SAME;
    wanted.retain(|(_, size)| !curve.iter().any(|spot| near(spot.size, *size)));
    wanted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free: Vec<Bytes> = stand_ins.iter().copied().take(most).collect();
    let mut sizes: Vec<Bytes> = Vec::new();
    for (_, size) in wanted {
        if sizes.iter().any(|&taken| near(taken, size)) {
            continue;
        }
        if let Some(place) = free.iter().position(|&room| size <= room) {
            free.remove(place);
            sizes.push(size);
        }
    }
    sizes.sort_unstable();
    sizes
}

/// The fine grid around a rise: each size, after its distance in doublings from the middle of the
/// rise.
fn around(rise: &Rise, line: Bytes) -> Vec<(f64, Bytes)> {
    let least = Bytes(4096);
    let low = rise.last.0 as f64 * 2f64.powf(-MARGIN);
    let high = rise.first.0 as f64 * 2f64.powf(MARGIN);
    let step = if rise.last >= HALF_DENSITY_FROM { 2 } else { 1 };
    let middle = (rise.last.0 as f64 * rise.first.0 as f64).sqrt();
    let from = ((low / least.0 as f64).log2() * f64::from(FINE))
        .ceil()
        .max(0.0) as u32;
    let places = (from..)
        .filter(|i| i.is_multiple_of(step))
        .map(|i| at(least, i, FINE, line));
    let inside = places.take_while(|size| size.0 as f64 <= high);
    inside
        .map(|size| ((size.0 as f64 / middle).log2().abs(), size))
        .collect()
}
