//! Tests that kernels preserve the caller's registers (System V ABI, AMD64 supplement, 3.2.1 and
//! 3.2.3).

use super::calls::{self, STREAMS, call};
use crate::instructions::InstructionCall;
use crate::tests::{executable, memory};
use crate::{Scratch, all_instructions};
use core::arch::naked_asm;

/// Values that `probe` puts into rbx, rbp, r12, r13, r14 and r15.
const GIVEN: [u64; 6] = [
    0x1b1b_0001,
    0x1b1b_0002,
    0x1b1b_0003,
    0x1b1b_0004,
    0x1b1b_0005,
    0x1b1b_0006,
];

/// Value of MXCSR that `probe` sets: flush to zero, round towards zero, all exceptions masked. This
/// is neither the reset value nor Rust's.
const GIVEN_MXCSR: u32 = 0xff80;

/// Control word of x87 that `probe` sets: round towards zero, double precision, all exceptions
/// masked.
const GIVEN_CONTROL: u16 = 0x0e7f;

/// The state before and after a call. `probe` depends on the offsets.
#[repr(C)]
#[derive(Debug, Default)]
struct Seen {
    saved: [u64; 6],
    stack: [u64; 2],
    flags: u64,
    own_mxcsr: u32,
    mxcsr: u32,
    /// The x87 environment of the caller (FNSTENV: control, status and tag word, ...).
    own_x87: [u32; 7],
    /// The x87 environments before and after the call.
    x87: [[u32; 7]; 2],
    given_mxcsr: u32,
    given_control: u16,
}

/// Calls `code(argument)` with known values in all registers that a callee must preserve.
#[unsafe(naked)]
unsafe extern "sysv64" fn probe(code: usize, argument: usize, seen: &mut Seen) {
    naked_asm!(
        "push rbx",
        "push rbp",
        "push r12",
        "push r13",
        "push r14",
        "push r15",
        "mov rcx, rdx",
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

/// Calls `code(call)` with all bits set in the upper halves of ymm0 to ymm15. Stores the upper
/// halves after the call to `left`. Needs AVX2.
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

/// Calls `code(argument)` and asserts that all preserved state is unchanged. Messages contain
/// `name`.
///
/// # Safety
/// The call must be sound.
unsafe fn assert_preserved(name: &str, code: usize, argument: usize) {
    let mut seen = Seen {
        given_mxcsr: GIVEN_MXCSR,
        given_control: GIVEN_CONTROL,
        ..Seen::default()
    };
    // SAFETY: the caller vouches for the call, and `probe` itself writes to `seen` only.
    unsafe { probe(code, argument, &mut seen) };
    assert_eq!(seen.saved, GIVEN, "{name}: rbx, rbp, r12 to r15");
    assert_eq!(seen.stack[0], seen.stack[1], "{name}: the stack pointer");
    assert_eq!(seen.flags & 1 << 10, 0, "{name}: the direction flag");
    // A callee may raise the six exception flags (3.2.1: "the control bits of the MXCSR register
    // are callee-saved").
    assert_eq!(seen.mxcsr & !0x3f, GIVEN_MXCSR, "{name}: MXCSR");
    let control = seen.x87[0].first().map(|word| word & 0xffff);
    assert_eq!(control, Some(u32::from(GIVEN_CONTROL)), "the probe itself");
    // The last four words describe the last x87 instruction, which was the caller's. Some
    // processors do not keep them.
    assert_eq!(
        seen.x87[0][..3],
        seen.x87[1][..3],
        "{name}: x87 control, status and tag words"
    );
}

#[test]
fn the_layout_is_what_the_probe_expects() {
    use std::mem::offset_of;
    assert_eq!((offset_of!(Seen, stack), offset_of!(Seen, flags)), (48, 64));
    assert_eq!(
        (offset_of!(Seen, own_mxcsr), offset_of!(Seen, mxcsr)),
        (72, 76)
    );
    assert_eq!(
        (offset_of!(Seen, own_x87), offset_of!(Seen, x87)),
        (80, 108)
    );
    assert_eq!(
        (
            offset_of!(Seen, given_mxcsr),
            offset_of!(Seen, given_control)
        ),
        (164, 168)
    );
}

#[test]
fn streaming_kernels_preserve_the_registers_of_the_caller() {
    calls::streaming(assert_preserved);
}

#[test]
fn chase_and_add_preserve_the_registers_of_the_caller() {
    calls::chases(assert_preserved);
}

#[test]
fn instruction_kernels_preserve_the_registers_of_the_caller() {
    calls::instructions(assert_preserved);
}

#[test]
fn locks_and_hand_offs_preserve_the_registers_of_the_caller() {
    calls::locks(assert_preserved);
}

/// Dirty upper halves slow down all SSE code that follows (Intel Optimization Manual, "Mixing AVX
/// code with SSE code").
#[test]
fn wide_kernels_leave_no_upper_halves_behind() {
    if !is_x86_feature_detected!("avx2") {
        return;
    }
    let window = memory(STREAMS);
    for (row, code) in executable() {
        let (mut call, _) = call(row.operation, window.address());
        let mut left = [[1; 2]; 16];
        // SAFETY: the kernel can be executed here, all streams lie in the window, and the processor
        // has AVX2.
        unsafe { upper_halves(code as usize, &raw mut call as usize, &mut left) };
        // Narrow kernels do not touch the upper halves. This shows that the probe would see a
        // missing VZEROUPPER.
        let expected = if row.set.bits() > Some(128) {
            0
        } else {
            u64::MAX
        };
        assert_eq!(left, [[expected; 2]; 16], "{}", row.name());
    }
    for listed in all_instructions() {
        let (Ok(_), Some(code), Some(text)) =
            (listed.kernel(), listed.address(), listed.assembly())
        else {
            continue;
        };
        let mut scratch = Scratch::new();
        let mut left = [[1; 2]; 16];
        let mut call = InstructionCall {
            iterations: 2,
            scratch: (&raw mut *scratch) as usize,
        };
        // SAFETY: the kernel can be executed here, the scratch memory is borrowed, and the
        // processor has AVX2.
        unsafe { upper_halves(code as usize, &raw mut call as usize, &mut left) };
        let expected = if text.contains("ymm") || text.contains("zmm") {
            0
        } else {
            u64::MAX
        };
        assert_eq!(left, [[expected; 2]; 16], "{}", listed.name());
    }
}
