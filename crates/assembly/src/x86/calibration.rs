//! Loops that measure the clock and the issue rate of a core.

use super::mode::{Mode, TO_LOOP, register};
use crate::text::lines;

/// A calibration kernel with a loop of `body`. Its argument, in `$n`, is the number of iterations.
/// If `body` uses `$a`, its initial value is 0.
pub(super) fn counted(mode: Mode, start: &str, body: &str) -> String {
    let names = [
        register(
            "$n",
            "rdi",
            if body.contains("$c") || !body.contains("$a") {
                "edx"
            } else {
                "ecx"
            },
        ),
        register("$a", "rax", "eax"),
        register("$c", "rcx", "ecx"),
    ];
    let text = lines([
        mode.choose("", "mov $n, [esp + 4]"),
        if body.contains("$a") {
            "xor eax, eax"
        } else {
            ""
        },
        start,
        TO_LOOP,
        body,
        "dec $n\njnz 2b\nret",
    ]);
    mode.name_registers(&text, &names)
}
