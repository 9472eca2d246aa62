//! Work outside of memory, whose implementation is not part of the engine.
//!
//! The engine knows the CPUs of such a work, and decides when and for how long the work is sampled.
//! The engine does not know the work's operations. A sample of such a work is called a window. The
//! work itself interprets the figures of its windows, and adds further figures to its point.

use host::noise::ThreadNoise;
use report::{Cause, KernelUsed, Limit, Measured};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt::{Debug, Formatter, Result as Formatted};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use units::Nanos;

/// A kind of work outside of memory.
pub trait ExternalWork: Debug + Send + Sync {
    /// Identity of the work: different works have different texts.
    fn identity(&self) -> String;

    /// The work as [`Any`], so that the machine that executes the work can find its type.
    fn as_any(&self) -> &dyn Any;

    /// The CPU of each thread.
    fn cpus(&self) -> &[u32];

    /// True if the measured quantity is a rate, false if it is a time.
    fn higher_is_better(&self) -> bool {
        true
    }

    /// Name and digest of the implementation that executes the work.
    ///
    /// # Errors
    /// The reason why the implementation cannot be used on this machine.
    fn kernel(&self) -> Result<KernelUsed, String>;

    /// Expected time to prepare the work, before the first window of its point.
    fn expected_preparation(&self) -> Nanos;

    /// Bound that the values cannot exceed (rates) or fall below (times); `None` if unknown.
    fn limit(&self) -> Option<Limit> {
        None
    }

    /// Expected time for preparing a window and for checking its results, in addition to the length
    /// of the window.
    fn expected_proof(&self) -> Nanos {
        Nanos::ZERO
    }

    /// Length of the warm-up before the first window of a round, divided by the length of a window.
    /// Zero if every operation has to be measured.
    fn warm_up(&self) -> f64;

    /// Cause of the disturbance of `window`, and a text that describes the disturbance; `None` for
    /// an undisturbed window.
    fn disturbance(&self, window: &ExternalWindow<'_>) -> Option<(Cause, String)>;

    /// Adds the figures of all `windows` to the point `measured`, which already has the figures of
    /// its samples. `memory` is the size of the machine's memory in bytes; `None` if unknown.
    fn complete(
        &self,
        windows: &[ExternalWindow<'_>],
        memory: Option<u64>,
        measured: &mut Measured,
    );
}

/// A window of external work, with the system's counts for its threads.
#[derive(Debug, Clone, Copy)]
pub struct ExternalWindow<'a> {
    /// Figures of the window.
    pub figures: &'a ExternalFigures,
    /// Round in which the window was taken.
    pub round: u32,
    /// Page faults and context switches of the work's threads; `None` if the system does not report
    /// them.
    pub noise: Option<ThreadNoise>,
    /// CPU on which each thread was found; `None` if the system does not report CPUs.
    pub found_on: Option<&'a [u32]>,
}

/// Figures of a window, in a type that only the external work itself knows.
#[derive(Clone)]
pub struct ExternalFigures(Arc<dyn Any + Send + Sync>);

impl ExternalFigures {
    /// Wraps figures of a type that the work knows.
    pub fn new<T: Send + Sync + 'static>(figures: T) -> Self {
        Self(Arc::new(figures))
    }

    /// The figures as `T`; `None` if they are of another type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl Debug for ExternalFigures {
    fn fmt(&self, f: &mut Formatter<'_>) -> Formatted {
        f.write_str("ExternalFigures")
    }
}

impl PartialEq for ExternalFigures {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// An [`ExternalWork`] that can be cloned and shared. Two of them are equal if their identities are
/// equal.
#[derive(Debug, Clone)]
pub struct External {
    identity: Arc<str>,
    work: Arc<dyn ExternalWork>,
}

impl External {
    /// Shares `work`.
    pub fn new(work: impl ExternalWork + 'static) -> Self {
        Self {
            identity: work.identity().into(),
            work: Arc::new(work),
        }
    }

    /// The work.
    pub fn work(&self) -> &dyn ExternalWork {
        self.work.as_ref()
    }

    /// The work as `T`; `None` if it is of another type.
    pub fn get<T: 'static>(&self) -> Option<&T> {
        self.work.as_any().downcast_ref()
    }
}

impl PartialEq for External {
    fn eq(&self, other: &Self) -> bool {
        self.identity == other.identity
    }
}

impl Eq for External {}

impl PartialOrd for External {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for External {
    fn cmp(&self, other: &Self) -> Ordering {
        self.identity.cmp(&other.identity)
    }
}

impl Hash for External {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
    }
}
