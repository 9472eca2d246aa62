//! Tests of the list of kernels, and of the selection of a kernel.

use memgauge_kernels::{CONTRACTS, CodeOrigin, Operation, SetId, Width, all_rows, select, sets};
use std::collections::BTreeSet;

#[test]
fn every_contract_has_a_row_in_every_set() {
    let rows = all_rows();
    let names: BTreeSet<String> = rows.iter().map(|row| row.name()).collect();
    assert_eq!(names.len(), rows.len(), "two kernels have one name");
    for contract in &CONTRACTS {
        let ids: Vec<SetId> = rows
            .iter()
            .filter(|row| row.operation == contract.operation)
            .map(|row| row.set.id)
            .collect();
        assert_eq!(
            ids,
            sets().iter().map(|set| set.id).collect::<Vec<_>>(),
            "{}",
            contract.name
        );
    }
    assert!(names.contains("read/scalar") && names.contains("copy-nt/scalar"));
}

#[test]
fn what_cannot_be_done_has_a_reason_and_no_digest() {
    for row in all_rows() {
        match row.unsupported() {
            Some(reason) => {
                assert!(
                    reason.len() > 15 && !reason.contains("not written"),
                    "{}: {reason}",
                    row.name()
                );
                assert_eq!(
                    (row.digest(), row.kernel().err().as_deref()),
                    (None, Some(reason)),
                    "{}",
                    row.name()
                );
            }
            None => {
                let own = row.operation.contract().origin == CodeOrigin::Own;
                assert_eq!(
                    (row.digest().is_some(), row.code().is_some()),
                    (own, own),
                    "{}",
                    row.name()
                );
            }
        }
    }
}

#[test]
fn the_kernel_of_a_set_is_the_one_requested_or_the_reason_why_not() {
    for row in all_rows() {
        match (
            select(row.operation, Width::Set(row.set.id)),
            row.set.available(),
        ) {
            (Ok(kernel), Ok(())) => {
                assert_eq!((kernel.name(), kernel.set()), (row.name(), row.set.id));
                assert_eq!(kernel.contract().operation, row.operation);
            }
            (Err(reason), Ok(())) if row.unsupported().is_some() => {
                assert_eq!(Some(&*reason), row.unsupported())
            }
            (Err(reason), Ok(())) => assert!(reason.contains("lacks"), "{}: {reason}", row.name()),
            (Err(reason), Err(lacks)) => {
                assert!(
                    reason == lacks || Some(&*reason) == row.unsupported(),
                    "{}: {reason}",
                    row.name()
                );
                assert!(lacks.contains(row.set.needs), "{lacks}");
            }
            (Ok(kernel), Err(lacks)) => panic!("{}: {lacks}", kernel.name()),
        }
    }
}

#[test]
fn the_kernel_of_a_width_has_that_width() {
    for contract in &CONTRACTS {
        for bits in [32, 64, 128, 256, 512, 1024, 2048] {
            let here = |set: &&memgauge_kernels::Set| set.bits() == Some(bits);
            match select(contract.operation, Width::Bits(bits)) {
                Ok(kernel) => {
                    let id = kernel.set();
                    assert!(
                        sets().iter().filter(here).any(|set| set.id == id),
                        "{} {bits}",
                        contract.name
                    );
                }
                Err(reason) if sets().iter().any(|set| here(&set)) => {
                    assert!(!reason.contains("there are no"))
                }
                Err(reason) => assert_eq!(
                    reason,
                    format!("there are no {bits}-bit kernels for this architecture")
                ),
            }
        }
    }
}

#[test]
fn the_widest_is_the_last_that_can_run() {
    for contract in &CONTRACTS {
        let here = all_rows()
            .into_iter()
            .filter(|row| row.operation == contract.operation);
        let last = here.filter_map(|row| row.kernel().ok()).next_back();
        for width in [Width::Widest, Width::Best] {
            match (select(contract.operation, width), &last) {
                (Ok(kernel), Some(last)) => assert_eq!(kernel.name(), last.name()),
                (Err(reason), None) => assert!(reason.len() > 15, "{reason}"),
                (selected, _) => panic!("{}: {selected:?}", contract.name),
            }
        }
    }
}

#[test]
fn widths_are_read_as_they_are_printed() {
    let named = SetId::ALL
        .map(Width::Set)
        .into_iter()
        .chain([Width::Best, Width::Widest]);
    for width in [32, 64, 128, 256, 512, 1024]
        .map(Width::Bits)
        .into_iter()
        .chain(named)
    {
        assert_eq!(width.to_string().parse(), Ok(width));
        assert_eq!(format!(" {width} ").parse(), Ok(width));
    }
    for (text, nearest) in [
        ("513", "512"),
        ("2560", "256"),
        ("bets", "best"),
        ("Best", "best"),
    ] {
        let message = text.parse::<Width>().expect_err(text).to_string();
        assert!(
            message.starts_with(&format!(
                "'{text}'; did you mean '{nearest}'? widths: 64, 128"
            )),
            "{message}"
        );
    }
    for text in ["", "0", "33", "-64", "avx3", "1025", "16384"] {
        assert!(text.parse::<Width>().is_err(), "{text}");
    }
}

#[test]
fn operations_are_read_as_they_are_printed() {
    for contract in &CONTRACTS {
        assert_eq!(
            contract.operation.to_string().parse(),
            Ok(contract.operation)
        );
    }
    let message = "copy_nt"
        .parse::<Operation>()
        .expect_err("no such operation")
        .to_string();
    assert!(message.contains("did you mean 'copy-nt'?"), "{message}");
}
