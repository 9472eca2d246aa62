//! Defines a histogram whose buckets become wider with the value.

/// Base-2 logarithm of the number of buckets per doubling. With 2^7 buckets, the width of a bucket
/// is at most 1/128 of its values.
const BITS: u32 = 7;
const EACH: u64 = 1 << BITS;

/// Histogram of whole numbers. Values below 256 are exact, and larger values are rounded by at most
/// 0.8%. The least, the greatest and the mean value are exact.
///
/// Source: the layout of HdrHistogram (Tene, 2012): linear buckets inside each power of two.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Histogram {
    /// Counts `value` once.
    #[inline]
    pub fn add(&mut self, value: u64) {
        let place = place(value);
        if place >= self.counts.len() {
            self.counts.resize(place + EACH as usize, 0);
        }
        self.counts[place] += 1;
        self.least = if self.total == 0 {
            value
        } else {
            self.least.min(value)
        };
        self.most = self.most.max(value);
        self.total += 1;
        self.sum += u128::from(value);
    }

    /// Adds all counts of `other`.
    pub fn merge(&mut self, other: &Histogram) {
        if other.total == 0 {
            return;
        }
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.least = if self.total == 0 {
            other.least
        } else {
            self.least.min(other.least)
        };
        self.most = self.most.max(other.most);
        self.total += other.total;
        self.sum += other.sum;
    }

    /// Number of counted values.
    pub fn count(&self) -> u64 {
        self.total
    }

    /// The least value; `None` without values.
    pub fn least(&self) -> Option<u64> {
        (self.total > 0).then_some(self.least)
    }

    /// The greatest value; `None` without values.
    pub fn most(&self) -> Option<u64> {
        (self.total > 0).then_some(self.most)
    }

    /// The mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.total > 0).then(|| self.sum as f64 / self.total as f64)
    }

    /// A pair for each bucket that is not empty, in rising order: a value inside the bucket, and
    /// the number of values in it.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counted = self
            .counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0);
        counted.map(|(place, &count)| {
            let (first, last) = bounds(place);
            (
                (first + (last - first) / 2).clamp(self.least, self.most),
                count,
            )
        })
    }

    /// The `q` quantile: the smallest value that a share `q` of all values do not exceed. It is
    /// rounded to the middle of its bucket. `None` without values, or if `q` is outside 0 to 1.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * self.total as f64).ceil() as u64).clamp(1, self.total);
        if rank == self.total {
            return Some(self.most);
        }
        let mut seen = 0;
        let place = self.counts.iter().position(|&count| {
            seen += count;
            seen >= rank
        })?;
        let (first, last) = bounds(place);
        Some((first + (last - first) / 2).clamp(self.least, self.most))
    }
}

/// Index of the bucket that contains `value`.
#[inline]
fn place(value: u64) -> usize {
    if value < EACH {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - BITS;
    ((u64::from(shift) << BITS) + (value >> shift)) as usize
}

/// The first and the last value of the bucket with index `place`.
fn bounds(place: usize) -> (u64, u64) {
    let place = place as u64;
    if place < 2 * EACH {
        return (place, place);
    }
    let shift = (place >> BITS) - 1;
    let first = ((place & (EACH - 1)) + EACH) << shift;
    (first, first + ((1 << shift) - 1))
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::*;

    #[test]
    fn buckets_follow_each_other_without_a_gap() {
        let mut next = 0u64;
        for at in 0..place(u64::MAX) {
            let (first, last) = bounds(at);
            assert_eq!((first, place(first), place(last)), (next, at, at));
            assert!(first < 128 || (last - first) as f64 <= first as f64 / 128.0);
            next = last + 1;
        }
        assert_eq!(bounds(place(u64::MAX)).1, u64::MAX);
    }

    #[test]
    fn quantiles_are_those_of_the_sorted_values() {
        let mut random = SplitMix64::new(1);
        let mut values: Vec<u64> = (0..10_000)
            .map(|_| 1 + random.below(1 << (1 + random.clone().below(40))))
            .collect();
        let mut all = Histogram::default();
        let mut halves = [Histogram::default(), Histogram::default()];
        for (i, &value) in values.iter().enumerate() {
            all.add(value);
            halves[i % 2].add(value);
        }
        values.sort_unstable();
        for q in [0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0] {
            let rank = ((q * 10_000.0f64).ceil() as usize).max(1);
            let exact = values[rank - 1] as f64;
            let got = all.quantile(q).unwrap() as f64;
            assert!(
                (got / exact - 1.0).abs() <= 1.0 / 128.0,
                "{q}: {got} for {exact}"
            );
        }
        let mean = values.iter().sum::<u64>() as f64 / 1e4;
        assert_eq!(
            (all.least(), all.most(), all.mean()),
            (Some(values[0]), Some(values[9_999]), Some(mean))
        );
        let [mut first, second] = halves;
        first.merge(&second);
        first.merge(&Histogram::default());
        assert_eq!(
            (first.quantile(0.5), first.count(), first.least()),
            (all.quantile(0.5), 10_000, all.least())
        );
    }

    #[test]
    fn nothing_counted_has_no_figures() {
        let mut empty = Histogram::default();
        assert_eq!(
            (
                empty.quantile(0.5),
                empty.mean(),
                empty.least(),
                empty.most()
            ),
            (None, None, None, None)
        );
        empty.add(0);
        assert_eq!(
            (
                empty.quantile(0.5),
                empty.quantile(f64::NAN),
                empty.quantile(1.5)
            ),
            (Some(0), None, None)
        );
        empty.add(u64::MAX);
        assert_eq!(empty.quantile(1.0), Some(u64::MAX));
    }
}
