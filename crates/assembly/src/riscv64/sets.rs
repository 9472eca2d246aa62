//! The register sets of RISC-V by rising width.

use super::{scalar, vectors};
use crate::architecture::{Bits, Feature, Row, Set};
use crate::contract::{CodeOrigin, Contract, Does, NO_DIRECT_COPIES, Policy};

/// The baseline of all kernels.
pub(super) const RV64GC: Feature = Feature {
    name: "RV64GC",
    check: "baseline",
};
/// The vector extension.
pub(super) const RVV: Feature = Feature {
    name: "RVV 1.0",
    check: "vectors",
};
/// `cbo.zero` with blocks of 64 B, the length that the kernels expect.
const ZICBOZ: Feature = Feature {
    name: "Zicboz with blocks of 64 B",
    check: "zeroes_lines",
};

const NO_NON_TEMPORAL: &str = "RISC-V has hints for non-temporal accesses only (Zihintntl), which \
                               processors are free to ignore";
const NO_STRINGS: &str = "RISC-V has no string instructions";
const NO_REGISTERS: &str = "no vector register takes part: see the set scalar";

/// The register sets.
pub(super) fn sets() -> Vec<Set> {
    vec![
        Set {
            id: "Scalar",
            bits: Bits::Fixed(64),
            needs: RV64GC,
            generator: Box::new(|contract| row(contract, true)),
        },
        Set {
            id: "Rvv",
            bits: Bits::Chosen("vector_bits"),
            needs: RVV,
            generator: Box::new(|contract| row(contract, false)),
        },
    ]
}

/// The table row for `contract`, of the general registers if `general`, else of the vectors.
fn row(contract: &Contract, general: bool) -> Row {
    match (contract.origin, contract.policy) {
        (CodeOrigin::CLibrary, _) if general => Row::CLibrary,
        (CodeOrigin::CLibrary, _) => Row::Unsupported(NO_REGISTERS),
        (CodeOrigin::Own, Policy::Direct) => Row::Unsupported(NO_DIRECT_COPIES),
        (CodeOrigin::Own, Policy::NonTemporal) => Row::Unsupported(NO_NON_TEMPORAL),
        (CodeOrigin::Own, Policy::WholeLine) if contract.does != Does::StoreZero => {
            Row::Unsupported(NO_STRINGS)
        }
        (CodeOrigin::Own, Policy::WholeLine) if general => {
            Row::Needs(ZICBOZ, scalar::zeroed_lines(contract))
        }
        (CodeOrigin::Own, Policy::WholeLine) => Row::Unsupported(NO_REGISTERS),
        (CodeOrigin::Own, Policy::Temporal) => {
            let text = if general {
                scalar::kernel(contract)
            } else {
                vectors::kernel(contract)
            };
            text.map_or_else(Row::Unsupported, Row::Code)
        }
    }
}
