//! Divides a working set among the work-items of a streaming kernel.

use host::gpu::{GpuBuffer, Stream, StreamOperation};
use report::GpuFacts;
use units::Bytes;

/// Number of work-items in a work-group of a GPU: a multiple of every vendor's wavefront.
const GROUP_SIZE: u32 = 256;

/// Number of work-groups for each compute unit of a GPU. This number keeps enough accesses in
/// flight to hide their latency.
const GROUPS_PER_UNIT: u32 = 8;

/// Number of accesses in one iteration of a kernel's loop.
pub const UNROLLED: u32 = 4;

/// Limit for the number of words of all streams together. The number has to be below this limit.
/// The kernels count words in 32 bits.
const MAX_WORDS: u64 = 1 << 31;

/// Number of 64-bit lanes in a word of the kernels for this device. A word has 16 B on a GPU,
/// because one instruction moves this much. On a CPU, a word has 64 B, the length of a cache line.
pub fn width(facts: &GpuFacts) -> u32 {
    if facts.kind == "cpu" { 8 } else { 2 }
}

/// Number and size of the work-groups that keep a whole device busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Number of work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
}

impl Groups {
    /// Work-groups for the whole device. A GPU has several for each compute unit. On a CPU, there
    /// is one work-item for each CPU.
    pub fn usual(facts: &GpuFacts) -> Self {
        let units = facts.compute_units.get().copied().unwrap_or(1).max(1);
        if facts.kind == "cpu" {
            Self {
                groups: units,
                group_size: 1,
            }
        } else {
            Self {
                groups: units.saturating_mul(GROUPS_PER_UNIT),
                group_size: GROUP_SIZE,
            }
        }
    }
}

/// Division of a working set among work-items.
///
/// On a GPU, neighbouring work-items access neighbouring words at the same time, because the device
/// combines such accesses into one. The distance between successive accesses of a work-item, in
/// words, is the number of all work-items. Reads add the size of a work-group to this distance. On
/// a CPU, each work-item is a thread and has a region of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layout {
    /// Operation of the kernel.
    pub operation: StreamOperation,
    /// Number of 64-bit lanes in a word.
    pub width: u32,
    /// Number of words in each stream.
    pub words: u32,
    /// Number of work-groups.
    pub groups: u32,
    /// Number of work-items in each group.
    pub group_size: u32,
    /// Number of accesses by each work-item in one pass over the working set.
    pub pass: u32,
    /// True if each work-item has a region of its own.
    pub has_regions: bool,
}

impl Layout {
    /// Divides a working set of `bytes`, the size of all streams together. `groups` is the number
    /// of work-groups; `None` means [`Groups::usual`]. The size is rounded down, so that all
    /// work-items make the same number of accesses.
    ///
    /// Returns `None` if the working set is too small for the operation, or too large.
    pub fn new(
        facts: &GpuFacts,
        operation: StreamOperation,
        bytes: Bytes,
        groups: Option<u32>,
    ) -> Option<Self> {
        let is_cpu = facts.kind == "cpu";
        let width = width(facts);
        let all = bytes.0 / (u64::from(width) * 8);
        let available = all / u64::from(operation.streams());
        if all >= MAX_WORDS {
            return None;
        }
        let available = available as u32;
        let usual = Groups::usual(facts);
        let groups = groups.unwrap_or(usual.groups).max(1);
        let most = available / UNROLLED;
        let group_size = usual.group_size.min(most);
        if group_size == 0 || most == 0 {
            return None;
        }
        let groups = groups.min(most / group_size).max(1);
        let items = groups * group_size;
        let pass = available / items / UNROLLED * UNROLLED;
        Some(Self {
            operation,
            width,
            words: items * pass,
            groups,
            group_size,
            pass,
            has_regions: is_cpu,
        })
    }

    /// Number of work-items.
    pub fn items(&self) -> u32 {
        self.groups * self.group_size
    }

    /// Bytes of a word.
    pub fn word_bytes(&self) -> u64 {
        u64::from(self.width) * 8
    }

    /// Bytes of all streams together.
    pub fn bytes(&self) -> Bytes {
        let words = u64::from(self.words) * u64::from(self.operation.streams());
        Bytes(words * self.word_bytes())
    }

    /// Bytes that the kernel loads and stores in `passes` passes.
    pub fn moved(&self, passes: u32) -> u64 {
        let words = u64::from(self.words) * u64::from(self.operation.moved());
        words * self.word_bytes() * u64::from(passes)
    }

    /// Largest possible number of passes in one call of the kernel.
    pub fn most_passes(&self) -> u32 {
        (u32::MAX / 2 / self.pass.max(1)).max(1)
    }

    /// Distance between successive accesses of a work-item, in words.
    ///
    /// For a read, the distance is the number of all work-items plus the size of a work-group. So
    /// another compute unit reads the same words in the next pass. Otherwise each compute unit
    /// would find its words of the previous pass in its L1 cache. No working set would then show
    /// the L2 cache.
    fn step(&self) -> u32 {
        if self.has_regions {
            1
        } else if self.operation == StreamOperation::Read {
            (self.items() + self.group_size) % self.words
        } else {
            self.items()
        }
    }

    /// The call of the kernel for `passes` passes. `buffers` has the buffer of the streams, then
    /// the buffer of the sums. `value` is the number in the first word.
    pub fn call(&self, buffers: [GpuBuffer; 2], passes: u32, value: u64) -> Stream {
        let [buffer, sums] = buffers;
        let (region, per_item, start) = if self.has_regions {
            (self.pass, self.pass, 0)
        } else {
            (self.words, 0, 1)
        };
        Stream {
            operation: self.operation,
            buffer,
            sums,
            words: self.words,
            groups: self.groups,
            group_size: self.group_size,
            region,
            per_item,
            start,
            step: self.step(),
            accesses: self.pass * passes,
            value,
        }
    }

    /// Sum over all lanes that a read loads in `passes` passes, modulo 2^64. Every lane of word `i`
    /// holds `i` plus `value`.
    pub fn expected_sum(&self, passes: u32, value: u64) -> u64 {
        let lanes = u64::from(self.width);
        let words = u64::from(self.words);
        let items = u64::from(self.items());
        let indices = if self.has_regions {
            sum_of(0, words).wrapping_mul(u64::from(passes))
        } else {
            let step = u64::from(self.step());
            let accesses = u64::from(self.pass) * u64::from(passes);
            (0..accesses).fold(0u64, |sum, access| {
                let first = access * step % words;
                let end = first + items;
                let wrapped = end.saturating_sub(words);
                sum.wrapping_add(sum_of(first, end.min(words)))
                    .wrapping_add(sum_of(0, wrapped))
            })
        };
        let accesses = items
            .wrapping_mul(u64::from(self.pass))
            .wrapping_mul(u64::from(passes));
        let values = accesses.wrapping_mul(value);
        indices.wrapping_add(values).wrapping_mul(lanes)
    }
}

/// Sum of the numbers in `first..end`, modulo 2^64.
pub fn sum_of(first: u64, end: u64) -> u64 {
    let below = |n: u64| (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64;
    below(end).wrapping_sub(below(first))
}
