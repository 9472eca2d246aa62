//! Kernels that follow pointer chains, with 1 to 32 walkers. A walker follows the pointers from its
//! own position in a chain. With payload, a walker also loads the word after each pointer.

use super::pieces::counted_loop;
use crate::text::{each, repeat};

/// Number of walkers whose positions are in registers.
const IN_REGISTERS: usize = 24;

/// The chase kernel with `walkers` walkers. Each hop of a walker needs the result of its previous
/// hop. With `payload`, the word after each pointer is also loaded, and added up in `x2`.
///
/// The positions of further walkers are in the call structure. The store buffer forwards these
/// positions, which adds about 5 cycles to a hop. A cache miss takes far longer.
pub(super) fn chase(walkers: usize, payload: bool) -> String {
    let registers = || (4..=17).chain(19..=28).take(walkers);
    let hop = |r: u32| {
        let pointer = format!("ldr x{r}, [x{r}]");
        let both = format!("ldr x30, [x{r}, 8]\n{pointer}\nadd x2, x2, x30");
        if payload { both } else { pointer }
    };
    let in_call = each(IN_REGISTERS..walkers.max(IN_REGISTERS), |walker| {
        let place = format!("[x0, <positions> + 8 * {walker}]");
        format!("ldr x3, {place}\n{}\nstr x3, {place}", hop(3))
    });
    let hops = format!("{}\n{in_call}", each(registers(), hop));
    let hops = repeat(if walkers == 1 { 64 } else { 8 }, &hops);
    let hops = counted_loop(2, "x1", &hops);
    // The positions are at the start of the call structure.
    let load = each(registers(), |register| format!("ldr x{register}, [x3], 8"));
    let store = load.replace("ldr", "str");
    format!(
        "stp x19, x20, [sp, -96]!\nstp x21, x22, [sp, 16]\nstp x23, x24, [sp, 32]\n\
         stp x25, x26, [sp, 48]\nstp x27, x28, [sp, 64]\nstr x30, [sp, 80]\n\
         ldr x1, [x0, <blocks>]\nmov x2, 0\nmov x3, x0\n{load}\nb 2f\n{hops}\nmov x3, x0\n{store}\n\
         ldr x1, [x0, <payload>]\nadd x1, x1, x2\nstr x1, [x0, <payload>]\n\
         ldr x30, [sp, 80]\nldp x27, x28, [sp, 64]\nldp x25, x26, [sp, 48]\n\
         ldp x23, x24, [sp, 32]\nldp x21, x22, [sp, 16]\nldp x19, x20, [sp], 96\nret"
    )
}
