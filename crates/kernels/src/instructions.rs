//! Kernels that time single instructions. Throughput is the number of instructions that a core
//! executes per clock cycle. Latency is the time until the next instruction can use the result of
//! an instruction.

use super::abi::kernel_fn;
use super::native;
use super::row::lacks;
use assembly::{Instruction, Timing};

/// Bytes of scratch memory for loads, stores and pushes of instruction kernels.
const SCRATCH_BYTES: usize = 4096;

/// Arguments of instruction kernels. The assembly in the crate `assembly` names these fields.
#[repr(C)]
#[derive(Debug)]
pub(super) struct InstructionCall {
    /// Iterations of the loop, at least 1.
    pub iterations: usize,
    /// Address of `SCRATCH_BYTES` bytes, aligned to 64.
    pub scratch: usize,
}

/// The machine code of one instruction kernel.
pub(super) type InstructionCode = kernel_fn!(&mut InstructionCall);

/// Entry of an architecture's table for one instruction and one timing.
#[derive(Debug, Clone, Copy)]
#[allow(dead_code, reason = "not every architecture has rows of every kind")]
pub(super) enum InstructionRow {
    /// Machine code, number of timed instructions per iteration of its loop, and the timed
    /// instruction as assembly text.
    Code(InstructionCode, u32, &'static str),
    /// A function that checks for required features, the name of these features, and the fields of
    /// `Code`.
    Needs(
        fn() -> bool,
        &'static str,
        InstructionCode,
        u32,
        &'static str,
    ),
    /// Reason why there is no kernel.
    Unsupported(&'static str),
}

/// An instruction kernel in a list. This processor may be unable to execute it.
#[derive(Debug, Clone, Copy)]
pub struct ListedInstruction {
    /// The instruction.
    pub instruction: Instruction,
    /// Whether throughput or latency is timed.
    pub timing: Timing,
    row: InstructionRow,
}

/// Every instruction of this architecture with both timings.
pub fn all_instructions() -> Vec<ListedInstruction> {
    let rows = |instruction: Instruction| {
        let [throughput, latency] = native::INSTRUCTIONS[instruction as usize];
        [(Timing::Throughput, throughput), (Timing::Latency, latency)].map(|(timing, row)| {
            ListedInstruction {
                instruction,
                timing,
                row,
            }
        })
    };
    Instruction::ALL.into_iter().flat_map(rows).collect()
}

/// The kernel for `instruction` with `timing`. The error is the reason why none can run here.
pub fn instruction(instruction: Instruction, timing: Timing) -> Result<InstructionKernel, String> {
    let [throughput, latency] = native::INSTRUCTIONS[instruction as usize];
    let row = if timing == Timing::Throughput {
        throughput
    } else {
        latency
    };
    ListedInstruction {
        instruction,
        timing,
        row,
    }
    .kernel()
}

impl ListedInstruction {
    /// Name in lists and reports: `add/latency`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.instruction, self.timing)
    }

    /// The instruction as assembly text of this architecture; `None` for an unsupported row.
    pub fn assembly(&self) -> Option<&'static str> {
        match self.row {
            InstructionRow::Code(_, _, text) | InstructionRow::Needs(_, _, _, _, text) => {
                Some(text)
            }
            InstructionRow::Unsupported(_) => None,
        }
    }

    /// Features that the processor and the system must support, in words; empty if the baseline
    /// suffices.
    pub fn needs(&self) -> &'static str {
        if let InstructionRow::Needs(_, needs, ..) = self.row {
            needs
        } else {
            ""
        }
    }

    /// Reason why the architecture has no such kernel; `None` if it has one.
    pub fn unsupported(&self) -> Option<&'static str> {
        if let InstructionRow::Unsupported(reason) = self.row {
            Some(reason)
        } else {
            None
        }
    }

    /// The machine code; `None` for an unsupported row.
    pub fn code(&self) -> Option<Vec<u8>> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::body_of(self.address()?) }
    }

    /// Digest of the machine code; `None` for an unsupported row.
    pub fn digest(&self) -> Option<String> {
        // SAFETY: a row's code is a kernel.
        unsafe { super::digest::digest_of(self.address()?) }
    }

    /// Address of the machine code; `None` for an unsupported row.
    pub(super) fn address(&self) -> Option<*const u8> {
        match self.row {
            InstructionRow::Code(code, ..) | InstructionRow::Needs(_, _, code, ..) => {
                Some(code as *const u8)
            }
            InstructionRow::Unsupported(_) => None,
        }
    }

    /// The kernel. The error is the reason why it cannot run here.
    pub fn kernel(&self) -> Result<InstructionKernel, String> {
        let listed = *self;
        match self.row {
            InstructionRow::Code(code, per_iteration, _) => Ok(InstructionKernel {
                listed,
                code,
                per_iteration,
            }),
            InstructionRow::Needs(present, _, code, per_iteration, _) if present() => {
                Ok(InstructionKernel {
                    listed,
                    code,
                    per_iteration,
                })
            }
            InstructionRow::Needs(_, needs, ..) => Err(lacks(needs)),
            InstructionRow::Unsupported(reason) => Err(reason.to_owned()),
        }
    }
}

/// An instruction kernel that this processor and operating system can run.
#[derive(Debug, Clone, Copy)]
pub struct InstructionKernel {
    listed: ListedInstruction,
    code: InstructionCode,
    per_iteration: u32,
}

/// Scratch memory that instruction kernels load and store.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct Scratch([u8; SCRATCH_BYTES]);

impl Scratch {
    /// Scratch memory filled with zeros.
    pub fn new() -> Box<Self> {
        Box::new(Self([0; SCRATCH_BYTES]))
    }
}

impl InstructionKernel {
    /// Name in lists and reports: `add/latency`.
    pub fn name(&self) -> String {
        self.listed.name()
    }

    /// Digest of the machine code.
    pub fn digest(&self) -> Option<String> {
        self.listed.digest()
    }

    /// Number of timed instructions in one iteration of the loop.
    pub fn per_iteration(&self) -> u64 {
        u64::from(self.per_iteration)
    }

    /// Executes `iterations` iterations of the kernel's loop. The body of this call is timed.
    pub fn run(&self, scratch: &mut Scratch, iterations: u64) {
        let mut left = iterations;
        while left > 0 {
            let part = usize::try_from(left).unwrap_or(usize::MAX);
            let mut call = InstructionCall {
                iterations: part,
                scratch: scratch.0.as_mut_ptr() as usize,
            };
            // SAFETY: the code touches its own stack and the scratch memory, which is borrowed and
            // has the expected size and alignment. `kernel` found that its instructions can be
            // executed. `iterations` is at least 1.
            unsafe { (self.code)(&mut call) };
            left -= part as u64;
        }
    }
}
