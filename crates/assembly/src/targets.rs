//! Chooses the architecture of a target.

use crate::architecture::Architecture;
use crate::{aarch64, arm, riscv64, x86};

/// The architecture of a target as Rust names it (`x86_64`, `x86`, `aarch64`, `arm`, `riscv64`);
/// `None` if there is none.
pub fn for_target(target_arch: &str) -> Option<Architecture> {
    match target_arch {
        "x86_64" => Some(x86::architecture(x86::Mode::Bits64)),
        "x86" => Some(x86::architecture(x86::Mode::Bits32)),
        "aarch64" => Some(aarch64::architecture()),
        "arm" => Some(arm::architecture()),
        "riscv64" => Some(riscv64::architecture()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture::Row;
    use crate::contract::{CONTRACTS, CodeOrigin};
    use crate::rust_source;
    use std::collections::BTreeSet;

    const TARGETS: [&str; 5] = ["x86_64", "x86", "aarch64", "arm", "riscv64"];

    #[test]
    fn no_placeholder_is_left_in_any_text() {
        for target in TARGETS {
            for kernel in for_target(target).unwrap().kernels() {
                let wrong = kernel.text.find(['$', '%', '@']);
                assert_eq!(wrong, None, "{target} {}:\n{}", kernel.name, kernel.text);
            }
        }
        assert!(for_target("mips").is_none());
    }

    #[test]
    fn every_name_is_given_once_and_every_field_is_resolved() {
        for target in TARGETS {
            let architecture = for_target(target).unwrap();
            let all = architecture.kernels();
            let names: BTreeSet<&str> = all.iter().map(|kernel| kernel.name.as_str()).collect();
            assert_eq!(names.len(), all.len(), "{target}");
            let source = rust_source(&architecture);
            assert!(!source.contains('<'), "{target}: a field without a value");
            assert_eq!(source.matches("memgauge-row-end").count(), all.len());
        }
    }

    #[test]
    fn only_one_set_has_the_functions_of_the_c_library() {
        for target in TARGETS {
            for (i, contract) in CONTRACTS.iter().enumerate() {
                let sets = for_target(target).unwrap().sets;
                let library = sets
                    .iter()
                    .filter(|set| matches!(set.rows[i], Row::CLibrary));
                let expected = usize::from(contract.origin == CodeOrigin::CLibrary);
                assert_eq!(library.count(), expected, "{target} {}", contract.name);
            }
        }
    }
}
