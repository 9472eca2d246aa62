//! A probe and its background traffic on the real machine.

use crate::native::timed_sample::{BackgroundTraffic, Blocks, Run};
use crate::native::workload::ChaseRun;
use crate::work::Traffic;
use host::memory::{PageReading, Window};
use kernels::{self, StreamKernel, StreamWalk, Width, dependent_adds};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use units::error::Result;

/// The loads or the stores of one thread of background traffic. They have a window of memory of
/// their own.
#[derive(Debug)]
struct TrafficStream {
    kernel: StreamKernel,
    window: Window,
    /// Offset at which the thread stopped and the next sample continues.
    offset: AtomicUsize,
}

impl TrafficStream {
    /// The kernel of `stream`, and a walk that begins at the stream's offset; `None` if `stream` is
    /// `None`.
    fn start(stream: &Option<Self>) -> Result<Option<(StreamKernel, StreamWalk<'_>)>> {
        let Some(stream) = stream else {
            return Ok(None);
        };
        Ok(Some((stream.kernel, stream.walk()?)))
    }

    fn walk(&self) -> Result<StreamWalk<'_>> {
        let mut walk = StreamWalk::new(self.kernel.contract(), &self.window, 0..self.window.len())?;
        walk.resume_at(self.offset.load(Ordering::Relaxed));
        Ok(walk)
    }
}

impl TrafficStream {
    /// Makes the next sample begin after `share` (0 to 1) of a pass over the window.
    fn start_at(&self, share: f64) {
        if let Ok(mut walk) = self.walk() {
            walk.start_at(share);
            self.offset.store(walk.offset(), Ordering::Relaxed);
        }
    }

    /// Share of the current pass over the window that is done, from 0 to 1.
    fn share(&self) -> f64 {
        self.walk().map_or(0.0, |walk| walk.share())
    }
}

/// One thread of background traffic, with its memory.
#[derive(Debug)]
pub struct TrafficShare {
    traffic: Traffic,
    read: Option<TrafficStream>,
    write: Option<TrafficStream>,
    /// Number of bursts done so far. The next sample continues the mix of loads and stores at this
    /// place of the mix.
    place: AtomicU64,
}

impl TrafficShare {
    /// The thread of `traffic`, with memory from `take`. `take` gets the length of a window in
    /// bytes and returns the window.
    ///
    /// # Errors
    /// This machine has no kernel for an operation of `traffic`, or `take` fails.
    pub fn new(traffic: &Traffic, mut take: impl FnMut(usize) -> Result<Window>) -> Result<Self> {
        let mut read = None;
        let mut write = None;
        for operation in traffic.operations() {
            let kernel =
                kernels::select(operation, Width::Widest).map_err(units::error::Error::failure)?;
            let stream = TrafficStream {
                kernel,
                window: take(traffic.window().to_usize())?,
                offset: AtomicUsize::new(0),
            };
            let place = if operation.contract().stores > 0 {
                &mut write
            } else {
                &mut read
            };
            *place = Some(stream);
        }
        Ok(Self {
            traffic: traffic.clone(),
            read,
            write,
            place: AtomicU64::new(0),
        })
    }

    fn inspect(&self, node_samples: usize) -> impl Iterator<Item = PageReading> {
        [&self.read, &self.write]
            .into_iter()
            .flatten()
            .map(move |stream| stream.window.inspect(node_samples))
    }

    /// Calls `measure` with a function that does a given number of bursts, each followed by its
    /// pause.
    fn with(&self, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        // Sizes are whole blocks (`LoadedWork::validate`), so there always is a walk. Without a
        // walk, nothing would be measured, and the sample would fail because its threads have no
        // common window.
        let (Ok(mut read), Ok(mut write)) = (
            TrafficStream::start(&self.read),
            TrafficStream::start(&self.write),
        ) else {
            return;
        };
        let blocks = self.traffic.burst_blocks();
        let pause = self.traffic.pause_blocks();
        let mut place = self.place.load(Ordering::Relaxed);
        measure(&mut |bursts| {
            for _ in 0..bursts {
                let stream = if self.traffic.stores_at(place) {
                    &mut write
                } else {
                    &mut read
                };
                if let Some((kernel, walk)) = stream {
                    kernel.run(walk, blocks);
                }
                dependent_adds(pause);
                place = place.wrapping_add(1);
            }
        });
        self.place.store(place, Ordering::Relaxed);
        for (stream, walk) in [(&self.read, read), (&self.write, write)] {
            if let (Some(stream), Some((_, walk))) = (stream, walk) {
                stream.offset.store(walk.offset(), Ordering::Relaxed);
            }
        }
    }
}

/// The measured work of a sample under background traffic.
#[derive(Debug)]
pub enum ProbeRun {
    /// A chase, whose latency is measured.
    Chase(Arc<ChaseRun>),
    /// A stream, whose bandwidth is measured.
    Stream(Box<TrafficShare>),
}

/// A probe on the first thread, and background traffic on the other threads.
#[derive(Debug)]
pub struct LoadedRun {
    probe: ProbeRun,
    traffic: Vec<TrafficShare>,
}

impl LoadedRun {
    /// Work that measures `probe` under `traffic`.
    pub fn new(probe: ProbeRun, traffic: Vec<TrafficShare>) -> Self {
        Self { probe, traffic }
    }

    /// The chase of the probe; `None` if the probe streams.
    pub fn chase(&self) -> Option<Arc<ChaseRun>> {
        match &self.probe {
            ProbeRun::Chase(run) => Some(Arc::clone(run)),
            ProbeRun::Stream(_) => None,
        }
    }

    /// The loads and the stores of all threads that stream, the probe included.
    fn traffic_streams(&self) -> impl Iterator<Item = &TrafficStream> {
        let probe = match &self.probe {
            ProbeRun::Stream(share) => Some(share.as_ref()),
            ProbeRun::Chase(_) => None,
        };
        probe
            .into_iter()
            .chain(&self.traffic)
            .flat_map(|share| [&share.read, &share.write])
            .flatten()
    }

    /// Makes all streams begin after `share` (0 to 1) of a pass over their windows.
    pub fn start_at(&self, share: f64) {
        self.traffic_streams()
            .for_each(|stream| stream.start_at(share));
    }

    /// Share (0 to 1) of the current pass over memory that the most advanced stream has already
    /// done; 0 without any stream.
    pub fn share(&self) -> f64 {
        self.traffic_streams()
            .map(TrafficStream::share)
            .fold(0.0, f64::max)
    }

    /// Page evidence of each window; the window of the probe comes first.
    pub fn inspect(&self, node_samples: usize) -> Vec<PageReading> {
        let probe = match &self.probe {
            ProbeRun::Chase(run) => run.inspect(node_samples),
            ProbeRun::Stream(share) => share.inspect(node_samples).collect(),
        };
        probe
            .into_iter()
            .chain(
                self.traffic
                    .iter()
                    .flat_map(|share| share.inspect(node_samples)),
            )
            .collect()
    }
}

impl Run for LoadedRun {
    fn amount_per_block(&self) -> u64 {
        match &self.probe {
            ProbeRun::Chase(run) => run.amount_per_block(),
            ProbeRun::Stream(share) => share.traffic.burst_bytes(),
        }
    }

    fn with_share(&self, index: usize, measure: &mut dyn FnMut(&mut Blocks<'_>)) {
        match (&self.probe, index.checked_sub(1)) {
            (ProbeRun::Chase(run), None) => run.with_share(0, measure),
            (ProbeRun::Stream(share), None) => share.with(measure),
            (_, Some(place)) => self.traffic[place].with(measure),
        }
    }

    fn background(&self, index: usize) -> Option<BackgroundTraffic> {
        let traffic = &self.traffic.get(index.checked_sub(1)?)?.traffic;
        let payload = traffic.burst_bytes() as f64;
        Some(BackgroundTraffic {
            payload,
            bus: payload * traffic.bus_factor(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::memory::{Mapping, PageMode};
    use kernels::{BLOCK_BYTES, Operation};
    use units::Bytes;

    /// Bytes of `window` that changed since all words were `old`.
    fn changed(window: &Window, old: u64) -> u64 {
        window
            .words()
            .iter()
            .filter(|word| word.load(Ordering::SeqCst) != old)
            .count() as u64
            * 8
    }

    /// Checks the counter: the bytes that changed in memory are the bytes that the bursts count.
    #[test]
    fn as_many_bytes_are_written_as_are_counted() {
        const OLD: u64 = 0x0123_4567_89ab_cdef;
        let bytes = Bytes::mib(4);
        for (reads, writes, store) in [
            (0, 1, Operation::Write),
            (1, 1, Operation::Write),
            (2, 1, Operation::WriteNt),
        ] {
            for pause in [0, 1, 1000] {
                let mapping = Mapping::new(bytes + bytes, PageMode::Base, Bytes(4096)).unwrap();
                let traffic = Traffic {
                    reads,
                    writes,
                    store,
                    pause,
                    ..Traffic::reading(0, PageMode::Base, bytes)
                };
                let mut next = 0;
                let share = TrafficShare::new(&traffic, |length| {
                    next += length;
                    let window = mapping.take(next - length..next)?;
                    window
                        .words()
                        .iter()
                        .for_each(|word| word.store(OLD, Ordering::SeqCst));
                    Ok(window)
                })
                .unwrap();
                let cycle = u64::from(reads + writes);
                // Two visits. The first visit ends inside a cycle of the mix.
                for bursts in [cycle + 1, 2 * cycle - 1] {
                    share.with(&mut |blocks| blocks(bursts));
                }
                let counted = 3 * u64::from(writes) * traffic.burst_bytes();
                let written = share
                    .write
                    .as_ref()
                    .map_or(0, |stream| changed(&stream.window, OLD));
                let read = share
                    .read
                    .as_ref()
                    .map_or(0, |stream| changed(&stream.window, OLD));
                assert_eq!((written, read), (counted, 0), "{traffic:?}");
                let passed = share
                    .read
                    .as_ref()
                    .map_or(0, |stream| stream.offset.load(Ordering::Relaxed) as u64);
                assert_eq!(
                    passed,
                    3 * u64::from(reads) * traffic.burst_blocks() * BLOCK_BYTES,
                    "{traffic:?}"
                );
            }
        }
    }
}
