//! Work outside of memory, which brings its own way to be done.
//!
//! The engine knows on which CPUs such a work runs, when it is sampled and for how long. It knows
//! nothing about what the work does: the work itself reads its windows and completes its point.

use host::noise::ThreadNoise;
use report::{Cause, KernelUsed, Measured};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt::{Debug, Formatter, Result as Formatted};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use units::Nanos;

/// A kind of work outside of memory.
pub trait ExternalWork: Debug + Send + Sync {
    /// A text that differs between two works that differ.
    fn identity(&self) -> String;

    /// The work itself, for the machine that does it.
    fn as_any(&self) -> &dyn Any;

    /// The CPU of each thread.
    fn cpus(&self) -> &[u32];

    /// The implementation that does it.
    ///
    /// # Errors
    /// It cannot be used here, and why.
    fn kernel(&self) -> Result<KernelUsed, String>;

    /// Expected time before the first window of the point.
    fn expected_preparation(&self) -> Nanos;

    /// Length of the warm-up before the first window of a round, as a share of a window; zero where
    /// every operation counts.
    fn warm_up(&self) -> f64;

    /// The disturbance of a window; `None` where nothing happened in it that is not the work's own.
    fn disturbance(&self, window: &ExternalWindow<'_>) -> Option<(Cause, String)>;

    /// Adds the figures of all windows to a measured point, which has the figures of its samples.
    /// The machine has `memory` bytes; `None` where that is unknown.
    fn complete(
        &self,
        windows: &[ExternalWindow<'_>],
        memory: Option<u64>,
        measured: &mut Measured,
    );
}

/// A window of external work, with what the system counted of its threads.
#[derive(Debug, Clone, Copy)]
pub struct ExternalWindow<'a> {
    /// Its figures.
    pub figures: &'a ExternalFigures,
    /// The round that it was taken in.
    pub round: u32,
    /// Page faults and context switches of its threads; `None` where not readable.
    pub noise: Option<ThreadNoise>,
    /// The CPU that each thread was found on; `None` where not readable.
    pub found_on: Option<&'a [u32]>,
}

/// Figures of a window that only the work itself can read.
#[derive(Clone)]
pub struct ExternalFigures(Arc<dyn Any + Send + Sync>);

impl ExternalFigures {
    /// Figures of a type that the work knows.
    pub fn new<T: Send + Sync + 'static>(figures: T) -> Self {
        Self(Arc::new(figures))
    }

    /// The figures; `None` where they are of another type.
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

/// A shared external work, compared by its identity.
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

    /// The work as its own type; `None` where it has another.
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
