//! Finds the architecture of a compilation target.

use crate::architecture::Architecture;
use crate::{aarch64, arm, riscv64, x86};

/// The architecture for a value of Rust's `target_arch` (`x86_64`, `x86`, `aarch64`, `arm`,
/// `riscv64`). `None` if this crate has no kernels for it.
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
            for contract in &CONTRACTS {
                let sets = for_target(target).unwrap().sets;
                let library = sets
                    .iter()
                    .filter(|set| matches!(set.row(contract), Row::CLibrary));
                let expected = usize::from(contract.origin == CodeOrigin::CLibrary);
                assert_eq!(library.count(), expected, "{target} {}", contract.name);
            }
        }
    }

    /// The test combines each operation with every policy, order and length of iterations, with and
    /// without prefetching. The table of contracts has only a few of these combinations.
    #[test]
    fn every_thinkable_contract_has_a_text_or_a_reason() {
        use crate::contract::{AccessOrder::*, Contract, Policy::*};
        let mut contracts = Vec::new();
        for base in CONTRACTS.iter().filter(|c| c.origin == CodeOrigin::Own) {
            for policy in [Temporal, NonTemporal, WholeLine, Direct] {
                for visits in [Forward, Backward, Lines, Chunks] {
                    for iteration in [64, 128, 256, 512] {
                        for prefetches in [false, true] {
                            contracts.push(Contract {
                                policy,
                                visits,
                                iteration,
                                prefetches,
                                ..base.clone()
                            });
                        }
                    }
                }
            }
        }
        for target in TARGETS {
            for set in for_target(target).unwrap().sets {
                for contract in &contracts {
                    if let Row::Code(text) | Row::Needs(_, text) = set.row(contract) {
                        let wrong = text.find(['$', '%', '@']);
                        assert_eq!(wrong, None, "{target} {contract:?}:\n{text}");
                    }
                }
            }
        }
    }

    #[test]
    fn contracts_without_sense_are_refused_by_every_set() {
        let named = |name: &str| CONTRACTS.iter().find(|c| c.name == name).unwrap().clone();
        let mut prefetched = named("write");
        prefetched.prefetches = true;
        let mut descending = named("copy-rep");
        descending.visits = crate::contract::AccessOrder::Backward;
        let mut loaded = named("read");
        loaded.policy = crate::contract::Policy::WholeLine;
        for target in TARGETS {
            for set in for_target(target).unwrap().sets {
                for contract in [&prefetched, &descending, &loaded] {
                    let row = set.row(contract);
                    assert!(
                        matches!(row, Row::Unsupported(_)),
                        "{target} {contract:?}: {row:?}"
                    );
                }
            }
        }
    }
}
