//! Finds the knee of a smooth curve, the pieces in which the curve needs further points, and the y
//! at a given x.

/// A knee has to lie more than this distance below the straight line between the ends of the curve.
/// Both axes are scaled to [0, 1].
const SHALLOWEST: f64 = 0.1;

/// A point of a curve whose x and y are scaled to 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
struct SquarePoint {
    x: f64,
    y: f64,
}

/// The curve with x and y scaled to 0 to 1. `None` if all x or all y are equal, or a value is not
/// finite.
fn in_square(x: &[f64], y: &[f64]) -> Option<Vec<SquarePoint>> {
    let span = |v: &[f64]| {
        let low = v.iter().copied().reduce(f64::min)?;
        let width = v.iter().copied().reduce(f64::max)? - low;
        (width.is_finite() && width > 0.0 && v.iter().all(|v| v.is_finite()))
            .then_some((low, width))
    };
    let (left, width) = span(x)?;
    let (low, height) = span(y)?;
    let place = |(x, y): (&f64, &f64)| SquarePoint {
        x: (x - left) / width,
        y: (y - low) / height,
    };
    (x.len() == y.len()).then(|| x.iter().zip(y).map(place).collect())
}

/// Distance of `point` from the straight line through `from` and `to`. If `from` and `to` are
/// equal, it is the distance of `point` from `from`.
fn distance(point: SquarePoint, from: SquarePoint, to: SquarePoint) -> f64 {
    let dx = to.x - from.x;
    let dy = to.y - from.y;
    let px = point.x - from.x;
    let py = point.y - from.y;
    let length = dx.hypot(dy);
    if length > 0.0 {
        (dx * py - dy * px).abs() / length
    } else {
        px.hypot(py)
    }
}

/// Index of the knee of a curve that rises ever more steeply over rising `x`. Both axes are scaled
/// to 0 to 1. The knee is the inner point that lies furthest below the straight line from the first
/// point to the last point. `None` if `x` does not rise, a value is not finite, or no inner point
/// lies a tenth below the line.
///
/// Source: Satopaa, Albrecht, Irwin and Raghavan, "Finding a Kneedle in a Haystack", ICDCS
/// workshops 2011, without its smoothing, because points here are medians of many samples.
pub fn knee_below_chord(x: &[f64], y: &[f64]) -> Option<usize> {
    let curve = in_square(x, y)?;
    let &first = curve.first()?;
    let &last = curve.last()?;
    if x.windows(2).any(|pair| pair[0] >= pair[1]) {
        return None;
    }
    let chord = |x: f64| first.y + (last.y - first.y) * (x - first.x) / (last.x - first.x);
    let depths = curve
        .iter()
        .enumerate()
        .map(|(index, point)| (index, chord(point.x) - point.y));
    depths
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, depth)| *depth > SHALLOWEST)
        .map(|(index, _)| index)
}

/// Weight of each piece between neighbouring points: how much the curve would gain from a further
/// point in this piece. With both axes scaled to 0 to 1, the weight is length × (length + first
/// bend + second bend). Each end of the piece has a bend: its distance from the line through the
/// two points next to it. Empty if all x or all y are equal.
pub fn unevenness(x: &[f64], y: &[f64]) -> Vec<f64> {
    let Some(curve) = in_square(x, y) else {
        return Vec::new();
    };
    let bend = |at: usize| match at.checked_sub(1).zip(curve.get(at + 1)) {
        Some((before, after)) => distance(curve[at], curve[before], *after),
        None => 0.0,
    };
    let piece = |at: usize| {
        let from = curve[at];
        let to = curve[at + 1];
        let length = (to.x - from.x).hypot(to.y - from.y);
        // The factor `length` keeps the weight of a very short piece low, because its bends may be
        // noise.
        length * (length + bend(at) + bend(at + 1))
    };
    (0..curve.len().saturating_sub(1)).map(piece).collect()
}

/// The y at the first place of the curve where x has the value `at`, interpolated linearly between
/// points. `None` if no piece of the curve contains this x.
pub fn first_passing(x: &[f64], y: &[f64], at: f64) -> Option<f64> {
    let pieces = x.windows(2).zip(y.windows(2));
    let passed = pieces.filter(|(x, _)| (x[0].min(x[1])..=x[0].max(x[1])).contains(&at));
    let between = |(x, y): (&[f64], &[f64])| {
        let share = if x[0] == x[1] {
            0.0
        } else {
            (at - x[0]) / (x[1] - x[0])
        };
        y[0] + (y[1] - y[0]) * share
    };
    passed.map(between).next().filter(|y| y.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_knee_of_a_queue_is_where_it_turns_up() {
        let x: Vec<f64> = (0..=95).map(|i| f64::from(i) / 100.0).collect();
        let y: Vec<f64> = x
            .iter()
            .map(|u| 100.0 * (1.0 + 0.25 * u / (1.0 - u)))
            .collect();
        let knee = knee_below_chord(&x, &y).unwrap();
        // The knee is where the slope of the curve, 25 / (1 - u)^2, equals the slope of the chord.
        let expected = 1.0 - (25.0f64 / ((y[95] - y[0]) / 0.95)).sqrt();
        assert!(
            (x[knee] - expected).abs() < 0.011,
            "{} against {expected}",
            x[knee]
        );
        // The result does not depend on the unit of y.
        let scaled: Vec<f64> = y.iter().map(|y| y * 1e9).collect();
        assert_eq!(knee_below_chord(&x, &scaled), Some(knee));
    }

    #[test]
    fn what_has_no_knee() {
        let x = [0.0, 1.0, 2.0, 3.0];
        assert_eq!(
            knee_below_chord(&x, &[1.0, 2.0, 3.0, 4.0]),
            None,
            "straight"
        );
        assert_eq!(
            knee_below_chord(&x, &[1.0, 3.5, 3.9, 4.0]),
            None,
            "ever less steep"
        );
        assert_eq!(knee_below_chord(&x, &[1.0; 4]), None, "flat");
        assert_eq!(
            knee_below_chord(&[0.0, 2.0, 1.0, 3.0], &[1.0, 1.0, 1.0, 4.0]),
            None,
            "goes back"
        );
        assert_eq!(knee_below_chord(&x, &[1.0, 1.0, f64::NAN, 4.0]), None);
        assert_eq!(knee_below_chord(&x, &[1.0, 1.0, 2.0]), None);
        assert_eq!(knee_below_chord(&[], &[]), None);
        assert_eq!(knee_below_chord(&x, &[1.0, 1.1, 1.2, 4.0]), Some(2));
    }

    #[test]
    fn most_is_to_be_learnt_in_long_pieces_and_at_bends() {
        let bent = unevenness(&[0.0, 0.5, 1.0], &[0.0, 0.0, 1.0]);
        assert!(bent[1] > bent[0], "{bent:?}");
        let straight = unevenness(&[0.0, 0.1, 1.0], &[0.0, 0.1, 1.0]);
        assert!(straight[1] > straight[0] * 10.0, "{straight:?}");
        let saturated = unevenness(&[0.0, 0.9, 0.99, 1.0], &[0.0, 0.5, 0.98, 1.0]);
        assert!(
            saturated[0] > saturated[1] && saturated[1] > saturated[2] * 10.0,
            "{saturated:?}"
        );
        assert!(unevenness(&[1.0, 1.0], &[1.0, 2.0]).is_empty() && unevenness(&[], &[]).is_empty());
    }

    #[test]
    fn a_value_is_read_off_where_the_curve_first_passes() {
        let x = [0.0, 10.0, 20.0, 15.0];
        let y = [100.0, 110.0, 200.0, 300.0];
        let at = |x_at| first_passing(&x, &y, x_at);
        assert_eq!(
            [0.0, 5.0, 10.0, 15.0, 20.0].map(at),
            [100.0, 105.0, 110.0, 155.0, 200.0].map(Some)
        );
        assert_eq!((at(20.1), at(-0.1), at(f64::NAN)), (None, None, None));
        assert_eq!(first_passing(&[1.0, 1.0], &[5.0, 9.0], 1.0), Some(5.0));
        assert_eq!(first_passing(&[], &[], 1.0), None);
    }
}
