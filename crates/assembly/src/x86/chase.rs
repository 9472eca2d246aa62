//! Kernels that follow pointer chains, with 1 to 32 walkers. A walker follows the pointers from its
//! own position in a chain. With payload, a walker also loads the word after each pointer.

use super::mode::{Mode, TO_LOOP, register};
use crate::text::{each, lines, repeat};

/// The chase kernel with `walkers` walkers. Each hop of a walker needs the result of its previous
/// hop. With `payload`, the word after each pointer is also loaded, and added up in `$sum`.
///
/// The positions of the first walkers are in registers. All further walkers share one register and
/// have their positions in the call structure. The store buffer forwards these positions, which
/// adds about 4 cycles to a hop. A cache miss takes far longer.
///
/// Iterations are counted in r15 on x86-64, and in the call structure on x86.
pub(super) fn chase(mode: Mode, walkers: usize, payload: bool) -> String {
    let registers: &[&str] = mode.choose(
        &[
            "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "rbx", "rbp", "r12", "r13", "r14",
        ],
        &["eax", "ecx", "edx", "esi", "ebx"],
    );
    let held = if walkers > registers.len() {
        registers.len() - 1
    } else {
        walkers
    };
    let last = registers[registers.len() - 1];
    let position =
        |walker: usize| format!("[$call + <positions> + {}]", walker as u64 * mode.word());
    let hop = |at: &str| {
        let load_payload = if payload {
            format!("add $sum, [{at} + 8]")
        } else {
            String::new()
        };
        lines([&load_payload, &format!("mov {at}, [{at}]")])
    };
    let hops = lines([
        &each(&registers[..held], |at| hop(at)),
        &each(held..walkers, |walker| {
            let place = position(walker);
            lines([
                &format!("mov {last}, {place}"),
                &hop(last),
                &format!("mov {place}, {last}"),
            ])
        }),
    ]);
    let hops = repeat(if walkers == 1 { 64 } else { 8 }, &hops);
    let text = lines([
        mode.choose(
            "push rbx\npush rbp\npush r12\npush r13\npush r14\npush r15",
            "",
        ),
        mode.choose("mov r15, [$call + <blocks>]", ""),
        mode.choose("xor r11d, r11d", "xor edi, edi"),
        &each((0..held).zip(registers), |(walker, at)| {
            format!("mov {at}, {}", position(walker))
        }),
        TO_LOOP,
        &hops,
        mode.choose("dec r15", "dec dword ptr [$call + <blocks>]"),
        "jnz 2b",
        &each((0..held).zip(registers), |(walker, at)| {
            format!("mov {}, {at}", position(walker))
        }),
        "add [$call + <payload>], $sum",
        mode.choose("pop r15\npop r14\npop r13\npop r12\npop rbp\npop rbx", ""),
    ]);
    let names = [
        register("$call", "rdi", "ebp"),
        register("$sum", "r11", "edi"),
    ];
    mode.name_registers(&mode.framed("ebp", &text), &names)
}
