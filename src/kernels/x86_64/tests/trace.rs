//! Every access that a kernel makes, one by one: the memory is locked, so each access faults, is written down, and let
//! through for this one instruction (the trap flag stops the processor behind it).

use super::{executable, memory};
use crate::host::memory::Window;
use crate::kernels::{BLOCK_BYTES, Chain, HOPS_PER_BLOCK, KernelRow, Policy, StreamWalk, UnverifiedChain};
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// More than any test here causes.
const MOST: usize = 4096;

/// The trap flag in the flags register.
const TRAP: i64 = 1 << 8;

/// Start and length of the memory that is watched, and the number of accesses so far.
static WATCHED: [AtomicUsize; 3] = [const { AtomicUsize::new(0) }; 3];

/// Address, page fault error code and address of the instruction, of each.
static ACCESSES: [[AtomicUsize; 3]; MOST] = [const { [const { AtomicUsize::new(0) }; 3] }; MOST];

/// One access to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access {
    address: usize,
    bytes: usize,
    stores: bool,
    non_temporal: bool,
}

/// Bytes moved by the instruction at the start of `code`, and whether it stores past the caches. Knows what the
/// kernels use (Intel SDM vol. 2, chapter 2: REX, VEX and EVEX prefixes).
fn decode(code: &[u8]) -> Option<(usize, bool)> {
    // With a 66 or VEX/EVEX.66 prefix: load, store, non-temporal store, addition.
    let vector = |opcode: u8| matches!(opcode, 0x6f | 0x7f | 0xe7 | 0xd4).then_some(opcode == 0xe7);
    match *code {
        [0x48..=0x4f, 0x03 | 0x89 | 0x8b, ..] => Some((8, false)),
        [0x48..=0x4f, 0x0f, 0xc3, ..] => Some((8, true)),
        [0x66, 0x0f, opcode, ..] | [0x66, 0x40..=0x47, 0x0f, opcode, ..] => Some((16, vector(opcode)?)),
        [0xc5, vex, opcode, ..] | [0xc4, _, vex, opcode, ..] if vex & 3 == 1 => {
            Some((if vex & 4 == 0 { 16 } else { 32 }, vector(opcode)?))
        }
        [0x62, _, _, evex, opcode, ..] => Some((16 << (evex >> 5 & 3), vector(opcode)?)),
        _ => None,
    }
}

/// Makes `range` (whole pages) accessible or not.
fn lock(range: &Range<usize>, locked: bool) -> bool {
    let access = if locked { libc::PROT_NONE } else { libc::PROT_READ | libc::PROT_WRITE };
    // SAFETY: the range is a window of the test that is running, touched by kernels only while it is locked.
    unsafe { libc::mprotect(range.start as *mut c_void, range.len(), access) == 0 }
}

fn watched() -> Range<usize> {
    let start = WATCHED[0].load(Relaxed);
    start..start + WATCHED[1].load(Relaxed)
}

extern "C" fn on_fault(_: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system hands over both for a signal with SA_SIGINFO.
    let (address, registers) =
        unsafe { ((*info).si_addr() as usize, &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs) };
    let (range, index) = (watched(), WATCHED[2].load(Relaxed));
    if !range.contains(&address) || index >= MOST || !lock(&range, false) {
        // SAFETY: what faulted will fault again, and end the process this time.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        return;
    }
    let seen = [address, registers[libc::REG_ERR as usize] as usize, registers[libc::REG_RIP as usize] as usize];
    for (place, value) in ACCESSES[index].iter().zip(seen) {
        place.store(value, Relaxed);
    }
    WATCHED[2].store(index + 1, Relaxed);
    registers[libc::REG_EFL as usize] |= TRAP;
}

extern "C" fn on_step(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: as above.
    let registers = unsafe { &mut (*context.cast::<ucontext_t>()).uc_mcontext.gregs };
    registers[libc::REG_EFL as usize] &= !TRAP;
    lock(&watched(), true);
}

/// Everything that `call` does to `range` (whole pages of the caller's).
fn record(range: &Range<usize>, call: impl FnOnce()) -> Vec<Access> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap();
    for (signal, handler) in
        [(libc::SIGSEGV, on_fault as *const () as usize), (libc::SIGTRAP, on_step as *const () as usize)]
    {
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
    ACCESSES
        .iter()
        .take(WATCHED[2].load(Relaxed))
        .map(|place| access(place.each_ref().map(|n| n.load(Relaxed))))
        .collect()
}

/// What was seen of one access, understood.
fn access([address, error, instruction]: [usize; 3]) -> Access {
    const STORE: usize = 2; // of the page fault error code (Intel SDM vol. 3A, 4.7)
    // SAFETY: it is an instruction of a kernel, and 16 bytes of end mark follow the last one.
    let code = unsafe { &*(instruction as *const [u8; 16]) };
    let (bytes, non_temporal) = decode(code).unwrap_or_else(|| panic!("what instruction is this? {code:02x?}"));
    Access { address, bytes, stores: error & STORE != 0, non_temporal }
}

/// Runs the ignored test `name` of this module, alone in a process.
fn passes_alone(name: &str) {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", &format!("kernels::x86_64::tests::trace::{name}")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("1 passed"), "{:?}\n{text}", output.status);
}

/// Holds that `accesses` go over `stream` from its `offset` on, each byte once, then from its start again, in accesses
/// of `width` bytes: `blocks` blocks in all.
fn assert_covered(
    name: &str,
    accesses: &[Access],
    stream: &Range<usize>,
    (offset, blocks): (usize, usize),
    width: usize,
) {
    let mut next = offset;
    for access in accesses {
        let place = access.address.wrapping_sub(stream.start) as isize;
        assert_eq!((place, access.bytes), (next as isize, width), "{name}: place in {} B, width", stream.len());
        next = (next + width) % stream.len();
    }
    assert_eq!(accesses.len() * width, blocks * BLOCK_BYTES as usize, "{name}: bytes in all");
}

/// Runs one kernel over `part` of `window` and holds it to its contract, access by access.
fn trace_stream(row: &KernelRow, window: &Window, part: Range<usize>, (offset, blocks): (usize, usize)) {
    let (name, contract, kernel) = (row.name(), row.operation.contract(), row.kernel().unwrap());
    let mut walk = StreamWalk::new(contract, window, part.clone()).unwrap();
    walk.resume_at(offset);
    let pages = window.address()..window.address() + window.len();
    let all = record(&pages, || kernel.run(&mut walk, blocks as u64));
    let (stores, loads): (Vec<Access>, Vec<Access>) = all.into_iter().partition(|access| access.stores);
    let (width, length) = (row.set.bits().unwrap() as usize / 8, part.len() / contract.streams() as usize);
    let first = window.address() + part.start;
    let streams = [first..first + length, first + length..first + 2 * length];
    for (accesses, promised, stream) in
        [(&loads, contract.loads, &streams[0]), (&stores, contract.stores, &streams[contract.loads as usize])]
    {
        assert_covered(&name, accesses, stream, (offset, blocks * promised as usize), width);
    }
    assert!(loads.iter().all(|load| !load.non_temporal), "{name}");
    let past_caches = contract.policy == Policy::NonTemporal;
    assert!(stores.iter().all(|store| store.non_temporal == past_caches), "{name}: {:?}", contract.policy);
}

#[test]
#[ignore = "needs a process of its own: it handles its faults"]
fn child_that_traces_streams() {
    let window = memory(3 * 4096);
    let block = BLOCK_BYTES as usize;
    for (row, _) in executable() {
        let streams = row.operation.contract().streams() as usize;
        let part = |blocks: usize, start: usize| start..start + blocks * block * streams;
        let flush = window.len() - 2 * block * streams;
        for (part, from, blocks) in [
            (part(1, 0), 0, 1),
            (part(1, 64), 0, 3),
            (part(3, 4096 - 64), 0, 3),
            (part(3, 4096 - 64), 0, 2),
            (part(5, 192), 2, 13),
            (part(2, flush), 1, 2),
            (part(2, flush), 0, 0),
        ] {
            trace_stream(&row, &window, part, (from * block, blocks));
        }
    }
}

/// Exact coverage: every byte is loaded and stored as often as the contract says, none twice, none beside the part, by
/// accesses of the width and the kind that the row names.
#[test]
fn every_byte_is_accessed_exactly_as_often_as_promised() {
    passes_alone("child_that_traces_streams");
}

#[test]
#[ignore = "needs a process of its own: it handles its faults"]
fn child_that_traces_a_chase() {
    const NODES: u64 = 7;
    for stride in [8, 64, 520, 1024] {
        let window = memory(8192);
        let (start, pages) = (window.address(), window.address()..window.address() + window.len());
        let chain = UnverifiedChain::new(window, stride).unwrap();
        (0..chain.nodes()).for_each(|node| chain.link(node, (node + 3) % NODES));
        let closed = chain.check(0..chain.nodes()).unwrap();
        let mut chain: Chain = chain.finish(vec![closed]).unwrap();
        let hops = 2 * HOPS_PER_BLOCK;
        let all = record(&pages, || {
            chain.walk(2);
        });
        let expected: Vec<Access> = (0..hops)
            .map(|hop| start + (hop * 3 % NODES) as usize * stride)
            .map(|address| Access { address, bytes: 8, stores: false, non_temporal: false })
            .collect();
        assert_eq!(all, expected, "stride {stride}");
        assert_eq!(chain.node(), hops * 3 % NODES);
    }
}

#[test]
fn a_chase_loads_one_word_of_each_node_in_the_order_of_the_chain() {
    passes_alone("child_that_traces_a_chase");
}

#[test]
fn instructions_are_understood() {
    for (code, meaning) in [
        (&[0x4c, 0x8b, 0x80][..], Some((8, false))),         // mov r8, [rax + disp]
        (&[0x4d, 0x0f, 0xc3, 0x01], Some((8, true))),        // movnti [r9], r8
        (&[0x66, 0x0f, 0x6f, 0x00], Some((16, false))),      // movdqa xmm0, [rax]
        (&[0x66, 0x41, 0x0f, 0xe7, 0x01], Some((16, true))), // movntdq [r9], xmm0
        (&[0xc5, 0xf9, 0x6f, 0x00], Some((16, false))),      // vmovdqa xmm0, [rax]
        (&[0xc5, 0xfd, 0x6f, 0x00], Some((32, false))),      // vmovdqa ymm0, [rax]
        (&[0xc4, 0xc1, 0x7d, 0xe7, 0x01], Some((32, true))), // vmovntdq [r9], ymm0
        (&[0x62, 0xf1, 0xfd, 0x48, 0x6f, 0x00], Some((64, false))), // vmovdqa64 zmm0, [rax]
        (&[0x62, 0xd1, 0x7d, 0x48, 0xe7, 0x01], Some((64, true))), // vmovntdq [r9], zmm0
        (&[0x62, 0xf1, 0xfd, 0x28, 0x6f, 0x00], Some((32, false))), // vmovdqa64 ymm0, [rax]
        (&[0x8b, 0x00], None),                               // mov eax, [rax]
        (&[0xc5, 0xfa, 0x6f, 0x00], None),                   // vmovdqu xmm0, [rax]
    ] {
        assert_eq!(decode(code), meaning, "{code:02x?}");
    }
}
