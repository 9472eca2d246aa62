//! Checks that every short loop of every kernel lies in one line of the instruction cache.
//!
//! A loop that straddles two lines may take one more cycle in each iteration. A delay loop can then
//! take twice its time.

use super::step;
use crate::{
    CoreReference, HandOff, MAX_WALKERS, all_instructions, all_locks, all_rows, chase_code,
    chase_name, native,
};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a line of the instruction cache.
const LINE: usize = 64;

/// An instruction, reduced to its control flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// Length in bytes.
    pub bytes: usize,
    /// Target of a jump, relative to the start of the instruction in bytes.
    pub jump: Option<isize>,
    /// True if execution can continue with the following instruction.
    pub goes_on: bool,
}

impl Step {
    /// An instruction of `bytes` that does not jump.
    pub(super) fn plain(bytes: usize) -> Self {
        Self {
            bytes,
            jump: None,
            goes_on: true,
        }
    }
}

/// The instructions that can be reached from the start of `code`, by offset. Each has the offsets
/// of its possible successors.
type Flow = BTreeMap<usize, (Step, Vec<usize>)>;

/// The flow of `code`, or the reason why it is not understood. `step` decodes the instruction at
/// the start of some code.
fn flow(code: &[u8], step: impl Fn(&[u8]) -> Option<Step>) -> Result<Flow, String> {
    let mut flow = Flow::new();
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        if flow.contains_key(&at) {
            continue;
        }
        let rest = code
            .get(at..)
            .filter(|rest| !rest.is_empty())
            .ok_or(format!("leaves the code at {at}"))?;
        let here = step(rest).ok_or_else(|| {
            format!(
                "unknown instruction at {at}: {:02x?}",
                &rest[..rest.len().min(12)]
            )
        })?;
        let behind = here.goes_on.then_some(at + here.bytes);
        let target = here.jump.map(|by| {
            at.checked_add_signed(by)
                .ok_or(format!("jumps before the code at {at}"))
        });
        let next: Vec<usize> = behind.into_iter().chain(target.transpose()?).collect();
        open.extend(&next);
        flow.insert(at, (here, next));
    }
    let ends: Vec<(usize, usize)> = flow
        .iter()
        .map(|(at, (step, _))| (*at, at + step.bytes))
        .collect();
    match ends.windows(2).find(|pair| pair[0].1 > pair[1].0) {
        Some(pair) => Err(format!(
            "instructions at {} and {} overlap",
            pair[0].0, pair[1].0
        )),
        None => Ok(flow),
    }
}

/// All offsets that can be reached from `start` along `next` without passing `barrier`.
fn reach(start: usize, barrier: usize, next: impl Fn(usize) -> Vec<usize>) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![start];
    while let Some(at) = open.pop() {
        if at != barrier && reached.insert(at) {
            open.extend(next(at));
        }
    }
    reached
}

/// The instructions of every loop. A loop is a jump back to an instruction that dominates the jump.
/// It consists of that instruction, and of all instructions from which the jump can be reached
/// without passing that instruction.
fn loops(flow: &Flow) -> Vec<BTreeSet<usize>> {
    let mut before: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (at, (_, next)) in flow {
        next.iter()
            .for_each(|to| before.entry(*to).or_default().push(*at));
    }
    let mut loops = Vec::new();
    // At least two ways lead to the first instruction of a loop: into the loop, and back.
    for (&head, ways) in before
        .iter()
        .filter(|(head, ways)| ways.len() > 1 || **head == 0)
    {
        let without = reach(0, head, |at| flow[&at].1.clone());
        for &from in ways.iter().filter(|from| !without.contains(from)) {
            let mut body = reach(from, head, |at| {
                before.get(&at).cloned().unwrap_or_default()
            });
            body.insert(head);
            loops.push(body);
        }
    }
    loops
}

/// Loops that would fit into one line but lie on two. A loop is given by the offsets of its first
/// byte and of its end.
fn straddling(flow: &Flow) -> Vec<[usize; 2]> {
    let place = |body: &BTreeSet<usize>| -> Option<[usize; 2]> {
        let bytes: usize = body.iter().map(|at| flow[at].0.bytes).sum();
        let first = *body.first()?;
        let last = *body.last()?;
        let end = last + flow[&last].0.bytes;
        (bytes <= LINE && first / LINE != (end - 1) / LINE).then_some([first, end])
    };
    loops(flow).iter().filter_map(place).collect()
}

/// Name, address and code of every kernel of this architecture, including kernels that this
/// processor cannot execute.
fn kernels() -> Vec<(String, usize, Vec<u8>)> {
    let rows = all_rows()
        .into_iter()
        .filter_map(|row| Some((row.name(), row.row.assembly()? as usize, row.code()?)));
    let walkers = (1..=MAX_WALKERS).flat_map(|n| [(n, false), (n, true)]);
    let chases = walkers.filter_map(|(n, payload)| {
        let table = if payload {
            &native::CHASES_WITH_PAYLOAD
        } else {
            &native::CHASES
        };
        Some((
            chase_name(n, payload),
            table[n - 1] as usize,
            chase_code(n, payload)?,
        ))
    });
    let instructions = all_instructions()
        .into_iter()
        .filter_map(|i| Some((i.name(), i.address()? as usize, i.code()?)));
    let locks = all_locks()
        .into_iter()
        .filter_map(|l| Some((l.name(), l.assembly()? as usize, l.code()?)));
    let handoffs = HandOff::ALL
        .into_iter()
        .filter_map(|h| Some((h.kernel_name(), h.assembly() as usize, h.code()?)));
    let references = CoreReference::ALL
        .into_iter()
        .filter_map(|r| Some((r.name().to_owned(), r.kernel() as usize, r.code()?)));
    // SAFETY: the address is that of a kernel.
    let work = unsafe { crate::digest::body_of(native::ADDITIONS as *const u8) };
    let work = work.map(|code| ("additions".to_owned(), native::ADDITIONS as usize, code));
    rows.chain(chases)
        .chain(instructions)
        .chain(locks)
        .chain(handoffs)
        .chain(references)
        .chain(work)
        .collect()
}

#[test]
fn no_short_loop_straddles_a_line() {
    let kernels = kernels();
    assert!(kernels.len() > 150, "{} kernels", kernels.len());
    let mut wrong = Vec::new();
    for (name, _, code) in &kernels {
        match flow(code, step) {
            Ok(flow) if loops(&flow).is_empty() => wrong.push(format!("{name}: no loop was found")),
            Ok(flow) => wrong.extend(
                straddling(&flow)
                    .iter()
                    .map(|place| format!("{name}: {place:?}")),
            ),
            Err(why) => wrong.push(format!("{name}: {why}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} kernels:\n{}",
        wrong.len(),
        kernels.len(),
        wrong.join("\n")
    );
}

#[test]
fn loops_of_streaming_kernels_start_on_a_line() {
    let mut heads = 0;
    for row in all_rows() {
        let Some(code) = row.code() else { continue };
        let flow = flow(&code, step).unwrap();
        for body in loops(&flow) {
            let head = body.first().copied().unwrap_or_default();
            assert!(
                head.is_multiple_of(LINE),
                "{}: a loop at {head}",
                row.name()
            );
            heads += 1;
        }
    }
    assert!(heads > 50, "{heads} loops");
}

/// Offsets in the code are only offsets in lines if the code starts on a line. Then the layout of a
/// program cannot move a loop.
#[test]
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn every_kernel_starts_on_a_line() {
    for (name, address, _) in kernels() {
        assert!(
            address.is_multiple_of(LINE),
            "{name} starts at {address:#x}"
        );
    }
}

/// A machine with instructions of one byte. 0 does something, and 1 returns. Other values jump by
/// the value minus 128 bytes, odd ones conditionally.
fn toy(code: &[u8]) -> Option<Step> {
    Some(match code[0] {
        0 => Step::plain(1),
        1 => Step {
            bytes: 1,
            jump: None,
            goes_on: false,
        },
        to => Step {
            bytes: 1,
            jump: Some(isize::from(to) - 128),
            goes_on: to % 2 == 1,
        },
    })
}

/// Code of [`toy`] that only consists of plain instructions, except at the offsets in `others`.
fn toy_code(length: usize, others: &[(usize, u8)]) -> Vec<u8> {
    let mut code = vec![0; length];
    others.iter().for_each(|&(at, byte)| code[at] = byte);
    code
}

#[test]
fn a_loop_over_the_end_of_a_line_is_found() {
    let back = |by: u8| 128 - by;
    let found = |length, others: &[(usize, u8)]| {
        flow(&toy_code(length, others), toy).map(|flow| straddling(&flow))
    };
    // A loop from 60 to 67 straddles two lines. A loop inside a line does not. A loop that fills
    // exactly one line does not either.
    assert_eq!(found(70, &[(67, back(7)), (69, 1)]), Ok(vec![[60, 68]]));
    assert_eq!(found(70, &[(63, back(7)), (69, 1)]), Ok(vec![]));
    assert_eq!(found(140, &[(127, back(63)), (139, 1)]), Ok(vec![]));
    // Code that a jump skips does not belong to the loop. The first loop therefore has few bytes,
    // which lie on two lines. The second loop is too long for one line.
    assert_eq!(
        found(90, &[(55, 128 + 20), (83, back(33)), (89, 1)]),
        Ok(vec![[50, 84]])
    );
    assert_eq!(found(90, &[(83, back(73)), (89, 1)]), Ok(vec![]));
    // A jump back into a loop from outside of its code is no loop.
    assert_eq!(
        found(
            140,
            &[(5, 128 + 65), (63, back(61)), (64, 1), (72, back(66))]
        ),
        Ok(vec![])
    );
}

#[test]
fn code_that_is_not_understood_is_an_error() {
    assert!(flow(&[0, 0], toy).is_err_and(|why| why.contains("leaves the code")));
    assert!(flow(&[0, 3], toy).is_err_and(|why| why.contains("before the code")));
    assert!(flow(&[0, 9], |_| None).is_err_and(|why| why.contains("unknown instruction at 0")));
    let two = |code: &[u8]| {
        toy(code).map(|s| Step {
            bytes: if s.jump.is_none() && s.goes_on { 2 } else { 1 },
            ..s
        })
    };
    assert!(flow(&[0, 1, 127, 1], two).is_err_and(|why| why.contains("overlap")));
}
