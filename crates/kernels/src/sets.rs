//! Sets: one kind of registers of one instruction set each, with a row for every contract.

use super::contract::StreamRows;
use super::stream::{StreamCode, StreamKernel};
use super::{CONTRACTS, Operation, native};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use units::ParseError;

/// A table of sets: the variants and their names, which are those in kernel names.
macro_rules! set_ids {
    ($($variant:ident, $name:literal, $help:literal;)*) => {
        /// Which set.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum SetId {
            $(#[doc = $help] #[serde(rename = $name)] $variant,)*
        }

        impl SetId {
            /// All of them, of all architectures.
            pub const ALL: [SetId; [$($name),*].len()] = [$(SetId::$variant),*];

            /// The name in kernel names.
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

/// What a set has for one contract.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "not every architecture has rows of every kind")]
pub(super) enum Row {
    /// Machine code.
    Code(StreamCode),
    /// Machine code that needs more than its set: whether the processor and the system have it, and
    /// its name.
    Needs(fn() -> bool, &'static str, StreamCode),
    /// Code of the C library, outside the ruler: it has no digest.
    ReferenceKernel(StreamCode),
    /// The instruction set cannot do it, and why.
    Unsupported(&'static str),
}

impl Row {
    /// The machine code whose digest is part of a report.
    pub(super) fn ruler(self) -> Option<StreamCode> {
        match self {
            Row::Code(code) | Row::Needs(_, _, code) => Some(code),
            Row::ReferenceKernel(_) | Row::Unsupported(_) => None,
        }
    }
}

/// How wide the registers are.
#[derive(Debug, Clone, Copy)]
#[allow(
    dead_code,
    reason = "not every architecture has vectors of unknown length"
)]
pub(super) enum Bits {
    /// This many bits.
    Fixed(u32),
    /// What the processor says, 0 where it does not have the set.
    Asked(fn() -> u32),
}

/// One kind of registers of one instruction set.
#[derive(Debug)]
pub struct Set {
    /// Which one.
    pub id: SetId,
    /// Register width.
    pub(super) bits: Bits,
    /// What the processor and the operating system must both support, in words.
    pub needs: &'static str,
    /// Whether they do.
    pub(super) present: fn() -> bool,
    pub(super) rows: StreamRows,
}

impl Set {
    /// Whether its instructions may be executed here; the reason why not otherwise.
    pub fn available(&self) -> Result<(), String> {
        if (self.present)() {
            Ok(())
        } else {
            Err(lacks(self.needs))
        }
    }

    /// Register width in bits; `None` where the length of vectors is the processor's choice and
    /// this one has none.
    pub fn bits(&self) -> Option<u32> {
        match self.bits {
            Bits::Fixed(bits) => Some(bits),
            Bits::Asked(ask) => (self.present)().then(ask).filter(|&bits| bits > 0),
        }
    }

    /// Register width in words: `256`, or `any` where the processor chooses it (its choice is not
    /// part of the code).
    pub fn width(&self) -> String {
        match self.bits {
            Bits::Fixed(bits) => bits.to_string(),
            Bits::Asked(_) => "any".to_owned(),
        }
    }
}

/// Why something that needs `needs` cannot run here.
pub(super) fn lacks(needs: &str) -> String {
    format!("this processor or system lacks {needs}")
}

/// One streaming kernel as listed: it may not be executable here.
#[derive(Debug, Clone, Copy)]
pub struct KernelRow {
    /// What it does.
    pub operation: Operation,
    /// With which registers.
    pub set: &'static Set,
    /// Its code.
    pub(super) row: Row,
}

impl KernelRow {
    /// `read/avx512`
    pub fn name(&self) -> String {
        format!("{}/{}", self.operation, self.set.id.name())
    }

    /// What the processor and the operating system must both support, in words.
    pub fn needs(&self) -> String {
        match self.row {
            Row::Needs(_, more, _) => format!("{}, {more}", self.set.needs),
            _ => self.set.needs.to_owned(),
        }
    }

    /// Why the instruction set has no such kernel, `None` where it has one.
    pub fn unsupported(&self) -> Option<&'static str> {
        if let Row::Unsupported(reason) = self.row {
            Some(reason)
        } else {
            None
        }
    }

    /// The kernel, or the reason why it cannot run here.
    pub fn kernel(&self) -> Result<StreamKernel, String> {
        StreamKernel::new(*self)
    }

    /// Digest of the machine code, `None` for an unsupported row and for code that is not this
    /// program's.
    pub fn digest(&self) -> Option<String> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::digest_of(self.row.ruler()? as *const u8) }
    }

    /// The machine code, `None` where [`KernelRow::digest`] is.
    pub fn code(&self) -> Option<Vec<u8>> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::body_of(self.row.ruler()? as *const u8) }
    }
}

/// Every kernel of this architecture, by contract and rising width.
pub fn all_rows() -> Vec<KernelRow> {
    let rows = |operation: Operation| {
        native::SETS.iter().map(move |set| KernelRow {
            operation,
            set,
            row: set.rows.row(operation),
        })
    };
    CONTRACTS.iter().flat_map(|c| rows(c.operation)).collect()
}

/// The sets of this architecture, by rising width.
pub fn sets() -> &'static [Set] {
    &native::SETS
}

/// Which registers to use, as users ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    /// Exactly this many bits.
    Bits(u32),
    /// Those of this set.
    Set(SetId),
    /// The widest that this machine has.
    Widest,
    /// Those that prove fastest at the point in question.
    Best,
}

/// Widths that vectors can have, in bits.
const WIDTHS: [u32; 9] = [32, 64, 128, 256, 512, 1024, 2048, 4096, 8192];

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Width::Bits(bits) => write!(f, "{bits}"),
            Width::Set(id) => f.write_str(id.name()),
            Width::Widest => f.write_str("widest"),
            Width::Best => f.write_str("best"),
        }
    }
}

impl FromStr for Width {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let text = text.trim();
        let set = SetId::ALL.into_iter().find(|id| id.name() == text);
        match (text, text.parse(), set) {
            ("best", ..) => Ok(Width::Best),
            ("widest", ..) => Ok(Width::Widest),
            (_, _, Some(id)) => Ok(Width::Set(id)),
            (_, Ok(bits), _) if WIDTHS.contains(&bits) => Ok(Width::Bits(bits)),
            _ => {
                let sets = sets().iter().map(|set| set.id.name());
                let names: Vec<&str> = ["64", "128", "256", "512", "widest", "best"]
                    .into_iter()
                    .chain(sets)
                    .collect();
                Err(ParseError::unknown_name(text, &names, "widths"))
            }
        }
    }
}

/// The kernel for `operation` at `width`, or the reason why there is none here. `best` is the
/// widest here: which one is fastest only measuring tells.
pub fn select(operation: Operation, width: Width) -> Result<StreamKernel, String> {
    let rows = || {
        all_rows()
            .into_iter()
            .filter(|row| row.operation == operation)
            .rev()
    };
    let first = |mut wanted: Vec<KernelRow>, none: String| match wanted
        .iter()
        .find_map(|row| row.kernel().ok())
    {
        Some(kernel) => Ok(kernel),
        None => wanted.pop().ok_or(none)?.kernel(),
    };
    match width {
        Width::Bits(bits) => first(
            rows().filter(|row| row.set.bits() == Some(bits)).collect(),
            format!("there are no {bits}-bit kernels for this architecture"),
        ),
        Width::Set(id) => first(
            rows().filter(|row| row.set.id == id).collect(),
            format!("there are no {} kernels for this architecture", id.name()),
        ),
        Width::Best | Width::Widest => first(
            rows().collect(),
            "there are no assembly kernels for this architecture".to_owned(),
        ),
    }
}
