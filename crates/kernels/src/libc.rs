//! Reference kernels: memset and memcpy of the C library, in place of assembly kernels. Lists and
//! reports label them as reference, because they are not this program's code.
//!
//! One library call covers all bytes up to the end of the window, as in an ordinary program.

use super::stream_call::StreamCall;
use assembly::BLOCK_BYTES;

/// Calls `run(start, length)` for each contiguous range of the walk, and advances the walk. `start`
/// is the address of the range in the first stream, and `length` its length in bytes.
fn runs(call: &mut StreamCall, mut run: impl FnMut(usize, usize)) {
    let mut left = call.blocks;
    while left > 0 {
        let blocks = left.min((call.window - call.offset) / BLOCK_BYTES as usize);
        let length = blocks * BLOCK_BYTES as usize;
        run(call.lead + call.offset, length);
        call.offset = if call.offset + length == call.window {
            0
        } else {
            call.offset + length
        };
        left -= blocks;
    }
}

/// Defines a reference kernel: a function of the C library, called like an assembly kernel.
macro_rules! reference_kernel {
    ($(#[$doc:meta])* $name:ident, $call:ident, $start:ident, $length:ident, $body:expr) => {
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        pub(super) unsafe extern "sysv64" fn $name($call: &mut StreamCall) {
            let copy = *$call;
            runs($call, |$start, $length| { let $call = &copy; $body });
        }
        $(#[$doc])*
        #[cfg(not(target_arch = "x86_64"))]
        pub(super) unsafe extern "C" fn $name($call: &mut StreamCall) {
            let copy = *$call;
            runs($call, |$start, $length| { let $call = &copy; $body });
        }
    };
}

reference_kernel! {
    /// Fills the stream with the low byte of the pattern by the C library's memset.
    write_libc, call, start, length,
    // SAFETY: the caller of a kernel vouches for the streams (see `StreamKernel::run`); this is the
    // C library's memset.
    unsafe { (start as *mut u8).write_bytes(call.pattern as u8, length) }
}

reference_kernel! {
    /// Copies the first stream to the second by the C library's memcpy.
    copy_libc, call, start, length,
    // SAFETY: the caller of a kernel vouches for the streams, which do not overlap. So this is the
    // C library's memcpy.
    unsafe { ((start + call.delta) as *mut u8).copy_from_nonoverlapping(start as *const u8, length) }
}
