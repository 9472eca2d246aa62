//! The argument of a streaming kernel's machine code.

use super::abi::kernel_fn;

/// Default prefetch distance in bytes, for kernels that prefetch.
pub const PREFETCH_DISTANCE: u64 = 2048;

/// Arguments and results of streaming kernels: eight words with the width of a general register,
/// then two of 64 bits. The assembly in the crate `assembly` names these fields.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamCall {
    /// Address of the first stream. Streams that are loaded precede streams that are only stored.
    pub lead: usize,
    /// Distance in bytes from one stream to the next.
    pub delta: usize,
    /// Length of each stream in bytes, a multiple of an iteration. With an index table, this is the
    /// length of the table in bytes. It is a multiple of the bytes of one block's entries: 32 B for
    /// `Lines`, 4 B for `Chunks`.
    pub window: usize,
    /// Distance in bytes from the start of a stream to the next iteration. For `Backward`, the
    /// distance from the end of a stream. With an index table, the distance from the start of the
    /// table.
    pub offset: usize,
    /// Number of blocks to process.
    pub blocks: usize,
    /// Address of the index table. An entry has 32 bits and is the offset of a piece in its stream,
    /// in units of 8 bytes.
    pub table: usize,
    /// Prefetch distance in bytes.
    pub distance: usize,
    /// Padding that keeps the following words at the same offset on all 32-bit systems.
    pub spare: usize,
    /// Operand: the 64-bit pattern that the kernel stores, or combines with loaded words, or
    /// multiplies them by.
    pub pattern: u64,
    /// Result: the wrapping sum of the loaded words. Kernels without a sum leave it unchanged.
    pub checksum: u64,
}

/// The machine code of one streaming kernel.
pub(super) type StreamCode = kernel_fn!(&mut StreamCall);
