//! Verdicts on the histories of machines, as data only.

use serde::Serialize;

/// Result of comparing a machine with its own history.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HistoryState {
    /// The machine became slower since the requested moment, by more than chance and the floor.
    Slower,
    /// The machine did not become slower.
    NotSlower,
    /// The machine is not judged. It has too few reports between its last change before the
    /// requested moment and that moment.
    ShortHistory,
    /// The machine is not judged, because it has no report since the requested moment.
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

    /// Name of the state: `slower`, `not-slower`, `short-history` or `no-report`.
    pub fn word(self) -> &'static str {
        match self {
            HistoryState::Slower => "slower",
            HistoryState::NotSlower => "not-slower",
            HistoryState::ShortHistory => "short-history",
            HistoryState::NoReport => "no-report",
        }
    }
}

/// The change that made a machine slower, in the quantity that changed most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeChange {
    /// Index in [`crate::FleetVerdict::quantities`].
    pub quantity: usize,
    /// Median of the reports before the change, in the quantity's unit.
    pub before: f64,
    /// Median of the reports after the change, in the quantity's unit.
    pub after: f64,
    /// Median after the change divided by the median before.
    pub ratio: f64,
    /// The ratio that the machine's peers have in common; 1 without peers.
    pub common_ratio: f64,
    /// Distance of the ratio from the common ratio, in standard deviations.
    pub z: f64,
    /// Start of the last session before the change.
    pub last_before: String,
    /// Start of the first session after the change.
    pub first_after: String,
    /// Number of compared reports from before the change.
    pub reports_before: usize,
    /// Number of compared reports from after the change.
    pub reports_after: usize,
    /// Number of quantities that became slower.
    pub quantities: usize,
}

/// Verdict on the history of a machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NodeHistory {
    /// State of the machine.
    pub state: HistoryState,
    /// Reason, in words; empty for a machine that is not slower.
    pub reason: String,
    /// Number of reports of the machine that were read.
    pub reports: usize,
    /// The change that made the machine slower; `None` for a machine that did not become slower.
    pub change: Option<NodeChange>,
    /// Facts of the hardware that changed since the requested moment, in words; empty if none
    /// changed.
    pub hardware: String,
}

/// Verdict on the histories of a fleet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FleetHistory {
    /// The requested moment, RFC 3339, UTC.
    pub since: String,
    /// Number of machines by state, in the order of [`HistoryState::ALL`].
    pub nodes: [usize; 4],
    /// Number of judged ratios of all machines and quantities together.
    pub judged: u64,
}

impl FleetHistory {
    /// Number of machines in a state.
    pub fn count(&self, state: HistoryState) -> usize {
        self.nodes[state as usize]
    }
}
