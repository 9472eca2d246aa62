//! Defines a sample as the log of a point keeps it.

use crate::machine::Observation;
use crate::work::Work;
use report::VcpuPlacement;

/// A sample with its round and allocation.
#[derive(Debug, Clone)]
pub(super) struct RecordedSample {
    pub round: u32,
    pub allocation: u32,
    /// Placement of the vCPUs in the round; `None` if unknown. Set after the sample.
    pub placement: Option<VcpuPlacement>,
    pub seen: Observation,
}

/// The value of the sample `o` of `work`, for example a bandwidth or a latency. The unit is the
/// same as in [`Work::value`].
pub(super) fn value(work: &Work, o: &Observation) -> f64 {
    work.value(o.amount, o.elapsed.secs())
}
