//! Includes the kernels of the target's architecture that the crate `assembly` writes: a naked
//! function for each kernel, and the tables of these functions.

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

// The chase kernels of some architectures expect the positions at the start of the call.
const _: () = assert!(offset_of!(ChaseCall, positions) == 0);
