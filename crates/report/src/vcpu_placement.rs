//! The cores on which a hypervisor ran two virtual CPUs, and the figures of a point for each of
//! these placements.

use super::relation::Relation;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Nearest resource that two vCPUs shared, concluded from the round trip of a cache line. Variants
/// are in order, nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum VcpuPlacement {
    /// Two hardware threads of one core.
    SameCore,
    /// Two cores with a common cache.
    SharedCache,
    /// Two cores of one package without a common cache.
    SamePackage,
    /// Two packages.
    OtherPackage,
}

impl VcpuPlacement {
    /// The placement that `relation` in the topology promises; `None` if the relation is unknown.
    pub fn promised(relation: Relation) -> Option<Self> {
        match relation {
            Relation::SameCore => Some(Self::SameCore),
            Relation::SharedCache(_) => Some(Self::SharedCache),
            Relation::SamePackage => Some(Self::SamePackage),
            Relation::CrossPackage => Some(Self::OtherPackage),
            Relation::Unknown => None,
        }
    }

    /// Phrase about the placement. It follows two CPUs or threads in a sentence.
    pub fn phrase(self) -> &'static str {
        match self {
            Self::SameCore => "on one core",
            Self::SharedCache => "with a shared cache",
            Self::SamePackage => "without a shared cache",
            Self::OtherPackage => "on two packages",
        }
    }
}

impl fmt::Display for VcpuPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::SameCore => "same-core",
            Self::SharedCache => "shared-cache",
            Self::SamePackage => "same-package",
            Self::OtherPackage => "other-package",
        })
    }
}

/// The rounds of a point in which the vCPUs had one placement.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PlacementStratum {
    /// The placement.
    pub placement: VcpuPlacement,
    /// Rounds with this placement as a share of the rounds whose placement is known.
    pub share: f64,
    /// Number of these rounds.
    pub rounds: u64,
    /// Median round trip of a cache line between the two CPUs in these rounds, in ns.
    pub round_trip_ns: f64,
    /// Number of undisturbed samples.
    pub samples: u64,
    /// Median of the undisturbed samples, in the dataset's unit; `null` without any.
    pub median: Option<f64>,
    /// Lower end of the 95% confidence interval of that median.
    pub ci_low: Option<f64>,
    /// Upper end of the 95% confidence interval of that median.
    pub ci_high: Option<f64>,
    /// Probability that the interval contains the true median; below 0.95 with fewer than six
    /// rounds.
    pub confidence: Option<f64>,
}

/// Round trips of a cache line between vCPUs, read before and after each round of a point. A
/// hypervisor that does not pin its vCPUs moves them between cores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct VcpuPlacementEvidence {
    /// The two CPUs with the shortest round trip.
    pub cpus: [u32; 2],
    /// Number of rounds with a reading.
    pub rounds: u64,
    /// Number of rounds whose placement changed between begin and end. The summary leaves their
    /// samples out.
    pub moved_rounds: u64,
    /// Figures by placement. The placement of the summary comes first, the others in falling
    /// frequency.
    pub strata: Vec<PlacementStratum>,
}

impl VcpuPlacementEvidence {
    /// The figures of the placement that the summary uses; `None` if no placement was measured.
    pub fn headline(&self) -> Option<&PlacementStratum> {
        self.strata.first()
    }
}
