//! Work on a device: pure data.

use crate::layout::Layout;
use host::gpu::{Direction, HostMemory};
use units::{Bytes, Nanos};

/// Work on one device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GpuWork {
    /// Number of the device.
    pub device: u32,
    /// The CPU whose thread hands the work to the driver.
    pub cpu: u32,
    /// The work itself.
    pub task: Task,
}

/// Kinds of work.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// A streaming kernel.
    Stream(Layout),
    /// A pointer chase.
    Chase(Chase),
    /// Transfers between main memory and device.
    Copies(Copies),
}

/// A pointer chase by one work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Chase {
    /// Working set.
    pub bytes: Bytes,
    /// Distance between nodes.
    pub spacing: Bytes,
    /// Chooses the order of the nodes.
    pub seed: u64,
}

impl Chase {
    /// Indices of 4 B between neighbouring nodes.
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
    /// Direction.
    pub direction: Direction,
    /// Memory at the host's end.
    pub memory: HostMemory,
    /// Bytes of each transfer and direction.
    pub bytes: Bytes,
}

/// A sample, by two clocks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GpuWindow {
    /// By the clock of the device; `None` if the driver does not say, and for transfers.
    pub device: Option<Nanos>,
    /// By the clock of the host, from the submission to the return of the wait.
    pub host: Nanos,
    /// Commands in the sample.
    pub commands: u32,
}

impl Copies {
    /// Bytes that a transfer moves: those of both directions, if there are two.
    pub fn moved(&self) -> Bytes {
        match self.direction {
            Direction::ToDevice | Direction::ToHost => self.bytes,
            Direction::Both => Bytes(self.bytes.0 * 2),
        }
    }
}
