//! Streaming kernels, with instructions that access several registers at once.

use super::walk::{Body, walk};
use crate::contract::{AccessOrder, Contract, Does};
use crate::text::{each, lines};

/// Kind of data registers of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    /// General registers; doubles in the scalar floating-point registers.
    General,
    /// Registers of Advanced SIMD, two of 128 bits in each instruction.
    Neon,
}

const NO_DISTANCE: &str = "no general register is left for addresses to prefetch";
const NO_THIRD: &str = "no general register is left for a third stream by an index table";
const NO_DESCENDING: &str = "NEON of Armv7 has no descending load that keeps its address";

/// Registers of the positions in the streams, which loads and stores advance by writeback.
const BASES: [&str; 4] = ["r0", "r12", "r11", "r10"];

/// Registers that a kernel needs for prefetching.
struct Prefetch {
    /// Register of the prefetch distance.
    distance: &'static str,
    /// Registers of the addresses to prefetch, one for each loaded stream.
    addresses: &'static [&'static str],
}

/// Accesses that are repeated until a piece is complete.
struct Group {
    /// Bytes of each stream in one repetition.
    bytes: u64,
    text: String,
}

/// A kernel that is being generated.
struct Kernel<'c> {
    set: Set,
    contract: &'c Contract,
}

/// The kernel of `contract`. The error is the reason why there is none.
pub(super) fn kernel(set: Set, contract: &Contract) -> Result<String, &'static str> {
    let kernel = Kernel { set, contract };
    let prefetch = kernel.prefetch()?;
    let group = kernel.group()?;
    if contract.by_table() && contract.streams() > 2 {
        return Err(NO_THIRD);
    }
    let bytes = if contract.visits == AccessOrder::Lines {
        64
    } else {
        contract.iteration
    };
    let addresses = prefetch.as_ref().map_or(String::new(), |p| {
        each(p.addresses.iter().zip(BASES), |(to, base)| {
            format!("add {to}, {base}, {}", p.distance)
        })
    });
    let piece = each((0..bytes).step_by(group.bytes as usize), |at| {
        let hints = prefetch
            .iter()
            .filter(|_| at % 64 == 0)
            .flat_map(|p| p.addresses);
        lines([
            &each(hints, |address| format!("pld [{address}, #{at}]")),
            &group.text,
        ])
    });
    let body = Body {
        start: lines([
            kernel.start(),
            &prefetch.map_or(String::new(), |p| {
                format!("ldr {}, [r10, #<distance>]", p.distance)
            }),
        ]),
        piece: lines([
            &each(1..contract.streams() as usize, |i| {
                format!("add {}, {}, r14", BASES[i], BASES[i - 1])
            }),
            &addresses,
            &piece,
        ]),
        end: kernel.end().to_owned(),
    };
    Ok(walk(contract, &body))
}

impl Kernel<'_> {
    fn neon(&self) -> bool {
        self.set == Set::Neon
    }

    fn down(&self) -> bool {
        self.contract.visits == AccessOrder::Backward
    }

    /// True if only r4 to r7 are free for data. The other registers then hold the index table,
    /// streams or sums, or serve prefetching.
    fn few(&self) -> bool {
        let busy = self.contract.by_table() || self.contract.streams() > 3;
        busy || (self.contract.prefetches
            && !matches!(self.contract.does, Does::Load | Does::Touch))
    }

    /// Registers for prefetching that the operation does not use; `None` if the kernel does not
    /// prefetch.
    fn prefetch(&self) -> Result<Option<Prefetch>, &'static str> {
        if !self.contract.prefetches || self.contract.loads == 0 {
            return Ok(None);
        }
        if self.contract.by_table() || self.down() || self.contract.loads > 2 {
            return Err(NO_DISTANCE);
        }
        let (distance, addresses) = match self.contract.does {
            Does::Load | Does::Touch | Does::Sum => ("r14", &["r12"][..]),
            Does::Update | Does::Move => ("r11", &["r10"][..]),
            Does::Scale => ("r4", &["r5"][..]),
            Does::Add | Does::Triad => ("r4", &["r5", "r6"][..]),
            Does::Store | Does::StoreByte | Does::StoreZero => return Ok(None),
        };
        Ok(Some(Prefetch {
            distance,
            addresses,
        }))
    }

    /// Instructions before the loop that set up the operand.
    fn start(&self) -> &'static str {
        match self.contract.does {
            Does::Store | Does::StoreByte | Does::StoreZero if self.neon() => {
                "vldr d0, [r10, #<pattern>]\nvmov d1, d0\nvmov q1, q0"
            }
            Does::Store | Does::StoreByte | Does::StoreZero if self.few() => {
                "ldr r4, [r10, #<pattern>]\nldr r5, [r10, #<pattern>+4]\nmov r6, r4\nmov r7, r5"
            }
            Does::Store | Does::StoreByte | Does::StoreZero => {
                "ldr r4, [r10, #<pattern>]\nldr r5, [r10, #<pattern>+4]\nmov r6, r4\nmov r7, r5\n\
                 mov r8, r4\nmov r9, r5\nmov r10, r4\nmov r11, r5"
            }
            Does::Update if self.neon() => "vldr d16, [r10, #<pattern>]\nvmov d17, d16",
            Does::Update => "ldr r12, [r10, #<pattern>]\nldr r14, [r10, #<pattern>+4]",
            Does::Sum if self.neon() => {
                "vmov.i64 q8, #0\nvmov.i64 q9, #0\nvmov.i64 q10, #0\nvmov.i64 q11, #0"
            }
            Does::Sum => "mov r8, #0\nmov r9, #0\nmov r10, #0\nmov r11, #0",
            Does::Scale | Does::Triad => "vldr d7, [r10, #<pattern>]",
            Does::Load | Does::Touch | Does::Move | Does::Add => "",
        }
    }

    /// Instructions after the loop that add up the partial sums and store the checksum.
    fn end(&self) -> &'static str {
        match self.contract.does {
            Does::Sum if self.neon() => {
                "vadd.i64 q8, q8, q9\nvadd.i64 q10, q10, q11\nvadd.i64 q8, q8, q10\n\
                 vadd.i64 d16, d16, d17\nvstr d16, [r3, #<checksum>]"
            }
            Does::Sum => {
                "adds r8, r8, r10\nadc r9, r9, r11\nstr r8, [r3, #<checksum>]\n\
                 str r9, [r3, #<checksum>+4]"
            }
            Does::Load | Does::Touch | Does::Store | Does::StoreByte | Does::StoreZero => "",
            Does::Update | Does::Move | Does::Scale | Does::Add | Does::Triad => "",
        }
    }

    /// Loads or stores the registers of `list` at the position in stream `stream`, and advances the
    /// position.
    fn access(&self, load: bool, list: &str, stream: usize) -> String {
        let base = BASES[stream];
        let direction = if load { "ld" } else { "st" };
        let floating = list.starts_with("{d");
        match (self.set, self.down()) {
            (Set::Neon, false) => format!("v{direction}1.64 {list}, [{base}:256]!"),
            (_, true) if floating => format!("v{direction}mdb {base}!, {list}"),
            (_, false) if floating => format!("v{direction}mia {base}!, {list}"),
            (_, true) => format!("{direction}mdb {base}!, {list}"),
            (_, false) => format!("{direction}mia {base}!, {list}"),
        }
    }

    fn load(&self, list: &str, stream: usize) -> String {
        self.access(true, list, stream)
    }

    fn store(&self, list: &str, stream: usize) -> String {
        self.access(false, list, stream)
    }

    /// The accesses of the operation. The error is the reason why the set cannot do the operation.
    fn group(&self) -> Result<Group, &'static str> {
        let bytes = if self.few() { 16 } else { 32 };
        let general = if self.few() { "{r4-r7}" } else { "{r4-r11}" };
        let list = if self.neon() { "{d0-d3}" } else { general };
        let bytes = if self.neon() { 32 } else { bytes };
        let group = |bytes, text: String| Ok(Group { bytes, text });
        match self.contract.does {
            Does::Load => group(
                bytes,
                each(0..self.contract.loads as usize, |i| self.load(list, i)),
            ),
            Does::Touch if self.down() => group(64, "ldr r4, [r0, #-64]!".into()),
            Does::Touch => group(64, "ldr r4, [r0], #64".into()),
            Does::Store | Does::StoreByte | Does::StoreZero => group(bytes, self.store(list, 0)),
            Does::Sum => self.sum(),
            Does::Update => self.update(bytes, list),
            // Two lists of registers let loads run ahead of the stores.
            Does::Move if self.neon() => {
                let lists = ["{d0-d3}", "{d4-d7}"];
                let loads = each(lists, |list| self.load(list, 0));
                group(
                    64,
                    lines([&loads, &each(lists, |list| self.store(list, 1))]),
                )
            }
            Does::Move => group(bytes, lines([&self.load(list, 0), &self.store(list, 1)])),
            Does::Scale => group(
                32,
                lines([
                    &self.load("{d0-d3}", 0),
                    &each(0..4, |i| format!("vmul.f64 d{i}, d{i}, d7")),
                    &self.store("{d0-d3}", 1),
                ]),
            ),
            Does::Add => group(
                32,
                lines([
                    &self.load("{d0-d3}", 0),
                    &self.load("{d4-d7}", 1),
                    &each(0..4, |i| format!("vadd.f64 d{i}, d{i}, d{}", i + 4)),
                    &self.store("{d0-d3}", 2),
                ]),
            ),
            // A multiplication and an addition, so that the result is rounded twice.
            Does::Triad => group(
                16,
                lines([
                    &self.load("{d0-d1}", 0),
                    &self.load("{d2-d3}", 1),
                    "vmul.f64 d2, d2, d7\nvmul.f64 d3, d3, d7",
                    "vadd.f64 d0, d0, d2\nvadd.f64 d1, d1, d3",
                    &self.store("{d0-d1}", 2),
                ]),
            ),
        }
    }

    /// Loads words and adds them up, in four registers of 128 bits or in two pairs of 32-bit
    /// registers.
    fn sum(&self) -> Result<Group, &'static str> {
        if self.neon() {
            let text = lines([
                &self.load("{d0-d3}", 0),
                &self.load("{d4-d7}", 0),
                &each(0..4, |i| format!("vadd.i64 q{0}, q{0}, q{i}", i + 8)),
            ]);
            return Ok(Group { bytes: 64, text });
        }
        let text = lines([
            &self.load("{r4-r7}", 0),
            "adds r8, r8, r4\nadc r9, r9, r5\nadds r10, r10, r6\nadc r11, r11, r7",
        ]);
        Ok(Group { bytes: 16, text })
    }

    /// Loads, exclusive or, and stores to the same addresses. Only the stores advance the position.
    fn update(&self, bytes: u64, list: &str) -> Result<Group, &'static str> {
        if self.neon() && self.down() {
            return Err(NO_DESCENDING);
        }
        let load = self.load(list, 0).replace('!', "");
        let combine = if self.neon() {
            "veor q0, q0, q8\nveor q1, q1, q8".into()
        } else {
            each(4..4 + bytes / 4, |i| {
                format!("eor r{i}, r{i}, {}", if i % 2 == 0 { "r12" } else { "r14" })
            })
        };
        Ok(Group {
            bytes,
            text: lines([&load, &combine, &self.store(list, 0)]),
        })
    }
}
