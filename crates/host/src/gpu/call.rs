//! Calls of the GPU kernels, with checks that a kernel stays inside its buffers. Sizes and
//! positions are in words. A word has [`width`](crate::gpu::GpuDevice::width) lanes of 64 bits.

use serde::{Deserialize, Serialize};
use units::error::{Error, Result};

/// A buffer in the memory of a device, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct GpuBuffer(pub usize);

/// Operation of a streaming kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StreamOperation {
    /// Loads every word.
    Read,
    /// Stores every word.
    Write,
    /// Loads from one stream and stores to another.
    Copy,
    /// Loads, changes and stores every word in place.
    Update,
    /// Loads from two streams and stores to a third, with the arithmetic of STREAM's triad.
    Triad,
}

impl StreamOperation {
    /// Name of the operation in kernels and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Update => "update",
            Self::Triad => "triad",
        }
    }

    /// Number of streams in the working set of the operation.
    pub fn streams(self) -> u32 {
        match self {
            Self::Read | Self::Write | Self::Update => 1,
            Self::Copy => 2,
            Self::Triad => 3,
        }
    }

    /// Number of words that each access moves: loads and stores together.
    pub fn moved(self) -> u32 {
        match self {
            Self::Read | Self::Write => 1,
            Self::Update | Self::Copy => 2,
            Self::Triad => 3,
        }
    }
}

/// A call of a streaming kernel. The streams lie one after another in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Operation of the kernel.
    pub operation: StreamOperation,
    /// The buffer with all streams.
    pub buffer: GpuBuffer,
    /// Buffer for the sum of each work-item's loads, as 64-bit numbers.
    pub sums: GpuBuffer,
    /// Number of words in each stream.
    pub words: u32,
    /// Number of work-groups.
    pub groups: u32,
    /// Number of work-items in each group.
    pub group_size: u32,
    /// Number of words in the region of a work-item, the part of each stream that it accesses.
    pub region: u32,
    /// Distance between the regions of neighbouring work-items, in words. 0 if all work-items share
    /// one region.
    pub per_item: u32,
    /// Number that selects the first word of each work-item: item `k` begins at word `k * start` of
    /// its region, modulo the region's length.
    pub start: u32,
    /// Distance between successive accesses of a work-item, in words. It is less than `region`.
    pub step: u32,
    /// Number of accesses by each work-item, a multiple of 4.
    pub accesses: u32,
    /// Number from which stored words are computed: `write` stores `i + value` in word `i`.
    pub value: u64,
}

impl Stream {
    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// Indices of the first words of three streams in the buffer: the target, and the two sources.
    /// The index is 0 for a stream that the operation lacks.
    pub fn offsets(&self) -> [u32; 3] {
        match self.operation {
            StreamOperation::Read | StreamOperation::Write | StreamOperation::Update => [0, 0, 0],
            StreamOperation::Copy => [self.words, 0, 0],
            StreamOperation::Triad => [self.words.saturating_mul(2), 0, self.words],
        }
    }

    /// Number of words in the buffer that the kernel may touch.
    fn reach(&self) -> u64 {
        u64::from(self.words) * u64::from(self.operation.streams())
    }

    /// True if every access lies in its stream.
    fn is_inside(&self) -> bool {
        let last = (self.items().saturating_sub(1)) * u64::from(self.per_item);
        self.region > 0
            && self.step < self.region
            && self.accesses.is_multiple_of(4)
            && last + u64::from(self.region) <= u64::from(self.words)
            // The kernels use indices of 32 bits, and add a step before they wrap the index.
            && self.reach() + u64::from(self.region) < 1 << 32
    }
}

/// A call that reads the memory that the work-items of a work-group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalRead {
    /// Number of words in the shared memory of each group, a multiple of four times `group_size`.
    pub words: u32,
    /// Number of work-groups.
    pub groups: u32,
    /// Number of work-items in each group.
    pub group_size: u32,
    /// Number of accesses by each work-item, a multiple of 4.
    pub accesses: u32,
    /// Number in the first word of the shared memory. Word `i` holds `i + value`.
    pub value: u64,
    /// Buffer for the sum of each work-item's loads, as 64-bit numbers.
    pub sums: GpuBuffer,
}

/// A call in which all work-items add 1 to counters, atomically.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Buffer with 32-bit counters.
    pub counters: GpuBuffer,
    /// Distance between the counters of neighbouring work-items, in units of 4 B. 0 if all
    /// work-items share one counter.
    pub stride: u32,
    /// Number of work-groups.
    pub groups: u32,
    /// Number of work-items in each group.
    pub group_size: u32,
    /// Number of additions by each work-item.
    pub accesses: u32,
}

impl LocalRead {
    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// True if every access lies in the shared memory of its work-group.
    fn is_inside(&self) -> bool {
        let turn = self.group_size.saturating_mul(4);
        turn > 0
            && self.words >= turn
            && self.words.is_multiple_of(turn)
            && self.words < 1 << 31
            && self.accesses.is_multiple_of(4)
    }
}

impl Count {
    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// Bytes that the counters take, with the gaps between them.
    pub fn bytes(&self) -> u64 {
        (self.items().saturating_sub(1) * u64::from(self.stride) + 1) * 4
    }
}

/// A call of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// A streaming kernel.
    Stream(Stream),
    /// Fills `words` words of a buffer, from word `to` on, with numbers that begin with `value`.
    Fill {
        /// The buffer.
        buffer: GpuBuffer,
        /// Index of the first word.
        to: u32,
        /// Number of words.
        words: u32,
        /// Number in the first word.
        value: u64,
        /// True to fill with floats for a triad, false to fill with whole numbers.
        floats: bool,
    },
    /// Counts wrong words: words that differ from what `Fill` writes, or from the results of a
    /// triad on the floats of `Fill`.
    Verify {
        /// The buffer.
        buffer: GpuBuffer,
        /// Index of the first word.
        to: u32,
        /// Number of words.
        words: u32,
        /// Number in the first word.
        value: u64,
        /// True if the words should be results of a triad, false if they should be whole numbers.
        triad: bool,
        /// A buffer with a number of 32 bits, to which the count is added.
        wrong: GpuBuffer,
    },
    /// Reads the memory that the work-items of a work-group share.
    LocalRead(LocalRead),
    /// Adds to counters atomically.
    Count(Count),
    /// Follows a chain of indices with one work-item. The chase begins at the index at which the
    /// last chase through this chain stopped.
    Chase {
        /// A buffer that [`GpuDevice::chain`](crate::gpu::GpuDevice::chain) returned.
        chain: GpuBuffer,
        /// Number of hops; a multiple of 8.
        hops: u32,
    },
}

impl Call {
    /// Buffers that the call uses, with the bytes that it needs of each. The buffer of a chain is
    /// left out, because only [`Call::Chase`] uses it. `width` is the number of 64-bit lanes in a
    /// word.
    pub(super) fn needs(&self, width: u32) -> Vec<(GpuBuffer, u64)> {
        let word = u64::from(width) * 8;
        match *self {
            Call::Stream(stream) => vec![
                (stream.buffer, stream.reach() * word),
                (stream.sums, stream.items() * 8),
            ],
            Call::Fill {
                buffer, to, words, ..
            } => vec![(buffer, (u64::from(to) + u64::from(words)) * word)],
            Call::Verify {
                buffer,
                to,
                words,
                wrong,
                ..
            } => vec![
                (buffer, (u64::from(to) + u64::from(words)) * word),
                (wrong, 4),
            ],
            Call::LocalRead(read) => vec![(read.sums, read.items() * 8)],
            Call::Count(count) => vec![(count.counters, count.bytes())],
            Call::Chase { .. } => Vec::new(),
        }
    }

    /// Validates the numbers in the fields of the call. The sizes of buffers are not checked here.
    ///
    /// # Errors
    /// The kernel does not allow one of the numbers.
    pub(super) fn check(&self) -> Result<()> {
        let valid = match self {
            Call::Stream(stream) => stream.is_inside(),
            Call::Fill { to, words, .. } | Call::Verify { to, words, .. } => {
                u64::from(*to) + u64::from(*words) < 1 << 31
            }
            Call::LocalRead(read) => read.is_inside(),
            Call::Count(count) => count.items() > 0,
            Call::Chase { hops, .. } => hops.is_multiple_of(8),
        };
        if valid {
            Ok(())
        } else {
            Err(Error::failure(format!(
                "a kernel would leave its buffer: {self:?}"
            )))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream {
            operation: StreamOperation::Copy,
            buffer: GpuBuffer(0),
            sums: GpuBuffer(1),
            words: 64,
            groups: 2,
            group_size: 4,
            region: 8,
            per_item: 8,
            start: 0,
            step: 1,
            accesses: 8,
            value: 1,
        }
    }

    #[test]
    fn calls_that_leave_their_stream_are_refused() {
        let good = stream();
        assert!(Call::Stream(good).check().is_ok());
        assert_eq!(
            Call::Stream(good).needs(2),
            [(GpuBuffer(0), 2048), (GpuBuffer(1), 64)]
        );
        let bad = [
            Stream { region: 0, ..good },
            Stream { region: 9, ..good },
            Stream {
                per_item: 9,
                ..good
            },
            Stream { step: 8, ..good },
            Stream {
                accesses: 6,
                ..good
            },
            Stream {
                words: u32::MAX,
                ..good
            },
        ];
        for stream in bad {
            assert!(Call::Stream(stream).check().is_err(), "{stream:?}");
        }
        let chase = |hops| Call::Chase {
            chain: GpuBuffer(0),
            hops,
        };
        assert!(chase(8).check().is_ok());
        assert!(chase(9).check().is_err());
    }
}
