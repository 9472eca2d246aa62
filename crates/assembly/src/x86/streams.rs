//! Streaming kernels. The accesses of an iteration follow from a register set and a contract.

use super::mode::{CLZERO, MOVDIR64B, Mode, SSE2};
use super::strings;
use super::walk::{Body, Piece, walk};
use crate::architecture::{Feature, Row};
use crate::contract::{AccessOrder, BLOCK_BYTES, CodeOrigin, Contract, Does, Policy};
use crate::text::{each, lines};

/// Description of a set of registers.
#[derive(Debug)]
pub(super) struct Registers {
    /// Bytes of a register.
    pub width: u64,
    /// The data registers.
    pub kind: Kind,
    /// Instructions on doubles.
    pub doubles: Doubles,
    /// Instruction at the end of a kernel that avoids the penalty for mixing AVX and SSE code.
    pub leave: &'static str,
}

/// Kind of data registers.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "there are five values in all")]
pub(super) enum Kind {
    /// General registers.
    General,
    /// Vector registers.
    Vectors(Vectors),
}

/// Instructions of a kind of vector registers.
#[derive(Debug)]
pub(super) struct Vectors {
    /// Name of a register without its number.
    pub register: &'static str,
    /// Instruction for ordinary loads and stores.
    pub load: &'static str,
    /// Instruction for non-temporal stores.
    pub store_nt: &'static str,
    /// Non-temporal load, or the reason why there is none. On write-back memory, non-temporal loads
    /// are ordinary loads (Intel SDM vol. 1, 12.10.3).
    pub load_nt: Result<NonTemporalLoad, &'static str>,
    /// Instructions that fill register 0 with the pattern.
    pub fill: &'static str,
    /// Exclusive or.
    pub xor: Combine,
    /// Additions of 64-bit integers, or the reason why there are none.
    pub sum: Result<Sum, &'static str>,
    /// Reason why the set has no kernels that load one word per line; `None` if it has such
    /// kernels.
    pub no_touch: Option<&'static str>,
}

/// Instruction for non-temporal loads, and the feature that it needs in addition to the set's
/// feature.
#[derive(Debug)]
pub(super) struct NonTemporalLoad {
    pub instruction: &'static str,
    pub needs: Option<Feature>,
}

/// Instructions that add up loaded words in registers 0 to 3.
#[derive(Debug)]
pub(super) struct Sum {
    /// Instruction that clears register `%`.
    pub clear: &'static str,
    /// Instruction that adds memory to a register.
    pub add: Combine,
    /// Instructions that add up the four registers and store the checksum.
    pub total: &'static str,
}

/// An instruction that combines a register with memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Combine {
    /// Two operands: the register is also the result.
    Replaces(&'static str),
    /// Three operands: result, register, memory.
    Into(&'static str),
}

/// Instructions on doubles. STREAM's kernels only multiply a scalar by memory and add memory to a
/// register. Each operation rounds its result.
#[derive(Debug)]
pub(super) struct Doubles {
    /// Bytes of all doubles in a register.
    pub width: u64,
    /// Name of a register without its number.
    pub register: &'static str,
    /// Size of a memory operand, as text before the operand.
    pub size: &'static str,
    pub load: &'static str,
    pub store_nt: Result<&'static str, &'static str>,
    pub multiply: Combine,
    pub add: Combine,
    /// Instructions that fill register 0 with the scalar.
    pub fill: &'static str,
}

impl Combine {
    /// Instructions for register `into` = register `with` combined with `memory`. With two
    /// operands, `load` first loads memory to `into`, unless `into` is `with`.
    fn text(self, load: &str, into: &str, with: &str, memory: &str) -> String {
        match self {
            Combine::Into(instruction) => format!("{instruction} {into}, {with}, {memory}"),
            Combine::Replaces(instruction) if into == with => {
                format!("{instruction} {into}, {memory}")
            }
            Combine::Replaces(instruction) => {
                format!("{load} {into}, {memory}\n{instruction} {into}, {with}")
            }
        }
    }
}

/// Reason why only the scalar set has string instructions.
const STRINGS: &str =
    "string instructions use no vector registers; see write-rep/scalar and copy-rep/scalar";
/// Reason why most operations have no kernel for whole lines. Only stores, zeroing and copies have
/// one.
const NO_WHOLE_LINES: &str = "x86 stores, zeroes and copies whole lines only";
/// Reason why only the scalar set copies lines past the caches.
const DIRECT: &str = "movdir64b uses no vector registers; see copy-direct/scalar";
/// Reason why most operations have no kernel that stores lines past the caches. Only copies have
/// one.
const NO_DIRECT: &str = "movdir64b only copies";
/// Reason why only the scalar set zeroes cache lines.
const ZERO: &str =
    "the instruction that zeroes cache lines uses no vector registers; see write-zero/scalar";
/// Reason why the C library is not listed with vector sets.
const C_LIBRARY: &str = "the C library chooses its own registers; it is listed with the scalar set";
/// Reason why general registers have no non-temporal loads.
const NO_LOADS: &str = "x86 has no non-temporal loads to general registers";
/// Reason why kernels of 32-bit x86 without a free register cannot prefetch.
const NO_DISTANCE: &str = "32-bit x86 has no register left for the prefetch distance";

/// Reason why most operations have no kernel by lines. Only loads, stores and copies have one.
const NO_LINES: &str = "by lines there are registers for loads, stores and copies only";
/// Reason why only ascending kernels prefetch.
const NO_HINTS: &str = "the prefetch distance is that of ascending addresses";

/// The table row for `contract` with the registers `set`: a kernel, or the reason why there is
/// none.
pub(super) fn row(mode: Mode, set: &Registers, contract: &Contract) -> Row {
    let general = matches!(set.kind, Kind::General);
    if contract.origin == CodeOrigin::CLibrary {
        return if general {
            Row::CLibrary
        } else {
            Row::Unsupported(C_LIBRARY)
        };
    }
    if contract.policy == Policy::WholeLine {
        return match contract.does {
            Does::StoreZero if general => Row::Needs(CLZERO, zeroed_lines(mode, contract)),
            Does::StoreZero => Row::Unsupported(ZERO),
            Does::StoreByte | Does::Move if general => Row::Code(strings::strings(mode, contract)),
            Does::StoreByte | Does::Move => Row::Unsupported(STRINGS),
            Does::Load | Does::Sum | Does::Touch | Does::Store | Does::Update => {
                Row::Unsupported(NO_WHOLE_LINES)
            }
            Does::Scale | Does::Add | Does::Triad => Row::Unsupported(NO_WHOLE_LINES),
        };
    }
    if contract.policy == Policy::Direct {
        return match contract.does {
            Does::Move if general => Row::Needs(MOVDIR64B, direct_copies(mode, contract)),
            Does::Move => Row::Unsupported(DIRECT),
            _ => Row::Unsupported(NO_DIRECT),
        };
    }
    let kernel = Kernel {
        mode,
        set,
        contract,
    };
    let needs = match (&set.kind, mode) {
        (Kind::Vectors(vectors), _)
            if contract.stores == 0 && contract.policy != Policy::Temporal =>
        {
            vectors.load_nt.as_ref().ok().and_then(|load| load.needs)
        }
        (Kind::General, Mode::Bits32) => {
            (contract.prefetches || contract.policy != Policy::Temporal || contract.on_doubles())
                .then_some(SSE2)
        }
        _ => None,
    };
    match (kernel.text(), needs) {
        (Ok(text), None) => Row::Code(text),
        (Ok(text), Some(feature)) => Row::Needs(feature, text),
        (Err(reason), _) => Row::Unsupported(reason),
    }
}

/// A kernel of `clzero`, which zeroes the line that `rax` points to, like a non-temporal store (AMD
/// APM vol. 3). After the last line of a block, `rax` points to the start of the block again.
fn zeroed_lines(mode: Mode, contract: &Contract) -> String {
    let lines = each([64, 128, 192, 256, 320, 384, 448, 0], |next| {
        format!("clzero\nlea $position, [$second + {next}]")
    });
    let body = Body {
        accesses: format!("mov $second, $position\n{lines}"),
        end: "sfence".into(),
        ..Body::default()
    };
    walk(mode, contract.visits, contract.iteration, &body)
}

/// A kernel of `movdir64b`, which loads a line and stores it past the caches to the address in a
/// register. Its stores are weakly ordered (Intel SDM vol. 2).
fn direct_copies(mode: Mode, contract: &Contract) -> String {
    let accesses = each((0..BLOCK_BYTES).step_by(64), |at| {
        format!("lea $second, [$position + $delta + {at}]\nmovdir64b $second, [$position + {at}]")
    });
    let body = Body {
        accesses,
        end: "sfence".into(),
        ..Body::default()
    };
    walk(mode, contract.visits, contract.iteration, &body)
}

/// A kernel that is being generated.
struct Kernel<'a> {
    mode: Mode,
    set: &'a Registers,
    contract: &'a Contract,
}

impl Kernel<'_> {
    fn text(&self) -> Result<String, &'static str> {
        let body = self.body()?;
        Ok(walk(
            self.mode,
            self.contract.visits,
            self.contract.iteration,
            &body,
        ))
    }

    /// The parts of the kernel. The error is the reason why the set cannot fulfil the contract.
    fn body(&self) -> Result<Body, &'static str> {
        let simple = matches!(self.contract.does, Does::Load | Does::Store | Does::Move);
        if self.contract.visits == AccessOrder::Lines && !(simple && self.contract.streams() < 3) {
            return Err(NO_LINES);
        }
        if self.contract.prefetches && (self.contract.by_table() || self.down()) {
            return Err(NO_HINTS);
        }
        let accesses = self.accesses()?;
        let mut body = Body {
            start: lines([
                &self.start(),
                if self.contract.prefetches {
                    GET_DISTANCE
                } else {
                    ""
                },
            ]),
            accesses: self.pieces(&accesses),
            end: String::new(),
        };
        if self.contract.visits == AccessOrder::Lines && self.contract.streams() > 1 {
            body.start += "\nlea $second, [$start + $delta]";
        }
        if let Does::Sum = self.contract.does {
            body.end += self.total()?;
        }
        if self.contract.stores > 0 && self.contract.policy == Policy::NonTemporal {
            body.end += "\nsfence";
        }
        body.end = lines([&body.end, self.set.leave]);
        Ok(body)
    }

    /// True if the contract visits addresses in descending order.
    fn down(&self) -> bool {
        self.contract.visits == AccessOrder::Backward
    }

    /// The text of an iteration: `accesses` on each of its pieces.
    fn pieces(&self, accesses: &Accesses) -> String {
        match self.contract.visits {
            AccessOrder::Lines => self.lines(accesses),
            AccessOrder::Forward | AccessOrder::Backward | AccessOrder::Chunks => {
                // Only loads have a third and a fourth stream, whose addresses need no registers.
                let streams = if self.contract.loads > 2 {
                    [
                        "$position",
                        "$second",
                        "$position + 2 * $delta",
                        "$second + 2 * $delta",
                    ]
                } else {
                    ["$position", "$second", "$third", ""]
                };
                let get = match self.contract.streams() {
                    1 => "",
                    3 => "lea $second, [$position + $delta]\nlea $third, [$position + 2 * $delta]",
                    _ => "lea $second, [$position + $delta]",
                };
                let piece = Piece {
                    streams: streams.map(str::to_owned),
                    bytes: self.contract.iteration,
                    down: self.down(),
                };
                lines([get, &self.groups(accesses, &piece)])
            }
        }
    }

    /// The accesses of eight lines in the order of an index table. An entry is in units of 8 B, so
    /// that it can be the scaled index of an address. On x86-64, kernels that only load are limited
    /// by the number of loads per clock cycle, so they read two entries with one load. Kernels
    /// without loads put the address of each line into a register first. With `$start` in the
    /// address of every store, Zen 5 stores a fifth more slowly.
    fn lines(&self, accesses: &Accesses) -> String {
        let line = |entry: &str| {
            let (address, first) = if self.contract.loads == 0 {
                (
                    format!("lea {entry}, [$start + 8 * {entry}]"),
                    entry.to_owned(),
                )
            } else {
                (String::new(), format!("$start + 8 * {entry}"))
            };
            let second = format!("$second + 8 * {entry}");
            let streams = [first, second, String::new(), String::new()];
            let piece = Piece {
                streams,
                bytes: 64,
                down: false,
            };
            lines([&address, &self.groups(accesses, &piece)])
        };
        match (self.mode, self.contract.stores) {
            (Mode::Bits64, 0) => each((0..32).step_by(8), |entries| {
                lines([
                    &format!("mov r8, [$position + {entries}]\nmov r9d, r8d\nshr r8, 32"),
                    &line("r9"),
                    &line("r8"),
                ])
            }),
            (Mode::Bits64, _) => each((0..32).step_by(4), |entry| {
                lines([&format!("mov r8d, [$position + {entry}]"), &line("r8")])
            }),
            (Mode::Bits32, _) => each((0..32).step_by(4), |entry| {
                lines([&format!("mov ebx, [$position + {entry}]"), &line("ebx")])
            }),
        }
    }

    /// The accesses of a piece, in groups. If the contract prefetches, each line is prefetched
    /// before its first access.
    fn groups(&self, accesses: &Accesses, piece: &Piece) -> String {
        let prefetched = if self.contract.prefetches { 64 } else { 0 };
        let stride = accesses.bytes.max(prefetched);
        let hint = match self.contract.policy {
            Policy::NonTemporal if self.contract.stores == 0 => "prefetchnta",
            _ => "prefetcht0",
        };
        each((0..piece.bytes).step_by(stride as usize), |at| {
            let hints = each(
                (at..at + stride).step_by(64).filter(|_| prefetched > 0),
                |line| {
                    each(0..self.contract.loads as usize, |stream| {
                        format!("{hint} [{} + $distance + {line}]", piece.streams[stream])
                    })
                },
            );
            let groups = (at..at + stride).step_by(accesses.bytes as usize);
            lines([&hints, &each(groups, |at| (accesses.text)(piece, at))])
        })
    }
}

/// Instruction that loads the prefetch distance.
const GET_DISTANCE: &str = "mov $distance, [$call + <distance>]";

/// Function that returns the assembly for the bytes of a piece from an offset on.
type Text<'a> = Box<dyn Fn(&Piece, u64) -> String + 'a>;

/// Accesses that are repeated until a piece is complete.
pub(super) struct Accesses<'a> {
    /// Bytes of each stream in one repetition.
    bytes: u64,
    /// Function that returns the assembly for the bytes of a piece from an offset on.
    text: Text<'a>,
}

impl<'a> Accesses<'a> {
    fn new(bytes: u64, text: impl Fn(&Piece, u64) -> String + 'a) -> Self {
        Self {
            bytes,
            text: Box::new(text),
        }
    }
}

impl Kernel<'_> {
    /// The accesses of the contract's operation.
    fn accesses(&self) -> Result<Accesses<'_>, &'static str> {
        match self.contract.does {
            Does::Load => self.loads(self.set.width),
            Does::Touch => match &self.set.kind {
                Kind::Vectors(Vectors {
                    no_touch: Some(reason),
                    ..
                }) => Err(reason),
                _ => self.loads(64),
            },
            Does::Sum => self.sum(),
            Does::Store => self.stores(),
            Does::StoreByte | Does::StoreZero => Err(STRINGS),
            Does::Update => Ok(self.update()),
            Does::Move => self.moves(),
            Does::Scale | Does::Add | Does::Triad => self.doubles(),
        }
    }

    /// Registers for words that are moved or changed. Several registers let loads run ahead of the
    /// stores.
    fn data(&self) -> &'static [&'static str] {
        let by_lines = self.contract.visits == AccessOrder::Lines;
        match (self.mode, self.contract.does) {
            (Mode::Bits64, Does::Update) if self.contract.prefetches => &["r9"],
            (Mode::Bits64, Does::Update) => &["r9", "r11"],
            (Mode::Bits64, Does::Move) if by_lines => &["r11"],
            (Mode::Bits64, Does::Move) if self.contract.prefetches => &["r8"],
            (Mode::Bits64, Does::Move) => &["r8", "r11"],
            (Mode::Bits64, _) if by_lines => &["r11"],
            (Mode::Bits64, _) => &["r8"],
            (Mode::Bits32, Does::Update) => &["edi"],
            (Mode::Bits32, _) if self.frees_ebx() => &["ebx"],
            (Mode::Bits32, _) => &["ebp"],
        }
    }

    /// True if a kernel of 32-bit x86 may use ebx for data, because it has neither an index table
    /// nor a second stream.
    fn frees_ebx(&self) -> bool {
        !self.contract.by_table() && self.contract.streams() == 1
    }

    /// Registers of the 64-bit pattern.
    fn pattern(&self) -> &'static [&'static str] {
        match self.mode {
            Mode::Bits64 if self.contract.visits == AccessOrder::Lines => &["r11"],
            Mode::Bits64 => &["r8"],
            Mode::Bits32 if self.contract.by_table() => &["edi", "edx"],
            Mode::Bits32 => &["ebx", "ebp"],
        }
    }

    /// Instructions before the loop that set up the operand.
    fn start(&self) -> String {
        match (self.contract.does, &self.set.kind) {
            (Does::Store | Does::Update, Kind::General) => {
                let words = (0..).step_by(self.mode.word() as usize).zip(self.pattern());
                each(words, |(at, register)| {
                    format!("mov {register}, [$call + <pattern> + {at}]")
                })
            }
            (Does::Store | Does::Update, Kind::Vectors(vectors)) => vectors.fill.to_owned(),
            (Does::Scale | Does::Triad, _) => self.set.doubles.fill.to_owned(),
            (Does::Sum, Kind::General) => each(self.sums(), |sum| format!("xor {sum}, {sum}")),
            (Does::Sum, Kind::Vectors(Vectors { sum: Ok(sum), .. })) => {
                each(0..4, |i| sum.clear.replace('%', &i.to_string()))
            }
            (Does::Sum, Kind::Vectors(_))
            | (Does::Load | Does::Touch | Does::Move | Does::Add, _)
            | (Does::StoreByte | Does::StoreZero, _) => String::new(),
        }
    }

    /// Loads at every `stride` bytes. All loads have the same destination register. Register
    /// renaming keeps them independent.
    fn loads(&self, stride: u64) -> Result<Accesses<'_>, &'static str> {
        let (load, register) = match &self.set.kind {
            Kind::General if self.contract.policy == Policy::NonTemporal => return Err(NO_LOADS),
            Kind::General if self.mode == Mode::Bits32 && self.contract.prefetches => {
                if self.contract.loads > 1 || self.contract.by_table() {
                    return Err(NO_DISTANCE);
                }
                ("mov", "ebx".to_owned())
            }
            Kind::General => ("mov", self.data()[0].to_owned()),
            Kind::Vectors(vectors) => {
                let load = match self.contract.policy {
                    Policy::NonTemporal => vectors.load_nt.as_ref().map_err(|r| *r)?.instruction,
                    Policy::Temporal | Policy::WholeLine | Policy::Direct => vectors.load,
                };
                (load, format!("{}0", vectors.register))
            }
        };
        Ok(Accesses::new(stride, move |piece, at| {
            each(0..self.contract.loads as usize, |stream| {
                format!(
                    "{load} {register}, {}",
                    piece.memory(stream, at, self.set.width)
                )
            })
        }))
    }

    /// General registers for the partial sums.
    fn sums(&self) -> &'static [&'static str] {
        self.mode
            .choose(&["r8d", "r9d", "r10d", "r11d"], &["ebx", "edi"])
    }

    /// Loads words and adds them up in four registers, so that additions do not wait for each
    /// other. On 32-bit x86, the sum is in a pair of registers.
    fn sum(&self) -> Result<Accesses<'_>, &'static str> {
        let width = self.set.width;
        match &self.set.kind {
            Kind::General => Ok(Accesses::new(self.mode.choose(32, 8), move |piece, at| {
                let adds = self.mode.choose(
                    &["add r8", "add r9", "add r10", "add r11"][..],
                    &["add ebx", "adc edi"],
                );
                each((0..).zip(adds), |(i, add)| {
                    format!("{add}, {}", piece.memory(0, at + i * width, width))
                })
            })),
            Kind::Vectors(vectors) => {
                let sum = vectors.sum.as_ref().map_err(|reason| *reason)?;
                let registers = self.registers(width, 4);
                Ok(Accesses::new(registers * width, move |piece, at| {
                    each(0..registers, |i| {
                        let register = format!("{}{i}", vectors.register);
                        let memory = piece.memory(0, at + i * width, width);
                        sum.add.text("", &register, &register, &memory)
                    })
                }))
            }
        }
    }

    /// Instructions after the loop that add up the partial sums and store the checksum.
    fn total(&self) -> Result<&'static str, &'static str> {
        match &self.set.kind {
            Kind::General => Ok(self.mode.choose(
                "add r8, r9\nadd r10, r11\nadd r8, r10\nmov [$call + <checksum>], r8",
                "mov [$call + <checksum>], ebx\nmov [$call + <checksum> + 4], edi",
            )),
            Kind::Vectors(vectors) => vectors.sum.as_ref().map(|s| s.total).map_err(|r| *r),
        }
    }

    /// Name of the instruction for the contract's stores.
    fn store(&self) -> &'static str {
        match (&self.set.kind, self.contract.policy) {
            (Kind::General, Policy::NonTemporal) => "movnti",
            (Kind::General, _) => "mov",
            (Kind::Vectors(vectors), Policy::NonTemporal) => vectors.store_nt,
            (Kind::Vectors(vectors), _) => vectors.load,
        }
    }

    fn stores(&self) -> Result<Accesses<'_>, &'static str> {
        let store = self.store();
        match &self.set.kind {
            Kind::General => {
                let (width, words) = (self.set.width, self.pattern());
                let bytes = width * words.len() as u64;
                Ok(Accesses::new(bytes, move |piece, at| {
                    let order: Vec<_> = (0..).zip(words).collect();
                    let word = |&(i, register): &(u64, &&str)| {
                        // Each word of the pattern belongs to the same address in ascending and in
                        // descending order.
                        let place = if piece.down {
                            words.len() as u64 - 1 - i
                        } else {
                            i
                        };
                        let memory = piece.memory(0, at + place * width, width);
                        format!("{store} {memory}, {register}")
                    };
                    if piece.down {
                        each(order.iter().rev(), word)
                    } else {
                        each(&order, word)
                    }
                }))
            }
            Kind::Vectors(vectors) => Ok(Accesses::new(self.set.width, move |piece, at| {
                format!(
                    "{store} {}, {}0",
                    piece.memory(0, at, self.set.width),
                    vectors.register
                )
            })),
        }
    }

    /// Bytes of each stream in a group of accesses. The loads of a group precede its stores.
    fn group(&self) -> u64 {
        match &self.set.kind {
            Kind::General => self.set.width * self.data().len() as u64,
            Kind::Vectors(_) if self.contract.iteration < BLOCK_BYTES => {
                self.set.width * self.registers(self.set.width, 8)
            }
            Kind::Vectors(_) => self.set.width * self.registers(self.set.width, 4),
        }
    }

    /// Number of vector registers of `width` bytes in a group: `most`, or fewer for shorter pieces.
    fn registers(&self, width: u64, most: u64) -> u64 {
        let piece = match self.contract.visits {
            AccessOrder::Lines => 64,
            AccessOrder::Forward | AccessOrder::Backward | AccessOrder::Chunks => {
                self.contract.iteration
            }
        };
        most.min(piece / width)
    }

    fn moves(&self) -> Result<Accesses<'_>, &'static str> {
        let (load, store, width) = (self.load(), self.store(), self.set.width);
        if self.mode == Mode::Bits32 && self.contract.prefetches && self.group() == width {
            return Err(NO_DISTANCE);
        }
        let bytes = self.group();
        Ok(Accesses::new(bytes, move |piece, at| {
            let registers = || (0..bytes / width).map(|i| (at + i * width, self.register(i)));
            let loads = each(registers(), |(at, register)| {
                format!("{load} {register}, {}", piece.memory(0, at, width))
            });
            let stores = each(registers(), |(at, register)| {
                format!("{store} {}, {register}", piece.memory(1, at, width))
            });
            lines([&loads, &stores])
        }))
    }

    /// Name of the instruction for ordinary loads.
    fn load(&self) -> &'static str {
        match &self.set.kind {
            Kind::General => "mov",
            Kind::Vectors(vectors) => vectors.load,
        }
    }

    /// Name of data register `i`.
    fn register(&self, i: u64) -> String {
        match &self.set.kind {
            Kind::General => self.data()[i as usize].to_owned(),
            Kind::Vectors(vectors) => format!("{}{i}", vectors.register),
        }
    }

    /// Loads, exclusive or with the pattern, and stores to the same addresses.
    fn update(&self) -> Accesses<'_> {
        let (store, width) = (self.store(), self.set.width);
        match &self.set.kind {
            Kind::General => {
                let (data, pattern) = (self.data(), self.pattern());
                // A group covers whole patterns: each word is combined with its part of the
                // pattern.
                let words = data.len().max(pattern.len());
                Accesses::new(width * words as u64, move |piece, at| {
                    each((0..words).step_by(data.len()), |first| {
                        let place =
                            |i: usize| piece.memory(0, at + width * (first + i) as u64, width);
                        let all = || data.iter().enumerate();
                        lines([
                            &each(all(), |(i, r)| format!("mov {r}, {}", place(i))),
                            &each(all(), |(i, r)| {
                                format!("xor {r}, {}", pattern[(first + i) % pattern.len()])
                            }),
                            &each(all(), |(i, r)| format!("{store} {}, {r}", place(i))),
                        ])
                    })
                })
            }
            Kind::Vectors(vectors) => {
                let registers = self.registers(width, 4);
                Accesses::new(registers * width, move |piece, at| {
                    let name = |i: u64| format!("{}{i}", vectors.register);
                    let place = |i: u64| piece.memory(0, at + (i - 1) * width, width);
                    lines([
                        &each(1..=registers, |i| {
                            vectors
                                .xor
                                .text(vectors.load, &name(i), &name(0), &place(i))
                        }),
                        &each(1..=registers, |i| {
                            format!("{store} {}, {}", place(i), name(i))
                        }),
                    ])
                })
            }
        }
    }

    /// The accesses of STREAM's kernels on doubles. Register 0 is the scalar. Four further
    /// registers are for data, so that loads run ahead of the stores.
    fn doubles(&self) -> Result<Accesses<'_>, &'static str> {
        let Doubles {
            width,
            register,
            size,
            load,
            store_nt,
            multiply,
            add,
            ..
        } = self.set.doubles;
        let non_temporal = self.contract.policy == Policy::NonTemporal;
        let store_nt = if non_temporal { store_nt? } else { "" };
        if self.mode == Mode::Bits32 && self.contract.prefetches && self.contract.loads > 1 {
            return Err(NO_DISTANCE);
        }
        if self.mode == Mode::Bits64 && self.contract.prefetches && store_nt.contains("r11") {
            return Err("the register of the prefetch distance takes part in these stores");
        }
        let does = self.contract.does;
        let target = self.contract.loads as usize;
        let registers = self.registers(width, 4);
        Ok(Accesses::new(registers * width, move |piece, at| {
            let name = |i: u64| format!("{register}{i}");
            let place = |stream: usize, i: u64| {
                format!(
                    "{size}{}",
                    piece.memory(stream, at + (i - 1) * width, width)
                )
            };
            let product = |stream: usize| {
                each(1..=registers, |i| {
                    multiply.text(load, &name(i), &name(0), &place(stream, i))
                })
            };
            let sum = |stream: usize| {
                each(1..=registers, |i| {
                    add.text(load, &name(i), &name(i), &place(stream, i))
                })
            };
            let first = each(1..=registers, |i| {
                format!("{load} {}, {}", name(i), place(0, i))
            });
            let result = match does {
                Does::Scale => product(0),
                Does::Add => lines([&first, &sum(1)]),
                _ => lines([&product(1), &sum(0)]),
            };
            let stores = each(1..=registers, |i| {
                if non_temporal {
                    let memory = piece.memory(target, at + (i - 1) * width, width);
                    store_nt.replace("%m", &memory).replace("%r", &name(i))
                } else {
                    format!("{load} {}, {}", place(target, i), name(i))
                }
            });
            lines([&result, &stores])
        }))
    }
}
