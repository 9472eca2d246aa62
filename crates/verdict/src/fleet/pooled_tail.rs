//! Estimates how far from the middle chance moves a value. For this, the distances of all machines'
//! values in all quantities are pooled, in standard deviations.
//!
//! The reference of a quantity describes only the middle of its distances. Rare disturbances show
//! in the tail, which is visible only in the values of many quantities together.

/// Least number of distances from which the tail is estimated.
const LEAST: usize = 20;

/// Largest number of distances from which the tail is estimated.
const MOST: usize = 400;

/// Share of all distances from which the tail is estimated, unless `LEAST` or `MOST` limits their
/// number.
const OUTERMOST: f64 = 0.002;

/// Smallest distance that is kept, in standard deviations. Smaller distances are only counted.
const KEPT_FROM: f32 = 2.0;

/// Distances on one side of the middle (slow or fast), in standard deviations.
#[derive(Debug, Default)]
pub(super) struct PooledTail {
    count: u64,
    /// Kept distances, in falling order after a call of [`PooledTail::sort`].
    largest: Vec<f32>,
}

impl PooledTail {
    /// Adds a distance in standard deviations. A negative distance lies on the other side of the
    /// middle.
    pub(super) fn add(&mut self, z: f64) {
        self.count += 1;
        if z as f32 >= KEPT_FROM && z.is_finite() {
            self.largest.push(z as f32);
        }
    }

    /// Sorts the distances. Call this function before [`PooledTail::beyond`].
    pub(super) fn sort(&mut self) {
        self.largest.sort_unstable_by(|a, b| b.total_cmp(a));
    }

    /// Distance that is exceeded with probability `p`; 0 if there are too few distances. Beyond the
    /// largest distances, the tail is assumed to be exponential.
    pub(super) fn beyond(&self, p: f64) -> f64 {
        let expected = p * self.count as f64;
        let outermost = (self.count as f64 * OUTERMOST) as usize;
        let used = outermost.clamp(LEAST, MOST).min(self.largest.len());
        if used < LEAST {
            return 0.0;
        }
        if expected >= used as f64 {
            let place = (expected as usize).min(self.largest.len() - 1);
            return f64::from(self.largest[place]);
        }
        let start = f64::from(self.largest[used - 1]);
        let excess: f64 = self.largest[..used]
            .iter()
            .map(|z| f64::from(*z) - start)
            .sum();
        let steps = (used as f64).ln() - expected.max(f64::MIN_POSITIVE).ln();
        start + excess / used as f64 * steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::SplitMix64;

    #[test]
    fn exponential_tails_are_extrapolated() {
        let mut random = SplitMix64::new(3);
        let mut tail = PooledTail::default();
        for _ in 0..200_000 {
            tail.add(-(1.0 - random.fraction()).ln());
        }
        tail.sort();
        for p in [0.05, 0.001, 1e-5, 1e-8] {
            let truth = -f64::ln(p);
            assert!((tail.beyond(p) / truth - 1.0).abs() < 0.1, "{p}");
        }
    }

    #[test]
    fn few_distances_show_no_tail() {
        let mut tail = PooledTail::default();
        assert_eq!(tail.beyond(0.01), 0.0);
        for z in [3.0, f64::NAN, f64::INFINITY, -1.0] {
            tail.add(z);
        }
        tail.sort();
        assert_eq!(tail.beyond(0.01), 0.0);
        for _ in 0..50 {
            tail.add(2.5);
        }
        tail.sort();
        assert!(tail.beyond(0.0).is_finite());
    }
}
