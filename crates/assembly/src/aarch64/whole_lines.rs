//! Kernels with instructions that store whole lines or more: memory copy and set (FEAT_MOPS,
//! Armv8.8), here called string instructions, and `dc zva`.

use super::features::{MOPS, ZEROING};
use super::pieces::extended;
use super::registers::Registers;
use super::walk::{FIELDS, LINE, Order, count_iterations};
use crate::architecture::Row;
use crate::contract::{AccessOrder, Contract, Does};
use crate::text::repeat;

/// The table row of a register set for a contract on whole lines. The error says why there is none.
pub(super) fn row(set: &Registers, contract: &Contract) -> Result<Row, &'static str> {
    let (lacks, code) = match contract.does {
        _ if contract.prefetches => (None, Err("stores of whole lines need no prefetch")),
        Does::StoreByte => (set.no_strings, strings(contract, PATTERN, SET)),
        Does::Move => (set.no_strings, strings(contract, "", COPY)),
        Does::StoreZero => (set.no_zeroing, zeros(contract)),
        Does::Load | Does::Sum | Does::Touch | Does::Store | Does::Update => (None, NOT_WHOLE),
        Does::Scale | Does::Add | Does::Triad => (None, NOT_WHOLE),
    };
    lacks.map_or(code, Err)
}

const NOT_WHOLE: Result<Row, &str> = Err("no instruction does this to whole lines");
const PATTERN: &str = "ldr x12, [x0, <pattern>]";

/// Stores the low byte of the pattern to a contiguous range.
const SET: &str = "mov x9, x4\nmov x10, x6\n\
     setp [x9]!, x10!, x12\nsetm [x9]!, x10!, x12\nsete [x9]!, x10!, x12";

/// Copies a contiguous range in ascending order. The ranges may not overlap, like the ranges of
/// memcpy.
const COPY: &str = "add x9, x4, x5\nmov x11, x4\nmov x10, x6\n\
     cpyfp [x9]!, [x11]!, x10!\ncpyfm [x9]!, [x11]!, x10!\ncpyfe [x9]!, [x11]!, x10!";

/// A kernel of string instructions. It executes `run` once for each contiguous range of iterations.
/// A range ends at the end of the window at the latest. Ordinary programs do not split a range
/// either. `x4` is the start of the range in the first stream, and `x6` is its length in bytes. The
/// other instructions take a few cycles.
fn strings(contract: &Contract, start: &str, run: &str) -> Result<Row, &'static str> {
    match contract.visits {
        AccessOrder::Forward => {}
        AccessOrder::Backward | AccessOrder::Lines | AccessOrder::Chunks => {
            return Err("the string instructions go through a whole run");
        }
    }
    let count = count_iterations(contract.iteration);
    let shift = contract.iteration.ilog2();
    let text = format!(
        "{FIELDS}\nadd x2, x2, x1\nadd x4, x4, x1\n{count}\n{start}\nb 2f\n.p2align 6, 0xcc\n\
         2:\nsub x6, x2, x4\nlsr x7, x6, {shift}\ncmp x7, x3\ncsel x7, x7, x3, lo\n\
         sub x3, x3, x7\nlsl x6, x7, {shift}\n{run}\nadd x4, x4, x6\ncmp x4, x2\n\
         csel x4, x1, x4, eq\ncbnz x3, 2b\nsub x4, x4, x1\nstr x4, [x0, <offset>]\n3:\nret"
    );
    Ok(Row::Needs(MOPS, extended("mops", &text)))
}

/// A kernel of `dc zva`, for processors that zero 64, 32 or 16 B at once. The text has enough
/// instructions for 16 B at once. On processors that zero more at once, the code leaves a piece
/// early, by branches that always go the same way.
fn zeros(contract: &Contract) -> Result<Row, &'static str> {
    let order = Order::new(contract.visits, contract.iteration)?;
    let (ascend, descend) = (
        "dc zva, x14\nadd x14, x14, x12",
        "sub x14, x14, x12\ndc zva, x14",
    );
    let zero = if order.down { descend } else { ascend };
    let some = repeat(order.piece / LINE, zero);
    let piece = format!(
        "mov x14, x4\n{some}\ntbnz x12, 6, 4f\n{some}\ntbnz x12, 5, 4f\n{some}\n{some}\n4:"
    );
    let start = "mrs x12, dczid_el0\nand x12, x12, 15\nmov x14, 4\nlsl x12, x14, x12";
    Ok(Row::Needs(ZEROING, order.kernel(start, &[piece], "")))
}
