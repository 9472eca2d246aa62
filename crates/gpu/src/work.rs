//! Descriptions of work on a device, as plain data.

use crate::layout::{Groups, Layout, UNROLLED, width};
use host::gpu::{Count, Direction, GpuBuffer, GpuConditions, HostMemory};
use report::GpuFacts;
use units::{Bytes, Nanos};

/// Work on one device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuWork {
    /// Number of the device.
    pub device: u32,
    /// The CPU whose thread hands the work to the driver.
    pub cpu: u32,
    /// True if the device has no memory of its own.
    pub uses_host_memory: bool,
    /// Highest possible rate of the memory that the work uses. `None` if this rate is unknown, or
    /// if a cache could hold the working set.
    pub limit: Option<RateLimit>,
    /// The work that the device does.
    pub task: Task,
}

impl GpuWork {
    /// Number of the peer that the device is opened with; `None` if the work needs no peer.
    pub fn peer(&self) -> Option<u32> {
        match &self.task {
            Task::Peer(peer) => Some(peer.number),
            _ => None,
        }
    }
}

/// Highest rate that a memory can reach.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RateLimit {
    /// Bytes per second.
    pub bytes_per_second: u64,
    /// Source of this figure.
    pub source: String,
}

impl RateLimit {
    /// Highest rate of the memory of a device; `None` if this rate is unknown.
    pub fn of_memory(facts: &GpuFacts) -> Option<Self> {
        let peak = facts.memory_peak()?;
        let [width, clock] = [&facts.bus_width.source, &facts.memory_clock.source];
        Some(Self {
            bytes_per_second: peak.0 as u64,
            source: format!("bus width x memory clock x 2 ({width}; {clock})"),
        })
    }
}

/// Kinds of work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// Passes of a streaming kernel over a working set.
    Stream(Layout),
    /// A pointer chase.
    Chase(Chase),
    /// Transfers between main memory and device.
    Copies(Copies),
    /// Copies to another device.
    Peer(Peer),
    /// Reads of the memory that the work-items of a work-group share.
    Local(Local),
    /// Atomic additions.
    Atomics(Atomics),
}

/// A pointer chase by one work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chase {
    /// Working set.
    pub bytes: Bytes,
    /// Distance between nodes.
    pub spacing: Bytes,
    /// Seed that determines the order of the nodes.
    pub seed: u64,
}

impl Chase {
    /// Distance between neighbouring nodes, in indices of 4 B.
    pub fn indices(&self) -> u32 {
        (self.spacing.0 / 4).max(1) as u32
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        let nodes = self.bytes.0 / self.spacing.0.max(4);
        u32::try_from(nodes).unwrap_or(u32::MAX)
    }
}

/// Transfers of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Copies {
    /// Direction of the transfers.
    pub direction: Direction,
    /// Kind of memory at the host's end.
    pub memory: HostMemory,
    /// Bytes of each transfer in each direction.
    pub bytes: Bytes,
}

/// Copies of one size to another device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Peer {
    /// Number of the other device.
    pub number: u32,
    /// Bytes of each copy.
    pub bytes: Bytes,
}

/// Times of a sample on two clocks, and the conditions of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuWindow {
    /// Time on the clock of the device. `None` for transfers, or if the driver does not report it.
    pub device: Option<Nanos>,
    /// Time on the clock of the host, from the submission to the end of the wait.
    pub host: Nanos,
    /// Conditions of the device after the sample.
    pub conditions: GpuConditions,
}

impl Copies {
    /// Bytes that a transfer moves, in both directions together if there are two.
    pub fn moved(&self) -> Bytes {
        Bytes(self.bytes.0 * self.ways())
    }

    /// Number of directions in which a transfer moves data: 1 or 2.
    pub fn ways(&self) -> u64 {
        match self.direction {
            Direction::ToDevice | Direction::ToHost => 1,
            Direction::Both => 2,
        }
    }
}

/// Reads of the memory that the work-items of a work-group share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Local {
    /// 64-bit lanes in a word.
    pub width: u32,
    /// Number of words that each group reads.
    pub words: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
}

impl Local {
    /// Divides `bytes`, which each work-group reads, among its work-items. `None` if `bytes` are
    /// too few for one iteration of a work-item, or too many.
    pub fn new(facts: &GpuFacts, bytes: Bytes) -> Option<Self> {
        let width = width(facts);
        let all = u32::try_from(bytes.0 / (u64::from(width) * 8)).ok()?;
        let Groups { groups, group_size } = Groups::usual(facts);
        let group_size = group_size.min(all / UNROLLED);
        let turn = group_size * UNROLLED;
        if turn == 0 || all >= 1 << 31 {
            return None;
        }
        Some(Self {
            width,
            words: all / turn * turn,
            groups,
            group_size,
        })
    }

    /// Number of accesses by each work-item in a pass over the words of its group.
    pub fn pass(&self) -> u32 {
        self.words / self.group_size
    }

    /// Bytes that all groups together load in `passes` passes.
    pub fn moved(&self, passes: u32) -> u64 {
        let words = u64::from(self.words) * u64::from(self.groups);
        words * u64::from(self.width) * 8 * u64::from(passes)
    }
}

/// Atomic additions of 1 by all work-items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Atomics {
    /// True if all work-items add to one counter. False if each work-item has a counter in a cache
    /// line of its own.
    pub shared: bool,
    /// Distance between separate counters, in units of 4 B.
    pub stride: u32,
    /// Work-groups.
    pub groups: u32,
    /// Work-items in each group.
    pub group_size: u32,
}

impl Atomics {
    /// Bytes of all counters.
    pub fn bytes(&self) -> Bytes {
        Bytes(self.counts(GpuBuffer(0), 0).bytes())
    }

    /// The call that adds to the counters in `buffer`. Each work-item makes `accesses` additions.
    pub fn counts(&self, buffer: GpuBuffer, accesses: u32) -> Count {
        Count {
            counters: buffer,
            stride: if self.shared { 0 } else { self.stride },
            groups: self.groups,
            group_size: self.group_size,
            accesses,
        }
    }

    /// Number of work-items.
    pub fn items(&self) -> u64 {
        u64::from(self.groups) * u64::from(self.group_size)
    }
}
