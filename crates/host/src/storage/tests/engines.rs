//! All engines on the same data, with all depths and blocks.

use super::*;
use crate::os;

const MIB: usize = 1 << 20;

#[test]
fn every_block_is_read_exactly_once_and_right() {
    let folder = folder();
    let path = data_file(&folder, 4 * MIB);
    for direct in [false, true] {
        let target = Target::open(&path, &opening(Access::Read, direct)).unwrap();
        for row in usable() {
            for (depth, block) in [
                (1, 512),
                (1, 4096),
                (3, 4096),
                (64, 4096),
                (16, 65536),
                (1, MIB),
                (64, MIB),
            ] {
                let aligned = match target.direct() {
                    Direct::Granted { offset, .. } => block % offset == 0,
                    _ => true,
                };
                if !aligned {
                    println!("skipped: direct blocks of {block} bytes on this device");
                    continue;
                }
                let mut engine =
                    (row.open)(std::slice::from_ref(&target), &settings(depth, block)).unwrap();
                let requests: Vec<_> = (0..4 * MIB / block)
                    .map(|number| block_request(block, number, Transfer::Read))
                    .collect();
                let mut seen = vec![0; requests.len()];
                drive(
                    engine.as_mut(),
                    &requests,
                    |_, _| {},
                    |request, completion, data| {
                        seen[request.tag as usize] += 1;
                        assert_eq!(
                            completion.result,
                            Ok(block),
                            "{} at {depth} x {block}",
                            row.name
                        );
                        if row.name != "null" {
                            pattern(SEED).verify(data, request.offset).unwrap();
                        }
                    },
                );
                assert!(seen.iter().all(|count| *count == 1), "{}", row.name);
            }
        }
    }
}

#[test]
fn what_one_engine_writes_all_others_read() {
    let folder = folder();
    for (number, writer) in usable()
        .into_iter()
        .filter(|row| row.name != "null")
        .enumerate()
    {
        for direct in [false, true] {
            let target = created(&folder, MIB as u64, direct);
            for row in usable().into_iter().filter(|row| row.name != "null") {
                verify(row, &target, 4096, &pattern(SEED));
            }
            let fresh = pattern(100 + number as u64);
            let mut engine =
                (writer.open)(std::slice::from_ref(&target), &settings(4, 16384)).unwrap();
            let requests: Vec<_> = (0..MIB / 16384)
                .map(|n| block_request(16384, n, Transfer::Write))
                .collect();
            let prepare = |request: &IoRequest, data: &mut [u8]| fresh.fill(data, request.offset);
            drive(engine.as_mut(), &requests, prepare, |_, completion, _| {
                assert_eq!(completion.result, Ok(16384))
            });
            let syncs: Vec<_> = [Transfer::Sync, Transfer::DataSync]
                .into_iter()
                .zip(0..)
                .map(|(transfer, tag)| IoRequest {
                    tag,
                    transfer,
                    ..block_request(16384, 0, transfer)
                })
                .collect();
            drive(
                engine.as_mut(),
                &syncs,
                |_, _| {},
                |_, completion, _| assert_eq!(completion.result, Ok(0)),
            );
            drop(engine);
            if writer.bypasses_cache || !direct {
                for row in usable().into_iter().filter(|row| row.name != "null") {
                    verify(row, &target, 4096, &fresh);
                }
            }
        }
    }
}

#[test]
fn requests_that_nobody_can_carry_out_end_with_an_error() {
    let folder = folder();
    let target =
        Target::open(&data_file(&folder, 64 << 10), &opening(Access::Read, false)).unwrap();
    for row in usable() {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(2, 4096)).unwrap();
        let good = block_request(4096, 1, Transfer::Read);
        let bad = [
            IoRequest { target: 1, ..good },
            IoRequest {
                target: usize::MAX,
                ..good
            },
            IoRequest { slot: 2, ..good },
            IoRequest {
                slot: usize::MAX,
                ..good
            },
            IoRequest {
                bytes: 4097,
                ..good
            },
            IoRequest {
                bytes: usize::MAX,
                ..good
            },
            IoRequest {
                offset: u64::MAX,
                ..good
            },
            IoRequest {
                offset: i64::MAX as u64,
                ..good
            },
            IoRequest {
                target: 9,
                transfer: Transfer::Sync,
                ..good
            },
        ];
        for request in bad {
            let mut completions = Vec::new();
            for request in [request, good] {
                assert_eq!(engine.submit(&[request]).unwrap(), 1, "{}", row.name);
                engine.reap(1, &mut completions).unwrap();
            }
            let results: Vec<_> = completions
                .iter()
                .map(|completion| completion.result)
                .collect();
            assert_eq!(
                results,
                [Err(INVALID), Ok(4096)],
                "{} with {request:?}",
                row.name
            );
        }
        // Mixed with valid requests: the order of submission is kept, and no completion is lost.
        let mixed = [
            good,
            IoRequest {
                tag: 2,
                slot: 7,
                ..good
            },
            IoRequest {
                tag: 3,
                slot: 1,
                ..good
            },
        ];
        let mut taken = 0;
        let mut completions = Vec::new();
        while taken < mixed.len() {
            taken += engine.submit(&mixed[taken..]).unwrap();
            engine.reap(1, &mut completions).unwrap();
        }
        engine.reap(3, &mut completions).unwrap();
        completions.sort_by_key(|completion| completion.tag);
        let results: Vec<_> = completions
            .iter()
            .map(|completion| (completion.tag, completion.result))
            .collect();
        assert_eq!(
            results,
            [(1, Ok(4096)), (2, Err(INVALID)), (3, Ok(4096))],
            "{}",
            row.name
        );
        assert_eq!(engine.submit(&[]).unwrap(), 0);
        engine.reap(5, &mut completions).unwrap();
    }
}

#[test]
fn buffers_in_flight_cannot_be_reached() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, MIB), &opening(Access::Read, true)).unwrap();
    for row in usable()
        .into_iter()
        .filter(|row| row.asynchronous && row.name != "null")
    {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(2, 4096)).unwrap();
        let request = block_request(4096, 0, Transfer::Read);
        assert_eq!(
            engine
                .submit(&[request, IoRequest { tag: 1, ..request }])
                .unwrap(),
            2 - usize::from(row.name == "aio")
        );
        assert!(engine.buffers().in_flight(0) && !engine.buffers().in_flight(1));
        assert!(engine.buffers().slot(0).is_none() && engine.buffers().slot_mut(0).is_none());
        assert!(engine.buffers().slot(1).is_some());
        let mut completions = Vec::new();
        engine.reap(2, &mut completions).unwrap();
        assert!(engine.buffers().slot(0).is_some());
        assert!(engine.buffers().slot(2).is_none() && !engine.buffers().in_flight(2));
    }
}

#[test]
fn transfers_at_the_end_are_short() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 10_000), &opening(Access::Read, false)).unwrap();
    for row in usable().into_iter().filter(|row| row.name != "null") {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(1, 4096)).unwrap();
        let mut results = Vec::new();
        let requests: Vec<_> = [1, 2, 3, 1000]
            .map(|number| block_request(4096, number, Transfer::Read))
            .to_vec();
        drive(
            engine.as_mut(),
            &requests,
            |_, _| {},
            |_, completion, _| results.push(completion.result),
        );
        assert_eq!(results, [Ok(4096), Ok(1808), Ok(0), Ok(0)], "{}", row.name);
    }
}

#[test]
fn what_is_open_for_reading_is_not_written_to() {
    let folder = folder();
    let path = data_file(&folder, 64 << 10);
    let before = std::fs::read(&path).unwrap();
    for direct in [false, true] {
        let target = Target::open(&path, &opening(Access::Read, direct)).unwrap();
        for row in usable().into_iter().filter(|row| row.name != "null") {
            let mut engine = (row.open)(std::slice::from_ref(&target), &settings(1, 4096)).unwrap();
            let write = [block_request(4096, 0, Transfer::Write)];
            drive(
                engine.as_mut(),
                &write,
                |_, data| data.fill(0xff),
                |_, completion, _| {
                    assert_eq!(completion.result, Err(os::EBADF), "{}", row.name);
                },
            );
        }
    }
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_file_that_becomes_shorter_ends_no_process() {
    let folder = folder();
    for row in usable().into_iter().filter(|row| row.name != "null") {
        let path = data_file(&folder, 64 << 10);
        let target = Target::open(&path, &opening(Access::Read, false)).unwrap();
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(1, 4096)).unwrap();
        std::fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .unwrap()
            .set_len(5000)
            .unwrap();
        let mut results = Vec::new();
        let requests: Vec<_> = [0, 1, 2, 15]
            .map(|number| block_request(4096, number, Transfer::Read))
            .to_vec();
        drive(
            engine.as_mut(),
            &requests,
            |_, _| {},
            |_, completion, _| results.push(completion.result),
        );
        assert_eq!(results, [Ok(4096), Ok(904), Ok(0), Ok(0)], "{}", row.name);
    }
}

#[test]
fn engines_may_be_opened_in_one_thread_and_used_in_another() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, MIB), &opening(Access::Read, true)).unwrap();
    for row in usable() {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(4, 4096)).unwrap();
        let requests: Vec<_> = (0..64)
            .map(|number| block_request(4096, number, Transfer::Read))
            .collect();
        let used = std::thread::spawn(move || {
            drive(
                engine.as_mut(),
                &requests,
                |_, _| {},
                |_, completion, _| assert_eq!(completion.result, Ok(4096)),
            );
            engine
        });
        drop(used.join().unwrap());
    }
}

#[test]
fn an_engine_can_be_dropped_with_operations_in_flight() {
    let folder = folder();
    let target = created(&folder, 8 * MIB as u64, true);
    for row in usable() {
        for transfer in [Transfer::Read, Transfer::Write] {
            let mut engine = (row.open)(std::slice::from_ref(&target), &settings(8, MIB)).unwrap();
            let requests: Vec<_> = (0..8)
                .map(|number| IoRequest {
                    slot: number,
                    ..block_request(MIB, number, transfer)
                })
                .collect();
            assert!(engine.submit(&requests).unwrap() > 0, "{}", row.name);
        }
    }
}

#[test]
fn several_targets_are_told_apart() {
    let folder = folder();
    let targets: Vec<Target> = (0..3)
        .map(|seed| {
            let opening = Opening {
                pattern: pattern(seed),
                ..opening(
                    Access::Create {
                        bytes: 65536,
                        keep: false,
                    },
                    true,
                )
            };
            Target::open(folder.path(), &opening).unwrap()
        })
        .collect();
    for row in usable().into_iter().filter(|row| row.name != "null") {
        let mut engine = (row.open)(&targets, &settings(5, 4096)).unwrap();
        let requests: Vec<_> = (0..48)
            .map(|n| IoRequest {
                tag: n as u64,
                target: n % 3,
                ..block_request(4096, n / 3, Transfer::Read)
            })
            .collect();
        drive(
            engine.as_mut(),
            &requests,
            |_, _| {},
            |request, completion, data| {
                assert_eq!(completion.result, Ok(4096));
                pattern(request.target as u64)
                    .verify(data, request.offset)
                    .unwrap();
            },
        );
    }
}

#[test]
fn odd_settings_are_refused_in_one_line() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 4096), &opening(Access::Read, false)).unwrap();
    for row in usable() {
        for (depth, block, misalign) in [
            (0, 4096, 0),
            (1, 0, 0),
            (1, usize::MAX, 0),
            (usize::MAX, 4096, 0),
            (1, 4096, usize::MAX),
            // Larger than the address space: the product must not overflow.
            (1 << (usize::BITS - 24), 1 << 29, 0),
        ] {
            let settings = EngineSettings {
                misalign,
                ..settings(depth, block)
            };
            let Err(error) = (row.open)(std::slice::from_ref(&target), &settings) else {
                panic!("{}", row.name)
            };
            assert!(!error.to_string().contains('\n'), "{error}");
        }
    }
}

#[test]
fn misaligned_direct_transfers_fail_one_by_one() {
    let folder = folder();
    let target = Target::open(&data_file(&folder, 65536), &opening(Access::Read, true)).unwrap();
    let Direct::Granted { offset, .. } = *target.direct() else {
        println!("skipped: no direct I/O in the build's folder");
        return;
    };
    for row in usable()
        .into_iter()
        .filter(|row| row.bypasses_cache && row.name != "null")
    {
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings(2, 8192)).unwrap();
        let odd = IoRequest {
            offset: 1,
            ..block_request(offset, 0, Transfer::Read)
        };
        let short = IoRequest {
            tag: 1,
            bytes: offset - 1,
            ..block_request(offset, 1, Transfer::Read)
        };
        let good = block_request(offset, 2, Transfer::Read);
        let mut results = [None; 3];
        drive(
            engine.as_mut(),
            &[odd, short, good],
            |_, _| {},
            |request, completion, _| {
                results[request.tag as usize] = Some(completion.result);
            },
        );
        assert_eq!(
            results,
            [Some(Err(INVALID)), Some(Err(INVALID)), Some(Ok(offset))],
            "{}",
            row.name
        );
    }
}

#[test]
fn unregistered_and_polled_rings_carry_the_same_data() {
    let Some(row) = usable().into_iter().find(|row| row.name == "io_uring") else {
        return;
    };
    let folder = folder();
    let target = Target::open(&data_file(&folder, MIB), &opening(Access::Read, true)).unwrap();
    for (registered, poll) in [(false, false), (true, true), (false, true)] {
        let settings = EngineSettings {
            registered,
            poll,
            ..settings(16, 4096)
        };
        let mut engine = (row.open)(std::slice::from_ref(&target), &settings).unwrap();
        println!(
            "registered {registered}, poll {poll}: {:?}",
            engine.remarks()
        );
        let mut requests: Vec<_> = (0..256)
            .map(|number| block_request(4096, number, Transfer::Read))
            .collect();
        requests.push(IoRequest {
            tag: 256,
            ..block_request(4096, 0, Transfer::Sync)
        });
        drive(
            engine.as_mut(),
            &requests,
            |_, _| {},
            |request, completion, data| match request.transfer {
                Transfer::Sync => assert_eq!(completion.result, Ok(0)),
                _ => pattern(SEED)
                    .verify(&data[..completion.result.unwrap()], request.offset)
                    .unwrap(),
            },
        );
    }
}

#[test]
fn buffers_lie_where_they_were_requested_to() {
    for (slots, block, misalign) in [
        (1, 1, 0),
        (3, 512, 0),
        (4, 4096, 1),
        (2, 5000, 4095),
        (2, MIB, 512),
    ] {
        let mut buffers = IoBuffers::new(slots, block, misalign).unwrap();
        let mut ranges = Vec::new();
        if block >= 64 << 10 {
            let first = buffers.slot(0).unwrap().as_ptr().addr() - misalign;
            assert!(
                first.is_multiple_of(2 << 20),
                "at a huge page, so that it can be one"
            );
        }
        for slot in 0..slots {
            let data = buffers.slot_mut(slot).unwrap();
            assert_eq!(
                (data.len(), data.as_ptr().addr() % 4096),
                (block, misalign % 4096)
            );
            assert!(data.iter().all(|byte| *byte == 0));
            data.fill(slot as u8 + 1);
            ranges.push(data.as_ptr_range());
        }
        assert!(ranges.windows(2).all(|pair| pair[0].end <= pair[1].start));
        assert!((0..slots).all(|slot| {
            buffers
                .slot(slot)
                .unwrap()
                .iter()
                .all(|byte| *byte == slot as u8 + 1)
        }));
    }
}

#[test]
fn an_engine_that_is_missing_has_a_neighbour() {
    for row in &IO_ENGINES {
        let nearest = nearest_available(row).expect("sync is always there, and mmap here");
        assert!(nearest.name != row.name && nearest.name != "null");
        assert_eq!(
            engine_named(row.name).map(|found| found.name),
            Some(row.name)
        );
    }
    assert!(engine_named("spdk").is_none());
}
