//! Judgement on the histories of machines: data only.

use serde::Serialize;

/// A machine against its own history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryState {
    /// It became slower since the moment in question, beyond chance and the floor.
    Slower,
    /// It did not.
    NotSlower,
    /// Not judged: too few reports before that moment since its last change.
    ShortHistory,
    /// Not judged: no report since that moment.
    NoReport,
}

impl HistoryState {
    /// Every state, worst first.
    pub const ALL: [HistoryState; 4] = [
        HistoryState::Slower,
        HistoryState::NotSlower,
        HistoryState::ShortHistory,
        HistoryState::NoReport,
    ];

    /// `slower`, `not-slower`, `short-history` or `no-report`.
    pub fn word(self) -> &'static str {
        match self {
            HistoryState::Slower => "slower",
            HistoryState::NotSlower => "not-slower",
            HistoryState::ShortHistory => "short-history",
            HistoryState::NoReport => "no-report",
        }
    }
}

/// The largest change to slower of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeChange {
    /// Index in the quantities of the verdict.
    pub quantity: usize,
    /// Median of the reports before, in the quantity's unit.
    pub before: f64,
    /// Median of the reports after.
    pub after: f64,
    /// The median after divided by the median before.
    pub ratio: f64,
    /// The ratio that is common to its peers; 1 without peers.
    pub common_ratio: f64,
    /// Distance from the common ratio in standard deviations.
    pub z: f64,
    /// Start of the last session before the change.
    pub last_before: String,
    /// Start of the first session after it.
    pub first_after: String,
    /// Number of reports before the change that count.
    pub reports_before: usize,
    /// Number of reports after it.
    pub reports_after: usize,
    /// Number of quantities that became slower.
    pub quantities: usize,
}

/// Judgement on the history of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeHistory {
    /// Result.
    pub state: HistoryState,
    /// Reason, in words; empty for a machine that is not slower.
    pub reason: String,
    /// Number of its reports that were read.
    pub reports: usize,
    /// The change of a machine that became slower.
    pub change: Option<NodeChange>,
    /// Facts of the hardware that changed since the moment in question, in words; empty if none.
    pub hardware: String,
}

/// Judgement on the histories of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetHistory {
    /// The moment in question, RFC 3339, UTC.
    pub since: String,
    /// Number of machines by state, in the order of [`HistoryState::ALL`].
    pub nodes: [usize; 4],
    /// Number of judged changes, over all machines and quantities.
    pub judged: u64,
}

impl FleetHistory {
    /// Number of machines in a state.
    pub fn count(&self, state: HistoryState) -> usize {
        self.nodes[state as usize]
    }
}
