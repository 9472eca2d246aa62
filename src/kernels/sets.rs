//! Sets: one register width of one instruction set each, with a row for every contract.

use super::stream::{StreamCode, StreamKernel};
use super::{CONTRACTS, Operation, native};
use crate::units::ParseError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SetId {
    /// General registers, 64 bits.
    Scalar,
    /// x86 SSE2, 128 bits.
    Sse2,
    /// x86 AVX2, 256 bits.
    Avx2,
    /// x86 AVX-512F, 512 bits.
    Avx512,
}

impl SetId {
    /// The name in kernel names.
    pub fn name(self) -> &'static str {
        match self {
            SetId::Scalar => "scalar",
            SetId::Sse2 => "sse2",
            SetId::Avx2 => "avx2",
            SetId::Avx512 => "avx512",
        }
    }
}

/// What a set has for one contract.
#[derive(Debug, Clone, Copy)]
pub(super) enum Row {
    /// Machine code.
    Code(StreamCode),
    /// The instruction set cannot do it, and why.
    #[cfg_attr(target_arch = "x86_64", expect(dead_code, reason = "every set of x86-64 can do everything"))]
    Unsupported(&'static str),
}

/// A row for every contract; a set that leaves one out does not compile.
#[derive(Debug)]
pub(super) struct StreamRows {
    pub read: Row,
    pub read_sum: Row,
    pub write: Row,
    pub write_nt: Row,
    pub copy: Row,
    pub copy_nt: Row,
}

/// One register width of one instruction set.
#[derive(Debug)]
pub struct Set {
    /// Which one.
    pub id: SetId,
    /// Register width in bits.
    pub bits: u32,
    /// What the processor and the operating system must both support, in words.
    pub needs: &'static str,
    /// Whether they do.
    pub(super) present: fn() -> bool,
    pub(super) rows: StreamRows,
}

impl Set {
    /// Whether its instructions may be executed here; the reason why not otherwise.
    pub fn available(&self) -> Result<(), String> {
        if (self.present)() { Ok(()) } else { Err(format!("this processor or system lacks {}", self.needs)) }
    }

    fn row(&self, operation: Operation) -> Row {
        match operation {
            Operation::Read => self.rows.read,
            Operation::ReadSum => self.rows.read_sum,
            Operation::Write => self.rows.write,
            Operation::WriteNt => self.rows.write_nt,
            Operation::Copy => self.rows.copy,
            Operation::CopyNt => self.rows.copy_nt,
        }
    }
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

    /// The kernel, or the reason why it cannot run here.
    pub fn kernel(&self) -> Result<StreamKernel, String> {
        StreamKernel::new(*self)
    }

    /// Digest of the machine code, `None` for an unsupported row.
    pub fn digest(&self) -> Option<String> {
        match self.row {
            // SAFETY: a row's code is a kernel.
            Row::Code(code) => unsafe { super::digest::digest_of(code as *const u8) },
            Row::Unsupported(_) => None,
        }
    }
}

/// Every kernel of this architecture, by contract and rising width.
pub fn all_rows() -> Vec<KernelRow> {
    let of = |operation: Operation| {
        native::SETS.iter().map(move |set| KernelRow { operation, set, row: set.row(operation) })
    };
    CONTRACTS.iter().flat_map(|c| of(c.operation)).collect()
}

/// A register width as users ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    /// Exactly this many bits.
    Bits(u32),
    /// The widest that this machine has.
    Best,
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Width::Bits(bits) => write!(f, "{bits}"),
            Width::Best => f.write_str("best"),
        }
    }
}

impl FromStr for Width {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        match text.trim() {
            "best" => Ok(Width::Best),
            t => match t.parse() {
                Ok(bits @ (64 | 128 | 256 | 512)) => Ok(Width::Bits(bits)),
                _ => Err(ParseError::unknown_name(t, &["64", "128", "256", "512", "best"], "widths")),
            },
        }
    }
}

/// The kernel for `operation` at `width`, or the reason why there is none here.
pub fn select(operation: Operation, width: Width) -> Result<StreamKernel, String> {
    let rows = || all_rows().into_iter().filter(|row| row.operation == operation);
    match width {
        Width::Bits(bits) => rows()
            .find(|row| row.set.bits == bits)
            .ok_or_else(|| format!("there are no {bits}-bit kernels for this architecture"))?
            .kernel(),
        Width::Best => rows()
            .rev()
            .find_map(|row| row.kernel().ok())
            .ok_or_else(|| "there are no assembly kernels for this architecture".to_owned()),
    }
}
