//! Where a curve over sizes steps: the capacities that the machine really has, as far as one curve shows them.

use crate::results::{Dataset, Finding, Point};
use crate::stats;
use crate::units::Bytes;
use std::collections::BTreeMap;

/// A level is told from the next one by at least this relative difference.
const STEP: f64 = 0.2;

/// Fewer sizes than this make no curve.
const FEWEST_SIZES: usize = 8;

/// The sizes after which the values of the points that `belongs` picks leave their level, as one sentence about `what`.
/// `None` where there are too few sizes or no step.
pub fn steps(dataset: &Dataset, what: &str, belongs: impl Fn(&Point) -> bool) -> Option<Finding> {
    let value = |p: &Point| Some((p.number("size_bytes")?, p.outcome.measured()?.summary.median));
    // Several points of one size (strides, repeats) are not one curve.
    let curve: BTreeMap<u64, f64> = dataset.points.iter().filter(|p| belongs(p)).filter_map(value).collect();
    if curve.len() < FEWEST_SIZES {
        return None;
    }
    let sizes: Vec<u64> = curve.keys().copied().collect();
    let x: Vec<f64> = sizes.iter().map(|&size| size as f64).collect();
    let y: Vec<f64> = curve.values().copied().collect();
    let mut values = BTreeMap::new();
    let mut words = Vec::new();
    for knee in stats::knees(&x, &y, STEP) {
        let last = Bytes(*sizes.get(knee.index.checked_sub(1)?)?);
        words.push(format!("{last} (x{:.2})", knee.ratio));
        values.insert(format!("step_after_{}_bytes", last.0), knee.ratio);
    }
    let text = format!("{what} leaves a level after {}.", words.join(", "));
    (!words.is_empty()).then(|| Finding { kind: "steps".to_owned(), text, values })
}
