//! The streaming rows of x86-64: instructions only; the loops are in the skeleton.
//!
//! Loads that are not used may all go to one register: each renames it, none waits for another. Sums and copies use
//! four registers per group, so that no addition waits for the one before it and loads run ahead of the stores.

use super::skeleton::stream;

/// Offsets within a block in steps of 8 bytes.
macro_rules! every_8 {
    () => {
        "0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120,128,136,144,152,160,168,176,184,192,200,208,216,224,232,240,248,256,264,272,280,288,296,304,312,320,328,336,344,352,360,368,376,384,392,400,408,416,424,432,440,448,456,464,472,480,488,496,504"
    };
}
/// Offsets within a block in steps of 16 bytes.
macro_rules! every_16 {
    () => {
        "0,16,32,48,64,80,96,112,128,144,160,176,192,208,224,240,256,272,288,304,320,336,352,368,384,400,416,432,448,464,480,496"
    };
}
/// Offsets within a block in steps of 32 bytes.
macro_rules! every_32 {
    () => {
        "0,32,64,96,128,160,192,224,256,288,320,352,384,416,448,480"
    };
}
/// Offsets within a block in steps of 64 bytes.
macro_rules! every_64 {
    () => {
        "0,64,128,192,256,320,384,448"
    };
}
/// Offsets within a block in steps of 128 bytes.
macro_rules! every_128 {
    () => {
        "0,128,256,384"
    };
}
/// Offsets within a block in steps of 256 bytes.
macro_rules! every_256 {
    () => {
        "0,256"
    };
}

stream! {
    /// 64-bit loads.
    read_scalar {
        start: "",
        turn: "",
        each: "mov r8, [rax + \\d]",
        at: every_8!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads, added up in four registers.
    read_sum_scalar {
        start: concat!("xor r8d, r8d\n", "xor r9d, r9d\n", "xor r10d, r10d\n", "xor r11d, r11d\n"),
        turn: "",
        each: concat!("add r8, [rax + \\d]\n", "add r9, [rax + \\d + 8]\n", "add r10, [rax + \\d + 16]\n", "add r11, [rax + \\d + 24]\n"),
        at: every_32!(),
        end: concat!("add r8, r9\n", "add r10, r11\n", "add r8, r10\n", "mov [rdi + 72], r8\n"),
    }
}

stream! {
    /// 64-bit stores.
    write_scalar {
        start: "mov r8, [rdi + 64]",
        turn: "",
        each: "mov [rax + \\d], r8",
        at: every_8!(),
        end: "",
    }
}

stream! {
    /// 64-bit non-temporal stores.
    write_nt_scalar {
        start: "mov r8, [rdi + 64]",
        turn: "",
        each: "movnti [rax + \\d], r8",
        at: every_8!(),
        end: "sfence",
    }
}

stream! {
    /// 64-bit loads and stores.
    copy_scalar {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("mov r8, [rax + \\d]\n", "mov r11, [rax + \\d + 8]\n", "mov [r9 + \\d], r8\n", "mov [r9 + \\d + 8], r11\n"),
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 64-bit loads and non-temporal stores.
    copy_nt_scalar {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("mov r8, [rax + \\d]\n", "mov r11, [rax + \\d + 8]\n", "movnti [r9 + \\d], r8\n", "movnti [r9 + \\d + 8], r11\n"),
        at: every_16!(),
        end: "sfence",
    }
}

stream! {
    /// 128-bit loads.
    read_sse2 {
        start: "",
        turn: "",
        each: "movdqa xmm0, [rax + \\d]",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads, added up in four registers.
    read_sum_sse2 {
        start: concat!("pxor xmm0, xmm0\n", "pxor xmm1, xmm1\n", "pxor xmm2, xmm2\n", "pxor xmm3, xmm3\n"),
        turn: "",
        each: concat!("paddq xmm0, [rax + \\d]\n", "paddq xmm1, [rax + \\d + 16]\n", "paddq xmm2, [rax + \\d + 32]\n", "paddq xmm3, [rax + \\d + 48]\n"),
        at: every_64!(),
        end: concat!("paddq xmm0, xmm1\n", "paddq xmm2, xmm3\n", "paddq xmm0, xmm2\n", "pshufd xmm1, xmm0, 0x4e\n", "paddq xmm0, xmm1\n", "movq rcx, xmm0\n", "mov [rdi + 72], rcx\n"),
    }
}

stream! {
    /// 128-bit stores.
    write_sse2 {
        start: concat!("movq xmm0, qword ptr [rdi + 64]\n", "punpcklqdq xmm0, xmm0\n"),
        turn: "",
        each: "movdqa [rax + \\d], xmm0",
        at: every_16!(),
        end: "",
    }
}

stream! {
    /// 128-bit non-temporal stores.
    write_nt_sse2 {
        start: concat!("movq xmm0, qword ptr [rdi + 64]\n", "punpcklqdq xmm0, xmm0\n"),
        turn: "",
        each: "movntdq [rax + \\d], xmm0",
        at: every_16!(),
        end: "sfence",
    }
}

stream! {
    /// 128-bit loads and stores.
    copy_sse2 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("movdqa xmm0, [rax + \\d]\n", "movdqa xmm1, [rax + \\d + 16]\n", "movdqa xmm2, [rax + \\d + 32]\n", "movdqa xmm3, [rax + \\d + 48]\n", "movdqa [r9 + \\d], xmm0\n", "movdqa [r9 + \\d + 16], xmm1\n", "movdqa [r9 + \\d + 32], xmm2\n", "movdqa [r9 + \\d + 48], xmm3\n"),
        at: every_64!(),
        end: "",
    }
}

stream! {
    /// 128-bit loads and non-temporal stores.
    copy_nt_sse2 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("movdqa xmm0, [rax + \\d]\n", "movdqa xmm1, [rax + \\d + 16]\n", "movdqa xmm2, [rax + \\d + 32]\n", "movdqa xmm3, [rax + \\d + 48]\n", "movntdq [r9 + \\d], xmm0\n", "movntdq [r9 + \\d + 16], xmm1\n", "movntdq [r9 + \\d + 32], xmm2\n", "movntdq [r9 + \\d + 48], xmm3\n"),
        at: every_64!(),
        end: "sfence",
    }
}

stream! {
    /// 256-bit loads.
    read_avx2 {
        start: "",
        turn: "",
        each: "vmovdqa ymm0, [rax + \\d]",
        at: every_32!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 256-bit loads, added up in four registers.
    read_sum_avx2 {
        start: concat!("vpxor xmm0, xmm0, xmm0\n", "vpxor xmm1, xmm1, xmm1\n", "vpxor xmm2, xmm2, xmm2\n", "vpxor xmm3, xmm3, xmm3\n"),
        turn: "",
        each: concat!("vpaddq ymm0, ymm0, [rax + \\d]\n", "vpaddq ymm1, ymm1, [rax + \\d + 32]\n", "vpaddq ymm2, ymm2, [rax + \\d + 64]\n", "vpaddq ymm3, ymm3, [rax + \\d + 96]\n"),
        at: every_128!(),
        end: concat!("vpaddq ymm0, ymm0, ymm1\n", "vpaddq ymm2, ymm2, ymm3\n", "vpaddq ymm0, ymm0, ymm2\n", "vextracti128 xmm1, ymm0, 1\n", "vpaddq xmm0, xmm0, xmm1\n", "vpshufd xmm1, xmm0, 0x4e\n", "vpaddq xmm0, xmm0, xmm1\n", "vmovq rcx, xmm0\n", "mov [rdi + 72], rcx\n", "vzeroupper\n"),
    }
}

stream! {
    /// 256-bit stores.
    write_avx2 {
        start: "vpbroadcastq ymm0, qword ptr [rdi + 64]",
        turn: "",
        each: "vmovdqa [rax + \\d], ymm0",
        at: every_32!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 256-bit non-temporal stores.
    write_nt_avx2 {
        start: "vpbroadcastq ymm0, qword ptr [rdi + 64]",
        turn: "",
        each: "vmovntdq [rax + \\d], ymm0",
        at: every_32!(),
        end: concat!("sfence\n", "vzeroupper\n"),
    }
}

stream! {
    /// 256-bit loads and stores.
    copy_avx2 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("vmovdqa ymm0, [rax + \\d]\n", "vmovdqa ymm1, [rax + \\d + 32]\n", "vmovdqa ymm2, [rax + \\d + 64]\n", "vmovdqa ymm3, [rax + \\d + 96]\n", "vmovdqa [r9 + \\d], ymm0\n", "vmovdqa [r9 + \\d + 32], ymm1\n", "vmovdqa [r9 + \\d + 64], ymm2\n", "vmovdqa [r9 + \\d + 96], ymm3\n"),
        at: every_128!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 256-bit loads and non-temporal stores.
    copy_nt_avx2 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("vmovdqa ymm0, [rax + \\d]\n", "vmovdqa ymm1, [rax + \\d + 32]\n", "vmovdqa ymm2, [rax + \\d + 64]\n", "vmovdqa ymm3, [rax + \\d + 96]\n", "vmovntdq [r9 + \\d], ymm0\n", "vmovntdq [r9 + \\d + 32], ymm1\n", "vmovntdq [r9 + \\d + 64], ymm2\n", "vmovntdq [r9 + \\d + 96], ymm3\n"),
        at: every_128!(),
        end: concat!("sfence\n", "vzeroupper\n"),
    }
}

stream! {
    /// 512-bit loads.
    read_avx512 {
        start: "",
        turn: "",
        each: "vmovdqa64 zmm0, [rax + \\d]",
        at: every_64!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 512-bit loads, added up in four registers.
    read_sum_avx512 {
        start: concat!("vpxor xmm0, xmm0, xmm0\n", "vpxor xmm1, xmm1, xmm1\n", "vpxor xmm2, xmm2, xmm2\n", "vpxor xmm3, xmm3, xmm3\n"),
        turn: "",
        each: concat!("vpaddq zmm0, zmm0, [rax + \\d]\n", "vpaddq zmm1, zmm1, [rax + \\d + 64]\n", "vpaddq zmm2, zmm2, [rax + \\d + 128]\n", "vpaddq zmm3, zmm3, [rax + \\d + 192]\n"),
        at: every_256!(),
        end: concat!("vpaddq zmm0, zmm0, zmm1\n", "vpaddq zmm2, zmm2, zmm3\n", "vpaddq zmm0, zmm0, zmm2\n", "vextracti64x4 ymm1, zmm0, 1\n", "vpaddq ymm0, ymm0, ymm1\n", "vextracti128 xmm1, ymm0, 1\n", "vpaddq xmm0, xmm0, xmm1\n", "vpshufd xmm1, xmm0, 0x4e\n", "vpaddq xmm0, xmm0, xmm1\n", "vmovq rcx, xmm0\n", "mov [rdi + 72], rcx\n", "vzeroupper\n"),
    }
}

stream! {
    /// 512-bit stores.
    write_avx512 {
        start: "vpbroadcastq zmm0, qword ptr [rdi + 64]",
        turn: "",
        each: "vmovdqa64 [rax + \\d], zmm0",
        at: every_64!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 512-bit non-temporal stores.
    write_nt_avx512 {
        start: "vpbroadcastq zmm0, qword ptr [rdi + 64]",
        turn: "",
        each: "vmovntdq [rax + \\d], zmm0",
        at: every_64!(),
        end: concat!("sfence\n", "vzeroupper\n"),
    }
}

stream! {
    /// 512-bit loads and stores.
    copy_avx512 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("vmovdqa64 zmm0, [rax + \\d]\n", "vmovdqa64 zmm1, [rax + \\d + 64]\n", "vmovdqa64 zmm2, [rax + \\d + 128]\n", "vmovdqa64 zmm3, [rax + \\d + 192]\n", "vmovdqa64 [r9 + \\d], zmm0\n", "vmovdqa64 [r9 + \\d + 64], zmm1\n", "vmovdqa64 [r9 + \\d + 128], zmm2\n", "vmovdqa64 [r9 + \\d + 192], zmm3\n"),
        at: every_256!(),
        end: "vzeroupper",
    }
}

stream! {
    /// 512-bit loads and non-temporal stores.
    copy_nt_avx512 {
        start: "",
        turn: "lea r9, [rax + r10]",
        each: concat!("vmovdqa64 zmm0, [rax + \\d]\n", "vmovdqa64 zmm1, [rax + \\d + 64]\n", "vmovdqa64 zmm2, [rax + \\d + 128]\n", "vmovdqa64 zmm3, [rax + \\d + 192]\n", "vmovntdq [r9 + \\d], zmm0\n", "vmovntdq [r9 + \\d + 64], zmm1\n", "vmovntdq [r9 + \\d + 128], zmm2\n", "vmovntdq [r9 + \\d + 192], zmm3\n"),
        at: every_256!(),
        end: concat!("sfence\n", "vzeroupper\n"),
    }
}
