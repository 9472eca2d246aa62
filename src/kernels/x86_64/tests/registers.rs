//! Kernels leave the caller's registers alone (System V ABI, AMD64 supplement, 3.2.1 and 3.2.3).

use crate::kernels::chase::{ChaseCall, ChaseCode};
use crate::kernels::handoff::HandOffCall;
use crate::kernels::instructions::InstructionCall;
use crate::kernels::locks::LockCall;
use crate::kernels::native::{ADD, CHASES, CHASES_WITH_PAYLOAD, HANDOFF, LOCK_SETS, WORK};
use crate::kernels::stream::StreamCall;
use crate::kernels::x86_shared::tests::{executable, memory};
use crate::kernels::{BLOCK_BYTES, MOST_WALKERS, Operation, Scratch, SharedLine, Visits, all_instructions};
use core::arch::naked_asm;
use std::sync::atomic::Ordering::Relaxed;

/// What `probe` puts into rbx, rbp, r12, r13, r14 and r15.
const GIVEN: [u64; 6] = [0x1b1b_0001, 0x1b1b_0002, 0x1b1b_0003, 0x1b1b_0004, 0x1b1b_0005, 0x1b1b_0006];

/// Neither the reset value nor Rust's: flush to zero, round towards zero, all exceptions masked.
const GIVEN_MXCSR: u32 = 0xff80;

/// Round towards zero, double precision, all exceptions masked.
const GIVEN_CONTROL: u16 = 0x0e7f;

/// The state before and after a call; `probe` knows the offsets.
#[repr(C)]
#[derive(Debug, Default)]
struct Seen {
    saved: [u64; 6],
    stack: [u64; 2],
    flags: u64,
    own_mxcsr: u32,
    mxcsr: u32,
    /// The x87 environments of the caller, before the call, and after it (FNSTENV: control, status and tag word, ...).
    own_x87: [u32; 7],
    x87: [[u32; 7]; 2],
    given_mxcsr: u32,
    given_control: u16,
}

/// Calls `code(first, second)` with known values in everything that a callee has to preserve.
#[unsafe(naked)]
unsafe extern "sysv64" fn probe(code: usize, first: usize, second: u64, seen: &mut Seen) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "push rcx", // seven pushes and the return address: the stack is aligned for the call
        "stmxcsr [rcx + 72]",
        "fnstenv [rcx + 80]",
        "fldcw [rcx + 168]",
        "ldmxcsr [rcx + 164]",
        "fnstenv [rcx + 108]",
        "fldenv [rcx + 108]",
        "mov [rcx + 48], rsp",
        "mov ebx, 0x1b1b0001",
        "mov ebp, 0x1b1b0002",
        "mov r12d, 0x1b1b0003",
        "mov r13d, 0x1b1b0004",
        "mov r14d, 0x1b1b0005",
        "mov r15d, 0x1b1b0006",
        "mov rax, rdi",
        "mov rdi, rsi",
        "mov rsi, rdx",
        "call rax",
        "mov rcx, [rsp]",
        "mov [rcx], rbx",
        "mov [rcx + 8], rbp",
        "mov [rcx + 16], r12",
        "mov [rcx + 24], r13",
        "mov [rcx + 32], r14",
        "mov [rcx + 40], r15",
        "mov [rcx + 56], rsp",
        "pushfq",
        "pop qword ptr [rcx + 64]",
        "cld",
        "stmxcsr [rcx + 76]",
        "fnstenv [rcx + 136]",
        "fldenv [rcx + 80]",
        "ldmxcsr [rcx + 72]",
        "pop rcx",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbp",
        "pop rbx",
        "ret",
    )
}

/// Calls `code(call)` with all bits set in the upper halves of ymm0 to ymm15, and stores what is left of them. Needs
/// AVX2.
#[unsafe(naked)]
unsafe extern "sysv64" fn upper_halves(code: usize, call: usize, left: &mut [[u64; 2]; 16]) {
    naked_asm!(
        "push rbx",
        "mov rbx, rdx",
        ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        "vpcmpeqd ymm\\i, ymm\\i, ymm\\i",
        ".endr",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        ".irp i, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
        "vextractf128 [rbx + 16 * \\i], ymm\\i, 1",
        ".endr",
        "vzeroupper",
        "pop rbx",
        "ret",
    )
}

/// Calls `code(first, second)` and complains in the name of `name` about everything that changed.
///
/// # Safety
/// The call must be sound.
unsafe fn assert_preserved(name: &str, code: usize, first: usize, second: u64) {
    let mut seen = Seen { given_mxcsr: GIVEN_MXCSR, given_control: GIVEN_CONTROL, ..Seen::default() };
    // SAFETY: the caller vouches for the call; `probe` itself writes to `seen` only.
    unsafe { probe(code, first, second, &mut seen) };
    assert_eq!(seen.saved, GIVEN, "{name}: rbx, rbp, r12 to r15");
    assert_eq!(seen.stack[0], seen.stack[1], "{name}: the stack pointer");
    assert_eq!(seen.flags & 1 << 10, 0, "{name}: the direction flag");
    // The six exception flags are the callee's to raise (3.2.1: "the control bits of the MXCSR register are callee-saved").
    assert_eq!(seen.mxcsr & !0x3f, GIVEN_MXCSR, "{name}: MXCSR");
    let control = seen.x87[0].first().map(|word| word & 0xffff);
    assert_eq!(control, Some(u32::from(GIVEN_CONTROL)), "the probe itself");
    // The last four words are where the last x87 instruction was: the caller's, and not kept by every processor.
    assert_eq!(seen.x87[0][..3], seen.x87[1][..3], "{name}: x87 control, status and tag words");
}

/// Orders of three blocks by lines and by chunks.
static LINES: [u32; 24] = [9, 3, 0, 23, 8, 16, 1, 2, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 17, 18, 19, 20, 21, 22];
static CHUNKS: [u32; 3] = [16, 0, 8];

/// Bytes that the streams of a call take at most.
const STREAMS: usize = 4 * 3 * BLOCK_BYTES as usize;

/// A call for `operation` in memory of three blocks a stream, that wraps once; and the offset that it ends with.
fn call(operation: Operation, address: usize) -> (StreamCall, usize) {
    let stream = 3 * BLOCK_BYTES as usize;
    let contract = operation.contract();
    let (table, window) = match contract.visits {
        Visits::Lines => (LINES.as_ptr() as usize, size_of_val(&LINES)),
        Visits::Chunks => (CHUNKS.as_ptr() as usize, size_of_val(&CHUNKS)),
        Visits::Forward | Visits::Backward => (0, stream),
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

#[test]
fn the_layout_is_what_the_probe_expects() {
    use std::mem::offset_of;
    assert_eq!((offset_of!(Seen, stack), offset_of!(Seen, flags)), (48, 64));
    assert_eq!((offset_of!(Seen, own_mxcsr), offset_of!(Seen, mxcsr)), (72, 76));
    assert_eq!((offset_of!(Seen, own_x87), offset_of!(Seen, x87)), (80, 108));
    assert_eq!((offset_of!(Seen, given_mxcsr), offset_of!(Seen, given_control)), (164, 168));
}

#[test]
fn streaming_kernels_preserve_the_registers_of_the_caller() {
    let window = memory(STREAMS);
    for (row, code) in executable() {
        for blocks in [0, 4] {
            let (call, end) = call(row.operation, window.address());
            let mut call = StreamCall { blocks, ..call };
            let offset = if blocks == 0 { call.offset } else { end };
            // SAFETY: the kernel can be executed here, and all streams lie in the window.
            unsafe { assert_preserved(&row.name(), code as usize, &raw mut call as usize, 0) };
            assert_eq!(call.offset, offset, "{}: it did run", row.name());
        }
    }
}

#[test]
fn chase_and_add_preserve_the_registers_of_the_caller() {
    let window = memory(4096);
    window.words()[0].store(window.address() as u64, Relaxed);
    for code in CHASES.into_iter().chain(CHASES_WITH_PAYLOAD) {
        let code: ChaseCode = code;
        let mut call = ChaseCall { positions: [window.address(); MOST_WALKERS], blocks: 2, payload: 0 };
        // SAFETY: the node points to itself.
        unsafe { assert_preserved("chase", code as usize, &raw mut call as usize, 0) };
    }
    // SAFETY: takes at least one block and uses registers only.
    unsafe { assert_preserved("add", ADD as usize, 2, 0) };
}

#[test]
fn instruction_kernels_preserve_the_registers_of_the_caller() {
    for listed in all_instructions() {
        let (Ok(_), Some(code)) = (listed.kernel(), listed.address()) else { continue };
        let mut scratch = Scratch::new();
        let mut call = InstructionCall { turns: 2, scratch: (&raw mut *scratch) as usize };
        // SAFETY: the kernel can be executed here, and the scratch memory is what it expects.
        unsafe { assert_preserved(&listed.name(), code as usize, &raw mut call as usize, 0) };
    }
}

#[test]
fn locks_and_hand_offs_preserve_the_registers_of_the_caller() {
    let line = SharedLine::default();
    let word = (&raw const line.word) as usize;
    for set in &LOCK_SETS {
        for code in [set.atomic_add, set.exchange, set.compare_and_swap, set.spin_lock, set.fence] {
            line.word.store(0, Relaxed);
            let mut call = LockCall { word, turns: 2, inside: 2, between: 3, vain: 0 };
            // SAFETY: the two words of the line are atomics, and the lock is free.
            unsafe { assert_preserved("lock", code as usize, &raw mut call as usize, 0) };
        }
    }
    for code in [HANDOFF.store_load, HANDOFF.compare_and_swap, HANDOFF.exchange] {
        line.word.store(5, Relaxed);
        let mut call = HandOffCall { word, expected: 5, turns: 2, patience: 3 };
        // SAFETY: the word is an atomic; the second answer is waited for in vain.
        unsafe { assert_preserved("hand-off", code as usize, &raw mut call as usize, 0) };
        assert_eq!((line.word.load(Relaxed), call.expected, call.turns), (6, 7, 1));
    }
    // SAFETY: takes at least one and uses registers only.
    unsafe { assert_preserved("work", WORK as usize, 2, 0) };
}

/// A dirty upper half slows down all SSE code that follows (Intel Optimization Manual, "Mixing AVX code with SSE code").
#[test]
fn wide_kernels_leave_no_upper_halves_behind() {
    if !is_x86_feature_detected!("avx2") {
        return;
    }
    let window = memory(STREAMS);
    for (row, code) in executable() {
        let ((mut call, _), mut left) = (call(row.operation, window.address()), [[1; 2]; 16]);
        // SAFETY: as above, and AVX2 is there.
        unsafe { upper_halves(code as usize, &raw mut call as usize, &mut left) };
        // The narrow ones do not touch them, which shows that the probe sees a missing VZEROUPPER.
        let expected = if row.set.bits() > Some(128) { 0 } else { u64::MAX };
        assert_eq!(left, [[expected; 2]; 16], "{}", row.name());
    }
    for listed in all_instructions() {
        let (Ok(_), Some(code), Some(text)) = (listed.kernel(), listed.address(), listed.assembly()) else { continue };
        let (mut scratch, mut left) = (Scratch::new(), [[1; 2]; 16]);
        let mut call = InstructionCall { turns: 2, scratch: (&raw mut *scratch) as usize };
        // SAFETY: as above.
        unsafe { upper_halves(code as usize, &raw mut call as usize, &mut left) };
        let expected = if text.contains("ymm") || text.contains("zmm") { 0 } else { u64::MAX };
        assert_eq!(left, [[expected; 2]; 16], "{}", listed.name());
    }
}
