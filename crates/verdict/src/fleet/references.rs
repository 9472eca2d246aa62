//! Reference of a quantity in a population: the middle of the machines, and the distances from it
//! that chance explains.

use serde::{Deserialize, Serialize};
use stats::{median, modes, normal_tail, quantile, student_tail};

/// Shares of the machines, each with a number of standard deviations. In a normal distribution,
/// this share of the values lies within this distance of the middle. The scale is computed from
/// these distances. Up to fifteen percent of faulty machines do not change the scale.
const SHARES: [(f64, f64); 3] = [(0.5, 0.67449), (0.7, 1.03643), (0.85, OUTER)];

/// Number of standard deviations of the outermost share.
const OUTER: f64 = 1.43953;

/// Least number of machines for which the slow side and the fast side have scales of their own.
const ENOUGH_FOR_SIDES: usize = 60;

/// Growth of the scale in the tails that is assumed if there are too few machines to measure it.
const ASSUMED_GROWTH: f64 = 0.2;

/// Factor from the growth between the measured shares to the growth beyond them. In tails that are
/// heavier than normal, the growth rises outwards. The factor is that of an exponential
/// distribution.
const STEEPENING: f64 = 1.8;

/// Largest growth: tails are then like those of an exponential distribution. Heavier tails would
/// hide every fault.
const MAX_GROWTH: f64 = 1.0;

/// Degrees of freedom that each machine adds to a scale computed from a median of distances.
const FREEDOM: f64 = 0.4;

/// Degrees of freedom of the scale that is assumed before any machine is seen. The assumed scale is
/// the typical scale of the other quantities.
const ASSUMED_FREEDOM: f64 = 4.0;

/// Number of degrees of freedom from which on Student's distribution counts as normal.
const NORMAL_FREEDOM: f64 = 300.0;

/// Least scale as a share of the floor. Without this minimum, equal values would have a scale of 0.
const LEAST_SCALE: f64 = 0.1;

/// Least assumed scale as a share of the floor, for the case that the other quantities scatter
/// less.
const ASSUMED_SCALE: f64 = 0.3;

/// Number of standard deviations in half of a 95% interval.
pub(super) const HALF_INTERVAL: f64 = 1.96;

/// The slow or the fast side of a reference. `centre` and `scale` are logarithms of speeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Side {
    /// Middle of the machines on this side: a logarithm of the speed.
    pub(super) centre: f64,
    /// Standard deviation of a normal distribution that has the same outer quantiles as the
    /// machines.
    pub(super) scale: f64,
    /// Exponent with which the scale grows in the tails; 0 for a normal distribution.
    pub(super) growth: f64,
    /// Degrees of freedom of the scale: more degrees mean that the scale is known better.
    pub(super) freedom: f64,
}

impl Side {
    /// Distance from the middle that chance exceeds with probability `p`; infinite for a
    /// probability of 0.
    pub(super) fn distance(&self, p: f64) -> f64 {
        if self.freedom < NORMAL_FREEDOM {
            let z = student_tail(p.min(0.5), self.freedom.max(2.0));
            self.scale * self.grown(z)
        } else {
            self.scale * self.known(p)
        }
    }

    /// Distance in standard deviations that chance exceeds with probability `p`, for a scale that
    /// is known exactly. Infinite for a probability of 0.
    pub(super) fn known(&self, p: f64) -> f64 {
        self.grown(normal_tail(p.min(0.5)))
    }

    /// Distance in the tail that corresponds to `z` standard deviations of a normal distribution.
    fn grown(&self, z: Option<f64>) -> f64 {
        z.map_or(f64::INFINITY, |z| {
            z * (z / OUTER).max(1.0).powf(self.growth)
        })
    }
}

/// Reference of a quantity in a population.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct Reference {
    /// Number of machines that the reference was computed from.
    pub(super) nodes: u64,
    /// The slow side.
    pub(super) slow: Side,
    /// The fast side.
    pub(super) fast: Side,
    /// Median half-width of the confidence intervals of the machines' values, divided by the
    /// values.
    pub(super) spread: f64,
    /// True if at least half of the values are doubtful. A doubtful value is then usual and shows
    /// no fault of its machine.
    pub(super) is_doubtful: bool,
    /// Share of the machines in the faster of two groups; `None` if there is one group.
    pub(super) share_fast: Option<f64>,
}

/// Values of a quantity, one from each machine.
#[derive(Debug, Default)]
pub(super) struct Column {
    /// Logarithms of speeds.
    pub(super) speeds: Vec<f64>,
    /// Half-widths of the confidence intervals, divided by the medians.
    pub(super) spreads: Vec<f64>,
    /// Number of doubtful values.
    pub(super) doubtful: usize,
}

impl Reference {
    /// Reference of `column`; `None` if it has no value. `floor` is the logarithm of the floor.
    pub(super) fn new(column: &Column, floor: f64) -> Option<Self> {
        let centre = median(&column.speeds)?;
        // The test for two groups needs positive values. Values divided by the median are around 1
        // and keep their precision.
        let relative: Vec<f64> = column.speeds.iter().map(|s| (s - centre).exp()).collect();
        let two = modes(&relative);
        let border = two.map(|two| (two.low.ln() + two.high.ln()) / 2.0);
        let side = |is_slow: bool, own: Option<f64>| {
            let own_centre = own.map_or(centre, |own| centre + own.ln());
            let kept = |s: &f64| border.is_none_or(|border| (*s - centre < border) == is_slow);
            let speeds: Vec<f64> = column.speeds.iter().copied().filter(kept).collect();
            Side::new(&speeds, own_centre, is_slow, floor)
        };
        Some(Self {
            nodes: column.speeds.len() as u64,
            slow: side(true, two.map(|two| two.low)),
            fast: side(false, two.map(|two| two.high)),
            spread: median(&column.spreads).unwrap_or(0.0),
            is_doubtful: column.doubtful * 2 >= column.speeds.len(),
            share_fast: two.map(|two| two.share_high),
        })
    }

    /// If there are two groups, the reference of the larger group alone. Otherwise the reference is
    /// unchanged.
    pub(super) fn of_larger_group(self) -> Self {
        let side = match self.share_fast {
            Some(share) if share > 0.5 => self.fast,
            Some(_) => self.slow,
            None => return self,
        };
        Self {
            slow: side,
            fast: side,
            share_fast: None,
            ..self
        }
    }

    /// Logarithm of the middle speed. If there are two groups, this is the middle of the larger
    /// group.
    pub(super) fn centre(&self) -> f64 {
        match self.share_fast {
            Some(share) if share > 0.5 => self.fast.centre,
            _ => self.slow.centre,
        }
    }
}

impl Side {
    /// Makes one side from `speeds` around `centre`. The scale comes from the speeds on this side
    /// if there are enough of them and they scatter more than all speeds together.
    fn new(speeds: &[f64], centre: f64, is_slow: bool, floor: f64) -> Self {
        let all: Vec<f64> = speeds.iter().map(|s| (s - centre).abs()).collect();
        let both = scale_and_growth(&all);
        let on_side = |s: &&f64| (**s < centre) == is_slow && **s != centre;
        let one: Vec<f64> = speeds
            .iter()
            .filter(on_side)
            .map(|s| (s - centre).abs())
            .collect();
        let own = (one.len() >= ENOUGH_FOR_SIDES / 2).then(|| scale_and_growth(&one));
        let [scale, growth] = own.map_or(both, |own| if own[0] > both[0] { own } else { both });
        let growth = if speeds.len() < ENOUGH_FOR_SIDES {
            ASSUMED_GROWTH
        } else {
            growth
        };
        Self {
            centre,
            scale: scale.max(floor * LEAST_SCALE),
            growth,
            freedom: FREEDOM * (speeds.len() as f64 - 1.0).max(0.0),
        }
    }

    /// Averages the scale with `typical`, the typical scale of the other quantities, which has the
    /// weight of a few machines. `floor` is the logarithm of the floor.
    fn supported(self, typical: f64, floor: f64) -> Self {
        let own = Scatter {
            scale: self.scale,
            freedom: self.freedom,
        };
        // A few machines can agree by chance, so their own scale is not enough.
        let supported = own.supported(typical.max(floor * ASSUMED_SCALE));
        Self {
            scale: supported.scale,
            freedom: supported.freedom,
            ..self
        }
    }
}

/// A standard deviation (`scale`) with its degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scatter {
    pub(super) scale: f64,
    pub(super) freedom: f64,
}

impl Scatter {
    /// Computes the standard deviation of values in time order from the differences of neighbours.
    /// A change between two values has little effect on it. `None` for fewer than three values.
    pub(super) fn of_neighbours(values: &[f64]) -> Option<Self> {
        let steps: Vec<f64> = values
            .windows(2)
            .map(|two| (two[1] - two[0]).abs())
            .collect();
        let typical = median(&steps).filter(|_| steps.len() > 1)?;
        Some(Self {
            scale: typical / (SHARES[0].1 * std::f64::consts::SQRT_2),
            freedom: FREEDOM * steps.len() as f64,
        })
    }

    /// The scatter `scale` that was computed from `reports` reports.
    pub(super) fn of_reports(scale: f64, reports: f64) -> Self {
        Self {
            scale,
            freedom: FREEDOM * (reports - 1.0).max(0.0),
        }
    }

    /// Joins the scatters of one quantity in several histories. `typical` is the scale of other
    /// quantities, `floor` the logarithm of the floor. `None` if `histories` is empty.
    pub(super) fn pooled(histories: &[Self], typical: f64, floor: f64) -> Option<Self> {
        let scales: Vec<f64> = histories.iter().map(|one| one.scale).collect();
        let pooled = Self {
            scale: median(&scales)?.max(floor * LEAST_SCALE),
            freedom: histories.iter().map(|one| one.freedom).sum(),
        };
        Some(pooled.supported(typical.max(floor * ASSUMED_SCALE)))
    }

    /// Averages the scatter with the scale `assumed`, which has the weight of a few more values.
    pub(super) fn supported(self, assumed: f64) -> Self {
        let freedom = self.freedom + ASSUMED_FREEDOM;
        let squares = self.freedom * self.scale.powi(2) + ASSUMED_FREEDOM * assumed.powi(2);
        Self {
            scale: (squares / freedom).sqrt(),
            freedom,
        }
    }

    /// A reference for the changes of `nodes` machines that are too few to be peers. Its middle is
    /// no change.
    pub(super) fn reference(self, nodes: u64) -> Reference {
        let side = Side {
            centre: 0.0,
            scale: self.scale,
            growth: ASSUMED_GROWTH,
            freedom: self.freedom,
        };
        Reference {
            nodes,
            slow: side,
            fast: side,
            spread: HALF_INTERVAL * self.scale,
            is_doubtful: false,
            share_fast: None,
        }
    }
}

/// Scale and growth of `distances` from the middle.
fn scale_and_growth(distances: &[f64]) -> [f64; 2] {
    // The farthest of a few machines may be faulty. A share that includes it is therefore not used.
    let last = distances.len().saturating_sub(1) as f64;
    let at = |(share, deviations): (f64, f64)| {
        let distance = quantile(distances, share).filter(|_| share * last <= last - 1.0);
        distance.map_or(0.0, |distance| distance / deviations)
    };
    let scales = SHARES.map(at);
    let scale = scales.into_iter().fold(0.0, f64::max);
    let growth = (scales[2] / scales[0]).ln() / (OUTER / SHARES[0].1).ln();
    let growth = if growth.is_finite() {
        growth * STEEPENING
    } else {
        0.0
    };
    [scale, growth.clamp(0.0, MAX_GROWTH)]
}

/// Averages the scale of each reference with the median scale of all references, separately for the
/// slow and the fast side. `floor` determines the least value of that median.
pub(super) fn support(references: &mut [Reference], floor: f64) {
    let typical = |side: fn(&Reference) -> Side| {
        let scales: Vec<f64> = references.iter().map(|r| side(r).scale).collect();
        median(&scales).unwrap_or(0.0)
    };
    let slow = typical(|r| r.slow);
    let fast = typical(|r| r.fast);
    for reference in references {
        reference.slow = reference.slow.supported(slow, floor);
        reference.fast = reference.fast.supported(fast, floor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::SplitMix64;

    fn normal(random: &mut SplitMix64) -> f64 {
        let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
        radius * (std::f64::consts::TAU * random.fraction()).cos()
    }

    fn column(speeds: Vec<f64>) -> Column {
        Column {
            spreads: vec![0.01; speeds.len()],
            speeds,
            doubtful: 0,
        }
    }

    #[test]
    fn the_scale_of_normal_values_is_theirs() {
        let mut random = SplitMix64::new(7);
        let speeds = (0..4000)
            .map(|_| 3.0 + 0.02 * normal(&mut random))
            .collect();
        let found = Reference::new(&column(speeds), 0.03).expect("values");
        for side in [found.slow, found.fast] {
            assert!((side.centre - 3.0).abs() < 0.002, "{side:?}");
            assert!((side.scale / 0.02 - 1.0).abs() < 0.1, "{side:?}");
            assert!(side.growth < 0.2, "{side:?}");
        }
        assert_eq!(found.share_fast, None);
    }

    #[test]
    fn faulty_machines_hardly_change_the_scale() {
        let mut random = SplitMix64::new(8);
        let speeds = (0..4000)
            .map(|i| 0.01 * normal(&mut random) - if i % 20 == 0 { 0.2 } else { 0.0 })
            .collect();
        let found = Reference::new(&column(speeds), 0.03).expect("values");
        assert!(found.slow.distance(1e-6) < 0.15, "{found:?}");
    }

    #[test]
    fn the_faulty_one_of_a_few_machines_is_no_scale() {
        for machines in 4..12 {
            let mut speeds: Vec<f64> = (0..machines).map(|i| f64::from(i) * 1e-3).collect();
            speeds[0] -= 0.4;
            let mut found = [Reference::new(&column(speeds), 0.03).expect("values")];
            support(&mut found, 0.03);
            assert!(found[0].slow.distance(1e-3) < 0.2, "{machines}: {found:?}");
        }
    }

    #[test]
    fn heavy_tails_have_far_thresholds() {
        let mut random = SplitMix64::new(9);
        let speeds = (0..4000)
            .map(|i| -0.01 * (1.0 - random.fraction()).ln() * if i % 2 == 0 { 1.0 } else { -1.0 })
            .collect();
        let found = Reference::new(&column(speeds), 0.03).expect("values");
        // An exponential distribution exceeds 12.2 times its mean with probability 1 / 2e5.
        assert!(found.slow.distance(2.5e-6) > 0.09, "{found:?}");
    }

    #[test]
    fn two_groups_have_a_side_each() {
        let mut random = SplitMix64::new(10);
        let speeds = (0..1000)
            .map(|i| 0.01 * normal(&mut random) - if i % 3 == 0 { 0.3 } else { 0.0 })
            .collect();
        let found = Reference::new(&column(speeds), 0.03).expect("values");
        assert!((found.slow.centre + 0.3).abs() < 0.01, "{found:?}");
        assert!(found.fast.centre.abs() < 0.01, "{found:?}");
        assert!(found.slow.distance(1e-6) < 0.1, "{found:?}");
    }

    #[test]
    fn few_or_equal_values_give_finite_figures() {
        for speeds in [vec![1.0], vec![2.0; 5], vec![1.0, 2.0, 3.0, 4.0, 50.0]] {
            let mut found = [Reference::new(&column(speeds), 0.03).expect("values")];
            support(&mut found, 0.03);
            assert!(found[0].slow.distance(0.01).is_finite(), "{found:?}");
            assert!(found[0].slow.distance(0.01) > 0.0, "{found:?}");
        }
        assert!(Reference::new(&Column::default(), 0.03).is_none());
    }
}
