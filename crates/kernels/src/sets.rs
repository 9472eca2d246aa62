//! Register sets. A set is one kind of registers of an instruction set, with a row per contract.

use super::row::{Row, lacks};
use assembly::{CONTRACTS, Operation};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Defines [`SetId`] from a table. A row has the variant, the name of the set in names of kernels,
/// and a description.
macro_rules! set_ids {
    ($($variant:ident, $name:literal, $help:literal;)*) => {
        /// Identifies a register set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum SetId {
            $(#[doc = $help] #[serde(rename = $name)] $variant,)*
        }

        impl SetId {
            /// All sets of all architectures.
            pub const ALL: [SetId; [$($name),*].len()] = [$(SetId::$variant),*];

            /// Name of the set, as it occurs in the names of kernels.
            pub fn name(self) -> &'static str {
                match self {
                    $(SetId::$variant => $name,)*
                }
            }
        }
    };
}

set_ids! {
    Scalar, "scalar", "General registers; doubles in the scalar floating-point registers.";
    Sse2, "sse2", "x86 SSE2, 128 bits.";
    Avx, "avx", "x86 AVX, 256 bits, floating-point instructions only.";
    Avx2, "avx2", "x86 AVX2, 256 bits.";
    Avx512, "avx512", "x86 AVX-512F, 512 bits.";
    Neon, "neon", "Arm Advanced SIMD, 128 bits.";
    Sve, "sve", "Arm SVE, as long as the processor's vectors are.";
    Rvv, "rvv", "RISC-V V 1.0, as long as the processor's vectors are.";
}

/// Width of registers.
#[derive(Debug, Clone, Copy)]
#[allow(
    dead_code,
    reason = "not every architecture has vectors of unknown length"
)]
pub(super) enum Bits {
    /// Registers of this many bits.
    Fixed(u32),
    /// Vectors whose length the processor chooses. The function returns their length in bits, or 0
    /// if the processor lacks the set.
    Chosen(fn() -> u32),
}

/// One kind of registers of one instruction set, with its kernels.
#[derive(Debug)]
pub struct Set {
    /// Identifies the set.
    pub id: SetId,
    /// Width of the registers.
    pub(super) bits: Bits,
    /// Features that the processor and the operating system must both support, in words.
    pub needs: &'static str,
    /// True if the processor and the operating system support the features of `needs`.
    pub(super) present: fn() -> bool,
    /// One row for every contract, in the order of [`CONTRACTS`].
    pub(super) rows: [Row; CONTRACTS.len()],
}

impl Set {
    /// `Ok` if the instructions of the set can be executed here. The error is the reason why not.
    pub fn available(&self) -> Result<(), String> {
        if (self.present)() {
            Ok(())
        } else {
            Err(lacks(self.needs))
        }
    }

    /// Register width in bits. `None` if the processor chooses the length of vectors and this
    /// processor has no such vectors.
    pub fn bits(&self) -> Option<u32> {
        match self.bits {
            Bits::Fixed(bits) => Some(bits),
            Bits::Chosen(ask) => (self.present)().then(ask).filter(|&bits| bits > 0),
        }
    }

    /// Register width as text: `256`, or `any` if the processor chooses the width. The machine code
    /// does not depend on this choice.
    pub fn width(&self) -> String {
        match self.bits {
            Bits::Fixed(bits) => bits.to_string(),
            Bits::Chosen(_) => "any".to_owned(),
        }
    }
}

/// A streaming kernel in a list. This processor may be unable to execute it.
#[derive(Debug, Clone, Copy)]
pub struct KernelRow {
    /// The operation of the kernel.
    pub operation: Operation,
    /// The register set of the kernel.
    pub set: &'static Set,
    /// Code of the kernel, or the reason why there is none.
    pub(super) row: Row,
}

impl KernelRow {
    /// Name in lists and reports: `read/avx512`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.operation, self.set.id.name())
    }

    /// Features that the processor and the operating system must both support, in words.
    pub fn needs(&self) -> String {
        match self.row {
            Row::Needs(_, more, _) => format!("{}, {more}", self.set.needs),
            _ => self.set.needs.to_owned(),
        }
    }

    /// Reason why the instruction set has no such kernel; `None` if it has one.
    pub fn unsupported(&self) -> Option<&'static str> {
        if let Row::Unsupported(reason) = self.row {
            Some(reason)
        } else {
            None
        }
    }

    /// Digest of the machine code. `None` for an unsupported row and for code of the C library.
    pub fn digest(&self) -> Option<String> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::digest_of(self.row.assembly()? as *const u8) }
    }

    /// The machine code; `None` if [`KernelRow::digest`] is `None`.
    pub fn code(&self) -> Option<Vec<u8>> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::body_of(self.row.assembly()? as *const u8) }
    }
}
