//! The loops of streaming kernels, one for each order of visits.

use super::mode::{Mode, Register, TO_LOOP, register};
use crate::contract::{AccessOrder, BLOCK_BYTES};
use crate::text::lines;

/// A contiguous part of each stream, on which a kernel's accesses work.
#[derive(Debug, Clone)]
pub(super) struct Piece {
    /// Address of the piece in each stream: an assembly expression without brackets.
    pub streams: [String; 4],
    /// Length in bytes.
    pub bytes: u64,
    /// True if the addresses in `streams` are ends of the piece, from which accesses descend.
    pub down: bool,
}

impl Piece {
    /// The memory operand for `width` bytes at `offset` in the piece, in stream `stream`.
    pub fn memory(&self, stream: usize, offset: u64, width: u64) -> String {
        let base = &self.streams[stream];
        if self.down {
            format!("[{base} - {}]", offset + width)
        } else {
            format!("[{base} + {offset}]")
        }
    }
}

/// Parts of a kernel that depend on its operation.
#[derive(Debug, Default)]
pub(super) struct Body {
    /// Executed before the loop.
    pub start: String,
    /// The accesses of one iteration.
    pub accesses: String,
    /// Executed after the loop. `$call` is the address of the call structure.
    pub end: String,
}

/// Instructions of a loop that depend on the order of visits.
struct Order {
    /// Converts the offset in `$position` and the length in `$end` to the position and the end of
    /// the walk.
    enter: String,
    /// Computes the address of the iteration's block, for orders by an index table.
    find: &'static str,
    /// Advances by an iteration, and wraps around at the end by a comparison and a conditional
    /// move. The branch at the end of a nested loop would be mispredicted once per pass, which
    /// costs 8% of an L1-sized pass. The dependency chain from one position to the next takes at
    /// most three cycles. The widest core needs four cycles for the loads of a block.
    step: String,
    /// Computes the offset of the next iteration in the register `offset`.
    leave: &'static str,
    /// Register in which `leave` puts the offset.
    offset: &'static str,
    /// Restores the registers that `enter` saved, after the offset has been stored.
    restore: &'static str,
}

fn order(mode: Mode, visits: AccessOrder, iteration: u64) -> Order {
    let saved = mode.choose("", "push ebx\npush edx");
    match visits {
        AccessOrder::Forward if iteration == BLOCK_BYTES => Order {
            enter: "add $end, $start\nadd $position, $start".into(),
            find: "",
            step: "add $position, 512\ncmp $position, $end\ncmove $position, $start".into(),
            leave: "sub $position, $start",
            offset: "$position",
            restore: "",
        },
        // `$end` is the position of the last iteration, so that the dependency chain from one
        // position to the next takes only two cycles.
        AccessOrder::Forward => Order {
            enter: format!(
                "imul $blocks, $blocks, {}\nlea $end, [$end + $start - {iteration}]\n\
                 add $position, $start",
                BLOCK_BYTES / iteration
            ),
            find: "",
            step: format!(
                "cmp $position, $end\nlea $position, [$position + {iteration}]\n\
                 cmove $position, $start"
            ),
            leave: "sub $position, $start",
            offset: "$position",
            restore: "",
        },
        // `$position` is the end of the block, and `$end` is the end of the window.
        AccessOrder::Backward => Order {
            enter: "add $end, $start\nneg $position\nadd $position, $end".into(),
            find: "",
            step: "sub $position, 512\ncmp $position, $start\ncmove $position, $end".into(),
            leave: mode.choose("sub $end, $position", "neg $position\nadd $position, $end"),
            offset: mode.choose("$end", "$position"),
            restore: "",
        },
        // Advancing to the next entry does not wait for the accesses of the block. On x86 the start
        // and the end of the table are on the stack, because kernels need the registers.
        AccessOrder::Chunks => Order {
            enter: mode.choose(
                "push rbx\npush rbp\nmov rbp, [$call + <table>]\nlea rbx, [rbp + $position]\n\
                 add $end, rbp"
                    .into(),
                format!(
                    "mov ebx, [$call + <table>]\nadd $end, ebx\nadd $position, ebx\n{saved}\n\
                     mov ebx, $position"
                ),
            ),
            find: "mov eax, [$index]\nshl $position, 3\nadd $position, $start",
            step: format!(
                "add $index, 4\n{}",
                mode.choose(
                    "cmp rbx, $end\ncmove rbx, rbp",
                    "cmp ebx, [esp]\ncmove ebx, [esp + 4]"
                )
            ),
            leave: mode.choose(
                "sub rbx, rbp",
                "mov eax, ebx\npop edx\npop ebx\nsub eax, ebx",
            ),
            offset: mode.choose("rbx", "$position"),
            restore: mode.choose("pop rbp\npop rbx", ""),
        },
        AccessOrder::Lines => Order {
            enter: mode.choose(
                "push rbx\nmov rbx, [$call + <table>]\nadd $position, rbx\nadd $end, rbx".into(),
                format!("mov ebx, [$call + <table>]\nadd $end, ebx\nadd $position, ebx\n{saved}"),
            ),
            find: "",
            step: format!(
                "add $position, 32\n{}",
                mode.choose(
                    "cmp $position, $end\ncmove $position, rbx",
                    "cmp $position, [esp]\ncmove $position, [esp + 4]"
                )
            ),
            leave: mode.choose("sub $position, rbx", "pop edx\npop ebx\nsub $position, ebx"),
            offset: "$position",
            restore: mode.choose("pop rbx", ""),
        },
    }
}

/// The streaming kernel of `body`. Entry and exit take about the time of one mispredicted branch,
/// once per call. There is no fence in the loop.
pub(super) fn walk(mode: Mode, visits: AccessOrder, iteration: u64, body: &Body) -> String {
    let order = order(mode, visits, iteration);
    let text = lines([
        "mov $blocks, [$call + <blocks>]\ntest $blocks, $blocks\njz 3f",
        "mov $start, [$call + <lead>]\nmov $delta, [$call + <delta>]",
        "mov $end, [$call + <window>]\nmov $position, [$call + <offset>]",
        &order.enter,
        &body.start,
        TO_LOOP,
        order.find,
        &body.accesses,
        &order.step,
        "dec $blocks\njnz 2b",
        order.leave,
        mode.choose("", "mov $call, [esp + 20]"),
        &format!("mov [$call + <offset>], {}", order.offset),
        order.restore,
        &body.end,
        "3:",
    ]);
    let by_table = matches!(visits, AccessOrder::Lines | AccessOrder::Chunks);
    mode.name_registers(&mode.framed("ebp", &text), &stream_registers(by_table))
}

/// The registers of streaming kernels. The documentation of the module `x86` has their uses.
fn stream_registers(by_table: bool) -> [Register; 10] {
    [
        register("$call", "rdi", "ebp"),
        register("$blocks", "rcx", "ecx"),
        register("$start", "rsi", "esi"),
        register("$delta", "r10", "edi"),
        register("$position", "rax", "eax"),
        register("$end", "rdx", "edx"),
        register("$second", "r9", if by_table { "edx" } else { "ebx" }),
        register("$third", "r8", "ebp"),
        register("$distance", "r11", "ebp"),
        register("$index", "rbx", "ebx"),
    ]
}
