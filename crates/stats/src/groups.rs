//! Groups of values in time order, merged with their neighbours.

/// At most this many groups are compared one by one, which bounds the cost: pairs of them are
/// compared.
pub(super) const MAX_GROUPS: usize = 64;

/// The groups, merged with their neighbours where they are more than [`MAX_GROUPS`].
pub(super) fn merged(groups: &[Vec<f64>]) -> Vec<Vec<f64>> {
    merge(groups, groups.len().min(MAX_GROUPS))
}

/// `count` groups of neighbours, as even as can be.
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
