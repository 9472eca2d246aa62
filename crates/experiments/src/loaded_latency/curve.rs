//! Curves of latency over bandwidth, one for each kind of traffic, built from the points.

use crate::difference::{ComparisonResult, Difference, Figure};
use crate::series::grouped;
use kernels::REFERENCE_INSTRUCTIONS_PER_BLOCK;
use report::without;
use report::{Coordinates, Dataset, Load, Point, Summary};
use stats::{first_passing, knee_below_chord, unevenness};

/// Value of the axis `mix` at the point without traffic.
pub const IDLE: &str = "idle";

/// Longest pause between bursts of the traffic, in core cycles. Counter readings divide a sample
/// into pieces, and a longer pause would exceed a piece. The traffic inside the common window of
/// all threads would then not be exact.
pub const LONGEST_PAUSE: u64 = 1_000_000;

/// A curve falls if a latency is below this share of the latency under less traffic. The difference
/// of 3% is no noise: repeated measurements of the same traffic differ by less, even hours apart.
const FALLS: f64 = 0.97;

/// The memory counts as loaded if a load takes at least this many times its idle latency.
pub const LOADED: f64 = 1.5;

/// A piece of the curve between two points gets another point if its weight ([`stats::unevenness`])
/// exceeds this value. A straight piece has this weight if it spans a tenth of the scaled axes.
const LEAST_WEIGHT: f64 = 0.01;

/// A point of a curve.
#[derive(Debug, Clone, Copy)]
pub struct LoadedPoint<'a> {
    /// The measured point.
    pub point: &'a Point,
    /// Core cycles between bursts of the traffic; `None` without traffic.
    pub pause: Option<u64>,
    /// Latency of a load, in ns.
    pub latency: Summary,
    /// Background traffic; `None` without traffic.
    pub load: Option<Load>,
}

impl LoadedPoint<'_> {
    /// Median payload of the traffic in bytes per second; 0 without traffic.
    pub fn bandwidth(&self) -> f64 {
        self.load.map_or(0.0, |load| load.median)
    }
}

/// Curve of one kind of traffic at rising intensity.
#[derive(Debug, Clone)]
pub struct LoadedCurve<'a> {
    /// Coordinates that all points under traffic share.
    pub place: Coordinates,
    /// The idle point comes first, then points with ever shorter pauses.
    pub points: Vec<LoadedPoint<'a>>,
}

/// Curves of `dataset` in the order of their points. Each curve also has the idle point whose
/// coordinates, except those of the traffic, are the same.
pub fn curves(dataset: &Dataset) -> Vec<LoadedCurve<'_>> {
    let loaded = dataset
        .points
        .iter()
        .filter(|p| p.name("mix").is_some_and(|mix| mix != IDLE))
        .filter_map(spot);
    let place = |spot: &LoadedPoint<'_>| without(&spot.point.coordinates, &["pause_cycles"]);
    let mut curves: Vec<LoadedCurve<'_>> = grouped(loaded, place)
        .into_iter()
        .map(|(place, points)| LoadedCurve { place, points })
        .collect();
    const OF_TRAFFIC: [&str; 3] = ["mix", "pause_cycles", "threads"];
    for curve in &mut curves {
        let own = without(&curve.place, &OF_TRAFFIC);
        let here =
            |p: &&Point| p.name("mix") == Some(IDLE) && without(&p.coordinates, &OF_TRAFFIC) == own;
        curve
            .points
            .extend(dataset.points.iter().filter(here).filter_map(spot).take(1));
        curve
            .points
            .sort_by_key(|spot| std::cmp::Reverse(spot.pause.unwrap_or(u64::MAX)));
    }
    curves
}

fn spot(point: &Point) -> Option<LoadedPoint<'_>> {
    let measured = point.usable()?;
    Some(LoadedPoint {
        point,
        pause: point.number("pause_cycles"),
        latency: measured.summary,
        load: measured.load,
    })
}

impl<'a> LoadedCurve<'a> {
    /// The mix of loads and stores as text: `67:33`.
    pub fn mix(&self) -> String {
        self.place
            .get("mix")
            .map(ToString::to_string)
            .unwrap_or_default()
    }

    /// The idle point; `None` if the curve has none.
    pub fn idle(&self) -> Option<&LoadedPoint<'a>> {
        self.points.first().filter(|spot| spot.pause.is_none())
    }

    /// The point with the highest bandwidth of the traffic. `None` if only the idle point is known.
    pub fn fastest(&self) -> Option<&LoadedPoint<'a>> {
        self.points
            .iter()
            .filter(|s| s.load.is_some())
            .max_by(|a, b| a.bandwidth().total_cmp(&b.bandwidth()))
    }

    /// Comparison of the latency under traffic with the idle latency, for each point under traffic.
    /// A point without [`Figure`] is left out. Empty without an idle point.
    pub fn slowed(&self) -> Vec<Difference<'a>> {
        let Some(idle) = self.idle() else {
            return Vec::new();
        };
        let loaded = self.points.iter().filter(|spot| spot.load.is_some());
        loaded
            .filter_map(|spot| Difference::between(idle.point, spot.point))
            .collect()
    }

    /// True if the latency at some intensity may reach [`LOADED`] times the idle latency, according
    /// to the intervals.
    pub fn is_loaded(&self) -> bool {
        let slowed = self.slowed();
        slowed
            .iter()
            .any(|slowed| slowed.ratio_interval().1 >= LOADED)
    }

    fn bandwidths(&self) -> Vec<f64> {
        self.points.iter().map(LoadedPoint::bandwidth).collect()
    }

    fn latencies(&self) -> Vec<f64> {
        self.points.iter().map(|spot| spot.latency.median).collect()
    }

    /// Latency in ns when the traffic first reaches `bandwidth`, by linear interpolation between
    /// the measured points. `None` if the traffic does not reach it, or if a point has no
    /// [`Figure`].
    pub fn at(&self, bandwidth: f64) -> Option<Figure<'a>> {
        let figures: Vec<Figure<'_>> = self
            .points
            .iter()
            .map(|spot| Figure::new(spot.point))
            .collect::<Option<_>>()?;
        let x = self.bandwidths();
        let on = |of: fn(&Figure<'_>) -> f64| {
            first_passing(&x, &figures.iter().map(of).collect::<Vec<f64>>(), bandwidth)
        };
        let passes =
            |pair: &[f64]| (pair[0].min(pair[1])..=pair[0].max(pair[1])).contains(&bandwidth);
        let first = x.windows(2).position(passes)?;
        let points = vec![self.points[first].point, self.points[first + 1].point];
        Some(Figure {
            value: on(|f| f.value)?,
            low: on(|f| f.low)?,
            high: on(|f| f.high)?,
            points,
        })
    }

    /// The knee: the point after which latency rises. The intervals must show that a later point
    /// has a higher latency than the knee and than idle. A point is ignored if its bandwidth is no
    /// higher than with a longer pause. A point faster than idle is no knee. `None` for a curve
    /// that is not loaded.
    pub fn knee(&self) -> Option<&LoadedPoint<'a>> {
        if !self.is_loaded() {
            return None;
        }
        let mut rising: Vec<&LoadedPoint<'_>> = Vec::new();
        for spot in &self.points {
            if rising
                .last()
                .is_none_or(|last| spot.bandwidth() > last.bandwidth())
            {
                rising.push(spot);
            }
        }
        let x: Vec<f64> = rising.iter().map(|spot| spot.bandwidth()).collect();
        let y: Vec<f64> = rising.iter().map(|spot| spot.latency.median).collect();
        let index = knee_below_chord(&x, &y)?;
        let idle = self.idle()?.point;
        let knee = rising[index];
        let higher = |from: &Point, to: &Point| shows(from, to) == Some(ComparisonResult::Higher);
        let rises =
            |later: &&LoadedPoint<'_>| higher(knee.point, later.point) && higher(idle, later.point);
        let falls = shows(idle, knee.point) == Some(ComparisonResult::Lower);
        (rising[index + 1..].iter().any(rises) && !falls).then_some(knee)
    }

    /// The two points between which latency falls most although traffic rises. The intervals must
    /// show that traffic rises, and that latency falls below the share [`FALLS`]. `None` without
    /// such points.
    pub fn fall(&self) -> Option<(&LoadedPoint<'a>, &LoadedPoint<'a>)> {
        let low = |spot: &LoadedPoint<'_>| spot.load.map_or(0.0, |load| load.ci_low);
        let high = |spot: &LoadedPoint<'_>| spot.load.map_or(0.0, |load| load.ci_high);
        let pairs = self
            .points
            .iter()
            .flat_map(|a| self.points.iter().map(move |b| (a, b)));
        let falls = |(a, b): &(&LoadedPoint<'_>, &LoadedPoint<'_>)| {
            let slower = Difference::between(a.point, b.point);
            low(b) > high(a) && slower.is_some_and(|change| change.ratio_interval().1 < FALLS)
        };
        let depth =
            |(a, b): &(&LoadedPoint<'_>, &LoadedPoint<'_>)| a.latency.median / b.latency.median;
        pairs
            .filter(falls)
            .max_by(|one, other| depth(one).total_cmp(&depth(other)))
    }

    /// Further points, each as a weight and a pause in core cycles. The new point divides a piece
    /// of the curve that has this weight.
    pub fn wanted(&self) -> Vec<(f64, u64)> {
        let worth = unevenness(&self.bandwidths(), &self.latencies());
        let pairs = self
            .points
            .windows(2)
            .zip(worth)
            .filter(|(_, worth)| *worth > LEAST_WEIGHT);
        let between = |(pair, worth): (&[LoadedPoint<'_>], f64)| {
            Some((worth, middle(pair[0].pause, pair[1].pause?)?))
        };
        pairs.filter_map(between).collect()
    }
}

/// Comparison of two points by their intervals.
fn shows(from: &Point, to: &Point) -> Option<ComparisonResult> {
    Some(Difference::between(from, to)?.shows())
}

/// A pause between two neighbouring pauses: their geometric mean, rounded down to whole blocks of
/// additions. If `longer` is `None` (no traffic), the pause is four times `shorter`. If `shorter`
/// is 0, the pause is half of `longer`. `None` if no whole block lies between the two.
fn middle(longer: Option<u64>, shorter: u64) -> Option<u64> {
    let pause = match (longer, shorter) {
        (None, shorter) => shorter.saturating_mul(4).min(LONGEST_PAUSE),
        (Some(longer), 0) => longer / 2,
        (Some(longer), shorter) => (longer as f64 * shorter as f64).sqrt() as u64,
    };
    let whole = pause / REFERENCE_INSTRUCTIONS_PER_BLOCK * REFERENCE_INSTRUCTIONS_PER_BLOCK;
    (whole > shorter && longer.is_none_or(|longer| whole < longer)).then_some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_neighbours_are_whole_blocks() {
        assert_eq!(middle(Some(4096), 1024), Some(2048));
        assert_eq!(middle(Some(1024), 0), Some(512));
        assert_eq!(middle(None, 65536), Some(262_144));
        assert_eq!(
            (
                middle(Some(128), 0),
                middle(Some(256), 128),
                middle(None, LONGEST_PAUSE)
            ),
            (None, None, None)
        );
    }
}
