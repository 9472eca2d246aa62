//! How a launcher of many processes started this one.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Place of a process among the processes that a launcher started. Facts that the launcher does not
/// report are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct Launch {
    /// The launcher: `slurm`, `openmpi`, `mpich`, `pmix`, `kubernetes`.
    pub launcher: String,
    /// Name of the node as the launcher knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Number or name of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Number of this process in the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u64>,
    /// Number of processes of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u64>,
    /// Number of this process on its node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_rank: Option<u64>,
    /// Number of processes of the job on this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local_ranks: Option<u64>,
    /// True if all processes of the job on this node measured at the same time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub all_ranks: bool,
}
