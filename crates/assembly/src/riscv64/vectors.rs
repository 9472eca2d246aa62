//! Streaming kernels of the vector extension. Their code works with every vector length of 128 bits
//! or more.
//!
//! The vector length is set once, before the loop. All lengths are powers of two, so a block is a
//! multiple of a group of registers.

use super::scalar::{
    NO_DISTANCE, Prefetch, further_streams, get_distance, hints, prefetch_addresses,
};
use super::walk::{Body, Order, order, walk};
use crate::contract::{AccessOrder, BLOCK_BYTES, Contract, Does};
use crate::text::{each, lines};

/// Registers of the base addresses of the streams.
const BASES: [&str; 4] = ["t6", "a1", "a2", "a5"];

/// How an iteration is divided into vector registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One group of eight registers, at most 512 B. `a7` is the length of the group in bytes. For
    /// chunks, `a6` is the offset in the chunk.
    Group,
    /// Four single registers in descending order. `a7` is the length of one register in bytes, `a6`
    /// the length of four.
    Singles,
    /// The eight lines of a block, with a group of four registers for each line.
    Lines,
    /// A piece of this many bytes, in groups of eight registers, or four for one line.
    Pieces(u64),
}

fn layout(contract: &Contract) -> Layout {
    match contract.visits {
        AccessOrder::Lines => Layout::Lines,
        _ if contract.prefetches || contract.does == Does::Touch => Layout::Lines,
        AccessOrder::Backward => Layout::Singles,
        AccessOrder::Chunks => Layout::Group,
        AccessOrder::Forward if contract.iteration == BLOCK_BYTES => Layout::Group,
        AccessOrder::Forward => Layout::Pieces(contract.iteration.min(128)),
    }
}

/// The order of visits for a contract, with iterations as given by `layout`.
fn order_of_vectors(contract: &Contract, layout: Layout) -> Order {
    let plain = order(contract.visits, contract.iteration);
    let set = |enter: &str, order: Order| Order {
        enter: lines([enter, &order.enter]),
        ..order
    };
    const GROUP: &str = "li a3, 64\nvsetvli a4, a3, e64, m8, ta, ma\nslli a7, a4, 3\n\
                         divu a3, a3, a4\nmul t0, t0, a3";
    match (layout, contract.visits) {
        (Layout::Lines | Layout::Pieces(64), _) => set("vsetivli zero, 8, e64, m4, ta, ma", plain),
        (Layout::Pieces(_), _) => set("vsetivli zero, 16, e64, m8, ta, ma", plain),
        (Layout::Singles, _) => Order {
            enter: "li a3, 16\nvsetvli a4, a3, e64, m1, ta, ma\nslli a7, a4, 3\nslli a6, a4, 5\n\
                    divu a3, a3, a4\nmul t0, t0, a3\nsub t2, t5, a6\nadd t3, t3, t5"
                .into(),
            advance: "sltu a3, t1, t2\nadd t1, t1, a6".into(),
            ..plain
        },
        // The table advances to the next entry when the offset in the chunk returns to 0.
        (Layout::Group, AccessOrder::Chunks) => Order {
            enter: lines([GROUP, "li a6, 0", &plain.enter]),
            place: "add t6, t5, t1\nlwu t6, 0(t6)\nslli t6, t6, 3\nadd t6, t6, t3\nadd t6, t6, a6",
            advance: "add a6, a6, a7\nandi a6, a6, 511\nsltu a3, t1, t2\nsnez a4, a6\n\
                      or a3, a3, a4\nxori a4, a4, 1\nslli a4, a4, 2\nadd t1, t1, a4"
                .into(),
        },
        (Layout::Group, _) => Order {
            enter: lines([GROUP, "sub t2, t5, a7"]),
            advance: "sltu a3, t1, t2\nadd t1, t1, a7".into(),
            ..plain
        },
    }
}

/// The kernel of `contract`. The error is the reason why there is none.
pub(super) fn kernel(contract: &Contract) -> Result<String, &'static str> {
    let layout = layout(contract);
    let prefetch = prefetch(contract)?;
    let body = Body {
        start: lines([&start(contract), &get_distance(prefetch.as_ref())]),
        accesses: accesses(contract, layout, prefetch.as_ref()),
        end: if contract.does == Does::Sum {
            "vmv.s.x v16, zero\nvredsum.vs v16, v8, v16\nvmv.x.s a1, v16\nsd a1, <checksum>(a0)"
                .into()
        } else {
            String::new()
        },
    };
    let text = walk(&order_of_vectors(contract, layout), &body);
    Ok(format!(".option arch, +v\n{text}"))
}

/// Registers for prefetching that the operation does not use; `None` if the kernel does not
/// prefetch.
fn prefetch(contract: &Contract) -> Result<Option<Prefetch>, &'static str> {
    let (distance, addresses) = match contract.loads {
        _ if !contract.prefetches || contract.loads == 0 => return Ok(None),
        _ if contract.by_table() || contract.visits == AccessOrder::Backward => {
            return Err(NO_DISTANCE);
        }
        1 if contract.does == Does::Touch => ("a4", &["a2"][..]),
        1 => ("a5", &["a2"][..]),
        2 => ("a5", &["a6", "a7"][..]),
        _ => return Err(NO_DISTANCE),
    };
    Ok(Some(Prefetch {
        distance,
        addresses,
    }))
}

/// Sets up the operand of the operation.
fn start(contract: &Contract) -> String {
    match contract.does {
        Does::Store | Does::StoreByte | Does::StoreZero => {
            let register = if contract.visits == AccessOrder::Chunks {
                "a5"
            } else {
                "a4"
            };
            format!("ld {register}, <pattern>(a0)\nvmv.v.x v0, {register}")
        }
        Does::Update if contract.prefetches => "ld a4, <pattern>(a0)".into(),
        Does::Update => "ld a5, <pattern>(a0)".into(),
        Does::Sum => "vmv.v.i v8, 0".into(),
        Does::Touch => "li a5, 64".into(),
        Does::Scale | Does::Triad => "fld fa0, <pattern>(a0)".into(),
        Does::Load | Does::Move | Does::Add => String::new(),
    }
}

/// An instruction of an operation. `@` stands for the base register of its stream.
struct Step {
    /// Stream that the instruction accesses; `None` if it accesses no memory.
    stream: Option<usize>,
    text: String,
}

/// The instructions of the operation on one group of registers. `first` is the number of the first
/// stream's register. The register of each further stream is `stride` higher.
fn steps(contract: &Contract, first: u64, stride: u64) -> Vec<Step> {
    let access = |instruction: &str, register: u64, stream: usize| Step {
        stream: Some(stream),
        text: format!("{instruction} v{register}, (@)"),
    };
    let compute = |text: String| Step { stream: None, text };
    let second = first + stride;
    match contract.does {
        Does::Load => (0..contract.loads as usize)
            .map(|stream| access("vle64.v", (first + stride * stream as u64) % 32, stream))
            .collect(),
        Does::Touch => vec![Step {
            stream: Some(0),
            text: "vlse64.v v0, (@), a5".into(),
        }],
        Does::Sum => vec![
            access("vle64.v", 0, 0),
            compute("vadd.vv v8, v8, v0".into()),
        ],
        Does::Store | Does::StoreByte | Does::StoreZero => vec![access("vse64.v", 0, 0)],
        Does::Update => {
            let operand = if contract.prefetches { "a4" } else { "a5" };
            vec![
                access("vle64.v", first, 0),
                compute(format!("vxor.vx v{first}, v{first}, {operand}")),
                access("vse64.v", first, 0),
            ]
        }
        Does::Move => vec![access("vle64.v", first, 0), access("vse64.v", first, 1)],
        Does::Scale => vec![
            access("vle64.v", first, 0),
            compute(format!("vfmul.vf v{first}, v{first}, fa0")),
            access("vse64.v", first, 1),
        ],
        Does::Add => vec![
            access("vle64.v", first, 0),
            access("vle64.v", second, 1),
            compute(format!("vfadd.vv v{first}, v{first}, v{second}")),
            access("vse64.v", first, 2),
        ],
        Does::Triad => vec![
            access("vle64.v", second, 1),
            access("vle64.v", first, 0),
            compute(format!("vfmul.vf v{second}, v{second}, fa0")),
            compute(format!("vfadd.vv v{first}, v{first}, v{second}")),
            access("vse64.v", first, 2),
        ],
    }
}

/// The text of `steps`, with the base register of each stream in place of `@`.
fn on_bases(steps: &[Step]) -> String {
    each(steps, |step| {
        step.text.replace('@', BASES[step.stream.unwrap_or(0)])
    })
}

/// The accesses of an iteration.
fn accesses(contract: &Contract, layout: Layout, prefetch: Option<&Prefetch>) -> String {
    let streams = contract.streams() as usize;
    let bases = further_streams(contract, &BASES);
    let step_all =
        |instruction: &str| each(&BASES[..streams], |base| instruction.replace('@', base));
    // First register of a line. The registers of both streams follow if two are loaded.
    let line_registers = |line: u64| (line * 4 * u64::from(contract.loads.max(1))) % 32;
    match layout {
        Layout::Group => lines([&bases, &on_bases(&steps(contract, 0, 8))]),
        Layout::Singles if contract.does == Does::Move => lines([
            &bases,
            &each(0..4, |v| format!("sub t6, t6, a7\nvle64.v v{v}, (t6)")),
            &each(0..4, |v| format!("sub a1, a1, a7\nvse64.v v{v}, (a1)")),
        ]),
        Layout::Singles => {
            let one = |v| lines([&step_all("sub @, @, a7"), &on_bases(&steps(contract, v, 4))]);
            lines([&bases, &each(0..4, one)])
        }
        Layout::Lines if contract.visits == AccessOrder::Lines => lines_by_table(contract),
        Layout::Lines if contract.does == Does::Touch => lines([
            &prefetch_addresses(prefetch, &BASES),
            &each((0..contract.iteration).step_by(64), |at| {
                hints(prefetch, at)
            }),
            &on_bases(&steps(contract, 0, 4)),
        ]),
        Layout::Lines => lines([
            &bases,
            &prefetch_addresses(prefetch, &BASES),
            &each(0..contract.iteration / 64, |line| {
                lines([
                    &hints(prefetch, 64 * line),
                    &on_bases(&steps(contract, line_registers(line), 4)),
                    &step_all("addi @, @, 64"),
                ])
            }),
        ]),
        Layout::Pieces(bytes) => lines([
            &bases,
            &each(0..contract.iteration / bytes, |piece| {
                let text = on_bases(&steps(contract, 8 * piece, 8));
                match piece {
                    0 => text,
                    _ if streams == 1 => {
                        format!(
                            "addi a1, t6, {}\n{}",
                            piece * bytes,
                            text.replace("t6", "a1")
                        )
                    }
                    _ => format!("{}\n{text}", step_all(&format!("addi @, @, {bytes}"))),
                }
            }),
        ]),
    }
}

/// The accesses of eight lines in the order of the index table. `a1` is the address of the line in
/// the first stream, and is then advanced to the next stream.
fn lines_by_table(contract: &Contract) -> String {
    each(0..8u64, |line| {
        let mut stream = 0;
        let entry = format!("lwu a1, {}(t6)\nslli a1, a1, 3\nadd a1, a1, t3", 4 * line);
        let accesses = each(&steps(contract, 4 * line, 4), |step| {
            let mut text = String::new();
            while let Some(next) = step.stream.filter(|&next| next != stream) {
                let (instruction, nearer) = if next > stream {
                    ("add", stream + 1)
                } else {
                    ("sub", stream - 1)
                };
                text += &format!("{instruction} a1, a1, t4\n");
                stream = nearer;
            }
            text + &step.text.replace('@', "a1")
        });
        lines([&entry, &accesses])
    })
}
