//! Takes and evaluates the samples of a work: warm-up, samples in rounds, stop rule, evaluation.

mod baselines;
mod disturbance;
mod expected_time;
mod kernel_selection;
mod point_log;
mod recorded;
mod round;
mod settings;
mod short_windows;
mod smt_interference;
mod summary;
mod system_activity;
mod vcpu_placement;
mod warm_up;

pub use baselines::Baselines;
pub use disturbance::disturbances;
pub use expected_time::{PointCosts, TimedPoint, expected_fill, expected_time};
pub use point_log::PointLog;
pub use round::sample_round;
pub use settings::{IN_MEMORY, Sampling};
pub use short_windows::{DISTRIBUTION, Windows};
pub use summary::{Evaluation, EvaluationContext, evaluate};
pub use warm_up::{LONGEST_WALK, SAMPLES_PER_PREFILL, fills, warm_up, warm_up_walk};
