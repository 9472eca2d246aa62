//! The call of a streaming kernel: arguments and results of its machine code.

use super::abi::kernel_fn;

/// Default prefetch distance in bytes, for kernels that prefetch.
pub const PREFETCH_DISTANCE: u64 = 2048;

/// Arguments and results of the assembly. The crate `assembly` names the fields: eight words of the
/// machine's own width, then two of 64 bits.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct StreamCall {
    /// Address of the first stream. Streams that are loaded come first.
    pub lead: usize,
    /// Distance in bytes from one stream to the next.
    pub delta: usize,
    /// Length of each stream in bytes, a multiple of an iteration. With an index table, the length
    /// of the table in bytes. That is a multiple of 32 for lines and of 4 for chunks, which is what
    /// one block uses.
    pub window: usize,
    /// Distance in bytes from the start of the window to the next iteration. For `Backward`, from
    /// the end of the window to the end of that iteration. With an index table, from the start of
    /// the table.
    pub offset: usize,
    /// Number of blocks to process.
    pub blocks: usize,
    /// Address of the index table. An entry has 32 bits: the start of a piece in the stream, in
    /// units of 8 bytes.
    pub table: usize,
    /// Prefetch distance in bytes.
    pub distance: usize,
    /// Padding. It keeps the following words at the same offset on all 32-bit systems.
    pub spare: usize,
    /// Operand that is stored, combined or multiplied with.
    pub pattern: u64,
    /// Wrapping sum of the loaded words, for kernels that add them up.
    pub checksum: u64,
}

/// The machine code of one streaming kernel.
pub(super) type StreamCode = kernel_fn!(&mut StreamCall);
