//! Tests of the engine that injects faults.

use super::*;
use units::Nanos;

fn faulty(target: &Target, row: &EngineRow, depth: usize, faults: Faults) -> Faulty {
    Faulty::new(
        (row.open)(std::slice::from_ref(target), &settings(depth, 4096)).unwrap(),
        faults,
    )
}

#[test]
fn faults_come_as_often_as_requested() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 1 << 20), &opening(Access::Read, true)).unwrap();
    for row in usable() {
        let faults = Faults {
            error_every: 4,
            short_every: 10,
            ..Faults::default()
        };
        let mut engine = faulty(&target, row, 8, faults);
        let requests: Vec<_> = (0..200)
            .map(|number| block_request(4096, number, Transfer::Read))
            .collect();
        let mut results = HashMap::new();
        drive(
            &mut engine,
            &requests,
            |_, _| {},
            |_, completion, _| *results.entry(completion.result).or_insert(0) += 1,
        );
        // Every twentieth operation has both faults, and the error wins.
        let expected = [(Err(IO_ERROR), 50), (Ok(2048), 10), (Ok(4096), 140)];
        assert_eq!(results, HashMap::from(expected), "{}", row.name);
    }
}

#[test]
fn delays_hold_operations_back_and_lose_none() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 1 << 20), &opening(Access::Read, true)).unwrap();
    let faults = Faults {
        delay_every: 3,
        delay: Nanos::from_millis(2.0),
        ..Faults::default()
    };
    for row in usable() {
        for depth in [1, 8] {
            let mut engine = faulty(&target, row, depth, faults);
            let requests: Vec<_> = (0..30)
                .map(|number| block_request(4096, number, Transfer::Read))
                .collect();
            let start = counter_now();
            drive(
                &mut engine,
                &requests,
                |_, _| {},
                |_, completion, _| assert_eq!(completion.result, Ok(4096)),
            );
            assert!(
                counter_now() - start >= Nanos::from_millis(2.0),
                "{}",
                row.name
            );
        }
    }
}

fn counter_now() -> Nanos {
    crate::counter::monotonic()
}

#[test]
fn an_engine_that_only_fails_still_ends() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 1 << 20), &opening(Access::Read, false)).unwrap();
    let faults = Faults {
        error_every: 1,
        delay_every: 1,
        delay: Nanos(1000.0),
        ..Faults::default()
    };
    for row in usable() {
        let mut engine = faulty(&target, row, 4, faults);
        let requests: Vec<_> = (0..20)
            .map(|number| block_request(4096, number, Transfer::Read))
            .collect();
        drive(
            &mut engine,
            &requests,
            |_, _| {},
            |_, completion, _| assert_eq!(completion.result, Err(IO_ERROR)),
        );
        let mut completions = Vec::new();
        engine.reap(4, &mut completions).unwrap();
        assert!(completions.is_empty());
    }
}
