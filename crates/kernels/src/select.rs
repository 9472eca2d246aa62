//! Lists the streaming kernels of this architecture and selects one of them.

use super::native;
use super::sets::{KernelRow, Set, SetId};
use super::stream::StreamKernel;
use assembly::{CONTRACTS, Operation};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use units::ParseError;

/// The rows of all streaming contracts and register sets of this architecture. They are ordered by
/// contract, and then by rising register width.
pub fn all_rows() -> Vec<KernelRow> {
    let rows = |operation: Operation| {
        native::SETS.iter().map(move |set| KernelRow {
            operation,
            set,
            row: set.rows[operation as usize],
        })
    };
    CONTRACTS.iter().flat_map(|c| rows(c.operation)).collect()
}

/// The register sets of this architecture, by rising width.
pub fn sets() -> &'static [Set] {
    &native::SETS
}

/// Registers that a user requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Width {
    /// Registers of exactly this many bits.
    Bits(u32),
    /// Registers of this set.
    Set(SetId),
    /// The widest registers of this machine.
    Widest,
    /// The registers that kernel selection finds fastest at the point.
    Best,
}

/// Register widths that a user can request, in bits.
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

/// The kernel for `operation` at `width`. The error is the reason why none can run here.
/// [`Width::Best`] gives the widest kernel, because only measuring shows the fastest.
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
