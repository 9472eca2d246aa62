//! The list of all kernels in this build: name, required features, digest, machine code.

use super::calibrate::CoreReference;
use super::chase::{chase_code, chase_digest, chase_name};
use super::handoff::HandOff;
use super::instructions::{ListedInstruction, all_instructions};
use super::locks::{ListedLock, LockOperation, all_locks};
use super::select::all_rows;
use super::sets::KernelRow;
use super::{CodeOrigin, Timing};
use assembly::MAX_WALKERS;

/// A kernel as `memgauge list kernels` shows it.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Family: `streaming`, `chase`, `instruction`, `lock`, `hand-off`, `calibration`, or
    /// `reference` for code of the C or the standard library.
    pub family: &'static str,
    /// Name in reports.
    pub name: String,
    /// Name without the instruction set or the timing.
    pub operation: String,
    /// Description for lists.
    pub does: String,
    /// Register width in bits; `any` if the processor chooses it.
    pub bits: String,
    /// Features that the processor and the system must support, in words.
    pub needs: String,
    /// Reason why the kernel cannot run here; `None` if it can.
    pub unavailable: Option<String>,
    /// True if the instruction set has no instructions for the operation.
    pub unsupported: bool,
    /// Digest of the machine code. `None` if there is no code, or if the code belongs to the C or
    /// the standard library.
    pub digest: Option<String>,
    /// The machine code; `None` if `digest` is `None`.
    pub code: Option<Vec<u8>>,
}

/// Every kernel of this build.
pub fn catalogue() -> Vec<Listing> {
    let streams = all_rows().into_iter().map(stream);
    let walkers = (1..=MAX_WALKERS).flat_map(|n| [(n, false), (n, true)]);
    let instructions = all_instructions().into_iter().map(instruction);
    let all = streams
        .chain(walkers.map(chase))
        .chain(instructions)
        .chain(all_locks().into_iter().map(lock));
    all.chain(HandOff::ALL.map(handoff))
        .chain(CoreReference::ALL.map(core_reference))
        .collect()
}

/// Width of this machine's general registers in bits.
fn own_bits() -> String {
    usize::BITS.to_string()
}

fn stream(row: KernelRow) -> Listing {
    let contract = row.operation.contract();
    Listing {
        family: if contract.origin == CodeOrigin::Own {
            "streaming"
        } else {
            "reference"
        },
        name: row.name(),
        operation: contract.name.to_owned(),
        does: contract.help.to_owned(),
        bits: row.set.width(),
        needs: row.needs(),
        unavailable: row.kernel().err(),
        unsupported: row.unsupported().is_some(),
        digest: row.digest(),
        code: row.code(),
    }
}

fn chase((walkers, payload): (usize, bool)) -> Listing {
    let mut does = "follow pointers, each load needs the one before it".to_owned();
    if walkers > 1 {
        does = format!("{walkers} walkers follow pointers, each waits for its own loads only");
    }
    if payload {
        does += "; load the word behind each pointer too";
    }
    Listing {
        family: "chase",
        name: chase_name(walkers, payload),
        operation: "chase".to_owned(),
        does,
        bits: own_bits(),
        needs: "any processor".to_owned(),
        unavailable: None,
        unsupported: false,
        digest: chase_digest(walkers, payload),
        code: chase_code(walkers, payload),
    }
}

fn instruction(listed: ListedInstruction) -> Listing {
    let timed = match listed.timing {
        Timing::Throughput => "independent ones",
        Timing::Latency => "each waits for the one before",
    };
    let assembly = listed
        .assembly()
        .map(|text| format!(" [{text}]"))
        .unwrap_or_default();
    Listing {
        family: "instruction",
        name: listed.name(),
        operation: listed.instruction.name().to_owned(),
        does: format!("{}; {timed}{assembly}", listed.instruction.help()),
        bits: own_bits(),
        needs: if listed.needs().is_empty() {
            "any processor"
        } else {
            listed.needs()
        }
        .to_owned(),
        unavailable: listed.kernel().err(),
        unsupported: listed.unsupported().is_some(),
        digest: listed.digest(),
        code: listed.code(),
    }
}

fn lock(listed: ListedLock) -> Listing {
    Listing {
        family: if listed.operation == LockOperation::Mutex {
            "reference"
        } else {
            "lock"
        },
        name: listed.name(),
        operation: listed.operation.name().to_owned(),
        does: listed.operation.help().to_owned(),
        bits: own_bits(),
        needs: if listed.needs().is_empty() {
            "any processor"
        } else {
            listed.needs()
        }
        .to_owned(),
        unavailable: listed.kernel().err(),
        unsupported: false,
        digest: listed.digest(),
        code: listed.code(),
    }
}

fn handoff(handoff: HandOff) -> Listing {
    Listing {
        family: "hand-off",
        name: handoff.kernel_name(),
        operation: "hand-off".to_owned(),
        does: handoff.help().to_owned(),
        bits: own_bits(),
        needs: "any processor".to_owned(),
        unavailable: None,
        unsupported: false,
        digest: handoff.digest(),
        code: handoff.code(),
    }
}

fn core_reference(reference: CoreReference) -> Listing {
    let does = match reference {
        CoreReference::DependentAdds => "dependent register additions: the core clock",
        CoreReference::Independent => {
            "independent register instructions: whether another thread begins some on the same core"
        }
    };
    Listing {
        family: "calibration",
        name: reference.name().to_owned(),
        operation: reference.name().to_owned(),
        does: does.to_owned(),
        bits: own_bits(),
        needs: "any processor".to_owned(),
        unavailable: None,
        unsupported: false,
        digest: reference.digest(),
        code: reference.code(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_all_that_can_run_of_this_program_has_code() {
        let all = catalogue();
        let names: BTreeSet<&str> = all.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "two kernels have one name");
        for l in &all {
            let own = l.family != "reference" && !l.unsupported;
            assert_eq!(
                (l.digest.is_some(), l.code.is_some()),
                (own, own),
                "{}",
                l.name
            );
            assert!(
                !l.unsupported || l.unavailable.is_some(),
                "{} has no reason",
                l.name
            );
        }
    }
}
