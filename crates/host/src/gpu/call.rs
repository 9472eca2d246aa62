//! Calls of the kernels, checked against the buffers that they use.

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
    /// Loads from two streams and stores to a third, with STREAM's arithmetic.
    Triad,
}

impl StreamOperation {
    /// Name, in kernels and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Copy => "copy",
            Self::Update => "update",
            Self::Triad => "triad",
        }
    }

    /// Streams of its working set.
    pub fn streams(self) -> u32 {
        match self {
            Self::Read | Self::Write | Self::Update => 1,
            Self::Copy => 2,
            Self::Triad => 3,
        }
    }

    /// Words moved by each access: loads and stores together.
    pub fn moved(self) -> u32 {
        match self {
            Self::Read | Self::Write => 1,
            Self::Update | Self::Copy => 2,
            Self::Triad => 3,
        }
    }
}

/// Accesses of a streaming kernel. The streams lie one after the other in the buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stream {
    /// Operation.
    pub operation: StreamOperation,
    /// The buffer, in words.
    pub buffer: GpuBuffer,
    /// Receives a sum of each work-item's loads, in 64-bit numbers.
    pub sums: GpuBuffer,
    /// Words of each stream.
    pub words: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
    /// Words of the region of each work-item.
    pub region: u32,
    /// Distance between the regions of neighbouring work-items; 0 if all have the same one.
    pub per_item: u32,
    /// Distance between the first words of neighbouring work-items, within their region.
    pub start: u32,
    /// Distance between successive accesses of a work-item; less than the region.
    pub step: u32,
    /// Accesses of each work-item; a multiple of 4.
    pub accesses: u32,
    /// Number in the words that are stored.
    pub value: u64,
}

impl Stream {
    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// First word of the stream that is stored to, and of those that are loaded from.
    pub fn offsets(&self) -> [u32; 3] {
        match self.operation {
            StreamOperation::Read | StreamOperation::Write | StreamOperation::Update => [0, 0, 0],
            StreamOperation::Copy => [self.words, 0, 0],
            StreamOperation::Triad => [self.words.saturating_mul(2), 0, self.words],
        }
    }

    /// Words of the buffer that the kernel may touch.
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
            // Numbers of words are 32-bit in the kernels, and a step is added before it is wrapped.
            && self.reach() + u64::from(self.region) < 1 << 32
    }
}

/// Reads of the memory that the work-items of a work-group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalRead {
    /// Words that each group reads; a multiple of four times the size of the group.
    pub words: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
    /// Accesses of each work-item; a multiple of 4.
    pub accesses: u32,
    /// Number in the words.
    pub value: u64,
    /// Receives a sum of each work-item's loads, in 64-bit numbers.
    pub sums: GpuBuffer,
}

/// Atomic additions of 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// 32-bit counters.
    pub counters: GpuBuffer,
    /// Distance between the counters of neighbouring work-items; 0 for one counter.
    pub stride: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
    /// Additions of each work-item.
    pub accesses: u32,
}

impl LocalRead {
    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }

    /// True if every access lies in the tile of its group.
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

    /// Bytes of all counters.
    pub fn bytes(&self) -> u64 {
        (self.items().saturating_sub(1) * u64::from(self.stride) + 1) * 4
    }
}

/// A call of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Call {
    /// A streaming kernel.
    Stream(Stream),
    /// Fills `words` words from word `to` of a buffer with numbers that begin with `value`.
    Fill {
        /// The buffer.
        buffer: GpuBuffer,
        /// First word.
        to: u32,
        /// Number of words.
        words: u32,
        /// Number in the first word.
        value: u64,
        /// Floats for a triad instead of whole numbers.
        floats: bool,
    },
    /// Counts words that are not those of `Fill`, or of a triad of such floats.
    Verify {
        /// The buffer.
        buffer: GpuBuffer,
        /// First word.
        to: u32,
        /// Number of words.
        words: u32,
        /// Number in the first word.
        value: u64,
        /// Results of a triad instead of whole numbers.
        triad: bool,
        /// A buffer of 4 B that the count is added to.
        wrong: GpuBuffer,
    },
    /// Reads shared memory of work-groups.
    LocalRead(LocalRead),
    /// Adds to counters.
    Count(Count),
    /// Follows a chain of indices with one work-item, from where the last call stopped.
    Chase {
        /// A buffer of [`GpuDevice::chain`](crate::gpu::GpuDevice::chain).
        chain: GpuBuffer,
        /// Number of hops; a multiple of 8.
        hops: u32,
    },
}

impl Call {
    /// Buffers that the call uses, with the bytes that it needs of each. The buffer of a chain is
    /// not among them, because no other call may use it. `width` is the number of
    /// 64-bit lanes in a word.
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

    /// Checks everything but the sizes of buffers.
    ///
    /// # Errors
    /// A number that the kernel does not allow.
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
