//! Tests of instruction kernels: they run, they end, and missing kernels give a reason.

use memgauge_kernels::{Instruction, Scratch, Timing, all_instructions, instruction};
use std::collections::BTreeSet;

#[test]
fn every_instruction_runs_for_any_number_of_turns() {
    let mut ran = 0;
    for listed in all_instructions() {
        let Ok(kernel) = listed.kernel() else {
            continue;
        };
        let mut scratch = Scratch::new();
        for iterations in [0, 1, 2, 1000] {
            kernel.run(&mut scratch, iterations);
        }
        assert!(
            (16..=128).contains(&kernel.per_iteration()),
            "{}: {} in a turn",
            kernel.name(),
            kernel.per_iteration()
        );
        assert_eq!(
            (kernel.name(), kernel.digest()),
            (listed.name(), listed.digest())
        );
        ran += 1;
    }
    assert!(ran >= 20, "{ran} kernels");
}

#[test]
fn an_instruction_that_is_not_there_says_why() {
    for listed in all_instructions() {
        let name = listed.name();
        let found = instruction(listed.instruction, listed.timing);
        match listed.unsupported() {
            Some(reason) => {
                assert!(
                    reason.len() > 15 && !reason.contains("not written"),
                    "{name}: {reason}"
                );
                assert_eq!(found.err().as_deref(), Some(reason), "{name}");
                assert_eq!(
                    (listed.assembly(), listed.digest(), listed.code()),
                    (None, None, None),
                    "{name}"
                );
            }
            None => {
                assert!(
                    listed.digest().is_some() && listed.code().is_some(),
                    "{name}"
                );
                assert!(
                    listed
                        .assembly()
                        .is_some_and(|text| text.len() >= 2 && text.is_ascii()),
                    "{name}"
                );
                match found {
                    Ok(kernel) => assert_eq!(kernel.name(), name),
                    Err(reason) => assert!(
                        !listed.needs().is_empty() && reason.contains(listed.needs()),
                        "{reason}"
                    ),
                }
            }
        }
    }
}

#[test]
fn every_instruction_is_listed_with_both_timings() {
    let listed: Vec<(Instruction, Timing)> = all_instructions()
        .iter()
        .map(|l| (l.instruction, l.timing))
        .collect();
    let expected = Instruction::ALL
        .into_iter()
        .flat_map(|i| [(i, Timing::Throughput), (i, Timing::Latency)]);
    assert_eq!(listed, expected.collect::<Vec<_>>());
    let names: BTreeSet<String> = all_instructions().iter().map(|l| l.name()).collect();
    assert_eq!(names.len(), listed.len());
    for instruction in Instruction::ALL {
        assert_eq!(instruction.to_string().parse(), Ok(instruction));
        assert!(!instruction.group().is_empty() && !instruction.help().is_empty());
    }
    assert!("ad".parse::<Instruction>().is_err());
}
