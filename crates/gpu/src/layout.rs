//! Divides a working set among the work-items of a streaming kernel.

use host::gpu::{GpuBuffer, Stream, StreamOperation};
use report::GpuFacts;
use units::Bytes;

/// Work-items in a work-group of a GPU: a multiple of every vendor's wavefront.
const GROUP_SIZE: u32 = 256;

/// Work-groups for each compute unit of a GPU. So many accesses are under way that their latency is
/// hidden.
const GROUPS_PER_UNIT: u32 = 8;

/// Accesses in one iteration of a kernel.
pub const UNROLLED: u32 = 4;

/// Largest number of words of all streams: the kernels count words in 32 bits.
const MAX_WORDS: u64 = 1 << 31;

/// Lanes of 64 bits in a word. A work-item of a GPU moves 16 B with one instruction, that of a CPU a
/// whole cache line.
pub fn width(facts: &GpuFacts) -> u32 {
    if facts.kind == "cpu" { 8 } else { 2 }
}

/// Work-groups that keep a whole device busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Groups {
    /// Number of work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
}

impl Groups {
    /// Several groups for each compute unit of a GPU; one work-item for each CPU.
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

/// How work-items share a working set.
///
/// On a GPU, neighbouring work-items access neighbouring words at the same time, because the device
/// combines such accesses into one. Each goes on by the number of all work-items. On a CPU, a
/// work-item is a thread, and each has a region of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Layout {
    /// Operation.
    pub operation: StreamOperation,
    /// 64-bit lanes in a word.
    pub width: u32,
    /// Words of each stream.
    pub words: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
    /// Accesses of each work-item in a pass over the working set.
    pub pass: u32,
    /// True if each work-item has a region of its own.
    pub has_regions: bool,
}

impl Layout {
    /// Divides `bytes` of all streams together. `groups` is the number of work-groups; `None` for as
    /// many as the device needs. The working set is rounded down to whole passes.
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

    /// Bytes of all streams.
    pub fn bytes(&self) -> Bytes {
        let words = u64::from(self.words) * u64::from(self.operation.streams());
        Bytes(words * self.word_bytes())
    }

    /// Bytes that the kernel loads and stores in `passes`.
    pub fn moved(&self, passes: u32) -> u64 {
        let words = u64::from(self.words) * u64::from(self.operation.moved());
        words * self.word_bytes() * u64::from(passes)
    }

    /// Largest number of passes of one call.
    pub fn most_passes(&self) -> u32 {
        (u32::MAX / 2 / self.pass.max(1)).max(1)
    }

    /// Distance between successive accesses of a work-item.
    ///
    /// A read goes on by one work-group more than all work-items together. In the next pass, another
    /// compute unit then reads the same words. Otherwise each would find its own words in its L1
    /// cache, and no size would show the L2 cache.
    fn step(&self) -> u32 {
        if self.has_regions {
            1
        } else if self.operation == StreamOperation::Read {
            (self.items() + self.group_size) % self.words
        } else {
            self.items()
        }
    }

    /// The call for `passes` over the working set in `buffer`.
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

    /// Sum over all lanes that `passes` of a read load from words that hold `value` and up.
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

/// Sum of the numbers from `first` up to and without `end`, modulo 2^64.
pub fn sum_of(first: u64, end: u64) -> u64 {
    let below = |n: u64| (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64;
    below(end).wrapping_sub(below(first))
}
