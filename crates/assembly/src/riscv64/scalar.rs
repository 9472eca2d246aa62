//! Streaming kernels that use general registers for words and floating-point registers for doubles.
//!
//! Loads whose values are not used all have the same destination register. Copies and sums use four
//! registers per group, so that loads run ahead of their uses even on in-order cores.

use super::walk::{Body, order, walk};
use crate::contract::{AccessOrder, BLOCK_BYTES, Contract, Does};
use crate::text::{each, lines};

/// Reason why kernels without a free register cannot prefetch.
pub(super) const NO_DISTANCE: &str = "no general register is left for addresses to prefetch";

/// A piece of the streams, with a register for its base address in each stream.
struct Piece {
    bases: &'static [&'static str],
    bytes: u64,
    /// True if accesses descend from the bases, which are then the ends of the piece.
    down: bool,
}

impl Piece {
    /// Operand for the word `at` bytes into the piece, in stream `stream`.
    fn word(&self, stream: usize, at: u64) -> String {
        let base = self.bases[stream];
        if self.down {
            format!("-8-{at}({base})")
        } else {
            format!("{at}({base})")
        }
    }
}

/// Registers that a kernel needs for prefetching.
pub(super) struct Prefetch {
    /// Register of the prefetch distance.
    pub distance: &'static str,
    /// Registers of the addresses to prefetch, one for each loaded stream.
    pub addresses: &'static [&'static str],
}

/// A kernel that zeroes lines of 64 bytes by `cbo.zero`.
pub(super) fn zeroed_lines(contract: &Contract) -> String {
    let body = Body {
        accesses: each(0..contract.iteration / 64, |_| {
            ".insn i 0x0f, 2, x0, x31, 4\naddi t6, t6, 64".into()
        }),
        ..Body::default()
    };
    walk(&order(contract.visits, contract.iteration), &body)
}

/// The kernel of `contract`. The error is the reason why there is none.
pub(super) fn kernel(contract: &Contract) -> Result<String, &'static str> {
    let prefetch = prefetch(contract)?;
    let body = Body {
        start: lines([start(contract.does), &get_distance(prefetch.as_ref())]),
        accesses: pieces(contract, prefetch.as_ref()),
        end: if contract.does == Does::Sum {
            "add a1, a1, a2\nadd t4, t4, t5\nadd a1, a1, t4\nsd a1, <checksum>(a0)".into()
        } else {
            String::new()
        },
    };
    Ok(walk(&order(contract.visits, contract.iteration), &body))
}

/// Instruction that loads the prefetch distance; empty if the kernel does not prefetch.
pub(super) fn get_distance(prefetch: Option<&Prefetch>) -> String {
    prefetch.map_or(String::new(), |p| {
        format!("ld {}, <distance>(a0)", p.distance)
    })
}

/// Registers for prefetching that the operation does not use; `None` if the kernel does not
/// prefetch.
fn prefetch(contract: &Contract) -> Result<Option<Prefetch>, &'static str> {
    if !contract.prefetches || contract.loads == 0 {
        return Ok(None);
    }
    let registers = match contract.does {
        Does::Load | Does::Touch if contract.loads == 1 => ("a5", &["a2"][..]),
        Does::Update => ("a1", &["a2"][..]),
        Does::Move | Does::Scale if !contract.by_table() => ("t5", &["a2"][..]),
        Does::Add | Does::Triad if !contract.by_table() => ("t5", &["a6", "a7"][..]),
        Does::Load | Does::Touch | Does::Sum | Does::Move => return Err(NO_DISTANCE),
        Does::Scale | Does::Add | Does::Triad => return Err(NO_DISTANCE),
        Does::Store | Does::StoreByte | Does::StoreZero => return Ok(None),
    };
    if contract.visits == AccessOrder::Lines {
        return Err(NO_DISTANCE);
    }
    let (distance, addresses) = registers;
    Ok(Some(Prefetch {
        distance,
        addresses,
    }))
}

/// Instructions before the loop that set up the operand or clear the sums.
fn start(does: Does) -> &'static str {
    match does {
        Does::Store => "ld a4, <pattern>(a0)",
        Does::Update => "ld t5, <pattern>(a0)",
        Does::Sum => "li a1, 0\nli a2, 0\nli t4, 0\nli t5, 0",
        Does::Scale | Does::Triad => "fld fa0, <pattern>(a0)",
        Does::Load | Does::Touch | Does::Move | Does::Add => "",
        Does::StoreByte | Does::StoreZero => "",
    }
}

/// The accesses of an iteration, on one piece or on eight lines in the order of an index table.
fn pieces(contract: &Contract, prefetch: Option<&Prefetch>) -> String {
    let down = contract.visits == AccessOrder::Backward;
    if contract.visits == AccessOrder::Lines {
        let piece = Piece {
            bases: &["a1", "a2", "a6", "a7"],
            bytes: 64,
            down,
        };
        return each((0..32).step_by(4), |entry| {
            lines([
                &format!("lwu a1, {entry}(t6)\nslli a1, a1, 3\nadd a1, a1, t3"),
                &further_streams(contract, piece.bases),
                &groups(contract, &piece, None),
            ])
        });
    }
    let bytes = contract.iteration.min(BLOCK_BYTES);
    let piece = Piece {
        bases: &["t6", "a1", "a2", "a5"],
        bytes,
        down,
    };
    lines([
        &further_streams(contract, piece.bases),
        &prefetch_addresses(prefetch, piece.bases),
        &groups(contract, &piece, prefetch),
    ])
}

/// Instructions that compute the base addresses of the streams after the first one.
pub(super) fn further_streams(contract: &Contract, bases: &[&str]) -> String {
    each(1..contract.streams() as usize, |i| {
        format!("add {}, {}, t4", bases[i], bases[i - 1])
    })
}

/// Instructions that compute the addresses to prefetch.
pub(super) fn prefetch_addresses(prefetch: Option<&Prefetch>, bases: &[&str]) -> String {
    prefetch.map_or(String::new(), |p| {
        each(p.addresses.iter().zip(bases), |(address, base)| {
            format!("add {address}, {base}, {}", p.distance)
        })
    })
}

/// Instructions that prefetch the line at offset `at` of a piece. `prefetch.r` of Zicbop is encoded
/// as an ORI to x0, which has no effect on processors without Zicbop.
pub(super) fn hints(prefetch: Option<&Prefetch>, at: u64) -> String {
    prefetch.map_or(String::new(), |p| {
        each(p.addresses, |address| {
            format!("ori zero, {address}, {at}+1")
        })
    })
}

/// The accesses of a piece, in groups. Each line is prefetched before its first access.
fn groups(contract: &Contract, piece: &Piece, prefetch: Option<&Prefetch>) -> String {
    let group = match contract.does {
        Does::Load | Does::Store | Does::StoreByte | Does::StoreZero => 8,
        Does::Touch => 64,
        Does::Sum | Does::Update | Does::Move | Does::Scale | Does::Add | Does::Triad => 32,
    };
    each((0..piece.bytes).step_by(group), |at| {
        let hints = if at % 64 == 0 {
            hints(prefetch, at)
        } else {
            String::new()
        };
        lines([&hints, &group_at(contract, piece, at)])
    })
}

/// The accesses of the group at offset `at` of a piece.
fn group_at(contract: &Contract, piece: &Piece, at: u64) -> String {
    const DATA: [&str; 4] = ["a4", "a5", "a6", "a7"];
    const FIRST: [&str; 4] = ["fa1", "fa2", "fa3", "fa4"];
    const SECOND: [&str; 4] = ["ft1", "ft2", "ft3", "ft4"];
    let all = |instruction: &str, registers: [&str; 4], stream: usize| {
        each((at..).step_by(8).zip(registers), |(at, register)| {
            format!("{instruction} {register}, {}", piece.word(stream, at))
        })
    };
    // Instructions that combine each of `registers` with the register of `with` at the same index.
    let combine = |instruction: &str, registers: [&str; 4], with: [&str; 4]| {
        each(registers.iter().zip(with), |(r, with)| {
            format!("{instruction} {r}, {r}, {with}")
        })
    };
    match contract.does {
        Does::Load | Does::Touch => each(0..contract.loads as usize, |stream| {
            format!("ld a4, {}", piece.word(stream, at))
        }),
        Does::Store | Does::StoreByte | Does::StoreZero => format!("sd a4, {}", piece.word(0, at)),
        Does::Sum => lines([
            &all("ld", DATA, 0),
            &combine("add", ["a1", "a2", "t4", "t5"], DATA),
        ]),
        Does::Update => lines([
            &all("ld", DATA, 0),
            &combine("xor", DATA, ["t5"; 4]),
            &all("sd", DATA, 0),
        ]),
        Does::Move => lines([&all("ld", DATA, 0), &all("sd", DATA, 1)]),
        Does::Scale => lines([
            &all("fld", FIRST, 0),
            &combine("fmul.d", FIRST, ["fa0"; 4]),
            &all("fsd", FIRST, 1),
        ]),
        Does::Add => lines([
            &all("fld", FIRST, 0),
            &all("fld", SECOND, 1),
            &combine("fadd.d", FIRST, SECOND),
            &all("fsd", FIRST, 2),
        ]),
        Does::Triad => lines([
            &all("fld", SECOND, 1),
            &all("fld", FIRST, 0),
            &combine("fmul.d", SECOND, ["fa0"; 4]),
            &combine("fadd.d", FIRST, SECOND),
            &all("fsd", FIRST, 2),
        ]),
    }
}
