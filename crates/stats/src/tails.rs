//! Computes tail quantiles of the normal distribution and of Student's t distribution.

/// The value that a standard normal variable exceeds with probability `p`: 1.645 for 0.05. `None`
/// unless `p` is in (0, 1).
///
/// Source: Acklam, "An algorithm for computing the inverse normal cumulative distribution
/// function" (2003); its relative error is below 1.2e-9.
pub fn normal_tail(p: f64) -> Option<f64> {
    const CENTRE: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.383_577_518_672_69e2,
        -3.066479806614716e1,
        2.506_628_277_459_24,
    ];
    const CENTRE_BELOW: [f64; 5] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
    ];
    const TAIL: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const TAIL_BELOW: [f64; 4] = [
        7.784695709041462e-3,
        3.224671290700398e-1,
        2.445134137142996,
        3.754408661907416,
    ];
    const BREAK: f64 = 0.02425;
    if !(p > 0.0 && p < 1.0) {
        return None;
    }
    let polynomial = |terms: &[f64], x: f64| terms.iter().fold(0.0, |sum, term| sum * x + term);
    // The constant term of each denominator is 1. The tables do not contain it.
    let below = |terms: &[f64], x: f64| polynomial(terms, x) * x + 1.0;
    let outer = |p: f64| {
        let q = (-2.0 * p.ln()).sqrt();
        -polynomial(&TAIL, q) / below(&TAIL_BELOW, q)
    };
    Some(if p < BREAK {
        outer(p)
    } else if p > 1.0 - BREAK {
        -outer(1.0 - p)
    } else {
        let q = 0.5 - p;
        q * polynomial(&CENTRE, q * q) / below(&CENTRE_BELOW, q * q)
    })
}

/// The value that a Student's t variable with `freedom` degrees of freedom exceeds with probability
/// `p`. `None` unless `p` is in (0, 0.5] and `freedom` is at least 2 and finite.
///
/// Source: Hill, "Algorithm 396: Student's t-quantiles", Communications of the ACM 13 (1970).
pub fn student_tail(p: f64, freedom: f64) -> Option<f64> {
    let is_possible = p > 0.0 && p <= 0.5 && freedom.is_finite() && freedom >= 2.0;
    if !is_possible {
        return None;
    }
    let n = freedom;
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * std::f64::consts::FRAC_PI_2).sqrt() * n;
    let mut y = (d * 2.0 * p).powf(2.0 / n);
    if y > 0.05 + a {
        let x = -normal_tail(p)?;
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        let inner = ((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0;
        y = ((1.0 / inner + 0.5 / (n + 4.0)) * y - 1.0) * (n + 1.0) / (n + 2.0) + 1.0 / y;
    }
    let value = (n * y).sqrt();
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabled_values() {
        for (p, z) in [
            (0.5, 0.0),
            (0.05, 1.644854),
            (0.001, 3.090232),
            (1e-6, 4.753424),
            (1e-9, 5.997807),
            (0.999, -3.090232),
        ] {
            let found = normal_tail(p).expect("a quantile");
            assert!((found - z).abs() < 1e-5, "{p}: {found}");
        }
        for (freedom, p, t) in [
            (2.0, 0.05, 2.919986),
            (4.0, 0.0005, 8.610302),
            (5.0, 0.001, 5.893430),
            (10.0, 0.025, 2.228139),
            (10.0, 0.0005, 4.586894),
            (100.0, 0.001, 3.173739),
        ] {
            let found = student_tail(p, freedom).expect("a quantile");
            assert!((found / t - 1.0).abs() < 2e-3, "{freedom} {p}: {found}");
        }
    }

    #[test]
    fn no_quantile_outside_of_the_range() {
        for p in [0.0, 1.0, -1.0, f64::NAN] {
            assert_eq!((normal_tail(p), student_tail(p, 5.0)), (None, None));
        }
        assert_eq!(student_tail(0.1, 1.0), None);
        assert_eq!(student_tail(0.1, f64::INFINITY), None);
        assert!(student_tail(1e-12, 3.0).is_some());
    }
}
