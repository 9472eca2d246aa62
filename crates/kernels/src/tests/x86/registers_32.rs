//! Tests that kernels preserve the caller's registers (System V ABI, Intel386 supplement, 3-9 to
//! 3-12).

use super::calls::{self, STREAMS, call};
use crate::tests::{executable, memory};
use core::arch::naked_asm;

/// Values that `probe` puts into ebx, esi, edi and ebp.
const GIVEN: [u32; 4] = [0x1b1b_0001, 0x1b1b_0002, 0x1b1b_0003, 0x1b1b_0004];

/// The state after a call. `probe` depends on the offsets.
#[repr(C)]
#[derive(Debug, Default)]
struct Seen {
    saved: [u32; 4],
    /// Stack pointer before and after the call.
    stack: [u32; 2],
    flags: u32,
}

/// Calls `code(argument)` with known values in all registers that a callee must preserve.
#[unsafe(naked)]
unsafe extern "C" fn probe(code: usize, argument: usize, seen: &mut Seen) {
    naked_asm!(
        "push ebx",
        "push esi",
        "push edi",
        "push ebp",
        "mov eax, [esp + 20]",
        "mov ecx, [esp + 28]",
        "push dword ptr [esp + 24]",
        "mov [ecx + 16], esp",
        "mov ebx, 0x1b1b0001",
        "mov esi, 0x1b1b0002",
        "mov edi, 0x1b1b0003",
        "mov ebp, 0x1b1b0004",
        "call eax",
        "mov ecx, [esp + 32]",
        "mov [ecx], ebx",
        "mov [ecx + 4], esi",
        "mov [ecx + 8], edi",
        "mov [ecx + 12], ebp",
        "mov [ecx + 20], esp",
        "pushfd",
        "pop dword ptr [ecx + 24]",
        "cld",
        "pop eax",
        "pop ebp",
        "pop edi",
        "pop esi",
        "pop ebx",
        "ret",
    )
}

/// Calls `code(call)` with all bits set in the upper halves of ymm0 to ymm7. Stores the upper
/// halves after the call to `left`. Needs AVX2.
#[unsafe(naked)]
unsafe extern "C" fn upper_halves(code: usize, call: usize, left: &mut [[u64; 2]; 8]) {
    naked_asm!(
        ".irp i, 0,1,2,3,4,5,6,7",
        "vpcmpeqd ymm\\i, ymm\\i, ymm\\i",
        ".endr",
        "mov eax, [esp + 4]",
        "push dword ptr [esp + 8]",
        "call eax",
        "pop eax",
        "mov eax, [esp + 12]",
        ".irp i, 0,1,2,3,4,5,6,7",
        "vextractf128 [eax + 16 * \\i], ymm\\i, 1",
        ".endr",
        "vzeroupper",
        "ret",
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
    assert_eq!(seen.saved, GIVEN, "{name}: ebx, esi, edi, ebp");
    assert_eq!(seen.stack[0], seen.stack[1], "{name}: the stack pointer");
    assert_eq!(seen.flags & 1 << 10, 0, "{name}: the direction flag");
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
        let mut left = [[1; 2]; 8];
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
        assert_eq!(left, [[expected; 2]; 8], "{}", row.name());
    }
}
