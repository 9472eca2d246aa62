//! Prepared work of the real machine.

use super::Team;
use crate::machine::Failure;
use crate::native::background::LoadedRun;
use crate::native::ping_pong::HandOffRun;
use crate::native::workload::{ChaseRun, InstructionRun, LockRun, StreamRun, StreamShare};
use crate::work::{StreamWork, Work};
use host::memory::Window;
use kernels::CodeOrigin;
use report::KernelUsed;
use std::sync::{Arc, Mutex};

/// Work that the next samples will execute.
#[derive(Debug, Clone)]
pub(super) enum Prepared {
    Stream(Arc<StreamRun>),
    Chase(Arc<ChaseRun>),
    Instruction(Arc<InstructionRun>),
    Lock(Arc<LockRun>),
    HandOff(Arc<HandOffRun>),
    Loaded(Arc<LoadedRun>),
}

impl Prepared {
    /// The chase of the work, or of its probe; `None` if the work follows no chain.
    pub fn chase(&self) -> Option<Arc<ChaseRun>> {
        match self {
            Prepared::Chase(run) => Some(Arc::clone(run)),
            Prepared::Loaded(run) => run.chase(),
            _ => None,
        }
    }

    /// Share (0 to 1) of the current pass over memory that the stream has already done; `None` for
    /// work without a stream.
    pub fn share(&self) -> Option<f64> {
        match self {
            Prepared::Stream(run) => Some(run.share()),
            Prepared::Loaded(run) => Some(run.share()),
            _ => None,
        }
    }

    /// Makes the next sample of streams begin after `share` (0 to 1) of a pass over their memory.
    pub fn start_at(&self, share: f64) {
        match self {
            Prepared::Stream(run) => run.start_at(share),
            Prepared::Loaded(run) => run.start_at(share),
            _ => {}
        }
    }
}

/// Name and digest of the kernel of `work`. Fails with the reason if this machine has no such
/// kernel.
pub(super) fn kernel_used(work: &Work) -> Result<KernelUsed, String> {
    let mut c_library = None;
    let (name, digest) = match work {
        Work::Stream(w) => {
            let kernel = kernels::select(w.operation, w.width)?;
            if w.operation.contract().origin == CodeOrigin::CLibrary {
                c_library = Some(host::c_library());
            }
            (kernel.name(), kernel.digest())
        }
        Work::Chase(w) => {
            let walkers = w.walkers as usize;
            (
                kernels::chase_name(walkers, w.payload),
                kernels::chase_digest(walkers, w.payload),
            )
        }
        Work::Instruction(w) => {
            let kernel = kernels::instruction(w.instruction, w.timing)?;
            (kernel.name(), kernel.digest())
        }
        Work::Lock(w) => {
            let kernel = kernels::lock(w.operation)?;
            (kernel.name(), kernel.digest())
        }
        Work::HandOff(w) => (w.kernel.kernel_name(), w.kernel.digest()),
        Work::External(w) => return w.work().kernel(),
        Work::Loaded(w) => return w.kernels(kernel_used),
    };
    Ok(KernelUsed {
        name,
        digest,
        c_library,
    })
}

/// Memory of one thread: the window of its streams, and the window of its index table if it has
/// one. The third value is true if doubles must be written to the streams first.
pub type Memory = (Window, Option<Window>, bool);

/// The [`StreamShare`] of each thread of `work`. Each thread creates its own share, so that the
/// share's data lies near the thread.
pub fn shares(
    team: &Team,
    work: &StreamWork,
    windows: Vec<Memory>,
) -> Result<Vec<StreamShare>, Failure> {
    let windows: Vec<Mutex<Option<Memory>>> =
        windows.into_iter().map(|w| Mutex::new(Some(w))).collect();
    let owned = work.clone();
    let shares = team.run(&work.cpus, move |member| {
        let mine = windows
            .get(member.index)
            .and_then(|w| w.lock().ok()?.take());
        mine.map(|(window, table, fills)| StreamShare::new(&owned, window, table, fills))
    })?;
    let missing = || Failure::Failed("a thread has no memory".to_owned());
    shares
        .into_iter()
        .map(|share| Ok(share.ok_or_else(missing)??))
        .collect()
}
