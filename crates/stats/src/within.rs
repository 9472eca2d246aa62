//! Finds the trend of values within a round, if most rounds agree on its direction.

use super::median;

/// Relative change within a round of `allocations[allocation][round][sample]`: from the first to
/// the last of `period` consecutive values. The median of these changes is taken within each round.
/// The result is the median over the rounds. `None` if the change may be chance, according to a
/// two-sided sign test over rounds with p < 0.01. For example, eight of eight rounds or 15 of 17
/// rounds have to change in one direction. `None` also if rounds are shorter than a period, or if a
/// value is not above zero.
///
/// Source: the sign test (Conover, *Practical Nonparametric Statistics*, 3rd edition, 3.4).
pub fn within(allocations: &[Vec<Vec<f64>>], period: usize) -> Option<f64> {
    let change = |run: &[f64]| {
        let first = *run.first()?;
        let last = *run.last()?;
        (first > 0.0 && last > 0.0).then(|| last / first - 1.0)
    };
    let of_round = |round: &Vec<f64>| -> Option<f64> {
        median(
            &round
                .chunks_exact(period.max(2))
                .filter_map(change)
                .collect::<Vec<f64>>(),
        )
    };
    let changes: Vec<f64> = allocations
        .iter()
        .flatten()
        .filter_map(of_round)
        .filter(|&c| c != 0.0)
        .collect();
    let up = changes.iter().filter(|&&change| change > 0.0).count();
    let fewer = up.min(changes.len() - up);
    (2.0 * at_most(fewer, changes.len()) < CHANCE)
        .then(|| median(&changes))
        .flatten()
}

/// Significance level of the sign test: a trend needs a smaller p-value.
const CHANCE: f64 = 0.01;

/// Probability that at most `count` of `all` fair coins show heads: the p-value of the sign test.
fn at_most(count: usize, all: usize) -> f64 {
    let mut one = 0.5f64.powi(i32::try_from(all).unwrap_or(i32::MAX));
    let mut sum = one;
    for heads in 0..count {
        one *= (all - heads) as f64 / (heads + 1) as f64;
        sum += one;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::super::SplitMix64;
    use super::super::order::tests::normal;
    use super::*;

    /// `count` rounds of eight samples around 100 that rise by `rise` over every four samples.
    fn rounds(count: usize, rise: f64, noise: f64, random: &mut SplitMix64) -> Vec<Vec<f64>> {
        let sample = |at: usize, random: &mut SplitMix64| {
            100.0 * (1.0 + rise * (at % 4) as f64 / 3.0) * (1.0 + noise * normal(random))
        };
        (0..count)
            .map(|_| (0..8).map(|at| sample(at, random)).collect())
            .collect()
    }

    #[test]
    fn what_rises_within_every_round_is_found_and_its_size_is_right() {
        let mut random = SplitMix64::new(3);
        for (rise, noise) in [(0.1, 0.0), (0.1, 0.02), (-0.2, 0.05), (1.0, 0.2)] {
            let found = within(&[rounds(20, rise, noise, &mut random)], 4).expect("a change");
            assert!(
                (found - rise).abs() < 0.3 * rise.abs(),
                "{rise} {noise}: {found}"
            );
        }
    }

    #[test]
    fn nothing_is_found_by_chance_more_often_than_said() {
        let mut random = SplitMix64::new(4);
        let found = (0..2000)
            .filter(|_| within(&[rounds(20, 0.0, 0.05, &mut random)], 4).is_some())
            .count();
        assert!(found <= 35, "{found} of 2000");
    }

    #[test]
    fn few_rounds_short_ones_and_what_is_no_time_say_nothing() {
        let mut random = SplitMix64::new(5);
        assert_eq!(within(&[rounds(7, 0.5, 0.0, &mut random)], 4), None);
        assert!(within(&[rounds(8, 0.5, 0.0, &mut random)], 4).is_some());
        for none in [
            vec![],
            vec![vec![]],
            vec![vec![vec![1.0, 2.0]; 20]],
            vec![vec![vec![0.0, 1.0, 2.0, 3.0]; 20]],
        ] {
            assert_eq!(within(&none, 4), None);
        }
        assert_eq!(within(&[vec![vec![5.0; 8]; 20]], 0), None);
    }
}
