//! Random noise for the values of simulated machines.

use stats::SplitMix64;

/// A value of the standard normal distribution.
pub fn normal(random: &mut SplitMix64) -> f64 {
    let radius = (-2.0 * (1.0 - random.fraction()).ln()).sqrt();
    radius * (std::f64::consts::TAU * random.fraction()).cos()
}

/// Noise with a standard deviation around 1. One value in twenty is from an exponential distribution,
/// mostly on the slow side.
pub fn noise(random: &mut SplitMix64) -> f64 {
    if random.below(20) == 0 {
        let size = -(1.0 - random.fraction()).ln();
        if random.below(4) == 0 { size } else { -size }
    } else {
        normal(random)
    }
}
