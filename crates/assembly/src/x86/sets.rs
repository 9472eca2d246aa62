//! The register sets of x86 by rising width, with their registers and instructions.

use super::mode::{AVX, AVX2, AVX512, Mode, SSE2, SSE41, baseline};
use super::streams::Combine::{Into, Replaces};
use super::streams::{Doubles, Kind, NonTemporalLoad, Registers, Sum, Vectors, row};
use crate::architecture::{Bits, Feature, Set};

/// The register sets of `mode`.
pub(super) fn sets(mode: Mode) -> Vec<Set> {
    let set = |id, bits, needs: Feature, registers: Registers| Set {
        id,
        bits: Bits::Fixed(bits),
        needs,
        generator: Box::new(move |contract| row(mode, &registers, contract)),
    };
    vec![
        set("Scalar", mode.choose(64, 32), baseline(mode), scalar(mode)),
        set("Sse2", 128, SSE2, sse2(mode)),
        set("Avx", 256, AVX, avx(mode)),
        set("Avx2", 256, AVX2, avx2(mode)),
        set("Avx512", 512, AVX512, avx512(mode)),
    ]
}

/// The set of general registers. Its doubles are in the low halves of vector registers.
fn scalar(mode: Mode) -> Registers {
    Registers {
        width: mode.word(),
        kind: Kind::General,
        doubles: Doubles {
            width: 8,
            register: "xmm",
            size: "qword ptr ",
            load: "movsd",
            store_nt: mode.choose(
                Ok("movq r11, %r\nmovnti %m, r11"),
                Err("32-bit x86 has no non-temporal store of one double"),
            ),
            multiply: Replaces("mulsd"),
            add: Replaces("addsd"),
            fill: "movsd xmm0, qword ptr [$call + <pattern>]",
        },
        leave: "",
    }
}

/// The set of SSE2, with registers of 128 bits.
fn sse2(mode: Mode) -> Registers {
    const FILL: &str = "movq xmm0, qword ptr [$call + <pattern>]\npunpcklqdq xmm0, xmm0";
    Registers {
        width: 16,
        kind: Kind::Vectors(Vectors {
            register: "xmm",
            load: "movdqa",
            store_nt: "movntdq",
            load_nt: Ok(NonTemporalLoad {
                instruction: "movntdqa",
                needs: Some(SSE41),
            }),
            fill: FILL,
            xor: Replaces("pxor"),
            sum: Ok(Sum {
                clear: "pxor xmm%, xmm%",
                add: Replaces("paddq"),
                total: mode.choose(
                    "paddq xmm0, xmm1\npaddq xmm2, xmm3\npaddq xmm0, xmm2\n\
                     pshufd xmm1, xmm0, 0x4e\npaddq xmm0, xmm1\n\
                     movq rcx, xmm0\nmov [$call + <checksum>], rcx",
                    "paddq xmm0, xmm1\npaddq xmm2, xmm3\npaddq xmm0, xmm2\n\
                     pshufd xmm1, xmm0, 0x4e\npaddq xmm0, xmm1\n\
                     movq qword ptr [$call + <checksum>], xmm0",
                ),
            }),
            no_touch: None,
        }),
        doubles: Doubles {
            width: 16,
            register: "xmm",
            size: "",
            load: "movapd",
            store_nt: Ok("movntpd %m, %r"),
            multiply: Replaces("mulpd"),
            add: Replaces("addpd"),
            fill: FILL,
        },
        leave: "",
    }
}

/// Doubles in registers of 256 bits. Their instructions need AVX only.
fn doubles_256() -> Doubles {
    Doubles {
        width: 32,
        register: "ymm",
        size: "",
        load: "vmovapd",
        store_nt: Ok("vmovntpd %m, %r"),
        multiply: Into("vmulpd"),
        add: Into("vaddpd"),
        fill: "vbroadcastsd ymm0, qword ptr [$call + <pattern>]",
    }
}

/// The set of AVX, with registers of 256 bits and floating-point instructions only.
fn avx(_: Mode) -> Registers {
    Registers {
        width: 32,
        kind: Kind::Vectors(Vectors {
            register: "ymm",
            load: "vmovaps",
            store_nt: "vmovntps",
            load_nt: Err("256-bit non-temporal loads need AVX2"),
            fill: "vbroadcastsd ymm0, qword ptr [$call + <pattern>]",
            xor: Into("vxorps"),
            sum: Err("256-bit integer additions need AVX2"),
            no_touch: None,
        }),
        doubles: doubles_256(),
        leave: "vzeroupper",
    }
}

/// The set of AVX2, with registers of 256 bits.
fn avx2(mode: Mode) -> Registers {
    Registers {
        width: 32,
        kind: Kind::Vectors(Vectors {
            register: "ymm",
            load: "vmovdqa",
            store_nt: "vmovntdq",
            load_nt: Ok(NonTemporalLoad {
                instruction: "vmovntdqa",
                needs: None,
            }),
            fill: "vpbroadcastq ymm0, qword ptr [$call + <pattern>]",
            xor: Into("vpxor"),
            sum: Ok(Sum {
                clear: "vpxor xmm%, xmm%, xmm%",
                add: Into("vpaddq"),
                total: mode.choose(
                    "vpaddq ymm0, ymm0, ymm1\nvpaddq ymm2, ymm2, ymm3\nvpaddq ymm0, ymm0, ymm2\n\
                     vextracti128 xmm1, ymm0, 1\nvpaddq xmm0, xmm0, xmm1\n\
                     vpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n\
                     vmovq rcx, xmm0\nmov [$call + <checksum>], rcx",
                    "vpaddq ymm0, ymm0, ymm1\nvpaddq ymm2, ymm2, ymm3\nvpaddq ymm0, ymm0, ymm2\n\
                     vextracti128 xmm1, ymm0, 1\nvpaddq xmm0, xmm0, xmm1\n\
                     vpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n\
                     vmovq qword ptr [$call + <checksum>], xmm0",
                ),
            }),
            no_touch: None,
        }),
        doubles: doubles_256(),
        leave: "vzeroupper",
    }
}

/// The set of AVX-512, with registers of 512 bits, the length of a cache line.
fn avx512(mode: Mode) -> Registers {
    Registers {
        width: 64,
        kind: Kind::Vectors(Vectors {
            register: "zmm",
            load: "vmovdqa64",
            store_nt: "vmovntdq",
            load_nt: Ok(NonTemporalLoad {
                instruction: "vmovntdqa",
                needs: None,
            }),
            fill: "vpbroadcastq zmm0, qword ptr [$call + <pattern>]",
            xor: Into("vpxorq"),
            sum: Ok(Sum {
                clear: "vpxor xmm%, xmm%, xmm%",
                add: Into("vpaddq"),
                total: mode.choose(
                    "vpaddq zmm0, zmm0, zmm1\nvpaddq zmm2, zmm2, zmm3\nvpaddq zmm0, zmm0, zmm2\n\
                     vextracti64x4 ymm1, zmm0, 1\nvpaddq ymm0, ymm0, ymm1\n\
                     vextracti128 xmm1, ymm0, 1\nvpaddq xmm0, xmm0, xmm1\n\
                     vpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n\
                     vmovq rcx, xmm0\nmov [$call + <checksum>], rcx",
                    "vpaddq zmm0, zmm0, zmm1\nvpaddq zmm2, zmm2, zmm3\nvpaddq zmm0, zmm0, zmm2\n\
                     vextracti64x4 ymm1, zmm0, 1\nvpaddq ymm0, ymm0, ymm1\n\
                     vextracti128 xmm1, ymm0, 1\nvpaddq xmm0, xmm0, xmm1\n\
                     vpshufd xmm1, xmm0, 0x4e\nvpaddq xmm0, xmm0, xmm1\n\
                     vmovq qword ptr [$call + <checksum>], xmm0",
                ),
            }),
            no_touch: Some(
                "a 512-bit load is a whole line: this would be the code of read and read-prefetch",
            ),
        }),
        doubles: Doubles {
            width: 64,
            register: "zmm",
            size: "",
            load: "vmovapd",
            store_nt: Ok("vmovntpd %m, %r"),
            multiply: Into("vmulpd"),
            add: Into("vaddpd"),
            fill: "vbroadcastsd zmm0, qword ptr [$call + <pattern>]",
        },
        leave: "vzeroupper",
    }
}
