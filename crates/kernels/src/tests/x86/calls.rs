//! Calls of every kernel, for tests of the caller's state.

use crate::chase::{ChaseCall, ChaseCode};
use crate::handoff::HandOffCall;
use crate::instructions::InstructionCall;
use crate::locks::LockCall;
use crate::native::{
    ADDITIONS, CHASES, CHASES_WITH_PAYLOAD, DEPENDENT_ADDS, HANDOFF, INDEPENDENT, LOCK_SETS,
};
use crate::stream_call::StreamCall;
use crate::tests::{executable, memory};
use crate::{
    AccessOrder, BLOCK_BYTES, MAX_WALKERS, Operation, Scratch, SharedLine, all_instructions,
};
use std::sync::atomic::Ordering::Relaxed;

/// Calls the code at an address with one argument and checks the effect. The first argument is the
/// name of the kernel. The call must be sound.
pub type Check = unsafe fn(&str, usize, usize);

/// Index table for three blocks by lines, in units of 8 B.
static LINES: [u32; 24] = [
    72, 24, 0, 184, 64, 128, 8, 16, 32, 40, 48, 56, 80, 88, 96, 104, 112, 120, 136, 144, 152, 160,
    168, 176,
];
/// Index table for three blocks by chunks, in units of 8 B.
static CHUNKS: [u32; 3] = [128, 0, 64];

/// Size of the memory for the streams of any call, in bytes.
pub const STREAMS: usize = 4 * 3 * BLOCK_BYTES as usize;

/// A call for `operation` that wraps once, in streams of three blocks each, and the offset at its
/// end.
pub fn call(operation: Operation, address: usize) -> (StreamCall, usize) {
    let stream = 3 * BLOCK_BYTES as usize;
    let contract = operation.contract();
    let (table, window) = match contract.visits {
        AccessOrder::Lines => (LINES.as_ptr() as usize, size_of_val(&LINES)),
        AccessOrder::Chunks => (CHUNKS.as_ptr() as usize, size_of_val(&CHUNKS)),
        AccessOrder::Forward | AccessOrder::Backward => (0, stream),
    };
    let call = StreamCall {
        lead: address,
        delta: if contract.streams() > 1 { stream } else { 0 },
        window,
        offset: window / 3,
        blocks: 4,
        table,
        distance: 100,
        spare: 0,
        pattern: 7,
        checksum: 0,
    };
    (call, window / 3 * 2)
}

/// Checks every streaming kernel, with no blocks and with some.
pub fn streaming(check: Check) {
    let window = memory(STREAMS);
    for (row, code) in executable() {
        for blocks in [0, 4] {
            let (call, end) = call(row.operation, window.address());
            let mut call = StreamCall { blocks, ..call };
            let offset = if blocks == 0 { call.offset } else { end };
            // SAFETY: the kernel can be executed here, and all streams lie in the window.
            unsafe { check(&row.name(), code as usize, &raw mut call as usize) };
            assert_eq!(call.offset, offset, "{}: it did run", row.name());
        }
    }
}

/// Checks every chase, and the reference measurements of the core.
pub fn chases(check: Check) {
    let window = memory(4096);
    window.words()[0].store(window.address() as u64, Relaxed);
    for code in CHASES.into_iter().chain(CHASES_WITH_PAYLOAD) {
        let code: ChaseCode = code;
        let mut call = ChaseCall {
            positions: [window.address(); MAX_WALKERS],
            blocks: 2,
            payload: 0,
        };
        // SAFETY: the node points to itself.
        unsafe { check("chase", code as usize, &raw mut call as usize) };
    }
    for (name, code) in [("add", DEPENDENT_ADDS), ("issue", INDEPENDENT)] {
        // SAFETY: the code executes at least one block and uses registers only.
        unsafe { check(name, code as usize, 2) };
    }
}

/// Checks every instruction kernel.
pub fn instructions(check: Check) {
    for listed in all_instructions() {
        let (Ok(_), Some(code)) = (listed.kernel(), listed.address()) else {
            continue;
        };
        let mut scratch = Scratch::new();
        let mut call = InstructionCall {
            iterations: 2,
            scratch: (&raw mut *scratch) as usize,
        };
        // SAFETY: the kernel can be executed here, and the scratch memory is what it expects.
        unsafe { check(&listed.name(), code as usize, &raw mut call as usize) };
    }
}

/// Checks every lock and hand-off, and the additions between operations.
pub fn locks(check: Check) {
    let line = SharedLine::default();
    let word = (&raw const line.word) as usize;
    for set in &LOCK_SETS {
        for code in [
            set.atomic_add,
            set.exchange,
            set.compare_and_swap,
            set.spin_lock,
            set.fence,
        ] {
            line.word.store(0, Relaxed);
            let mut call = LockCall {
                word,
                iterations: 2,
                inside: 2,
                between: 3,
                failed_tries: 0,
            };
            // SAFETY: the two words of the line are atomics, and the lock is free.
            unsafe { check("lock", code as usize, &raw mut call as usize) };
        }
    }
    for code in [
        HANDOFF.store_load,
        HANDOFF.compare_and_swap,
        HANDOFF.exchange,
    ] {
        line.word.store(5, Relaxed);
        let mut call = HandOffCall {
            word,
            expected: 5,
            iterations: 2,
            max_polls: 3,
        };
        // SAFETY: the word is an atomic. The second awaited value never comes.
        unsafe { check("hand-off", code as usize, &raw mut call as usize) };
        assert_eq!(
            (line.word.load(Relaxed), call.expected, call.iterations),
            (6, 7, 1)
        );
    }
    // SAFETY: the code executes at least one addition and uses registers only.
    unsafe { check("work", ADDITIONS as usize, 2) };
}
