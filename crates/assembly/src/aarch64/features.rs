//! Processor features that kernels need.

use crate::architecture::Feature;

pub(super) const BASELINE: Feature = feature("AArch64", "baseline");
pub(super) const SIMD: Feature = feature("Advanced SIMD", "neon");
pub(super) const SVE: Feature = feature("SVE", "sve");
/// SVE with vectors whose length divides a block of 512 B.
pub(super) const SVE_FOR_BLOCKS: Feature = feature("SVE", "sve_for_blocks");
pub(super) const LSE: Feature = feature("LSE", "lse");
pub(super) const MOPS: Feature = feature("FEAT_MOPS", "mops");
pub(super) const ZEROING: Feature = feature("DC ZVA of 16 to 64 B", "zeroes_blocks");

/// A [`Feature`] with this name and this check.
const fn feature(name: &'static str, check: &'static str) -> Feature {
    Feature { name, check }
}
