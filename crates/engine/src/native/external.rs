//! External work on this machine: the trait of its runner, and the parts of the machine that it
//! uses.

use super::{Clock, Team};
use crate::machine::{Failure, Observation};
use crate::work::External;
use host::interrupt::StopFlag;
use std::fmt::Debug;
use units::Nanos;

/// Parts of the machine that external work may use.
#[derive(Debug, Clone, Copy)]
pub struct ExternalMeans<'a> {
    /// Pinned threads.
    pub team: &'a Team,
    /// Raw counter with its calibrated rate.
    pub clock: &'a Clock,
    /// Flag that is set when the session shall end.
    pub stop: &'a StopFlag,
}

/// Executes external works for the length of a session.
pub trait ExternalRunner: Debug {
    /// Prepares sampling of `work`.
    ///
    /// # Errors
    /// The work cannot be prepared, or the session was interrupted.
    fn prepare(&mut self, work: &External, means: &ExternalMeans<'_>) -> Result<(), Failure>;

    /// Takes a window, about `length` long, of the work that was prepared last.
    ///
    /// # Errors
    /// The window failed, or the session was interrupted.
    fn sample(
        &mut self,
        work: &External,
        length: Nanos,
        means: &ExternalMeans<'_>,
    ) -> Result<Observation, Failure>;

    /// Releases the resources of the current work before another work is prepared. The progress of
    /// the current work is kept.
    fn park(&mut self);

    /// CPU time that helper processes have used for the works so far. System activity does not
    /// count this time as the time of other programs.
    fn cpu_time(&self) -> Nanos {
        Nanos::ZERO
    }
}
