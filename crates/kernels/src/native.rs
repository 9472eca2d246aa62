//! The kernels of the target's family of instruction sets, as the crate `assembly` writes them: a
//! naked function for each, and the tables that name them.

use crate::abi::kernel_fn;
use crate::chase::{ChaseCall, ChaseCode};
use crate::features;
use crate::handoff::{HandOffCall, HandOffRows};
use crate::instructions::{InstructionCall, InstructionRow};
use crate::locks::{LockCall, LockSet};
use crate::row::Row;
use crate::sets::{Bits, Set, SetId};
use crate::stream_call::StreamCall;
use assembly::{Instruction, MAX_WALKERS};
use core::mem::offset_of;

include!(concat!(env!("OUT_DIR"), "/kernels.rs"));

// Chases of some architectures read the positions from the start of the call on.
const _: () = assert!(offset_of!(ChaseCall, positions) == 0);
