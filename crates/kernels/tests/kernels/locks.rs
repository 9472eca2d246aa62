//! Tests of atomics, locks and hand-offs. No addition may be lost, and no wait may have more polls
//! than allowed.

use memgauge_kernels::{HandOff, LockKernel, LockOperation, SharedLine, all_locks, lock};
use std::sync::Barrier;
use std::sync::atomic::Ordering::SeqCst;

/// Number of polls that is enough even if the partner is descheduled. A test that fails still ends.
/// The number fits into 32 bits.
const MAX_POLLS: usize = 1 << 31;

/// Every lock kernel that can be executed here.
fn kernels(operation: LockOperation) -> Vec<LockKernel> {
    let listed = all_locks().into_iter().filter(|l| l.operation == operation);
    let kernels: Vec<LockKernel> = listed.filter_map(|l| l.kernel().ok()).collect();
    assert!(!kernels.is_empty(), "every processor can {operation}");
    kernels
}

/// Values of the word and of the guarded word.
fn words(line: &SharedLine) -> (usize, usize) {
    (line.word.load(SeqCst), line.guarded.load(SeqCst))
}

/// Values of both words after `threads` threads did `iterations` operations each on one line.
fn contended(kernel: LockKernel, threads: usize, iterations: u64) -> (usize, usize) {
    let line = SharedLine::default();
    let start = Barrier::new(threads);
    std::thread::scope(|scope| {
        for number in 0..threads as u32 {
            let line = &line;
            let start = &start;
            scope.spawn(move || {
                start.wait();
                // The threads do different amounts of work, so that they meet in every order.
                kernel.run(line, iterations, number % 2 * 5, number % 3 * 7)
            });
        }
    });
    words(&line)
}

#[test]
fn additions_of_several_threads_are_all_there() {
    for (threads, iterations) in [(1, 1000), (2, 20_000), (3, 5000), (8, 700)] {
        let all = threads * iterations as usize;
        for operation in [LockOperation::AtomicAdd, LockOperation::CompareAndSwap] {
            for kernel in kernels(operation) {
                assert_eq!(
                    contended(kernel, threads, iterations),
                    (all, 0),
                    "{} of {threads} threads",
                    kernel.name()
                );
            }
        }
        for kernel in kernels(LockOperation::SpinLock) {
            assert_eq!(
                contended(kernel, threads, iterations),
                (0, all),
                "{} of {threads} threads",
                kernel.name()
            );
        }
    }
}

#[test]
fn one_thread_alone_loses_nothing_whatever_it_does_between() {
    for operation in LockOperation::ALL {
        for kernel in kernels(operation) {
            for (iterations, inside, between) in
                [(1, 0, 0), (1, 1, 1), (2, 0, 3), (5, 4, 0), (1000, 7, 9)]
            {
                let line = SharedLine::default();
                kernel.run(&line, iterations, inside, between);
                let expected = match operation {
                    LockOperation::AtomicAdd
                    | LockOperation::CompareAndSwap
                    | LockOperation::Fence => (iterations as usize, 0),
                    LockOperation::SpinLock => (0, iterations as usize),
                    LockOperation::Mutex => (0, 0), // it has a word of its own
                    LockOperation::Exchange => (words(&line).0, 0), // any value may be there
                };
                assert_eq!(
                    words(&line),
                    expected,
                    "{}, {iterations} iterations, {inside}, {between}",
                    kernel.name()
                );
            }
        }
    }
}

#[test]
fn no_turns_change_nothing() {
    for operation in LockOperation::ALL {
        for kernel in kernels(operation) {
            let line = SharedLine::default();
            line.word.store(77, SeqCst);
            line.guarded.store(78, SeqCst);
            assert_eq!(kernel.run(&line, 0, 3, 3), 0, "{}", kernel.name());
            assert_eq!(words(&line), (77, 78), "{}", kernel.name());
        }
    }
}

#[test]
fn a_spin_lock_waits_until_the_lock_is_free() {
    for kernel in kernels(LockOperation::SpinLock) {
        let line = SharedLine::default();
        line.word.store(1, SeqCst);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| kernel.run(&line, 3, 0, 0));
            for _ in 0..100 {
                assert_eq!(
                    words(&line),
                    (1, 0),
                    "{}: nobody gets in while it is taken",
                    kernel.name()
                );
                std::thread::yield_now();
            }
            line.word.store(0, SeqCst);
            waiter.join().expect("the waiter ends");
        });
        assert_eq!(words(&line), (0, 3), "{}", kernel.name());
    }
}

#[test]
fn locks_have_names_digests_and_needs() {
    for listed in all_locks() {
        let own = listed.operation != LockOperation::Mutex;
        assert_eq!(
            (listed.digest().is_some(), listed.code().is_some()),
            (own, own),
            "{}",
            listed.name()
        );
        assert_eq!(listed.needs().is_empty(), !own, "{}", listed.name());
        assert!(
            listed.name().starts_with(&format!("{}/", listed.operation)),
            "{}",
            listed.name()
        );
        match listed.kernel() {
            Ok(kernel) => assert_eq!(
                (kernel.name(), kernel.digest()),
                (listed.name(), listed.digest())
            ),
            Err(reason) => assert!(reason.contains(listed.needs()), "{reason}"),
        }
    }
    for operation in LockOperation::ALL {
        assert_eq!(operation.to_string().parse(), Ok(operation));
        let chosen = lock(operation)
            .expect("every processor has one way at least")
            .name();
        assert_eq!(
            kernels(operation).last().map(LockKernel::name),
            Some(chosen)
        );
    }
}

#[test]
fn two_threads_hand_a_line_to_and_fro() {
    for handoff in HandOff::ALL {
        for iterations in [1, 2, 300] {
            let line = SharedLine::default();
            let (first, second) = std::thread::scope(|scope| {
                let first = scope.spawn(|| handoff.run(&line, 0, iterations, MAX_POLLS));
                let second = scope.spawn(|| handoff.run(&line, 1, iterations, MAX_POLLS));
                (
                    first.join().expect("one side"),
                    second.join().expect("the other"),
                )
            });
            assert_eq!((first, second), (iterations, iterations), "{handoff}");
            assert_eq!(words(&line), (2 * iterations, 0), "{handoff}");
        }
    }
}

#[test]
fn too_few_polls_end_a_hand_off() {
    for handoff in HandOff::ALL {
        for max_polls in [0, 1, 2, 1000] {
            let line = SharedLine::default();
            // There is no partner, so the awaited value never comes, or only once.
            assert_eq!(handoff.run(&line, 1, 5, max_polls), 0, "{handoff}");
            assert_eq!(words(&line), (0, 0), "{handoff}");
            assert_eq!(handoff.run(&line, 0, 5, max_polls), 1, "{handoff}");
            assert_eq!(words(&line), (1, 0), "{handoff}");
            assert_eq!(
                handoff.run(&line, 1, 0, max_polls),
                0,
                "{handoff}: no iterations"
            );
            assert_eq!(words(&line), (1, 0), "{handoff}");
        }
        assert_eq!(handoff.to_string().parse(), Ok(handoff));
        assert!(
            handoff.digest().is_some() && handoff.code().is_some(),
            "{handoff}"
        );
    }
}
