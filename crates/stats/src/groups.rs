//! Merges neighbouring groups of values in time order.

/// Largest number of groups. It is limited, because the time to compare all pairs of groups grows
/// with the square of the number.
pub(super) const MAX_GROUPS: usize = 64;

/// `groups`, with neighbours merged if there are more than [`MAX_GROUPS`].
pub(super) fn merged(groups: &[Vec<f64>]) -> Vec<Vec<f64>> {
    merge(groups, groups.len().min(MAX_GROUPS))
}

/// Merges neighbours of `groups` into `count` groups. Each new group has nearly the same number of
/// old groups.
pub(super) fn merge(groups: &[Vec<f64>], count: usize) -> Vec<Vec<f64>> {
    let bound = |block: usize| block * groups.len() / count.max(1);
    (0..count)
        .map(|block| {
            groups
                .get(bound(block)..bound(block + 1))
                .unwrap_or_default()
                .concat()
        })
        .collect()
}
