//! Every kind of work as data, the memory that it needs, and what is invalid about
//! it.

mod background;
mod external;
mod kind;
mod memory_plan;
mod slots;

pub use background::{LoadedWork, Probe, Traffic};
pub use external::{External, ExternalFigures, ExternalWindow, ExternalWork};
pub use kind::{
    ChainShape, ChaseWork, HandOffWork, InstructionWork, LockWork, StreamWork, TableOrder, Work,
};
pub use memory_plan::{
    MemoryKey, MemoryPlan, MemoryUse, chain_key, lacking_pages, traffic_key, traffic_memory,
};
pub use slots::{page_bytes, share_of, slot};

/// Why a work cannot be run, whichever machine is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid(pub String);
