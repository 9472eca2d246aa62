//! Tests that kernels preserve the caller's registers (AAPCS32, 6.1.1 and 6.1.2).

use crate::chase::ChaseCall;
use crate::handoff::HandOffCall;
use crate::instructions::InstructionCall;
use crate::locks::LockCall;
use crate::native::{
    ADDITIONS, CHASES, CHASES_WITH_PAYLOAD, DEPENDENT_ADDS, HANDOFF, INDEPENDENT, LOCK_SETS,
};
use crate::stream_call::{StreamCall, StreamCode};
use crate::tests::memory;
use crate::{
    AccessOrder, BLOCK_BYTES, HandOff, KernelRow, MAX_WALKERS, Operation, Scratch, SharedLine,
    all_instructions, all_rows,
};
use core::arch::naked_asm;
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

/// The state before and after a call. `probe` depends on the offsets.
#[repr(C)]
#[derive(Debug, Default)]
struct Seen {
    /// d8 to d15, then r4 to r11 and sp in pairs, FPSCR without its flags.
    before: [u64; 13],
    after: [u64; 13],
}

/// Calls `code(argument)` with known values in all registers that a callee must preserve. The modes
/// of FPSCR are only read.
#[unsafe(naked)]
unsafe extern "C" fn probe(code: usize, argument: usize, seen: &mut Seen) {
    naked_asm!(
        "push {{r4-r11, r12, lr}}",
        "vpush {{d8-d15}}",
        "sub sp, sp, #8",
        "str r2, [sp]",
        ".irp r, 4,5,6,7,8,9,10,11",
        "movw r\\r, #0x1b00 + \\r",
        "movt r\\r, #0xbeef",
        ".endr",
        ".irp r, 8,9,10,11,12,13,14,15",
        "movw r3, #0x2d00 + \\r",
        "movt r3, #0xfeed",
        "vmov d\\r, r3, r3",
        ".endr",
        "mov r12, r0",
        "mov r0, r1",
        "mov r3, r2",
        ".irp state, 0,1",
        "vstmia r3!, {{d8-d15}}",
        "stmia r3!, {{r4-r11}}",
        "str sp, [r3], #4",
        "vmrs r1, fpscr",
        "bic r1, r1, #0xf0000000",
        "bic r1, r1, #0x9f",
        "str r1, [r3], #4",
        ".if \\state == 0",
        "blx r12",
        "ldr r3, [sp]",
        "add r3, r3, #104",
        ".endif",
        ".endr",
        "add sp, sp, #8",
        "vpop {{d8-d15}}",
        "pop {{r4-r11, r12, pc}}",
    )
}

/// Calls `code(argument)` and asserts that all preserved state is unchanged. Messages contain
/// `name`.
///
/// # Safety
/// The call must be sound.
unsafe fn assert_preserved(name: &str, code: usize, argument: usize) {
    let mut seen = Seen::default();
    // SAFETY: the caller vouches for the call, and `probe` itself writes to `seen` only.
    unsafe { probe(code, argument, &mut seen) };
    assert_eq!(seen.before[7], 0xfeed_2d0f_feed_2d0f, "the probe itself");
    assert_eq!(seen.before[8], 0xbeef_1b05_beef_1b04, "the probe itself");
    assert_eq!(
        seen.before, seen.after,
        "{name}: d8 to d15, r4 to r11, sp, modes of FPSCR"
    );
}

/// A call for `operation` that wraps once, in streams of three blocks each. With an index table, it
/// visits the first pieces.
fn call(operation: Operation, address: usize, table: usize) -> StreamCall {
    let contract = operation.contract();
    let stream = 3 * BLOCK_BYTES as usize;
    let delta = if contract.streams() > 1 { stream } else { 0 };
    let (window, offset) = match contract.visits {
        AccessOrder::Lines => (3 * 32, 32),
        AccessOrder::Chunks => (3 * 4, 4),
        _ => (stream, 512),
    };
    let distance = 2048;
    let pattern = 7;
    let checksum = 0;
    StreamCall {
        lead: address,
        delta,
        window,
        offset,
        blocks: 4,
        table,
        distance,
        spare: 0,
        pattern,
        checksum,
    }
}

#[test]
fn the_layout_is_what_the_probe_expects() {
    assert_eq!(
        (offset_of!(Seen, before), offset_of!(Seen, after)),
        (0, 104)
    );
}

#[test]
fn streaming_kernels_preserve_the_registers_of_the_caller() {
    let window = memory(4 * 4096);
    let table = memory(4096);
    let code = |row: KernelRow| {
        row.kernel()
            .ok()
            .and(row.row.assembly())
            .map(|code| (row, code))
    };
    let kernels: Vec<(KernelRow, StreamCode)> = all_rows().into_iter().filter_map(code).collect();
    assert!(kernels.len() >= 20);
    for (row, code) in kernels {
        for blocks in [0, 4] {
            let start = call(row.operation, window.address(), table.address());
            let mut call = StreamCall { blocks, ..start };
            // SAFETY: the kernel can be executed here, and all streams lie in the window. The index
            // table only names line 0.
            unsafe { assert_preserved(&row.name(), code as usize, &raw mut call as usize) };
            let offset = if blocks == 0 {
                start.offset
            } else {
                start.offset * 2
            };
            assert_eq!(call.offset, offset, "{}: it did run", row.name());
        }
    }
}

#[test]
fn chases_and_additions_preserve_the_registers_of_the_caller() {
    let window = memory(4096);
    window.words()[0].store(window.address() as u64, Relaxed);
    for (i, code) in CHASES.into_iter().chain(CHASES_WITH_PAYLOAD).enumerate() {
        let mut call = ChaseCall {
            positions: [window.address(); MAX_WALKERS],
            blocks: 2,
            payload: 0,
        };
        // SAFETY: the node points to itself.
        unsafe { assert_preserved(&format!("chase {i}"), code as usize, &raw mut call as usize) };
    }
    for code in [DEPENDENT_ADDS, INDEPENDENT, ADDITIONS] {
        // SAFETY: the code takes at least one block and uses registers only.
        unsafe { assert_preserved("additions", code as usize, 2) };
    }
}

#[test]
fn instructions_preserve_the_registers_of_the_caller() {
    let mut scratch = Scratch::new();
    for listed in all_instructions()
        .into_iter()
        .filter(|listed| listed.kernel().is_ok())
    {
        let code = listed.address().expect("it has a kernel") as usize;
        let mut call = InstructionCall {
            iterations: 3,
            scratch: (&raw mut *scratch) as usize,
        };
        // SAFETY: the kernel can be executed here, and the scratch memory is borrowed.
        unsafe { assert_preserved(&listed.name(), code, &raw mut call as usize) };
    }
}

#[test]
fn locks_and_handoffs_preserve_the_registers_of_the_caller() {
    let line = SharedLine::default();
    let word = (&raw const line.word) as usize;
    for set in LOCK_SETS.iter().filter(|set| (set.present)()) {
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
                iterations: 3,
                inside: 2,
                between: 2,
                failed_tries: 0,
            };
            // SAFETY: the word is an atomic that no other thread uses, and the instructions can be
            // executed here.
            unsafe { assert_preserved(set.name, code as usize, &raw mut call as usize) };
        }
    }
    for (name, code) in HandOff::ALL.into_iter().zip([
        HANDOFF.store_load,
        HANDOFF.compare_and_swap,
        HANDOFF.exchange,
    ]) {
        for expected in [0, 1] {
            line.word.store(0, Relaxed);
            let mut call = HandOffCall {
                word,
                expected,
                iterations: 1,
                max_polls: 3,
            };
            // SAFETY: the word is an atomic that no other thread uses.
            unsafe { assert_preserved(name.name(), code as usize, &raw mut call as usize) };
            assert_eq!(
                call.iterations, expected,
                "{name}: only a value that is there is answered"
            );
        }
    }
}
