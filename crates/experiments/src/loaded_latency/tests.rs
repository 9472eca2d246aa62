//! Tests of findings about curves that are made by hand.

use super::curve::{LoadedCurve, LoadedPoint};
use super::findings::{along, doubt};
use crate::difference::tests::measured_point;
use report::{Coordinate, Coordinates, Load, Summary};

/// A point with traffic of `gigabytes` GB/s and a latency of `ns`. The half width of their
/// intervals is the share `error` of the value.
fn spot(pause: Option<u64>, gigabytes: f64, ns: f64, error: f64) -> LoadedPoint<'static> {
    let ci_low = ns * (1.0 - error);
    let ci_high = ns * (1.0 + error);
    let latency = Summary {
        median: ns,
        best: ns,
        ci_low,
        ci_high,
        confidence: 0.95,
        mad: Some(0.0),
        mean: None,
        standard_deviation: None,
        coefficient_of_variation: None,
        undisturbed_samples: 100,
    };
    let rate = gigabytes * 1e9;
    let load = Load {
        median: rate,
        ci_low: rate * (1.0 - error),
        ci_high: rate * (1.0 + error),
        confidence: 0.95,
        bus_estimate: rate,
    };
    // A point must outlive its curve, so it is leaked. Tests make few points.
    let point = Box::leak(Box::new(measured_point(latency)));
    LoadedPoint {
        point,
        pause,
        latency,
        load: pause.map(|_| load),
    }
}

fn curve(points: &[(f64, f64)], error: f64) -> LoadedCurve<'static> {
    let pause = |index: usize| (index > 0).then(|| 1u64 << (20 - index));
    let points = points
        .iter()
        .enumerate()
        .map(|(i, &(x, y))| spot(pause(i), x, y, error))
        .collect();
    let place = [
        ("mix", Coordinate::Name("100:0".to_owned())),
        ("threads", Coordinate::Number(7)),
    ];
    let place: Coordinates = place
        .into_iter()
        .map(|(axis, at)| (axis.to_owned(), at))
        .collect();
    LoadedCurve { place, points }
}

const ADVICE: &str = "it takes more";

const RISING: [(f64, f64); 6] = [
    (0.0, 100.0),
    (5.0, 102.0),
    (10.0, 107.0),
    (15.0, 120.0),
    (18.0, 150.0),
    (20.0, 300.0),
];

#[test]
fn figures_are_read_off_along_the_curve() {
    let curve = curve(&RISING, 0.01);
    let finding = along(&curve, &[]).expect("a curve");
    assert_eq!(finding.values["idle_ns"], 100.0);
    assert_eq!(finding.values["highest"], 20e9);
    assert_eq!(finding.values["ns_at_50"], 107.0);
    assert!(
        (finding.values["ns_at_80"] - 130.0).abs() < 1e-9 && finding.values["ns_at_90"] == 150.0
    );
    assert_eq!(
        (finding.values["knee"], finding.values["knee_ns"]),
        (18e9, 150.0)
    );
    let said = "Under 100:0 traffic of 7 threads a load takes 100 ns idle, 107 ns at 50%, 130 ns \
         at 80%, 150 ns at 90% of 20.0 GB/s. The curve bends at 18.0 GB/s (150 ns).";
    assert_eq!(finding.text, said);
    assert!(doubt(&curve, &[], ADVICE).is_none());
}

#[test]
fn traffic_that_falls_back_when_it_presses_harder_is_read_where_it_first_passes() {
    let mut points = RISING.to_vec();
    points.push((16.0, 400.0));
    let finding = along(&curve(&points, 0.01), &[]).expect("a curve");
    assert!((finding.values["ns_at_80"] - 130.0).abs() < 1e-9);
    assert_eq!(
        (finding.values["highest"], finding.values["knee"]),
        (20e9, 18e9)
    );
}

#[test]
fn only_a_rise_that_the_intervals_show_is_told() {
    let told = |points: &[(f64, f64)], error: f64| {
        let told = along(&curve(points, error), &[])
            .map(|finding| finding.values)
            .unwrap_or_default();
        ["ns_at_50", "ns_at_80", "ns_at_90"].map(|share| told.get(share).copied())
    };
    // Loads are faster at 80% than at 50%, as if the clock rose under traffic.
    let dips = [
        (0.0, 160.0),
        (10.0, 194.0),
        (16.0, 178.0),
        (18.0, 230.0),
        (20.0, 300.0),
    ];
    assert_eq!(told(&dips, 0.01), [None, Some(178.0), Some(230.0)]);
    // With wider intervals, the dip at 80% is neither a fall nor a rise, so only 50% and 90% are
    // told.
    assert_eq!(told(&dips, 0.06), [Some(194.0), None, Some(230.0)]);
    let level = [
        (0.0, 100.0),
        (10.0, 140.0),
        (16.0, 141.0),
        (18.0, 142.0),
        (20.0, 142.0),
    ];
    assert_eq!(told(&level, 0.01), [Some(140.0), None, None]);
    assert_eq!(
        told(
            &[(0.0, 100.0), (10.0, 140.0), (16.0, 90.0), (20.0, 90.0)],
            0.01
        ),
        [None; 3]
    );
}

#[test]
fn a_bend_is_told_only_before_a_rise_beyond_the_intervals() {
    // Measured on a virtual machine of two CPUs: traffic keeps the clocks of the host high, so that
    // loads get a little faster.
    let falling = [
        (0.0, 238.0),
        (0.69, 233.6),
        (2.35, 231.6),
        (3.91, 231.8),
        (5.93, 224.9),
        (9.26, 223.6),
        (15.0, 218.3),
    ];
    for error in [0.0, 0.06] {
        let curve = curve(&falling, error);
        assert!(
            along(&curve, &[]).is_none() && curve.knee().is_none(),
            "{error}"
        );
    }
    let knee = |error: f64| curve(&RISING, error).knee().map(LoadedPoint::bandwidth);
    assert_eq!(
        [0.0, 0.1, 0.3, 0.4].map(knee),
        [Some(18e9), Some(18e9), Some(18e9), None]
    );
}

#[test]
fn a_curve_that_is_not_loaded_has_no_bend() {
    // Two curves of the same shape. Their latency rises to 1.4 and to 1.6 times the idle latency.
    let knee = |height: f64| {
        let points = [
            (0.0, 100.0),
            (10.0, 101.0),
            (18.0, 104.0),
            (20.0, 100.0 * height),
        ];
        curve(&points, 0.001).knee().map(LoadedPoint::bandwidth)
    };
    assert_eq!([1.4, 1.6].map(knee), [None, Some(18e9)]);
}

#[test]
fn no_curve_bends_below_idle() {
    // The idle point was disturbed. Its latency is higher than under little traffic, and about as
    // high as under the most traffic.
    let dip = [
        (0.0, 176.0),
        (0.5, 160.0),
        (0.9, 158.0),
        (8.0, 165.0),
        (9.0, 177.0),
    ];
    let curve = curve(&dip, 0.01);
    assert!(curve.knee().is_none() && along(&curve, &[]).is_none());
}

#[test]
fn a_curve_that_falls_outside_its_bands_is_said_to() {
    let mut points = RISING;
    points[2].1 = 90.0;
    let finding = doubt(&curve(&points, 0.01), &[], ADVICE).expect("a fall");
    assert_eq!(finding.kind, "loaded-latency-falls");
    assert_eq!(
        (finding.values["from_ns"], finding.values["to_ns"]),
        (102.0, 90.0)
    );
    // With wider intervals there is no finding.
    assert!(doubt(&curve(&points, 0.1), &[], ADVICE).is_none());
    let close = [(0.0, 100.0), (10.0, 300.0), (10.1, 200.0)];
    assert!(doubt(&curve(&close, 0.01), &[], ADVICE).is_none());
}

#[test]
fn a_curve_that_hardly_rises_is_said_to() {
    let flat = [(0.0, 100.0), (5.0, 102.0), (10.0, 140.0)];
    let finding = doubt(&curve(&flat, 0.01), &[], ADVICE).expect("a flat curve");
    assert_eq!(
        (finding.kind.as_str(), finding.values["ratio"]),
        ("loaded-latency-flat", 1.4)
    );
    let said = "7 threads cannot load this memory: under 100:0 traffic of 7 threads (10.0 GB/s) \
         loads take at most 1.40 times as long as idle, not 1.5 times; it takes more.";
    assert_eq!(finding.text, said);
    // The ratio is that of the slowest point under traffic to idle, even if idle is slower.
    let faster = [(0.0, 100.0), (5.0, 98.0), (10.0, 95.0)];
    assert_eq!(
        doubt(&curve(&faster, 0.1), &[], ADVICE)
            .expect("a flat curve")
            .values["ratio"],
        0.98
    );
    for reached in [149.0, 150.0] {
        // With these intervals, the slowdown may be 1.5 times, so that there is no finding.
        assert!(
            doubt(
                &curve(&[(0.0, 100.0), (5.0, 102.0), (10.0, reached)], 0.01),
                &[],
                ADVICE
            )
            .is_none()
        );
    }
}

#[test]
fn without_an_idle_point_or_traffic_there_is_nothing_to_say() {
    let mut headless = curve(&RISING, 0.01);
    headless.points.remove(0);
    assert!(along(&headless, &[]).is_none() && doubt(&headless, &[], ADVICE).is_none());
    let alone = curve(&RISING[..1], 0.01);
    assert!(
        along(&alone, &[]).is_none()
            && doubt(&alone, &[], ADVICE).is_none()
            && alone.wanted().is_empty()
    );
}

#[test]
fn points_are_wanted_in_long_pieces_and_at_the_bend() {
    let mut wanted = curve(&RISING, 0.01).wanted();
    wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
    // The point that is wanted most is between 18 and 20 GB/s, where most of the rise happens.
    let middle = ((1u64 << 16) as f64 * (1u64 << 15) as f64).sqrt() as u64 / 128 * 128;
    assert_eq!(wanted[0].1, middle);
    // A wanted pause may be longer than the longest measured pause.
    assert!(wanted.iter().any(|(_, pause)| *pause > 1 << 19));
}
