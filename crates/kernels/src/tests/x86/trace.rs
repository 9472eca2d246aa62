//! Records every access of a kernel. The memory is locked, so each access faults. The handler
//! records it and allows it for this one instruction. The trap flag stops the processor after the
//! instruction.

use super::decode::{decode, is_movdir64b};
use crate::tests::{executable, memory};
use crate::{
    AccessOrder, BLOCK_BYTES, Contract, Does, HOPS_PER_BLOCK, IndexTable, KernelRow, Operation,
    Policy, StreamWalk, UnverifiedChain, Walk, visit,
};
use host::memory::Window;
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

/// Largest number of recorded accesses. No test here causes more.
const MOST: usize = 8192;

/// The trap flag in the flags register.
const TRAP: libc::greg_t = 1 << 8;

/// Indices of registers in the context: flags, page fault error code, instruction pointer, source
/// and destination of string instructions, destination of `movdir64b`.
#[cfg(target_arch = "x86_64")]
const PLACES: [c_int; 6] = [
    libc::REG_EFL,
    libc::REG_ERR,
    libc::REG_RIP,
    libc::REG_RSI,
    libc::REG_RDI,
    libc::REG_R9,
];
#[cfg(target_arch = "x86")]
const PLACES: [c_int; 6] = [
    libc::REG_EFL,
    libc::REG_ERR,
    libc::REG_EIP,
    libc::REG_ESI,
    libc::REG_EDI,
    libc::REG_EBX,
];

/// Start and length of the watched memory, and the number of accesses so far.
static WATCHED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Recorded accesses: address, page fault error code, address of the instruction, and the
/// registers of sources and destinations in the order of [`PLACES`].
static ACCESSES: [[AtomicUsize; 6]; MOST] = [const { [const { AtomicUsize::new(0) }; 6] }; MOST];

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    address: usize,
    bytes: usize,
    stores: bool,
    non_temporal: bool,
}

/// Makes `range` inaccessible or accessible. It must be whole pages.
fn lock(range: &Range<usize>, locked: bool) -> bool {
    let access = if locked {
        libc::PROT_NONE
    } else {
        libc::PROT_READ | libc::PROT_WRITE
    };
    // SAFETY: the range is a window of the running test, and only kernels touch it while it is
    // locked.
    unsafe { libc::mprotect(range.start as *mut c_void, range.len(), access) == 0 }
}

fn watched() -> Range<usize> {
    let start = WATCHED[0].load(Relaxed);
    start..start + WATCHED[1].load(Relaxed)
}

extern "C" fn on_fault(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes valid pointers to a handler with SA_SIGINFO.
    let (address, registers) = unsafe {
        (
            (*info).si_addr() as usize,
            &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs,
        )
    };
    let range = watched();
    let index = WATCHED[2].load(Relaxed);
    if !range.contains(&address) || index >= MOST || !lock(&range, false) {
        // SAFETY: the access will fault again, and end the process this time.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        return;
    }
    let mut seen = PLACES.map(|place| registers[place as usize] as usize);
    seen[0] = address;
    for (place, value) in ACCESSES[index].iter().zip(seen) {
        place.store(value, Relaxed);
    }
    WATCHED[2].store(index + 1, Relaxed);
    registers[PLACES[0] as usize] |= TRAP;
}

extern "C" fn on_step(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a valid context to a handler with SA_SIGINFO.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    registers[PLACES[0] as usize] &= !TRAP;
    lock(&watched(), true);
}

/// All accesses of `call` to `range`, which must be whole pages of the caller.
fn record(range: &Range<usize>, call: impl FnOnce()) -> Vec<Access> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap();
    for (signal, handler) in [
        (libc::SIGSEGV, on_fault as *const () as usize),
        (libc::SIGTRAP, on_step as *const () as usize),
    ] {
        // SAFETY: all zeros is a valid sigaction, and the handlers are functions for SA_SIGINFO.
        let installed = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            (action.sa_sigaction, action.sa_flags) = (handler, libc::SA_SIGINFO);
            libc::sigaction(signal, &action, std::ptr::null_mut())
        };
        assert_eq!(installed, 0);
    }
    for (place, value) in WATCHED.iter().zip([range.start, range.len(), 0]) {
        place.store(value, Relaxed);
    }
    assert!(lock(range, true));
    call();
    assert!(lock(range, false));
    let seen = ACCESSES.iter().take(WATCHED[2].load(Relaxed));
    seen.flat_map(|place| accesses(place.each_ref().map(|n| n.load(Relaxed))))
        .collect()
}

/// Accesses of one instruction: one access, or both accesses of a copy. Only the first access of a
/// copy faulted, its load.
fn accesses([address, error, instruction, source, destination, second]: [usize; 6]) -> Vec<Access> {
    const STORE: usize = 2; // of the page fault error code (Intel SDM vol. 3A, 4.7)
    // SAFETY: the address is that of an instruction of a kernel, and 16 bytes of end mark follow
    // the last instruction.
    let code = unsafe { &*(instruction as *const [u8; 16]) };
    let (bytes, non_temporal) =
        decode(code).unwrap_or_else(|| panic!("what instruction is this? {code:02x?}"));
    let copies = if code.starts_with(&[0xf3, 0xa4]) {
        Some([(source, false), (destination, true)])
    } else if is_movdir64b(code) {
        assert_eq!(error & STORE, 0, "movdir64b stores first");
        Some([(address, false), (second, true)])
    } else {
        None
    };
    if let Some(both) = copies {
        return both
            .map(|(address, stores)| Access {
                address,
                bytes,
                stores,
                non_temporal,
            })
            .to_vec();
    }
    vec![Access {
        address,
        bytes,
        stores: error & STORE != 0,
        non_temporal,
    }]
}

/// Runs the ignored test `name` of `module`, alone in a process.
pub fn passes_alone(module: &str, name: &str) {
    let module = module.split_once("::").unwrap().1;
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &format!("{module}::{name}")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{:?}\n{text}",
        output.status
    );
}

/// Bytes of one access of `row`. This is the width of the set, unless the contract or the
/// instruction differs.
fn width(row: &KernelRow) -> usize {
    match row.operation {
        Operation::WriteRep | Operation::CopyRep => 1,
        Operation::WriteZero | Operation::CopyDirect => 64,
        operation if operation.contract().on_doubles() => {
            (row.set.bits().unwrap() as usize / 8).max(8)
        }
        _ => row.set.bits().unwrap() as usize / 8,
    }
}

/// A walk over streams of `pass` iterations, from byte `start` of the window on. The walk does
/// `iterations` iterations from iteration `first` on.
#[derive(Debug, Clone, Copy)]
struct Route {
    pass: usize,
    start: usize,
    first: usize,
    iterations: usize,
}

impl Route {
    /// Piece of the stream at each position of an index table. The permutation is neither sorted
    /// nor its own inverse.
    fn order(&self, visits: AccessOrder) -> Vec<usize> {
        let pieces = if visits == AccessOrder::Lines {
            self.pass * 8
        } else {
            self.pass
        };
        // 5 has no common divisor with the tried numbers of pieces, except with five pieces.
        let step = if pieces.is_multiple_of(5) { 3 } else { 5 };
        (0..pieces).map(|i| (i * step + 1) % pieces).collect()
    }

    /// Offsets in each stream at which accesses of `width` bytes start, in the order of the
    /// contract.
    fn places(&self, contract: &Contract, width: usize) -> Vec<usize> {
        let block = contract.iteration as usize;
        let step = if contract.does == Does::Touch {
            64
        } else {
            width
        };
        let up = |start: usize, bytes: usize| (start..start + bytes).step_by(step);
        let order = self.order(contract.visits);
        let iterations = (self.first..self.first + self.iterations * BLOCK_BYTES as usize / block)
            .map(|turn| turn % self.pass);
        match contract.visits {
            AccessOrder::Forward => iterations
                .flat_map(|turn| up(turn * block, block))
                .collect(),
            AccessOrder::Backward => visit(contract.visits, self.pass, self.first, self.iterations)
                .into_iter()
                .flat_map(|at| up(at * block, block).rev())
                .collect(),
            AccessOrder::Lines => iterations
                .flat_map(|turn| {
                    order[turn * 8..turn * 8 + 8]
                        .iter()
                        .flat_map(|&line| up(line * 64, 64))
                })
                .collect(),
            AccessOrder::Chunks => iterations
                .flat_map(|turn| up(order[turn] * block, block))
                .collect(),
        }
    }
}

/// Runs one kernel over a part of `window` and checks it against its contract, access by access.
fn trace_stream(row: &KernelRow, window: &Window, route: Route) {
    let name = row.name();
    let contract = row.operation.contract();
    let kernel = row.kernel().unwrap();
    let iteration = contract.iteration as usize;
    let streams = contract.streams() as usize;
    let length = route.pass * iteration;
    let part = route.start..route.start + length * streams;
    let order = route.order(contract.visits);
    let table = contract.by_table().then(|| {
        let bytes = IndexTable::bytes_for(contract.visits, length as u64) as usize;
        IndexTable::new(memory(bytes), contract.visits, length as u64, |i| {
            order[i as usize] as u64
        })
        .unwrap()
    });
    let walk = match &table {
        Some(table) => StreamWalk::by_table(contract, window, part.clone(), table),
        None => StreamWalk::new(contract, window, part.clone()),
    };
    let mut walk = walk.unwrap();
    let step = [iteration, iteration, 32, 4][contract.visits as usize];
    walk.resume_at(route.first * step);
    let pages = window.address()..window.address() + window.len();
    let all = record(&pages, || kernel.run(&mut walk, route.iterations as u64));
    let (stores, loads): (Vec<Access>, Vec<Access>) =
        all.into_iter().partition(|access| access.stores);

    let width = width(row);
    let first = window.address() + part.start;
    let expected = route.places(contract, width);
    let loaded = 0..contract.loads as usize;
    let stored = streams - contract.stores as usize..streams;
    for (accesses, promised) in [(&loads, loaded), (&stores, stored)] {
        assert_eq!(
            accesses.len(),
            expected.len() * promised.len(),
            "{name}: accesses in all, {route:?}"
        );
        for stream in promised {
            let start = first + stream * length;
            let mine = accesses
                .iter()
                .filter(|access| (start..start + length).contains(&access.address));
            let places: Vec<usize> = mine.map(|access| access.address - start).collect();
            assert_eq!(places, expected, "{name}: stream {stream}, {route:?}");
        }
        assert!(
            accesses.iter().all(|access| access.bytes == width),
            "{name}: {width} B each"
        );
    }
    let past_caches = contract.policy == Policy::NonTemporal;
    // The load and the store of movdir64b are one instruction, so they carry the same mark.
    let is_direct = contract.policy == Policy::Direct;
    let marked = is_direct || past_caches && contract.stores == 0;
    assert!(
        loads.iter().all(|load| load.non_temporal == marked),
        "{name}"
    );
    let past_caches = past_caches || is_direct || row.operation == Operation::WriteZero;
    assert!(
        stores.iter().all(|store| store.non_temporal == past_caches),
        "{name}: {:?}",
        contract.policy
    );
}

#[test]
#[ignore = "needs a process of its own: it handles its faults"]
fn child_that_traces_streams() {
    let window = memory(3 * 4096);
    for (row, _) in executable() {
        let contract = row.operation.contract();
        let flush = window.len() - 2 * contract.iteration as usize * contract.streams() as usize;
        for (pass, start, first, iterations) in [
            (1, 0, 0, 1),
            (1, 64, 0, 3),
            (3, 4096 - 64, 0, 3),
            (3, 4096 - 64, 0, 2),
            (5, 192, 2, 13),
            (2, flush, 1, 2),
            (2, flush, 0, 0),
        ] {
            trace_stream(
                &row,
                &window,
                Route {
                    pass,
                    start,
                    first,
                    iterations,
                },
            );
        }
    }
}

/// Checks exact coverage. Every byte is loaded and stored exactly as often as the contract says. No
/// byte outside the part is accessed. All accesses have the width and the kind of the row.
#[test]
fn every_byte_is_accessed_exactly_as_often_as_promised() {
    passes_alone(module_path!(), "child_that_traces_streams");
}

#[test]
#[ignore = "needs a process of its own: it handles its faults"]
fn child_that_traces_a_chase() {
    const NODES: u64 = 7;
    for stride in [8, 64, 520, 1024] {
        let window = memory(8192);
        let start = window.address();
        let pages = window.address()..window.address() + window.len();
        let chain = UnverifiedChain::new(window, stride).unwrap();
        (0..chain.nodes()).for_each(|node| chain.link(node, (node + 3) % NODES));
        let closed = chain.check(0..chain.nodes()).unwrap();
        let mut walk = Walk::new(Arc::new(chain.finish(vec![closed]).unwrap()));
        let hops = 2 * HOPS_PER_BLOCK;
        let all = record(&pages, || {
            walk.walk(2);
        });
        let expected: Vec<Access> = (0..hops)
            .map(|hop| start + (hop * 3 % NODES) as usize * stride)
            .map(|address| Access {
                address,
                bytes: size_of::<usize>(),
                stores: false,
                non_temporal: false,
            })
            .collect();
        assert_eq!(all, expected, "stride {stride}");
        assert_eq!(walk.node(), hops * 3 % NODES);
    }
}

#[test]
fn a_chase_loads_one_word_of_each_node_in_the_order_of_the_chain() {
    passes_alone(module_path!(), "child_that_traces_a_chase");
}
