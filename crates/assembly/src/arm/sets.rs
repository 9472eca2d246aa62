//! The register sets of Armv7 by rising width.

use super::streams::{Set as Registers, kernel};
use crate::architecture::{Bits, Feature, Row, Set};
use crate::contract::{CodeOrigin, Contract, Does, NO_DIRECT_COPIES, Policy};

/// The baseline of streaming kernels.
const VFP: Feature = Feature {
    name: "Armv7 with VFPv3",
    check: "baseline",
};
/// The baseline of operations on shared words.
pub(super) const ARMV7: Feature = Feature {
    name: "Armv7",
    check: "baseline",
};
/// Advanced SIMD.
pub(super) const NEON: Feature = Feature {
    name: "NEON",
    check: "neon",
};

const NO_NON_TEMPORAL: &str = "Armv7 has no non-temporal loads and stores";
const NO_DOUBLES: &str = "NEON of Armv7 has no doubles: see the scalar set";
const NO_STRING: &str = "Armv7 has no string instructions";
const NO_ZEROING: &str = "Armv7 has no instruction that zeroes a cache line";
const CHOSEN_BY_THE_LIBRARY: &str =
    "the C library chooses its registers itself: see the scalar set";

/// The register sets. Both use general registers to load one word per line, because vector loads
/// are wider.
pub(super) fn sets() -> Vec<Set> {
    vec![
        Set {
            id: "Scalar",
            bits: Bits::Fixed(32),
            needs: VFP,
            generator: Box::new(|contract| row(Registers::General, contract)),
        },
        Set {
            id: "Neon",
            bits: Bits::Fixed(128),
            needs: NEON,
            generator: Box::new(|contract| row(Registers::Neon, contract)),
        },
    ]
}

fn row(set: Registers, contract: &Contract) -> Row {
    match (contract.origin, contract.policy) {
        (CodeOrigin::CLibrary, _) if set == Registers::General => Row::CLibrary,
        (CodeOrigin::CLibrary, _) => Row::Unsupported(CHOSEN_BY_THE_LIBRARY),
        (CodeOrigin::Own, _) if contract.on_doubles() && set == Registers::Neon => {
            Row::Unsupported(NO_DOUBLES)
        }
        (CodeOrigin::Own, Policy::Direct) => Row::Unsupported(NO_DIRECT_COPIES),
        (CodeOrigin::Own, Policy::NonTemporal) => Row::Unsupported(NO_NON_TEMPORAL),
        (CodeOrigin::Own, Policy::WholeLine) if contract.does == Does::StoreZero => {
            Row::Unsupported(NO_ZEROING)
        }
        (CodeOrigin::Own, Policy::WholeLine) => Row::Unsupported(NO_STRING),
        (CodeOrigin::Own, Policy::Temporal) => {
            kernel(set, contract).map_or_else(Row::Unsupported, Row::Code)
        }
    }
}
