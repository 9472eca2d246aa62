//! Copies from and to mapped files. An access to a page that the system cannot provide raises
//! SIGBUS, which ends a process without a handler. Causes are a truncated file and a failed device.
//!
//! On Linux the copy is an assembly routine. If an access of the routine faults, the signal handler
//! makes the routine return an error. Any other SIGBUS ends the process as before. On other
//! systems, only a check of the file size protects the copy.

use std::io;

#[cfg(not(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
)))]
pub use unguarded::{copy, prepare};

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
pub use guarded::{copy, prepare};

#[cfg(all(
    target_os = "linux",
    any(
        target_arch = "x86_64",
        target_arch = "aarch64",
        target_arch = "riscv64"
    )
))]
mod guarded {
    use super::io;
    use std::arch::naked_asm;
    use std::mem::MaybeUninit;

    /// Copies `bytes` bytes. Returns an input/output error if the system cannot provide a page.
    ///
    /// # Safety
    /// Both ranges are mapped, `to` for writing, and do not overlap. [`prepare`] was called.
    pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) -> io::Result<()> {
        // SAFETY: the caller's promise is the requirement of the routine.
        match unsafe { routine(to, from, bytes) } {
            0 => Ok(()),
            _ => Err(io::Error::from_raw_os_error(libc::EIO)),
        }
    }

    unsafe extern "C" {
        /// Addresses in the routine: the first instruction that may fault, the end of these
        /// instructions, and the instruction at which execution continues after a fault.
        static memgauge_copy_first: u8;
        static memgauge_copy_behind: u8;
        static memgauge_copy_failed: u8;
    }

    /// Copies `bytes` bytes. Returns 0, or 1 after a fault. The routine can be left at any
    /// instruction, because it uses no stack and changes caller-saved registers only.
    #[cfg(target_arch = "x86_64")]
    #[unsafe(naked)]
    unsafe extern "C" fn routine(to: *mut u8, from: *const u8, bytes: usize) -> usize {
        naked_asm!(
            ".globl memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            ".hidden memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            "mov rcx, rdx",
            "memgauge_copy_first:",
            "rep movsb",
            "memgauge_copy_behind:",
            "xor eax, eax",
            "ret",
            "memgauge_copy_failed:",
            "mov eax, 1",
            "ret",
        )
    }

    /// Like the routine for x86-64. It copies 64 bytes at a time, and the rest byte by byte.
    #[cfg(target_arch = "aarch64")]
    #[unsafe(naked)]
    unsafe extern "C" fn routine(to: *mut u8, from: *const u8, bytes: usize) -> usize {
        naked_asm!(
            ".globl memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            ".hidden memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            "memgauge_copy_first:",
            "cmp x2, #64",
            "b.lo 3f",
            "2:",
            "ldp q0, q1, [x1]",
            "ldp q2, q3, [x1, #32]",
            "add x1, x1, #64",
            "stp q0, q1, [x0]",
            "stp q2, q3, [x0, #32]",
            "add x0, x0, #64",
            "sub x2, x2, #64",
            "cmp x2, #64",
            "b.hs 2b",
            "3:",
            "cbz x2, 5f",
            "ldrb w3, [x1], #1",
            "strb w3, [x0], #1",
            "sub x2, x2, #1",
            "b 3b",
            "memgauge_copy_behind:",
            "5:",
            "mov x0, #0",
            "ret",
            "memgauge_copy_failed:",
            "mov x0, #1",
            "ret",
        )
    }

    /// Like the routine for x86-64. It copies words if both ranges begin at a multiple of 8, and
    /// the rest byte by byte.
    #[cfg(target_arch = "riscv64")]
    #[unsafe(naked)]
    unsafe extern "C" fn routine(to: *mut u8, from: *const u8, bytes: usize) -> usize {
        naked_asm!(
            ".globl memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            ".hidden memgauge_copy_first, memgauge_copy_behind, memgauge_copy_failed",
            "memgauge_copy_first:",
            "or t0, a0, a1",
            "andi t0, t0, 7",
            "bnez t0, 4f",
            "li t1, 32",
            "2:",
            "bltu a2, t1, 4f",
            "ld t2, 0(a1)",
            "ld t3, 8(a1)",
            "ld t4, 16(a1)",
            "ld t5, 24(a1)",
            "sd t2, 0(a0)",
            "sd t3, 8(a0)",
            "sd t4, 16(a0)",
            "sd t5, 24(a0)",
            "addi a0, a0, 32",
            "addi a1, a1, 32",
            "addi a2, a2, -32",
            "j 2b",
            "4:",
            "beqz a2, 5f",
            "lbu t2, 0(a1)",
            "sb t2, 0(a0)",
            "addi a0, a0, 1",
            "addi a1, a1, 1",
            "addi a2, a2, -1",
            "j 4b",
            "memgauge_copy_behind:",
            "5:",
            "li a0, 0",
            "ret",
            "memgauge_copy_failed:",
            "li a0, 1",
            "ret",
        )
    }

    /// Installs the handler of SIGBUS. Repeated calls are allowed.
    pub fn prepare() -> io::Result<()> {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: zeros are an action without flags and with an empty mask; the kernel copies it.
        // The handler only does what handlers may do: it changes the context passed to it, or makes
        // one system call.
        let result = unsafe {
            let action = action.assume_init_mut();
            action.sa_sigaction = handler as *const () as libc::sighandler_t;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(libc::SIGBUS, action, std::ptr::null_mut())
        };
        if result == 0 {
            Ok(())
        } else {
            Err(io::Error::last_os_error())
        }
    }

    extern "C" fn handler(
        signal: libc::c_int,
        _about: *mut libc::siginfo_t,
        context: *mut libc::c_void,
    ) {
        let first = (&raw const memgauge_copy_first).addr();
        let behind = (&raw const memgauge_copy_behind).addr();
        let failed = (&raw const memgauge_copy_failed).addr();
        // SAFETY: the kernel passes the context of the interrupted code, which nothing else uses
        // while the handler runs.
        let counter = unsafe { program_counter(context.cast::<libc::ucontext_t>()) };
        // SAFETY: as above.
        let at = unsafe { counter.read() };
        if (first..behind).contains(&(at as usize)) {
            // SAFETY: as above; the routine continues at its failure exit.
            unsafe { counter.write(failed as _) };
        } else {
            // SAFETY: restores the default action; returning repeats the fault, which then ends the
            // process.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }

    /// Pointer to the address at which the interrupted code continues.
    ///
    /// # Safety
    /// `context` is the pointer that the kernel passed to a signal handler.
    #[cfg(target_arch = "x86_64")]
    unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut libc::greg_t {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*context).uc_mcontext.gregs[libc::REG_RIP as usize] }
    }

    /// Like the function for x86-64, for AArch64.
    #[cfg(target_arch = "aarch64")]
    unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut libc::c_ulonglong {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*context).uc_mcontext.pc }
    }

    /// Like the function for x86-64, for RISC-V, where the first register is the program counter.
    #[cfg(target_arch = "riscv64")]
    unsafe fn program_counter(context: *mut libc::ucontext_t) -> *mut libc::c_ulong {
        // SAFETY: the caller's promise.
        unsafe { &raw mut (*context).uc_mcontext.__gregs[0] }
    }
}

#[cfg(any(
    not(all(
        target_os = "linux",
        any(
            target_arch = "x86_64",
            target_arch = "aarch64",
            target_arch = "riscv64"
        )
    )),
    test
))]
mod unguarded {
    use super::io;
    use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

    /// Does nothing, because no handler is needed here.
    pub fn prepare() -> io::Result<()> {
        Ok(())
    }

    /// Copies `bytes` bytes by atomic loads and stores, because other processes may change the file
    /// at the same time.
    ///
    /// # Safety
    /// Both ranges are mapped, `to` for writing, and do not overlap.
    pub unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) -> io::Result<()> {
        let words = if (to.addr() | from.addr()).is_multiple_of(8) {
            bytes / 8
        } else {
            0
        };
        for at in 0..words {
            // SAFETY: inside both ranges, at multiples of 8; atomics have the layout of their
            // numbers.
            let (from, to) = unsafe {
                (
                    &*from.cast::<AtomicU64>().add(at),
                    &*to.cast::<AtomicU64>().add(at),
                )
            };
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        for at in words * 8..bytes {
            // SAFETY: inside both ranges.
            let (from, to) = unsafe {
                (
                    &*from.cast::<AtomicU8>().add(at),
                    &*to.cast::<AtomicU8>().add(at),
                )
            };
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Copy = unsafe fn(*mut u8, *const u8, usize) -> io::Result<()>;

    #[test]
    fn every_byte_is_copied_and_no_other() {
        prepare().unwrap();
        unguarded::prepare().unwrap();
        let from: Vec<u8> = (0..300u32).map(|at| (at % 251) as u8 + 1).collect();
        for copy in [copy as Copy, unguarded::copy as Copy] {
            for (start, length) in
                (0..17).flat_map(|start| (0..200).map(move |length| (start, length)))
            {
                let mut to = vec![0; 300];
                // SAFETY: both are vectors of 300 bytes, and start + length is less.
                unsafe {
                    copy(
                        to.as_mut_ptr().add(16 - start % 17),
                        from.as_ptr().add(start),
                        length,
                    )
                }
                .unwrap();
                let at = 16 - start % 17;
                assert_eq!(to[at..at + length], from[start..start + length]);
                assert!(
                    to[..at]
                        .iter()
                        .chain(&to[at + length..])
                        .all(|byte| *byte == 0)
                );
            }
        }
    }
}
