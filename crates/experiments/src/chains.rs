//! Functions about chains that several experiments use: orders and their windows, seeds, cache
//! lines.

use crate::experiment::Scope;
use crate::lists::{ChainMode, ChainModes};
use engine::{ChainShape, Sampling};
use stats::derive;
use units::error::{Error, Result};
use units::{Bytes, Nanos, SizeList};

/// Default for the window of an order: the part of memory that a chain visits completely before the
/// next part.
const WINDOW: Bytes = Bytes(1 << 20);

/// Window that makes TLB misses rare (packed order): eight pages of 4 KiB, fewer than the entries
/// of any first-level TLB. Its 512 lines in random order are too many for a prefetcher.
const PACKED: Bytes = Bytes(32 << 10);

impl ChainMode {
    /// True if the order finishes one window of memory before it begins the next.
    pub fn has_windows(self) -> bool {
        match self {
            ChainMode::RandomBox | ChainMode::SameRandomInBox | ChainMode::DiffRandomInBox => true,
            ChainMode::GlobalRandom | ChainMode::Sequential => false,
        }
    }

    fn shape(self, window: Bytes) -> ChainShape {
        match self {
            ChainMode::GlobalRandom => ChainShape::GlobalRandom,
            ChainMode::RandomBox => ChainShape::RandomBox(window),
            ChainMode::SameRandomInBox => ChainShape::SameRandomInBox(window),
            ChainMode::DiffRandomInBox => ChainShape::DiffRandomInBox(window),
            ChainMode::Sequential => ChainShape::Sequential,
        }
    }
}

/// The mode of a chain of this shape, and the size of the mode's windows. The size is `None` if the
/// mode has no windows.
pub fn named(shape: ChainShape) -> (ChainMode, Option<Bytes>) {
    match shape {
        ChainShape::GlobalRandom | ChainShape::OnePerPage(_) | ChainShape::Pairs { .. } => {
            (ChainMode::GlobalRandom, None)
        }
        ChainShape::RandomBox(window) => (ChainMode::RandomBox, Some(window)),
        ChainShape::SameRandomInBox(window) => (ChainMode::SameRandomInBox, Some(window)),
        ChainShape::DiffRandomInBox(window) => (ChainMode::DiffRandomInBox, Some(window)),
        ChainShape::Sequential => (ChainMode::Sequential, None),
    }
}

/// Shapes of chains in `modes` with nodes `stride` apart. A mode with windows gives one shape for
/// each window size in `localities`, or one shape with the default window. Fails if a window is no
/// multiple of `stride`, or too small for two nodes.
pub fn shapes(
    modes: &ChainModes,
    localities: Option<&SizeList>,
    stride: Bytes,
) -> Result<Vec<ChainShape>> {
    let least = Bytes(stride.0.saturating_mul(2));
    for &window in localities.iter().flat_map(|list| &list.0) {
        if window < least || !window.0.is_multiple_of(stride.0) {
            return Err(Error::usage(format!(
                "window not possible: {} B; a window is a multiple of the stride of {stride} and \
                 holds two nodes or more; type --locality {}",
                window.0,
                window.round_down(stride.0).max(least).0
            )));
        }
    }
    let windows = localities.map_or_else(
        || vec![WINDOW.round_down(stride.0).max(least)],
        |list| list.0.clone(),
    );
    let shapes = |mode: &ChainMode| -> Vec<ChainShape> {
        let used = if mode.has_windows() { windows.len() } else { 1 };
        windows
            .iter()
            .take(used)
            .map(|&window| mode.shape(window))
            .collect()
    };
    Ok(modes.0.iter().flat_map(shapes).collect())
}

/// Window of the packed order in base pages of `base` bytes.
pub fn packed_window(base: Bytes) -> Bytes {
    PACKED.max(base)
}

/// Seed of the order of a chain. Equal chains get the same seed in every experiment.
pub fn chain_seed(scope: &Scope<'_>, size: Bytes, stride: Bytes) -> u64 {
    derive(scope.seed, "chain", size.0 ^ (stride.0 << 48))
}

/// Size of a cache line of `cpu`; 64 B if it is unknown.
pub fn line_of(scope: &Scope<'_>, cpu: u32) -> Bytes {
    scope
        .facts()
        .topology
        .data_caches(cpu)
        .first()
        .and_then(|c| c.line)
        .unwrap_or(Bytes(64))
}

/// The `general` sampling with at most `per_round` samples in a round, at most `rounds` rounds, and
/// samples of at most `longest`. Curves need few samples for each point, because many points
/// support one result.
pub fn few_samples(general: Sampling, per_round: u32, rounds: u32, longest: Nanos) -> Sampling {
    Sampling {
        length: general.length.min(longest),
        in_memory: 1.0,
        per_round: general.per_round.min(per_round),
        rounds: general.rounds.min(rounds),
        target: 0.0,
        ..general
    }
}
