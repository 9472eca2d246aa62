//! Streaming kernels. The accesses of an iteration follow from a register set and a contract.
//!
//! Loads whose values are not used all have the same destination registers. Register renaming keeps
//! the loads independent. Copies and calculations use several registers per group, so that loads
//! run ahead of the stores.

use super::pieces::{extended, fill};
use super::registers::{ONE_WORD, Registers};
use super::walk::{LINE, Order};
use super::whole_lines;
use crate::architecture::Row;
use crate::contract::{BLOCK_BYTES, CodeOrigin, Contract, Does, NO_DIRECT_COPIES, Policy};
use crate::text::{each, lines};
use std::ops::Range;

/// Number of the register that holds the position of a piece in the first stream.
const POSITION: u32 = 4;
/// Number of the register that holds the length of SVE vectors in bytes.
const LENGTH: u32 = 10;
/// Length of the shortest SVE vectors in bytes.
const SHORTEST: u64 = 16;

/// The table row for `contract` with the registers `set`: a kernel, or the reason why there is
/// none.
pub(super) fn row(set: &Registers, contract: &Contract) -> Row {
    let row = match (contract.origin, contract.policy) {
        (CodeOrigin::CLibrary, _) => set.no_library.map_or(Ok(Row::CLibrary), Err),
        (CodeOrigin::Own, Policy::WholeLine) => whole_lines::row(set, contract),
        (CodeOrigin::Own, Policy::Direct) => Err(NO_DIRECT_COPIES),
        (CodeOrigin::Own, Policy::Temporal | Policy::NonTemporal) => {
            Kernel::new(set, contract).map(|kernel| Row::Code(kernel.text()))
        }
    };
    row.unwrap_or_else(Row::Unsupported)
}

/// A kernel that is being generated. Registers are given by their numbers.
struct Kernel<'a> {
    set: &'a Registers,
    contract: &'a Contract,
    order: Order,
    load: &'static str,
    store: &'static str,
    /// Number of registers of a stream that are accessed together.
    group: usize,
    /// Data registers: the registers of the first stream, then the registers of the second.
    words: Vec<u32>,
    sums: Vec<u32>,
    operand: Vec<u32>,
    /// Register of the prefetch distance; empty if the kernel does not prefetch.
    distance: Vec<u32>,
    /// Base register of each stream, to which the offsets of accesses are added.
    bases: Vec<u32>,
    /// Register of the address to prefetch in each stream.
    ahead: Vec<u32>,
}

impl<'a> Kernel<'a> {
    /// The kernel of a register set for `contract`. The error is the reason why there is none.
    fn new(set: &'a Registers, contract: &'a Contract) -> Result<Self, &'static str> {
        let does = contract.does;
        let (set, data) = match does {
            Does::Touch if contract.policy != Policy::Temporal => {
                return Err("only ordinary loads load one word");
            }
            Does::Touch => (&ONE_WORD, &ONE_WORD.words),
            Does::Load | Does::Sum | Does::Update | Does::Move => (set, &set.words),
            Does::Store | Does::StoreByte | Does::StoreZero => (set, &set.words),
            Does::Scale | Does::Add | Does::Triad => (set, &set.doubles),
        };
        let (load, store) = match contract.policy {
            Policy::NonTemporal if contract.stores == 0 => (data.load_nt, data.store),
            Policy::NonTemporal => (data.load, data.store_nt),
            Policy::Temporal | Policy::WholeLine | Policy::Direct => (data.load, data.store),
        };
        let mut order = Order::new(contract.visits, contract.iteration)?;
        let vectors = set.bytes.is_none();
        let group = match does {
            _ if vectors && order.piece == BLOCK_BYTES => 2,
            _ if vectors => 1,
            Does::Load | Does::Touch => registers(load),
            Does::Store | Does::StoreByte | Does::StoreZero => registers(store),
            Does::Sum | Does::Update | Does::Move | Does::Scale | Does::Add | Does::Triad => 4,
        };
        let sums = 4 * usize::from(does == Does::Sum);
        let (words, sums, operand) = if data.general {
            let used = group * usize::from(contract.loads > 0);
            let words = order.take(used, 14)?;
            let sums = order.take(sums, 8)?;
            let combines = used == 0 || does == Does::Update;
            (words, sums, order.take(usize::from(combines), 12)?)
        } else {
            ((0..8).collect(), (16..).take(sums).collect(), vec![31])
        };
        let prefetched = usize::from(contract.prefetches) * contract.loads.max(1) as usize;
        let distance = order.take(prefetched.min(1), if vectors { 17 } else { 12 })?;
        let streams = contract.streams() as usize;
        // Loads and stores of single registers only allow small negative offsets. Descending
        // kernels with such accesses therefore have base registers at the start of a piece.
        let single = registers(load).min(registers(store)) == 1;
        let bases = if vectors {
            order.taken.push(LENGTH);
            order.take(streams, 12)?
        } else if single && order.down {
            order.take(streams, 6)?
        } else {
            [vec![POSITION], order.take(streams - 1, 6)?].concat()
        };
        let ahead = order.take(prefetched, 9)?;
        Ok(Self {
            set,
            contract,
            order,
            load,
            store,
            group,
            words,
            sums,
            operand,
            distance,
            bases,
            ahead,
        })
    }

    fn text(&self) -> String {
        if let Some(bytes) = self.set.bytes {
            return self.kernel("", &[self.fixed(bytes)]);
        }
        let vectors = self.order.piece / SHORTEST;
        let (elements, longer) = if self.order.piece == BLOCK_BYTES {
            ("ptrue p0.d".to_owned(), 0)
        } else {
            // If a vector is longer than a piece, the predicate selects the elements of the piece.
            let count = self.order.piece / 8;
            let elements = format!("mov x14, {count}\nwhilelo p0.d, xzr, x14");
            (elements, vectors.ilog2())
        };
        let counts = (0..=longer).map(|longer| vectors >> longer);
        let pieces: Vec<String> = counts.map(|count| self.vectors(count)).collect();
        let start = format!("{elements}\nrdvl x10, 1");
        extended("sve", &self.kernel(&start, &pieces))
    }

    /// The text of the kernel. `start` sets up registers, and `pieces` are variants of the loop's
    /// body.
    fn kernel(&self, start: &str, pieces: &[String]) -> String {
        let operand = match self.contract.does {
            Does::Store | Does::Update => self.set.words.pattern,
            Does::Scale | Does::Triad => self.set.doubles.pattern,
            Does::StoreByte => self.set.byte,
            Does::StoreZero => self.set.zero,
            Does::Load | Does::Sum | Does::Touch | Does::Move | Does::Add => "",
        };
        let distance = each(&self.distance, |x| {
            let load = format!("ldr x{x}, [x0, <distance>]");
            let below = format!("add x{x}, x{x}, {}\nneg x{x}, x{x}", self.order.piece);
            lines([&load, if self.order.down { &below } else { "" }])
        });
        let clear = each(&self.sums, |&sum| fill(self.set.zero, &[sum]));
        let total = each(self.sums.chunks(4), |s| {
            let adds = [[s[0], s[0], s[1]], [s[2], s[2], s[3]], [s[0], s[0], s[2]]];
            let adds = each(adds, |numbers| fill(self.set.add_words, &numbers));
            lines([&adds, &fill(self.set.total, &s[..1])])
        });
        let fenced = self.contract.stores > 0 && self.contract.policy == Policy::NonTemporal;
        let end = lines([&total, if fenced { self.set.fence } else { "" }]);
        let start = lines([start, &fill(operand, &self.operand), &clear, &distance]);
        self.order.kernel(&start, pieces, &end)
    }

    /// The accesses to a piece with registers of `bytes` bytes. Lines are prefetched before use.
    fn fixed(&self, bytes: u64) -> String {
        let piece = self.order.piece;
        let size = self.group as u64 * bytes;
        let touches = self.contract.does == Does::Touch;
        let step = if touches { LINE } else { size };
        let stretch = step.max(LINE * u64::from(self.contract.prefetches));
        let below = piece * u64::from(self.order.down && self.bases[0] == POSITION);
        let accesses = |at| {
            self.accesses(0, |stream, register| {
                let at = (at + register as u64 * bytes) as i64 - below as i64;
                format!("[x{}, {at}]", self.bases[stream])
            })
        };
        let stretches = each(self.visited(0..piece, stretch), |from| {
            let groups = self.visited(from..from + stretch, step);
            let prefetches = self.prefetches(from..from + stretch);
            lines([&prefetches, &each(groups, accesses)])
        });
        lines([&self.find_ahead(), &self.find_bases(), &stretches])
    }

    /// The accesses to a piece of up to `count` SVE vectors. The body for a block is unrolled for
    /// the shortest vectors. Processors with longer vectors leave the body early, by predictable
    /// branches.
    ///
    /// The offset of an instruction is -8 to 7 vectors. Blocks use negative and positive offsets.
    /// Shorter pieces use positive offsets only.
    fn vectors(&self, count: u64) -> String {
        let block = self.order.piece == BLOCK_BYTES;
        let (below, reach) = if block { (8, 16) } else { (0, 8) };
        let moved = |vector: i64| (vector + below).div_euclid(reach) * reach;
        let size = self.group as i64;
        let mut base_moved = 0;
        let groups = each((0..count).step_by(self.group), |at| {
            let bit = (BLOCK_BYTES / at.max(1)).ilog2();
            let exit = format!("tbnz x10, {bit}, 4f");
            let exits = block && at > 0 && at.is_power_of_two();
            let first = match (self.order.down, block) {
                (false, _) => at as i64,
                (true, true) => -(at as i64) - size,
                (true, false) => (count - at) as i64 - size,
            };
            let by = moved(first) - base_moved;
            base_moved = moved(first);
            let bases = self.bases.iter().filter(|_| by != 0);
            let advance = each(bases, |base| format!("addvl x{base}, x{base}, {by}"));
            let accesses = self.accesses(at as usize, |stream, register| {
                let vector = first - moved(first) + register as i64;
                format!("[x{}, {vector}, mul vl]", self.bases[stream])
            });
            lines([if exits { &exit } else { "" }, &advance, &accesses])
        });
        let prefetches = self.prefetches(0..self.order.piece);
        let start = lines([&self.find_ahead(), &prefetches, &self.find_bases()]);
        lines([&start, &groups, if block { "4:" } else { "" }])
    }

    /// The offsets in `range`, `step` bytes apart, in the order of visits.
    fn visited(&self, range: Range<u64>, step: u64) -> Vec<u64> {
        let mut offsets: Vec<u64> = range.step_by(step as usize).collect();
        if self.order.down {
            offsets.reverse();
        }
        offsets
    }

    /// Instructions that set the base registers of all streams. If the order descends, single
    /// registers and short pieces of SVE use the start of a piece as base.
    fn find_bases(&self) -> String {
        let base = self.bases[0];
        let piece = self.order.piece;
        let vectors = self.set.bytes.is_none();
        let (first, before) = if base == POSITION {
            (String::new(), base)
        } else if vectors && (piece == BLOCK_BYTES || !self.order.down) {
            (format!("mov x{base}, x4"), POSITION)
        } else {
            (format!("sub x{base}, x4, {piece}"), base)
        };
        lines([&first, &next_streams(before, &self.bases[1..])])
    }

    /// Instructions that set the addresses to prefetch. If the order descends, the distance is
    /// negative and includes the length of a piece, because the offsets of lines are positive.
    fn find_ahead(&self) -> String {
        each(&self.distance, |distance| {
            let first = self.ahead[0];
            let add = format!("add x{first}, x4, x{distance}");
            lines([&add, &next_streams(first, &self.ahead[1..])])
        })
    }

    /// Instructions that prefetch the lines of `range` in all loaded streams, or in the stored
    /// stream if none is loaded. In every order, also by an index table, the distance is relative
    /// to the current piece.
    fn prefetches(&self, range: Range<u64>) -> String {
        let (loads, stores) = (self.contract.loads, self.contract.stores);
        let stored = loads == 0 || self.contract.does == Does::Update;
        let kind = if stored { "pst" } else { "pld" };
        let hint = match self.contract.policy {
            Policy::NonTemporal if loads == 0 || stores == 0 => "l1strm",
            Policy::NonTemporal | Policy::Temporal | Policy::WholeLine | Policy::Direct => "l1keep",
        };
        let prefetch = self.set.prefetch.replace('#', &format!("{kind}{hint}"));
        each(self.visited(range, LINE), |line| {
            each(&self.ahead, |ahead| {
                prefetch.replace('@', &format!("[x{ahead}, {line}]"))
            })
        })
    }

    /// The accesses of one group of registers. `first` is the index of its first register in the
    /// piece. `address` returns the operand for a stream and a register of the group.
    fn accesses(&self, first: usize, address: impl Fn(usize, usize) -> String) -> String {
        let transfer = |access: &str, data: &[u32], stream| {
            let size = registers(access);
            let parts = (0..).step_by(size).zip(data.chunks(size));
            let text = |(at, part)| fill(access, part).replace('@', &address(stream, at));
            let mut texts: Vec<String> = parts.map(text).collect();
            if self.order.down {
                texts.reverse();
            }
            texts.join("\n")
        };
        let words = |stream: usize| &self.words[stream * self.group..][..self.group];
        let load = |stream| transfer(self.load, words(stream), stream);
        let load_any = |stream| transfer(self.load, words(0), stream);
        let stored = self.contract.streams() as usize - 1;
        let store = |data: &[u32]| transfer(self.store, data, stored);
        let combine = |instruction: &str, on: &[u32], with: &[u32]| {
            let pairs = on.iter().zip(with.iter().cycle());
            each(pairs, |(&on, &with)| fill(instruction, &[on, on, with]))
        };
        let loads = 0..self.contract.loads as usize;
        let (set, operand) = (self.set, &self.operand);
        let result = match self.contract.does {
            Does::Load | Does::Touch => return each(loads, load_any),
            Does::Sum => {
                let mut sums = self.sums.clone();
                sums.rotate_left(first % 4);
                let add = combine(set.add_words, &sums[..self.group], words(0));
                return each(loads, |stream| lines([&load_any(stream), &add]));
            }
            Does::Store | Does::StoreByte | Does::StoreZero => {
                return store(&operand.repeat(self.group));
            }
            Does::Update => combine(set.xor, words(0), operand),
            Does::Move => String::new(),
            Does::Scale => combine(set.multiply, words(0), operand),
            Does::Add => combine(set.add, words(0), words(1)),
            // A multiplication and an addition, so that the result is rounded twice.
            Does::Triad => lines([
                &combine(set.multiply, words(1), operand),
                &combine(set.add, words(0), words(1)),
            ]),
        };
        lines([&each(loads, load), &result, &store(words(0))])
    }
}

/// Instructions that set `registers` to the addresses of successive streams, from the register
/// `before` on. x5 is the distance between streams.
fn next_streams(mut before: u32, registers: &[u32]) -> String {
    each(registers, |&register| {
        let add = format!("add x{register}, x{before}, x5");
        before = register;
        add
    })
}

/// Number of registers in the text of an access.
fn registers(access: &str) -> usize {
    access.matches('%').count()
}
