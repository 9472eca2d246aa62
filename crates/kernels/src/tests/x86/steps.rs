//! Counts the instructions that an iteration executes. The trap flag stops the processor after each
//! instruction.

use super::trace::passes_alone;
use crate::instructions::InstructionCall;
use crate::{Scratch, all_instructions};
use core::arch::naked_asm;
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Start and end of the watched code, and the number of instructions executed in it so far.
static WATCHED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

#[cfg(target_arch = "x86_64")]
const POINTER: c_int = libc::REG_RIP;
#[cfg(target_arch = "x86")]
const POINTER: c_int = libc::REG_EIP;

/// Calls `code(call)` with the trap flag set.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "sysv64" fn stepped(code: usize, call: &mut InstructionCall) {
    naked_asm!(
        "mov rax, rdi",
        "mov rdi, rsi",
        "pushfq",
        "or dword ptr [rsp], 0x100",
        "popfq", // after this, the stack is aligned as a call requires
        "call rax",
        "pushfq",
        "and dword ptr [rsp], 0xfffffeff",
        "popfq",
        "ret",
    )
}

/// Calls `code(call)` with the trap flag set.
#[cfg(target_arch = "x86")]
#[unsafe(naked)]
unsafe extern "C" fn stepped(code: usize, call: &mut InstructionCall) {
    naked_asm!(
        "mov eax, [esp + 4]",
        "push dword ptr [esp + 8]",
        "pushfd",
        "or dword ptr [esp], 0x100",
        "popfd",
        "call eax",
        "pushfd",
        "and dword ptr [esp], 0xfffffeff",
        "popfd",
        "pop eax",
        "ret",
    )
}

extern "C" fn on_step(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid context to a handler with SA_SIGINFO.
    let at =
        unsafe { (*context.cast::<ucontext_t>()).uc_mcontext.gregs[POINTER as usize] as usize };
    if (WATCHED[0].load(Relaxed)..WATCHED[1].load(Relaxed)).contains(&at) {
        WATCHED[2].fetch_add(1, Relaxed);
    }
}

/// Number of instructions that `iterations` iterations of the kernel at `code` execute.
fn count(code: &Range<usize>, iterations: usize) -> usize {
    let mut scratch = Scratch::new();
    let mut call = InstructionCall {
        iterations,
        scratch: (&raw mut *scratch) as usize,
    };
    for (place, value) in WATCHED.iter().zip([code.start, code.end, 0]) {
        place.store(value, Relaxed);
    }
    // SAFETY: the kernel can be executed here, and the scratch memory has the expected size and
    // alignment.
    unsafe { stepped(code.start, &mut call) };
    WATCHED[2].load(Relaxed)
}

#[test]
#[ignore = "needs a process of its own: it handles its traps"]
fn child_that_steps() {
    // SAFETY: all zeros is a valid sigaction, and the handler is a function for SA_SIGINFO.
    let installed = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (action.sa_sigaction, action.sa_flags) = (on_step as *const () as usize, libc::SA_SIGINFO);
        libc::sigaction(libc::SIGTRAP, &action, std::ptr::null_mut())
    };
    assert_eq!(installed, 0);
    let mut counted = 0;
    for listed in all_instructions() {
        let (Ok(kernel), Some(code), Some(text)) =
            (listed.kernel(), listed.address(), listed.assembly())
        else {
            continue;
        };
        let code = code as usize..code as usize + 64 + listed.code().unwrap().len();
        let in_one = 1 + text.matches(';').count();
        // The loop itself has a counter and a branch. Some kernels have one more instruction, which
        // restores the stack pointer or the start of the string.
        let moves = text.starts_with("lods")
            || (in_one == 1 && (text.starts_with("push ") || text.starts_with("pop ")));
        let own = if moves { 3 } else { 2 };
        let few = count(&code, 3);
        let more = count(&code, 4);
        assert_eq!(
            more - few,
            kernel.per_iteration() as usize * in_one + own,
            "{}: {text}",
            kernel.name()
        );
        counted += 1;
    }
    assert!(counted > 40, "{counted} kernels");
}

#[test]
fn a_turn_executes_as_many_instructions_as_its_row_says() {
    passes_alone(module_path!(), "child_that_steps");
}
