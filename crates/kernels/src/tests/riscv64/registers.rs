//! Tests that kernels preserve the caller's registers (RISC-V ELF psABI, "Integer register
//! convention" and "Floating-point register convention").

use crate::chase::ChaseCall;
use crate::handoff::HandOffCall;
use crate::instructions::InstructionCall;
use crate::locks::LockCall;
use crate::native::{
    ADDITIONS, CHASES, CHASES_WITH_PAYLOAD, DEPENDENT_ADDS, HANDOFF, INDEPENDENT, LOCK_SETS,
};
use crate::stream_call::StreamCall;
use crate::tests::{executable, memory};
use crate::{AccessOrder, BLOCK_BYTES, MAX_WALKERS, Operation, all_instructions};
use core::arch::naked_asm;
use host::memory::Window;
use std::mem::offset_of;
use std::sync::atomic::Ordering::Relaxed;

/// The state before and after a call. `probe` depends on the offsets.
#[repr(C)]
#[derive(Debug, Default)]
struct Seen {
    /// s0 to s11 after the call. Before the call, `probe` sets them to 1 to 12.
    saved: [u64; 12],
    /// fs0 to fs11 after the call, as 64 bits. Before the call, they are the numbers 101 to 112.
    floating: [u64; 12],
    /// sp, gp, tp and frm before and after the call.
    before: [u64; 4],
    after: [u64; 4],
}

/// Calls `code(argument)` with known values in all registers that a callee must preserve.
#[unsafe(naked)]
unsafe extern "C" fn probe(code: usize, argument: usize, seen: &mut Seen) {
    naked_asm!(concat!(
        ".option push\n.option norvc\n.option arch, +d\n",
        "addi sp, sp, -224\n",
        "sd ra, 0(sp)\n",
        "sd a2, 8(sp)\n",
        ".set i, 0\n",
        ".irp r,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11\n",
        "sd \\r, 16 + 8 * i(sp)\n",
        "fsd f\\r, 112 + 8 * i(sp)\n",
        "li \\r, 1 + i\n",
        "li t0, 101 + i\n",
        "fmv.d.x f\\r, t0\n",
        ".set i, i + 1\n",
        ".endr\n",
        "frrm t0\n",
        "sd t0, 208(sp)\n",
        "fsrmi 1\n", // rounds towards zero: neither the reset value nor Rust's
        "sd sp, 192(a2)\nsd gp, 200(a2)\nsd tp, 208(a2)\n",
        "frrm t0\nsd t0, 216(a2)\n",
        "mv t0, a0\n",
        "mv a0, a1\n",
        "jalr t0\n",
        "ld a2, 8(sp)\n",
        "sd sp, 224(a2)\nsd gp, 232(a2)\nsd tp, 240(a2)\n",
        "frrm t0\nsd t0, 248(a2)\n",
        "ld t0, 208(sp)\nfsrm t0\n",
        ".set i, 0\n",
        ".irp r,s0,s1,s2,s3,s4,s5,s6,s7,s8,s9,s10,s11\n",
        "sd \\r, 8 * i(a2)\n",
        "fsd f\\r, 96 + 8 * i(a2)\n",
        "ld \\r, 16 + 8 * i(sp)\n",
        "fld f\\r, 112 + 8 * i(sp)\n",
        ".set i, i + 1\n",
        ".endr\n",
        "ld ra, 0(sp)\n",
        "addi sp, sp, 224\n",
        "ret\n",
        ".option pop\n",
    ))
}

#[test]
fn the_layout_is_what_the_probe_expects() {
    assert_eq!(
        (offset_of!(Seen, saved), offset_of!(Seen, floating)),
        (0, 96)
    );
    assert_eq!(
        (offset_of!(Seen, before), offset_of!(Seen, after)),
        (192, 224)
    );
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
    assert_eq!(
        seen.saved,
        std::array::from_fn(|i| 1 + i as u64),
        "{name}: s0 to s11"
    );
    assert_eq!(
        seen.floating,
        std::array::from_fn(|i| 101 + i as u64),
        "{name}: fs0 to fs11"
    );
    assert_eq!(seen.before, seen.after, "{name}: sp, gp, tp, frm");
    assert_eq!(seen.before[3], 1, "the probe itself");
}

/// A call for `operation` that wraps once, in streams of three blocks each at the start of
/// `window`. An index table follows them.
fn call(operation: Operation, window: &Window) -> StreamCall {
    let bytes = 3 * BLOCK_BYTES as usize;
    let contract = operation.contract();
    let table = window.address() + 8192;
    // The pieces in rising order, in units of 8 B: lines 0 to 23, or every eighth line.
    let step = if contract.visits == AccessOrder::Lines {
        8
    } else {
        64
    };
    for (i, word) in window.words()[1024..1036].iter().enumerate() {
        let entry = |i: u64| i * step % 192;
        word.store(entry(2 * i as u64) | entry(2 * i as u64 + 1) << 32, Relaxed);
    }
    let (length, offset) = match contract.visits {
        AccessOrder::Lines => (96, 32),
        AccessOrder::Chunks => (12, 4),
        AccessOrder::Forward | AccessOrder::Backward => (bytes, 512),
    };
    let delta = if contract.streams() > 1 { bytes } else { 0 };
    let lead = window.address();
    StreamCall {
        lead,
        delta,
        window: length,
        offset,
        blocks: 4,
        table,
        distance: 64,
        spare: 0,
        pattern: 7,
        checksum: 0,
    }
}

#[test]
fn streaming_kernels_preserve_the_registers_of_the_caller() {
    let window = memory(12288);
    for (row, code) in executable() {
        for blocks in [0, 4] {
            let mut call = call(row.operation, &window);
            let start = call.offset;
            call.blocks = blocks;
            // SAFETY: the kernel can be executed here, and all streams and the table lie in the
            // window.
            unsafe { assert_preserved(&row.name(), code as usize, &raw mut call as usize) };
            let offset = if blocks == 0 { start } else { 2 * start };
            assert_eq!(call.offset, offset, "{}: it did run", row.name());
        }
    }
}

#[test]
fn chases_and_additions_preserve_the_registers_of_the_caller() {
    let window = memory(4096);
    window.words()[0].store(window.address() as u64, Relaxed);
    for code in CHASES.into_iter().chain(CHASES_WITH_PAYLOAD) {
        let mut call = ChaseCall {
            positions: [window.address(); MAX_WALKERS],
            blocks: 2,
            payload: 0,
        };
        // SAFETY: the node points to itself.
        unsafe { assert_preserved("chase", code as usize, &raw mut call as usize) };
    }
    for code in [DEPENDENT_ADDS, INDEPENDENT, ADDITIONS] {
        // SAFETY: the code executes at least one block and uses registers only.
        unsafe { assert_preserved("add", code as usize, 2) };
    }
}

#[test]
fn locks_and_hand_offs_preserve_the_registers_of_the_caller() {
    let window = memory(4096);
    let word = window.address();
    for set in &LOCK_SETS {
        for code in [
            set.atomic_add,
            set.exchange,
            set.compare_and_swap,
            set.spin_lock,
            set.fence,
        ] {
            window.words()[0].store(0, Relaxed);
            let mut call = LockCall {
                word,
                iterations: 2,
                inside: 3,
                between: 1,
                failed_tries: 9,
            };
            // SAFETY: the words lie in the window.
            unsafe { assert_preserved(set.name, code as usize, &raw mut call as usize) };
            assert_eq!(call.failed_tries, 0, "nobody else wants the word");
        }
    }
    for code in [
        HANDOFF.store_load,
        HANDOFF.compare_and_swap,
        HANDOFF.exchange,
    ] {
        window.words()[0].store(4, Relaxed);
        let mut call = HandOffCall {
            word,
            expected: 4,
            iterations: 3,
            max_polls: 5,
        };
        // SAFETY: the word lies in the window.
        unsafe { assert_preserved("hand-off", code as usize, &raw mut call as usize) };
        assert_eq!(
            (
                window.words()[0].load(Relaxed),
                call.expected,
                call.iterations
            ),
            (5, 6, 2),
            "one answer was given"
        );
    }
}

#[test]
fn instructions_preserve_the_registers_of_the_caller() {
    let window = memory(4096);
    for listed in all_instructions()
        .into_iter()
        .filter(|listed| listed.kernel().is_ok())
    {
        let code = listed.address().unwrap();
        let mut call = InstructionCall {
            iterations: 2,
            scratch: window.address(),
        };
        // SAFETY: the window is as long as the scratch memory, and the kernel can be executed here.
        unsafe { assert_preserved(&listed.name(), code as usize, &raw mut call as usize) };
    }
}
