//! Which kernels there are, and how one is chosen.

use memgauge::kernels::{CONTRACTS, Operation, Width, all_rows, select};
use std::collections::BTreeSet;

const WIDTHS: [u32; 4] = [64, 128, 256, 512];

#[test]
fn every_contract_has_a_row_in_every_set_by_rising_width() {
    let rows = all_rows();
    let names: BTreeSet<String> = rows.iter().map(|row| row.name()).collect();
    assert_eq!(names.len(), rows.len(), "two kernels have one name");
    for contract in &CONTRACTS {
        let bits: Vec<u32> =
            rows.iter().filter(|row| row.operation == contract.operation).map(|row| row.set.bits).collect();
        assert_eq!(bits, WIDTHS, "{}", contract.name);
    }
    assert!(names.contains("read/scalar") && names.contains("copy-nt/avx512"));
}

#[test]
fn the_kernel_of_a_width_is_the_one_asked_for_or_the_reason_why_not() {
    for row in all_rows() {
        match (select(row.operation, Width::Bits(row.set.bits)), row.set.available()) {
            (Ok(kernel), Ok(())) => {
                assert_eq!((kernel.name(), kernel.set()), (row.name(), row.set.id));
                assert_eq!(kernel.contract().operation, row.operation);
            }
            (Err(reason), Err(lacks)) => {
                assert_eq!(reason, lacks);
                assert!(reason.contains(row.set.needs), "{reason}");
            }
            (selected, available) => panic!("{}: {selected:?}, but {available:?}", row.name()),
        }
    }
    let message = select(Operation::Read, Width::Bits(1024)).expect_err("no such kernels");
    assert_eq!(message, "there are no 1024-bit kernels for this architecture");
}

#[test]
fn the_best_width_is_the_widest_there_is() {
    for contract in &CONTRACTS {
        let mut here = WIDTHS.into_iter().filter_map(|bits| select(contract.operation, Width::Bits(bits)).ok());
        let widest = here.next_back().expect("every processor has one set at least");
        let best = select(contract.operation, Width::Best).expect("the best there is");
        assert_eq!(best.name(), widest.name());
    }
}

#[test]
fn widths_are_read_as_they_are_printed() {
    for width in WIDTHS.map(Width::Bits).into_iter().chain([Width::Best]) {
        assert_eq!(width.to_string().parse(), Ok(width));
        assert_eq!(format!(" {width} ").parse(), Ok(width));
    }
    for (text, nearest) in [("513", "512"), ("2560", "256"), ("bets", "best"), ("Best", "best")] {
        let message = text.parse::<Width>().expect_err(text).to_string();
        let expected = format!("'{text}'; did you mean '{nearest}'? widths: 64, 128, 256, 512, best");
        assert_eq!(message, expected);
    }
    for text in ["", "0", "32", "-64", "avx2", "1024"] {
        assert!(text.parse::<Width>().is_err(), "{text}");
    }
}

#[test]
fn operations_are_read_as_they_are_printed() {
    for contract in &CONTRACTS {
        assert_eq!(contract.operation.to_string().parse(), Ok(contract.operation));
    }
    let message = "copy_nt".parse::<Operation>().expect_err("no such operation").to_string();
    assert!(message.contains("did you mean 'copy-nt'?"), "{message}");
}
