//! Kernels of string instructions: `rep stosb` and `rep movsb`. One instruction covers all blocks
//! up to the end of the window.
//!
//! Ordinary programs also do not split a range, because the start of the instruction costs tens of
//! cycles. The code around the instruction takes a few cycles.

use super::mode::{Mode, TO_LOOP, register};
use crate::contract::{Contract, Does};
use crate::text::lines;

/// The kernel of `contract`. The calling convention guarantees that the direction flag is clear.
///
/// `$to` is the position in the first stream, `$first` its start, `$last` its end. `$left` is the
/// number of blocks left, and `$call` the address of the call structure. `$length` is the number of
/// bytes of one instruction.
pub(super) fn strings(mode: Mode, contract: &Contract) -> String {
    let (start, run) = match contract.does {
        Does::Move => (
            "mov $delta, [$call + <delta>]",
            "mov $from, $to\nadd $to, $delta\nrep movsb\nmov $to, $from",
        ),
        _ => ("mov $a, [$call + <pattern>]", "rep stosb"),
    };
    let names = [
        register("$call", "r8", "esi"),
        register("$left", "r9", "ebx"),
        register("$first", "r10", "edx"),
        register("$last", "r11", "ebp"),
        register("$length", "rcx", "ecx"),
        register("$to", "rdi", "edi"),
        register("$from", "rsi", "esi"),
        register("$delta", "rdx", "eax"),
        register("$a", "rax", "eax"),
    ];
    let text = lines([
        mode.choose("mov $call, rdi", ""),
        "mov $left, [$call + <blocks>]\nmov $first, [$call + <lead>]",
        "mov $last, [$call + <window>]\nmov $to, [$call + <offset>]",
        "add $last, $first\nadd $to, $first",
        start,
        "test $left, $left\njz 3f",
        TO_LOOP,
        "mov $length, $last\nsub $length, $to\nshr $length, 9",
        "cmp $length, $left\ncmova $length, $left\nsub $left, $length\nshl $length, 9",
        run,
        "cmp $to, $last\ncmove $to, $first",
        "test $left, $left\njnz 2b",
        "sub $to, $first",
        mode.choose("", "mov $call, [esp + 20]"),
        "mov [$call + <offset>], $to\n3:",
    ]);
    mode.name_registers(&mode.framed("esi", &text), &names)
}
