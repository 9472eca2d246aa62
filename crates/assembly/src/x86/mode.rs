//! The two modes of x86, the names of their registers, and the features that kernels need.

use crate::architecture::Feature;
use crate::text::lines;

/// The two modes of x86 processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// x86-64.
    Bits64,
    /// 32-bit x86.
    Bits32,
}

impl Mode {
    /// Bytes of a general register.
    pub(super) fn word(self) -> u64 {
        match self {
            Mode::Bits64 => 8,
            Mode::Bits32 => 4,
        }
    }

    /// `bits64` in 64-bit mode, `bits32` in 32-bit mode.
    pub(super) fn choose<T>(self, bits64: T, bits32: T) -> T {
        match self {
            Mode::Bits64 => bits64,
            Mode::Bits32 => bits32,
        }
    }

    /// `text` with each name of a [`Register`], such as `$call`, replaced by its register in this
    /// mode, such as `rdi`.
    pub(super) fn name_registers(self, text: &str, names: &[Register]) -> String {
        names.iter().fold(text.to_owned(), |text, register| {
            text.replace(register.name, self.choose(register.bits64, register.bits32))
        })
    }

    /// A kernel made of `body`. On x86, it saves registers, loads its argument from the stack to
    /// the register `argument`, and restores the registers. On x86-64 the argument is in rdi, so
    /// only `ret` is added.
    pub(super) fn framed(self, argument: &str, body: &str) -> String {
        match self {
            Mode::Bits64 => format!("{body}\nret"),
            Mode::Bits32 => lines([
                "push ebx\npush esi\npush edi\npush ebp",
                &format!("mov {argument}, [esp + 20]"),
                body,
                "pop ebp\npop edi\npop esi\npop ebx\nret",
            ]),
        }
    }
}

/// Jumps to label 2, where a loop starts on a line of the instruction cache.
pub(super) const TO_LOOP: &str = "jmp 2f\n.p2align 6, 0xcc\n2:";

/// A general register: its name in texts, and the register in each mode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Register {
    pub name: &'static str,
    pub bits64: &'static str,
    pub bits32: &'static str,
}

/// A [`Register`] with these values.
pub(super) const fn register(
    name: &'static str,
    bits64: &'static str,
    bits32: &'static str,
) -> Register {
    Register {
        name,
        bits64,
        bits32,
    }
}

/// The baseline of a mode.
pub(super) fn baseline(mode: Mode) -> Feature {
    Feature {
        name: mode.choose("x86-64", "i686"),
        check: "baseline",
    }
}

pub(super) const SSE2: Feature = Feature {
    name: "SSE2",
    check: "sse2",
};
pub(super) const SSE41: Feature = Feature {
    name: "SSE4.1",
    check: "sse41",
};
pub(super) const AVX: Feature = Feature {
    name: "AVX",
    check: "avx",
};
pub(super) const AVX2: Feature = Feature {
    name: "AVX2",
    check: "avx2",
};
pub(super) const AVX512: Feature = Feature {
    name: "AVX-512F",
    check: "avx512",
};
pub(super) const MOVDIR64B: Feature = Feature {
    name: "MOVDIR64B",
    check: "movdir64b",
};
pub(super) const CLZERO: Feature = Feature {
    name: "CLZERO",
    check: "clzero",
};
