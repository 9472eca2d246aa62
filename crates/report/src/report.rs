//! The report: one JSON document with everything about a session.

use super::{Coordinate, Dataset, Health, HostFacts, Launch, Point, ReportVerdict, VerdictGrade};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use units::{Bytes, Hertz, Nanos};

/// Version of the report's schema. The version rises when programs that know only the old version
/// would misread new reports.
pub const SCHEMA_VERSION: u32 = 3;

/// A session and its results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Report {
    /// Version of this schema.
    pub schema_version: u32,
    /// Whether everything planned was measured.
    pub status: RunStatus,
    /// Verdict on the whole report.
    pub verdict: ReportVerdict,
    /// How to repeat the session, and the machine that it ran on.
    pub provenance: Provenance,
    /// The plan, and the time that it really took.
    pub plan: PlanSummary,
    /// Points, by experiment and quantity.
    pub datasets: Vec<Dataset>,
    /// Sentences about the results.
    pub findings: Vec<Finding>,
    /// Health of the machine; left out unless `memgauge health` made the report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RunStatus {
    /// Every point has an outcome that the plan foresaw.
    Complete,
    /// Some points failed.
    Partial,
    /// The session was ended from outside before all points were finished.
    Interrupted,
}

/// How to repeat a session, and the machine that it ran on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Provenance {
    /// The program that measured.
    pub tool: Tool,
    /// Arguments as typed, the program's name first.
    pub command_line: Vec<String>,
    /// Seed of every random choice, in decimal digits. The seed is a text, because not every JSON
    /// reader has numbers of 64 bits.
    pub seed: String,
    /// Start of the session, RFC 3339, UTC.
    pub started: String,
    /// End of the session, RFC 3339, UTC.
    pub finished: String,
    /// Times of continuations with `--resume`, RFC 3339, UTC; left out if the session was never
    /// continued.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed: Vec<String>,
    /// Launcher of the process, and position of the process in its job; left out if there was no
    /// launcher.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch: Option<Launch>,
    /// Kernels that were used.
    pub kernels: Vec<KernelUsed>,
    /// The clock that timed every figure.
    pub clock: ClockFacts,
    /// The machine.
    pub host: HostFacts,
    /// Parts that `report --share` left out; present in shared reports only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<Withheld>,
}

/// A part that a shared report does not have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Withheld {
    /// The part: `host name`.
    pub part: String,
    /// The reason, in a few words: `private`.
    pub reason: String,
}

impl Provenance {
    /// Provenance of a table that the program `tool` wrote. A table has no facts about its session.
    /// `why` becomes the source of each unknown fact.
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
            launch: None,
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
            withheld: Vec::new(),
        }
    }

    /// True if the report was made for other people, without the parts that identify who measured.
    pub fn is_shared(&self) -> bool {
        !self.withheld.is_empty()
    }

    /// True if the report was read from a table, which has no facts about its session.
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
    /// Version of the program.
    pub version: String,
    /// Whether instructions ran natively or emulated, or the session was simulated.
    pub machine: String,
}

/// A kernel that was used. Kernels with equal digests have the same instructions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct KernelUsed {
    /// Name in `memgauge list kernels`.
    pub name: String,
    /// Digest of its machine code; `null` if this program does not know that code.
    pub digest: Option<String>,
    /// The C library whose functions the kernel calls; `null` for all other kernels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c_library: Option<String>,
}

impl KernelUsed {
    /// Identifies the code of the kernel: its digest, or the name of its C library. `None` if
    /// neither is known.
    pub fn code(&self) -> Option<&str> {
        self.digest.as_deref().or(self.c_library.as_deref())
    }
}

/// The clock that timed every figure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ClockFacts {
    /// The counter: `tsc`, `cntvct`, `monotonic`, `simulated`.
    pub counter: String,
    /// Rate of the counter, calibrated against the monotonic clock; `null` if another tool's report
    /// lacks it.
    pub rate: Option<Hertz>,
    /// Relative difference between two independent calibrations; `null` if the rate is `null`.
    pub error: Option<f64>,
    /// Smallest step seen between two readings; `null` if the rate is `null`.
    pub resolution: Option<Nanos>,
    /// Time that one reading takes; `null` if the rate is `null`.
    pub overhead: Option<Nanos>,
    /// Core clock at the start, measured with dependent additions; `null` if unknown.
    pub core: Option<Hertz>,
}

/// The plan, and the time that it really took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PlanSummary {
    /// Name of the profile, or of the single experiment.
    pub profile: String,
    /// Time that the user allows.
    pub budget: Nanos,
    /// Time that the plan was expected to take.
    pub planned: Nanos,
    /// Time that the session took; `null` while it is under way.
    pub real: Option<Nanos>,
    /// Memory that the plan maps.
    pub memory: Bytes,
    /// Number of planned points.
    pub points: u64,
    /// Parts that were shortened or left out to fit budget and memory, in words.
    pub shortened: Vec<String>,
    /// Phases that were drafted from measured points, in the order of the session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<DraftedPhase>,
}

impl PlanSummary {
    /// Numbers of the points that follow-ups drafted.
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

/// A phase whose points were drafted from the results of earlier phases. A continued session drafts
/// the same points again (docs/method/phases.md).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct DraftedPhase {
    /// The phase.
    pub phase: PhaseId,
    /// Effective capacity of all last-level caches together. From this phase on, the sizes of
    /// working sets in memory depend on this capacity. Left out if they depend on the cache sizes
    /// that the system reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_level: Option<Bytes>,
    /// Text of the finding about that capacity; left out if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finding: Option<String>,
    /// Largest number of points of each experiment in the phase; left out if the phase is no
    /// follow-up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rooms: Vec<PhaseRoom>,
    /// Numbers of the points that are new, or whose coordinates changed since the plan.
    pub points: Vec<u64>,
}

/// Limit on the number of points of an experiment in a follow-up.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PhaseRoom {
    /// Name of the experiment.
    pub experiment: String,
    /// The repetition whose points are limited; left out if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Coordinate>,
    /// Largest number of points.
    pub points: u64,
}

/// Identity of a phase. Phases that size memory come before all others; a follow-up comes after the
/// points that it follows.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct PhaseId {
    /// True if the results of this phase determine the memory sizes of the other phases.
    pub sizes_memory: bool,
    /// Number of the follow-up that drafts the phase, from 0; left out of a phase that is drafted
    /// when the session is planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follow_up: Option<u64>,
}

/// A sentence about the results, as trustworthy as the points that it rests on.
///
/// The last two fields are private, so that each finding is made together with its points.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Finding {
    /// Stable name of the kind of finding: `page-walk-cost`.
    pub kind: String,
    /// The text, a sentence.
    pub text: String,
    /// Numbers in the text by name, in base units.
    pub values: BTreeMap<String, f64>,
    /// Grade of the points that the finding rests on; left out if it rests on none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trust: Option<VerdictGrade>,
    /// Numbers of these points, in rising order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    points: Vec<u64>,
}

impl Finding {
    /// A finding about the machine or the session that depends on no measured value.
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

    /// Adds `values`, the numbers in the text by name.
    pub fn with(mut self, values: BTreeMap<String, f64>) -> Self {
        self.values = values;
        self
    }

    /// A finding that is wrong if one of `points` is wrong. Its grade is that of the worst point.
    /// `None` if `points` is empty or one of them is not usable ([`Point::usable`]).
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

    /// A finding that many of `points` show together. A single point matters little. The grade is
    /// the median grade of the usable points ([`Point::usable`]). `None` if no point is usable.
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

    /// Grade of the points that the finding depends on; `None` if it depends on none.
    pub fn trust(&self) -> Option<VerdictGrade> {
        self.trust
    }

    /// Numbers of the points that the finding depends on, in rising order.
    pub fn points(&self) -> &[u64] {
        &self.points
    }

    /// True if the grade of the finding's points is below solid. A reader must then be warned.
    pub fn is_doubtful(&self) -> bool {
        self.trust.is_some_and(|trust| trust > VerdictGrade::Solid)
    }
}

/// Numbers of `points`, each once, in rising order.
fn numbers(points: &[&Point]) -> Vec<u64> {
    let numbers: BTreeSet<u64> = points.iter().map(|point| point.id).collect();
    numbers.into_iter().collect()
}
