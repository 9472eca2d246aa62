//! How a launcher of many processes started this one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Launcher of this process, and position of the process in its job. A job is all processes that a
/// launcher started together. Facts that the launcher does not report are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Launch {
    /// The launcher: `slurm`, `openmpi`, `mpich`, `pmix`, `kubernetes`.
    pub launcher: String,
    /// Name of the node as the launcher knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Id of the job from the launcher: a number or a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Rank of this process among all processes of the job, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Size of the job, in processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u64>,
    /// Rank of this process among the processes of the job on its node, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_rank: Option<u64>,
    /// Number of processes of the job on this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_ranks: Option<u64>,
    /// True if all processes of the job on this node measured at the same time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_ranks: bool,
}
