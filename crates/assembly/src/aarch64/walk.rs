//! The walk of a streaming kernel through its window.

use super::pieces::counted_loop;
use crate::contract::{AccessOrder, BLOCK_BYTES};
use crate::text::{each, lines};

/// Bytes of a cache line.
pub(super) const LINE: u64 = 64;
/// Loads the fields of the call structure. For 0 blocks, jumps to label 3, the end of the kernel.
pub(super) const FIELDS: &str = "ldr x3, [x0, <blocks>]\ncbz x3, 3f\n\
     ldp x1, x5, [x0, <lead>]\nldp x2, x4, [x0, <window>]";
/// Labels of the loops in a kernel, one loop for each length of SVE vectors.
const LABELS: [u32; 5] = [2, 5, 6, 7, 8];

/// The order in which a kernel visits the pieces of a window. `x4` is the start of the current
/// piece in the first stream, or its end if the order descends.
#[derive(Debug)]
pub(super) struct Order {
    /// Instructions before the loop that set up the registers of the order.
    enter: String,
    /// For each piece of an iteration, the instructions that set `x4` to the start of the piece.
    places: Vec<String>,
    /// Instructions that advance to the next iteration. At the end of the window or table, they go
    /// back to its start.
    step: String,
    /// Instructions after the loop that store the offset of the next iteration.
    leave: &'static str,
    /// Bytes of a piece.
    pub piece: u64,
    /// True if the order goes from high to low addresses.
    pub down: bool,
    /// General registers in use, in addition to x0 to x5.
    pub taken: Vec<u32>,
}

/// Instructions that convert the count in `x3` from blocks to iterations of `bytes` bytes.
pub(super) fn count_iterations(bytes: u64) -> String {
    match (BLOCK_BYTES / bytes).ilog2() {
        0 => String::new(),
        shift => format!("lsl x3, x3, {shift}"),
    }
}

impl Order {
    /// The order `visits`, with `bytes` bytes of each stream per iteration. The error is the reason
    /// why there is none.
    ///
    /// A step to the next iteration has no branch. The branch at the end of a nested loop would be
    /// mispredicted once per pass, which costs several percent of an L1-sized pass. A step between
    /// blocks takes three cycles. The loads of a block take at least five cycles, with two 128-bit
    /// pairs per cycle. A step of a shorter iteration takes two cycles.
    pub(super) fn new(visits: AccessOrder, bytes: u64) -> Result<Self, &'static str> {
        let ascending = Self {
            enter: "add x2, x2, x1\nadd x4, x4, x1".into(),
            places: vec![String::new()],
            step: format!("add x4, x4, {bytes}\ncmp x4, x2\ncsel x4, x1, x4, eq"),
            leave: "sub x4, x4, x1\nstr x4, [x0, <offset>]",
            piece: bytes,
            down: false,
            taken: vec![13],
        };
        let table = |places: Vec<String>, piece, taken: &[u32]| Self {
            enter: "ldr x13, [x0, <table>]\nadd x2, x2, x13\nadd x7, x4, x13".into(),
            step: format!(
                "add x7, x7, {}\ncmp x7, x2\ncsel x7, x13, x7, eq",
                4 * places.len()
            ),
            leave: "sub x7, x7, x13\nstr x7, [x0, <offset>]",
            places,
            piece,
            down: false,
            taken: taken.to_vec(),
        };
        let mut order = match visits {
            AccessOrder::Forward if bytes == BLOCK_BYTES => ascending,
            AccessOrder::Forward => Self {
                enter: format!("add x2, x2, x1\nsub x2, x2, {bytes}\nadd x4, x4, x1"),
                step: format!("cmp x4, x2\nadd x4, x4, {bytes}\ncsel x4, x1, x4, eq"),
                ..ascending
            },
            AccessOrder::Backward => Self {
                enter: "add x2, x2, x1\nsub x4, x2, x4".into(),
                step: format!("sub x4, x4, {bytes}\ncmp x4, x1\ncsel x4, x2, x4, eq"),
                leave: "sub x4, x2, x4\nstr x4, [x0, <offset>]",
                down: true,
                ..ascending
            },
            AccessOrder::Lines => {
                let places = (0..bytes / LINE).map(|line| place_of_line(line, bytes / LINE));
                table(places.collect(), LINE, &[7, 8, 9, 10, 11, 13])
            }
            AccessOrder::Chunks if bytes == BLOCK_BYTES => {
                let place = "ldr w4, [x7]\nadd x4, x1, x4, lsl 3".into();
                table(vec![place], BLOCK_BYTES, &[7, 13])
            }
            AccessOrder::Chunks => return Err("a chunk is a whole iteration"),
        };
        order.enter = lines([&order.enter, &count_iterations(bytes)]);
        Ok(order)
    }

    /// Allocates `count` free general registers: from x`first` to x17, then from x6 on, then
    /// callee-saved registers. The error says that there are too few.
    pub(super) fn take(&mut self, count: usize, first: u32) -> Result<Vec<u32>, &'static str> {
        let mut any = (first..=17).chain(6..=17).chain(19..=28);
        let mut next = || {
            let free = any.find(|register| !self.taken.contains(register));
            self.taken.extend(free);
            free.ok_or("there are too few general registers")
        };
        (0..count).map(|_| next()).collect()
    }

    /// A kernel that runs one of the texts in `pieces` on every piece of the walk. The first text
    /// is for SVE vectors of 16 B, the next for 32 B, and so on. The last text is for all other
    /// lengths.
    ///
    /// Entry and exit take about the time of one mispredicted branch, once per call. All accesses
    /// to streams lie between the loads of the call's fields and the stores of the results.
    pub(super) fn kernel(&self, start: &str, pieces: &[String], end: &str) -> String {
        let last = LABELS[pieces.len() - 1];
        let choose = each((4..).zip(&LABELS[..pieces.len() - 1]), |(bit, label)| {
            format!("tbnz x10, {bit}, {label}f")
        });
        let loops = each(LABELS.into_iter().zip(pieces), |(label, piece)| {
            let iteration = each(&self.places, |place| lines([place, piece]));
            let counted = counted_loop(label, "x3", &lines([&iteration, &self.step]));
            lines([&counted, if label == last { "9:" } else { "b 9f" }])
        });
        let saved = || self.taken.iter().filter(|&&register| register >= 19);
        let save = each(saved(), |register| format!("str x{register}, [sp, -16]!"));
        let restore = each(saved().rev(), |register| {
            format!("ldr x{register}, [sp], 16")
        });
        let start = lines([FIELDS, &self.enter, &save, start, &choose]);
        let end = lines([self.leave, end, &restore, "3:\nret"]);
        format!("{start}\nb {last}f\n{loops}\n{end}")
    }
}

/// Instructions that set `x4` to line `line` of the `all` lines of an iteration. Up to four entries
/// of the table are loaded together.
fn place_of_line(line: u64, all: u64) -> String {
    let register = 8 + line % 4;
    let pair = |at| format!("ldp w{}, w{}, [x7, {}]", 8 + at % 4, 9 + at % 4, 4 * at);
    let load = match line % 4 {
        0 if all == 1 => "ldr w8, [x7]".into(),
        0 => each((line..all.min(line + 4)).step_by(2), pair),
        _ => String::new(),
    };
    lines([&load, &format!("add x4, x1, x{register}, lsl 3")])
}
