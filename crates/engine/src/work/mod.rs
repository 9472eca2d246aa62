//! Every kind of work as data, its memory, and the reasons why a work is invalid.

mod background;
mod chase;
mod external;
mod invalid;
mod kind;
mod memory_plan;
mod on_core;
mod slots;
mod stream;

pub use background::{LoadedWork, Probe, Traffic};
pub use chase::{ChainShape, ChaseWork};
pub use external::{External, ExternalFigures, ExternalWindow, ExternalWork};
pub use invalid::Invalid;
pub use kind::Work;
pub use memory_plan::{
    MemoryKey, MemoryPlan, MemoryUse, chain_key, lacking_pages, traffic_key, traffic_memory,
};
pub use on_core::{HandOffWork, InstructionWork, LockWork};
pub use slots::{page_bytes, share_of, slot};
pub use stream::{StreamWork, TableOrder};
