//! How long does an instruction of each kind take on average, and how long is its latency?
//!
//! Method and limits: docs/method/instructions.md.

use crate::command::{CommandSettings, Effects};
use crate::coordinates::{coordinates, name, number};
use crate::cpus::chosen_cpus;
use crate::experiment::{Bound, Detail, Draft, Experiment, Scope, axis};
use crate::lists::{Instructions, Timings};
use engine::{InstructionWork, Work};
use kernels::{ListedInstruction, Timing, all_instructions};
use report::{Axis, Dataset, Finding, Quantity};
use units::CpuList;
use units::error::Result;

/// Instructions to time, and the CPUs.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Settings {
    /// Instructions by name; `memgauge list kernels` has all of them [default: all that this
    /// architecture has]
    #[arg(long, value_name = "LIST")]
    pub ops: Option<Instructions>,

    /// Timing: throughput (independent instructions), latency (each waits for the one before)
    #[arg(long, value_name = "LIST", default_value = "throughput,latency")]
    pub timing: Timings,

    /// CPUs to time them on, one after another [default: the first that is allowed]
    #[arg(long, value_name = "LIST", alias = "cpu")]
    pub cpus: Option<CpuList>,
}

impl Effects for Settings {}

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        vec![Box::new(InstructionTimes::new(self))]
    }
}

/// The experiment `instructions`.
#[derive(Debug, Clone)]
pub struct InstructionTimes {
    settings: Settings,
}

impl InstructionTimes {
    /// The experiment with these settings.
    pub fn new(settings: Settings) -> Self {
        Self { settings }
    }

    /// The experiment as part of a profile.
    pub fn in_profile(_detail: Detail) -> Self {
        let timing = Timings(vec![Timing::Throughput, Timing::Latency]);
        Self::new(Settings {
            ops: None,
            timing,
            cpus: None,
        })
    }

    /// True if the timing and the instruction of `listed` were requested. If no instructions were
    /// requested, all instructions of this architecture are wanted.
    fn wanted(&self, listed: &ListedInstruction) -> bool {
        let timed = self.settings.timing.0.contains(&listed.timing);
        let named = match &self.settings.ops {
            Some(names) => names.0.contains(&listed.instruction),
            None => listed.unsupported().is_none(),
        };
        timed && named
    }
}

impl Experiment for InstructionTimes {
    fn name(&self) -> &'static str {
        "instructions"
    }

    fn quantity(&self) -> Quantity {
        Quantity {
            name: "time per instruction".to_owned(),
            unit: "ns".to_owned(),
            higher_is_better: false,
        }
    }

    fn axes(&self) -> Vec<Axis> {
        ["group", "operation", "timing", "assembly", "cpu"]
            .map(axis)
            .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let mut drafts = Vec::new();
        for cpu in chosen_cpus(self.settings.cpus.as_ref(), "--cpus", scope)? {
            for listed in all_instructions()
                .iter()
                .filter(|listed| self.wanted(listed))
            {
                scope.room_for(drafts.len() + 1)?;
                let coordinates = coordinates([
                    ("group", name(listed.instruction.group())),
                    ("operation", name(listed.instruction.name())),
                    ("timing", name(listed.timing)),
                    ("assembly", name(listed.assembly().unwrap_or("-"))),
                    ("kernel", name(listed.name())),
                    ("cpu", number(cpu)),
                ]);
                let work = Work::Instruction(InstructionWork {
                    instruction: listed.instruction,
                    timing: listed.timing,
                    cpu,
                });
                let work = scope.runnable(work);
                drafts.push(Draft {
                    coordinates,
                    work,
                    bound: Bound::Unknown,
                    drop_priority: 2,
                });
            }
        }
        Ok(drafts)
    }

    fn findings(&self, _dataset: &Dataset) -> Vec<Finding> {
        Vec::new()
    }
}
