//! External work on this machine: who does it, and the machine's part in that.

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
    /// The counter's rate.
    pub clock: &'a Clock,
    /// The wish to end.
    pub stop: &'a StopFlag,
}

/// Does external works for the length of a session.
pub trait ExternalRunner: Debug {
    /// Makes ready to sample `work`.
    ///
    /// # Errors
    /// It cannot be done, or the session was interrupted.
    fn prepare(&mut self, work: &External, means: &ExternalMeans<'_>) -> Result<(), Failure>;

    /// Takes a window of the work that was prepared last, for about `length`.
    ///
    /// # Errors
    /// It went wrong, or the session was interrupted.
    fn sample(
        &mut self,
        work: &External,
        length: Nanos,
        means: &ExternalMeans<'_>,
    ) -> Result<Observation, Failure>;

    /// Gives back what the current work holds, and keeps how far it is: other work comes next.
    fn park(&mut self);
}
