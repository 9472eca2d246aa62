//! Writes a trace of single operations, one line for each operation.

use super::work::IoWork;
use super::worker::TraceEntry;
use engine::Failure;
use host::storage::Transfer;
use report::{TraceRecord, TraceWriter};

/// Writes the operations of windows to a trace.
#[derive(Debug)]
pub struct Tracer {
    writer: TraceWriter,
    /// Tick of the first operation, which is time 0 of the trace; `None` before any operation.
    origin: Option<u64>,
    windows: u64,
}

impl Tracer {
    /// A trace of no operations so far. `writer` will write its lines.
    pub fn new(writer: TraceWriter) -> Self {
        Self {
            writer,
            origin: None,
            windows: 0,
        }
    }

    /// Writes the operations of a window in the order of their submission. `trace` has a list for
    /// each thread, with times in ticks. `rate` is in ticks per ns.
    ///
    /// # Errors
    /// The operations cannot be written.
    pub fn window(
        &mut self,
        work: &IoWork,
        trace: &[Vec<TraceEntry>],
        rate: f64,
    ) -> Result<(), Failure> {
        let mut all: Vec<(usize, &TraceEntry)> = trace
            .iter()
            .enumerate()
            .flat_map(|(thread, of)| of.iter().map(move |n| (thread, n)))
            .collect();
        all.sort_by_key(|(_, n)| n.issued);
        let first = all.iter().map(|(_, n)| n.issued.min(n.due)).min();
        let origin = *self.origin.get_or_insert(first.unwrap_or(0));
        let window = self.windows;
        let since = |tick: u64| (tick.saturating_sub(origin) as f64 / rate).round() as u64;
        let record = |&(thread, n): &(usize, &TraceEntry)| TraceRecord {
            point: work.point,
            window,
            thread: u32::try_from(thread).unwrap_or(u32::MAX),
            operation: name(n.transfer).to_owned(),
            issue_ns: since(n.issued),
            complete_ns: since(n.done),
            due_ns: since(n.due),
            offset: n.step.offset,
            size: n.step.bytes as u64,
            moved: n.result.ok().map(|moved| moved as u64),
            error: n.result.err(),
            file: work
                .files
                .get(n.step.file)
                .map(|f| f.path.to_string_lossy().into_owned())
                .unwrap_or_default(),
        };
        let records: Vec<TraceRecord> = all.iter().map(record).collect();
        self.windows += 1;
        if first.is_none() {
            self.origin = None;
        }
        self.writer
            .write(&records)
            .map_err(|e| Failure::Failed(format!("cannot write the trace: {e}")))
    }
}

/// Name of a transfer in a trace.
fn name(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::Read => "read",
        Transfer::Write => "write",
        Transfer::Sync => "fsync",
        Transfer::DataSync => "fdatasync",
    }
}
