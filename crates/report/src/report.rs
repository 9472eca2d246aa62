//! The report: one JSON document that holds everything about a run.

use super::{Coordinate, Dataset, HostFacts, Point, ReportVerdict, VerdictGrade};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Hertz, Nanos};

/// Version of the report's schema; rises when a reader of the old one would misread the new one.
pub const SCHEMA_VERSION: u32 = 3;

/// A run and all that came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Report {
    /// Version of this schema.
    pub schema_version: u32,
    /// Whether everything planned was measured.
    pub status: RunStatus,
    /// How far the numbers can be trusted, all together.
    pub verdict: ReportVerdict,
    /// How to repeat the run and what it ran on.
    pub provenance: Provenance,
    /// The plan, and the time that it really took.
    pub plan: PlanSummary,
    /// The points, by experiment and quantity.
    pub datasets: Vec<Dataset>,
    /// Findings.
    pub findings: Vec<Finding>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Every point has an outcome that the plan foresaw.
    Complete,
    /// Some points failed.
    Partial,
    /// The run was ended from outside before all points were done.
    Interrupted,
}

/// How to repeat a run and what it ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Provenance {
    /// The program.
    pub tool: Tool,
    /// Arguments as typed, the program's name first.
    pub command_line: Vec<String>,
    /// Seed of every random choice, in decimal digits (64 bits do not fit every JSON reader's
    /// numbers).
    pub seed: String,
    /// Start of the run, RFC 3339, UTC.
    pub started: String,
    /// End of the run, RFC 3339, UTC.
    pub finished: String,
    /// When it was continued with `--resume`, RFC 3339, UTC; left out of a run in one piece.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// The kernels that were used.
    pub kernels: Vec<KernelUsed>,
    /// The clock.
    pub clock: ClockFacts,
    /// The machine.
    pub host: HostFacts,
}

impl Provenance {
    /// The provenance of a table by the program called `tool`, which says nothing of its run; `why`
    /// is what is said of every fact.
    pub(super) fn unknown(tool: &str, why: &str) -> Self {
        Provenance {
            tool: Tool {
                name: tool.to_owned(),
                version: why.to_owned(),
                machine: "native".to_owned(),
            },
            command_line: vec![tool.to_owned()],
            seed: why.to_owned(),
            started: why.to_owned(),
            finished: why.to_owned(),
            resumed: Vec::new(),
            kernels: Vec::new(),
            clock: ClockFacts {
                counter: why.to_owned(),
                rate: None,
                error: None,
                resolution: None,
                overhead: None,
                core: None,
            },
            host: HostFacts::unknown(why),
        }
    }

    /// Whether this is the provenance of a table, which says nothing of its run.
    pub fn is_unknown(&self) -> bool {
        self.clock.rate.is_none()
    }
}

/// The program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tool {
    /// `memgauge`.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Whether instructions ran natively, or where the run was simulated.
    pub machine: String,
}

/// A kernel that was used: equal digests mean the same instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KernelUsed {
    /// Its name in `memgauge list kernels`.
    pub name: String,
    /// Digest of its machine code.
    pub digest: Option<String>,
}

/// The clock behind every figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClockFacts {
    /// The counter: `tsc`, `cntvct`, `monotonic`, `simulated`.
    pub counter: String,
    /// Its rate, calibrated against the monotonic clock; `null` where the report is of another tool
    /// that does not tell.
    pub rate: Option<Hertz>,
    /// Relative difference between two independent calibrations; `null` likewise.
    pub error: Option<f64>,
    /// Smallest step seen between two readings; `null` likewise.
    pub resolution: Option<Nanos>,
    /// Cost of one reading; `null` likewise.
    pub overhead: Option<Nanos>,
    /// Core clock at the start, from dependent additions; `null` where it could not be established.
    pub core: Option<Hertz>,
}

/// The plan, and the time that it really took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PlanSummary {
    /// Name of the profile, or of the single experiment.
    pub profile: String,
    /// Time allowed.
    pub budget: Nanos,
    /// Time that the plan was expected to take.
    pub planned: Nanos,
    /// Time that it took; `null` while the run is under way.
    pub real: Option<Nanos>,
    /// Memory that the plan maps.
    pub memory: Bytes,
    /// Points planned.
    pub points: u64,
    /// Parts that were shortened or left out to stay inside budget and memory, in words.
    pub shortened: Vec<String>,
    /// The phases that were drafted from measured points, in the order of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<DraftedPhase>,
}

impl PlanSummary {
    /// The numbers of the points that follow-ups drafted.
    pub fn follow_up_points(&self) -> BTreeSet<u64> {
        let follow_ups = self
            .phases
            .iter()
            .filter(|phase| phase.phase.follow_up.is_some());
        follow_ups
            .flat_map(|phase| phase.points.iter().copied())
            .collect()
    }
}

/// A phase whose points were drafted from what the phases before it measured. A session that is
/// continued drafts the same points again (docs/method/phases.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DraftedPhase {
    /// The phase.
    pub phase: PhaseId,
    /// Size of all last-level caches together that sizes memory from this phase on, as timing shows
    /// it; left out where memory is sized by what the system reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_level: Option<Bytes>,
    /// The finding about that size; left out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// The room that there was for points; left out where the phase is no follow-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rooms: Vec<PhaseRoom>,
    /// The numbers of the points that are new or lie elsewhere than was planned.
    pub points: Vec<u64>,
}

/// Room for points of an experiment in a follow-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PhaseRoom {
    /// Name of the experiment.
    pub experiment: String,
    /// The repeat; left out where there is one only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Coordinate>,
    /// Number of points, at most.
    pub points: u64,
}

/// A phase by what drafts it. Phases that size memory come before all others, and follow-ups after
/// the points that they follow.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PhaseId {
    /// Whether the other phases size memory by what its points show.
    pub sizes_memory: bool,
    /// Number of the follow-up that drafts it, from 0; left out of a phase that is drafted when the
    /// session is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<u64>,
}

/// Something about the results that is worth a sentence. It is as sure as the points that it rests
/// on.
///
/// The last two fields are private: whoever makes a finding has to say which points it rests on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// Stable name of the kind of finding, `page-walk-cost`.
    pub kind: String,
    /// The sentence.
    pub text: String,
    /// The numbers in it, by name, in base units.
    pub values: BTreeMap<String, f64>,
    /// How far the points that it rests on can be trusted; left out of a finding that rests on
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trust: Option<VerdictGrade>,
    /// The numbers of these points, in rising order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    points: Vec<u64>,
}

impl Finding {
    /// A sentence about the machine or the run, which rests on no measured value.
    pub fn note(kind: &str, text: String) -> Self {
        let values = BTreeMap::new();
        Self {
            kind: kind.to_owned(),
            text,
            values,
            trust: None,
            points: Vec::new(),
        }
    }

    /// The same with the numbers in it.
    pub fn with(mut self, values: BTreeMap<String, f64>) -> Self {
        self.values = values;
        self
    }

    /// A finding that is wrong if one of `points` is: it is as doubtful as the worst of them.
    /// `None` where one of them can carry no finding ([`Point::usable`]) and where there are none.
    pub fn resting_on<'a>(
        points: impl IntoIterator<Item = &'a Point>,
        kind: &str,
        text: String,
    ) -> Option<Self> {
        let points: Vec<&Point> = points.into_iter().collect();
        let grades = points
            .iter()
            .map(|point| Some(point.usable()?.verdict.grade));
        let trust = grades
            .collect::<Option<Vec<VerdictGrade>>>()?
            .into_iter()
            .max()?;
        Some(Self {
            trust: Some(trust),
            points: numbers(&points),
            ..Self::note(kind, text)
        })
    }

    /// A finding that many of `points` show together, so that a single one of them matters little:
    /// it is doubtful where half of them are. Points that can carry no finding ([`Point::usable`])
    /// do not count; `None` where no other is left.
    pub fn shown_by<'a>(
        points: impl IntoIterator<Item = &'a Point>,
        kind: &str,
        text: String,
    ) -> Option<Self> {
        let points: Vec<&Point> = points
            .into_iter()
            .filter(|point| point.usable().is_some())
            .collect();
        let mut grades: Vec<VerdictGrade> = points
            .iter()
            .filter_map(|point| Some(point.usable()?.verdict.grade))
            .collect();
        grades.sort_unstable();
        let trust = *grades.get(grades.len() / 2)?;
        Some(Self {
            trust: Some(trust),
            points: numbers(&points),
            ..Self::note(kind, text)
        })
    }

    /// How far the points that it rests on can be trusted; `None` where it rests on none.
    pub fn trust(&self) -> Option<VerdictGrade> {
        self.trust
    }

    /// The numbers of the points that it rests on, in rising order.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// Whether a reader has to be told that its points are doubtful.
    pub fn is_doubtful(&self) -> bool {
        self.trust.is_some_and(|trust| trust > VerdictGrade::Solid)
    }
}

/// The numbers of `points`, each once.
fn numbers(points: &[&Point]) -> Vec<u64> {
    let numbers: BTreeSet<u64> = points.iter().map(|point| point.id).collect();
    numbers.into_iter().collect()
}
