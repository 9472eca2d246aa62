//! Groups of values in time order, merged with their neighbours.

/// Largest number of groups whose pairs are compared; it bounds the time.
pub(super) const MAX_GROUPS: usize = 64;

/// The groups; if there are more than [`MAX_GROUPS`], neighbours are merged.
pub(super) fn merged(groups: &[Vec<f64>]) -> Vec<Vec<f64>> {
    merge(groups, groups.len().min(MAX_GROUPS))
}

/// `count` groups made of neighbours, as even as possible.
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
