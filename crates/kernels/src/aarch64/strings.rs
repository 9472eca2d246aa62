//! The string instructions of AArch64 (FEAT_MOPS, Armv8.8). Each operation has a prologue, a main
//! part and an epilogue.

use host::cpu;

/// True if programs may use these instructions: HWCAP2_MOPS
/// (Documentation/arch/arm64/elf_hwcaps.rst).
pub(super) fn present() -> bool {
    cpu::more_capabilities() >> 43 & 1 == 1
}

/// String instructions for each run of blocks up to the end of the window. A program would not cut
/// a run into pieces.
///
/// - In: `x0` = `StreamCall`.
/// - Out: `offset` in the call.
/// - Clobbers: x1 to x12, flags.
/// - Memory: the runs, between the loads of the call's fields and the store to one of them.
/// - Timed: the string instructions. The code around them takes a few cycles.
///
/// In `run`, `x4` is the start of the run in the first stream, and `x6` its length in bytes. `x5`
/// is the distance to the next stream. `x9` to `x11` are free. `x12` belongs to the row, from its
/// `start` on.
macro_rules! strings {
    ($(#[$doc:meta])* $name:ident { start: $start:expr, run: $run:expr $(,)? }) => {
        $(#[$doc])*
        #[unsafe(naked)]
        pub(crate) unsafe extern "C" fn $name(call: &mut crate::stream_call::StreamCall) {
            core::arch::naked_asm!(concat!(
                ".arch_extension mops\n",
                ".p2align 6\n",
                "ldr x3, [x0, 32]\n", // blocks
                "cbz x3, 3f\n",
                "ldp x1, x5, [x0]\n",     // lead, delta
                "ldp x2, x4, [x0, 16]\n", // window, offset
                "add x2, x2, x1\n",
                "add x4, x4, x1\n",
                $start, "\n",
                "b 2f\n",
                ".p2align 6, 0xcc\n",
                "2:\n",
                "sub x6, x2, x4\n",
                "lsr x7, x6, 9\n",
                "cmp x7, x3\n",
                "csel x7, x7, x3, lo\n",
                "sub x3, x3, x7\n",
                "lsl x6, x7, 9\n",
                $run, "\n",
                "add x4, x4, x6\n",
                "cmp x4, x2\n",
                "csel x4, x1, x4, eq\n",
                "cbnz x3, 2b\n",
                "sub x4, x4, x1\n",
                "str x4, [x0, 24]\n",
                "3:\n",
                "ret\n",
                ".ascii \"memgauge-row-end\"\n",
                ".arch_extension nomops\n",
            ))
        }
    };
}

strings! {
    /// `setp`, `setm`, `sete` with the low byte of the pattern.
    write {
        start: "ldr x12, [x0, 64]",
        run: "mov x9, x4\nmov x10, x6\nsetp [x9]!, x10!, x12\nsetm [x9]!, x10!, x12\nsete [x9]!, x10!, x12",
    }
}
strings! {
    /// `cpyfp`, `cpyfm`, `cpyfe`: forward only, as memcpy may.
    copy {
        start: "",
        run: "add x9, x4, x5\nmov x11, x4\nmov x10, x6\ncpyfp [x9]!, [x11]!, x10!\n\
             cpyfm [x9]!, [x11]!, x10!\ncpyfe [x9]!, [x11]!, x10!",
    }
}
