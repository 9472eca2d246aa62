//! Placement of virtual CPUs (vCPUs): how near to each other the cores are on which a hypervisor
//! ran them. Points have figures for each placement.

use super::relation::Relation;
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Nearest resource that two vCPUs shared, concluded from the time of a cache line's round trip
/// between them. Variants are in order, the nearest resource first.
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
    /// The placement of two CPUs with this `relation`, if the topology that the system reports is
    /// true. `None` if the relation is unknown.
    pub fn promised(relation: Relation) -> Option<Self> {
        match relation {
            Relation::SameCore => Some(Self::SameCore),
            Relation::SharedCache(_) => Some(Self::SharedCache),
            Relation::SamePackage => Some(Self::SamePackage),
            Relation::CrossPackage => Some(Self::OtherPackage),
            Relation::Unknown => None,
        }
    }

    /// Phrase about the placement. It follows the names of two CPUs or threads in a sentence.
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
    /// Number of rounds with this placement.
    pub rounds: u64,
    /// Median round trip of a cache line between the two CPUs in these rounds, in ns.
    pub round_trip_ns: f64,
    /// Number of undisturbed samples in these rounds.
    pub samples: u64,
    /// Median of these samples, in the dataset's unit; `null` if there are none.
    pub median: Option<f64>,
    /// Lower end of the 95% confidence interval of that median.
    pub ci_low: Option<f64>,
    /// Upper end of the 95% confidence interval of that median.
    pub ci_high: Option<f64>,
    /// Probability that the interval contains the true median; below 0.95 with fewer than six
    /// rounds.
    pub confidence: Option<f64>,
}

/// Placement of the vCPUs in each round of a point. It is concluded from the round trip of a cache
/// line between vCPUs, which is timed before and after the round. A hypervisor that does not pin
/// its vCPUs moves them between cores.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(default)]
pub struct VcpuPlacementEvidence {
    /// The two CPUs of the point with the shortest round trip between them.
    pub cpus: [u32; 2],
    /// Number of rounds in which round trips were timed.
    pub rounds: u64,
    /// Number of rounds whose placement changed between begin and end. The summary leaves their
    /// samples out.
    pub moved_rounds: u64,
    /// Figures of the point for each placement. The first placement is the one that the summary of
    /// the point uses. The others follow, the most frequent first.
    pub strata: Vec<PlacementStratum>,
}

impl VcpuPlacementEvidence {
    /// The figures of the placement that the summary uses; `None` if no placement was measured.
    pub fn headline(&self) -> Option<&PlacementStratum> {
        self.strata.first()
    }
}
