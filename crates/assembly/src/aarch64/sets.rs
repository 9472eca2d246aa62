//! The register sets of AArch64 by rising width.

use super::features::{BASELINE, SIMD, SVE_FOR_BLOCKS};
use super::registers::{NEON, Registers, SCALAR, SVE};
use super::streams::row;
use crate::architecture::{Bits, Feature, Set};

/// The register sets by rising width.
pub(super) fn sets() -> Vec<Set> {
    let set = |id, bits, needs: Feature, registers: &'static Registers| Set {
        id,
        bits,
        needs,
        generator: Box::new(|contract| row(registers, contract)),
    };
    vec![
        set("Scalar", Bits::Fixed(64), BASELINE, &SCALAR),
        set("Neon", Bits::Fixed(128), SIMD, &NEON),
        set("Sve", Bits::Chosen("sve_bits"), SVE_FOR_BLOCKS, &SVE),
    ]
}
