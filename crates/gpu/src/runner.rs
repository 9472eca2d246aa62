//! Carries out works on devices: prepares memory, takes samples, and proves that the work was done.

use crate::layout::{Layout, sum_of, width};
use crate::pattern::{ChainTable, after};
use crate::work::{Atomics, Chase, Copies, GpuWindow, GpuWork, Local, Peer, Task};
use engine::{External, ExternalFigures, ExternalMeans, ExternalRunner, Failure, Observation};
use host::gpu::{
    Call, Direction, Drivers, GpuBuffer, GpuConditions, GpuDevice, LocalRead, PeerCopy,
    StreamOperation, Timing, Transfer,
};
use report::GpuFacts;
use std::collections::BTreeMap;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// Shortest duration from which the rate of a work is computed. The amount of work is increased
/// until it takes this long.
const CALIBRATING: Nanos = Nanos(0.2e6);

/// Number of hops in one iteration of the chase kernel.
const HOPS: u64 = 8;

/// Largest number of hops in a sample, or of additions by each work-item.
const MOST_STEPS: u64 = 1 << 30;

/// Factor by which the length of a sample on the device's clock may exceed its length on the host's
/// clock. A sample with a larger difference is an error.
const CLOCK_TOLERANCE: f64 = 1.02;

/// Further time by which a sample may be longer on the device's clock, because this clock may be
/// coarse.
const CLOCK_RESOLUTION: Nanos = Nanos(50e3);

/// Limit for the total size of the chains that a device keeps from one round to the next.
const MOST_KEPT: Bytes = Bytes(1 << 30);

/// Mask that changes a value (XOR). Memory holds the changed value until a kernel or a transfer
/// writes the value itself.
const BEFORE: u64 = 0x0B5E_55ED;

/// A chain on a device, and the number of hops that were made through it.
#[derive(Debug)]
struct ChainOnDevice {
    buffer: GpuBuffer,
    /// Indices of all nodes in the order in which they are visited.
    order: Vec<u32>,
    hops: u64,
}

/// A buffer and its size.
#[derive(Debug, Clone, Copy)]
struct Sized {
    buffer: GpuBuffer,
    bytes: Bytes,
}

/// An opened device, with the memory that its works use.
#[derive(Debug)]
pub(crate) struct Device {
    device: Box<dyn GpuDevice>,
    /// Buffer for the streams of a work. The works use it one after another.
    streams: Option<Sized>,
    /// Buffer for the sums that the work-items of a read return.
    sums: Option<Sized>,
    /// Buffer for the number of wrong words.
    wrong: Option<GpuBuffer>,
    /// Buffer for the counters of atomic additions.
    counters: Option<Sized>,
    /// Two buffers of the device for transfers.
    ends: Option<[Sized; 2]>,
    /// Size of the host's memory for transfers, and the number in its first word. `None` before
    /// this memory was made.
    host: Option<(Bytes, u64)>,
    /// Chains on the device. They stay there while their total size is at most [`MOST_KEPT`].
    chains: BTreeMap<Chase, ChainOnDevice>,
    /// Rate of each work: passes, hops, transfers or additions per nanosecond.
    rates: BTreeMap<Task, f64>,
    /// Number from which the contents of memory are computed. Each sample has a different number.
    value: u64,
    /// Number of other processes of this session that use the device.
    own_processes: u32,
}

/// Number of losses after which a device is not opened again.
const MOST_LOSSES: u32 = 2;

/// Number of a device, and number of its peer if the device was opened with a peer.
type Numbers = (u32, Option<u32>);

/// Carries out works on the devices of this machine. Opened devices stay open until the session
/// ends.
#[derive(Debug)]
pub struct GpuRunner {
    drivers: Box<dyn Drivers>,
    /// Number of lanes in a word, for each device that may be used.
    widths: BTreeMap<u32, u32>,
    devices: BTreeMap<Numbers, Device>,
    /// Number of losses of each device, and the reason of the last loss.
    losses: BTreeMap<Numbers, (u32, String)>,
    /// CPU time that the processes of lost devices used.
    lost_cpu: Nanos,
}

impl GpuRunner {
    /// A runner for `devices`. It opens a device through `drivers` when the device is first needed.
    /// A lost device is opened once more.
    pub fn new(devices: &[GpuFacts], drivers: Box<dyn Drivers>) -> Self {
        let widths = devices.iter().map(|facts| (facts.number, width(facts)));
        Self {
            drivers,
            widths: widths.collect(),
            devices: BTreeMap::new(),
            losses: BTreeMap::new(),
            lost_cpu: Nanos::ZERO,
        }
    }

    /// Opens a device if necessary, and returns the result of `act` for it.
    ///
    /// # Errors
    /// The device cannot be opened, was lost too often, or is lost during `act`. `act` failed.
    pub(crate) fn with<T>(
        &mut self,
        numbers: Numbers,
        act: impl FnOnce(&mut Device) -> Result<T>,
    ) -> Result<T> {
        if let Some((_, reason)) = self.losses.get(&numbers).filter(|l| l.0 >= MOST_LOSSES) {
            return Err(Error::failure(format!(
                "the device was lost {MOST_LOSSES} times: {reason}"
            )));
        }
        let mut device = match self.devices.remove(&numbers) {
            Some(device) => device,
            None => match self.open(numbers) {
                Ok(device) => device,
                Err(why) => return Err(self.lost(numbers, why)),
            },
        };
        // The driver reports the other processes of this session as programs that use the device.
        device.own_processes = self
            .devices
            .keys()
            .filter(|o| overlap(**o, numbers))
            .count() as u32;
        let done = act(&mut device);
        if device.device.is_lost() {
            self.lost_cpu += device.device.cpu_time();
            let reason = done.err();
            let reason = reason.unwrap_or_else(|| Error::failure("the driver ended"));
            return Err(self.lost(numbers, reason));
        }
        self.devices.insert(numbers, device);
        done
    }

    fn open(&self, (number, peer): Numbers) -> Result<Device> {
        let unknown = || Error::failure(format!("device {number} was not chosen"));
        let width = *self.widths.get(&number).ok_or_else(unknown)?;
        let opened = match peer {
            Some(peer) => self.drivers.open_pair(number, peer, width)?,
            None => self.drivers.open(number, width)?,
        };
        Ok(Device::new(opened))
    }

    /// Counts a loss of the device `numbers`, and returns `reason`.
    fn lost(&mut self, numbers: Numbers, reason: Error) -> Error {
        let loss = self.losses.entry(numbers).or_default();
        *loss = (loss.0 + 1, reason.to_string());
        reason
    }
}

/// True if `one` and `other` have a device in common.
fn overlap(one: Numbers, other: Numbers) -> bool {
    let has = |number| one.0 == number || one.1 == Some(number);
    has(other.0) || other.1.is_some_and(has)
}

impl ExternalRunner for GpuRunner {
    fn prepare(
        &mut self,
        work: &External,
        _means: &ExternalMeans<'_>,
    ) -> std::result::Result<(), Failure> {
        let work = on_device(work)?;
        let numbers = (work.device, work.peer());
        Ok(self.with(numbers, |device| device.prepare(&work.task))?)
    }

    fn sample(
        &mut self,
        work: &External,
        length: Nanos,
        means: &ExternalMeans<'_>,
    ) -> std::result::Result<Observation, Failure> {
        let work = on_device(work)?;
        let numbers = (work.device, work.peer());
        let seen = self.with(numbers, |device| device.sample(&work.task, length))?;
        if means.stop.is_set() {
            return Err(Failure::Interrupted);
        }
        Ok(seen)
    }

    fn park(&mut self) {}

    fn cpu_time(&self) -> Nanos {
        let devices = self.devices.values();
        devices.fold(self.lost_cpu, |sum, d| sum + d.device.cpu_time())
    }
}

/// Returns the [`GpuWork`] that `work` contains.
///
/// # Errors
/// `work` is another kind of external work.
fn on_device(work: &External) -> std::result::Result<&GpuWork, Failure> {
    work.get()
        .ok_or_else(|| Failure::Failed("this is no work on a device".to_owned()))
}

impl Device {
    pub(crate) fn new(device: Box<dyn GpuDevice>) -> Self {
        Self {
            device,
            streams: None,
            sums: None,
            wrong: None,
            counters: None,
            ends: None,
            host: None,
            chains: BTreeMap::new(),
            rates: BTreeMap::new(),
            value: 1,
            own_processes: 0,
        }
    }

    /// Allocates the memory that `task` needs. The first call for a task also finds its rate.
    pub(crate) fn prepare(&mut self, task: &Task) -> Result<()> {
        match task {
            Task::Stream(layout) => self.prepare_stream(layout)?,
            Task::Chase(chase) => self.prepare_chase(chase)?,
            Task::Copies(copies) => self.prepare_copies(copies)?,
            Task::Peer(peer) => self.prepare_ends(peer.bytes)?,
            Task::Local(local) => {
                let items = u64::from(local.groups) * u64::from(local.group_size);
                self.room(|device| &mut device.sums, Bytes(items * 8))?;
            }
            Task::Atomics(atomics) => {
                self.room(|device| &mut device.counters, atomics.bytes())?;
            }
        }
        if !self.rates.contains_key(task) {
            let rate = self.calibrate(task)?;
            self.rates.insert(task.clone(), rate);
        }
        Ok(())
    }

    /// Increases the amount of work until it takes [`CALIBRATING`]. Returns the rate in passes,
    /// hops, transfers or additions per nanosecond.
    fn calibrate(&mut self, task: &Task) -> Result<f64> {
        let most = most(task);
        let mut count = least(task);
        loop {
            let window = self.execute(task, count)?;
            let time = window.elapsed();
            if time >= CALIBRATING || count >= most {
                return Ok(count as f64 / time.0.max(1.0));
            }
            count = (count * 4).min(most);
        }
    }

    pub(crate) fn sample(&mut self, task: &Task, length: Nanos) -> Result<Observation> {
        let rate = self.rates.get(task).copied().unwrap_or(0.0);
        let least = least(task);
        let count = (length.0 * rate) as u64 / least * least;
        let count = count.clamp(least, most(task));
        let mut window = self.execute(task, count)?;
        window.conditions = self.device.conditions();
        let others = window.conditions.other_programs.as_mut();
        if let Some(others) = others {
            *others = others.saturating_sub(self.own_processes);
        }
        self.rates
            .insert(task.clone(), count as f64 / window.elapsed().0.max(1.0));
        let amount = match task {
            Task::Stream(layout) => layout.moved(count as u32),
            Task::Chase(_) => count,
            Task::Copies(copies) => copies.moved().0 * count,
            Task::Peer(peer) => peer.bytes.0 * count,
            Task::Local(local) => local.moved(count as u32),
            Task::Atomics(atomics) => atomics.items() * count,
        };
        Ok(Observation {
            elapsed: window.elapsed(),
            amount,
            external: Some(ExternalFigures::new(window)),
            ..Observation::default()
        })
    }

    /// Does `count` passes, hops, transfers or additions by each work-item, and verifies their
    /// results. Returns the times that the work took.
    fn execute(&mut self, task: &Task, count: u64) -> Result<GpuWindow> {
        self.value = self.value.wrapping_add(1);
        let window = match task {
            Task::Stream(layout) => self.stream(layout, count as u32)?,
            Task::Chase(chase) => self.chase(chase, count as u32)?,
            Task::Copies(copies) => self.copies(copies, count as u32)?,
            Task::Peer(peer) => self.copies_to_peer(peer, count as u32)?,
            Task::Local(local) => self.local(local, count as u32)?,
            Task::Atomics(atomics) => self.atomics(*atomics, count as u32)?,
        };
        window.checked()
    }

    /// Returns the buffer in the field `place`. A missing buffer, or one with fewer than `bytes`
    /// bytes, is replaced.
    fn room(&mut self, place: fn(&mut Self) -> &mut Option<Sized>, bytes: Bytes) -> Result<Sized> {
        if let Some(sized) = place(self).filter(|sized| sized.bytes >= bytes) {
            return Ok(sized);
        }
        if let Some(old) = place(self).take() {
            self.device.release(old.buffer);
        }
        let buffer = self.device.allocate(bytes)?;
        let sized = Sized { buffer, bytes };
        *place(self) = Some(sized);
        Ok(sized)
    }

    fn wrong(&mut self) -> Result<GpuBuffer> {
        let buffer = match self.wrong {
            Some(buffer) => buffer,
            None => self.device.allocate(Bytes(4))?,
        };
        self.wrong = Some(buffer);
        self.device.upload(buffer, &[0; 4])?;
        Ok(buffer)
    }

    fn prepare_stream(&mut self, layout: &Layout) -> Result<()> {
        let bytes = layout.bytes();
        // Chains are released, because they may take the memory that a larger working set needs.
        if self.streams.is_none_or(|sized| sized.bytes < bytes) {
            self.forget_chains();
        }
        self.room(|device| &mut device.streams, bytes)?;
        let sums = Bytes(u64::from(layout.items()) * 8);
        self.room(|device| &mut device.sums, sums)?;
        Ok(())
    }

    fn forget_chains(&mut self) {
        for chain in std::mem::take(&mut self.chains).into_values() {
            self.device.release(chain.buffer);
        }
    }

    fn prepare_chase(&mut self, chase: &Chase) -> Result<()> {
        if self.chains.contains_key(chase) {
            return Ok(());
        }
        let kept: u64 = self.chains.keys().map(|kept| kept.bytes.0).sum();
        if kept + chase.bytes.0 > self.most_kept().0 {
            self.forget_chains();
        }
        let table = ChainTable::new(chase.nodes(), chase.indices(), chase.seed);
        let buffer = self.device.chain(&table.next)?;
        let chain = ChainOnDevice {
            buffer,
            order: table.order,
            hops: 0,
        };
        self.chains.insert(*chase, chain);
        Ok(())
    }

    /// Largest total size of the chains that stay on this device from one round to the next.
    fn most_kept(&self) -> Bytes {
        let memory = self.device.facts().memory.get().copied();
        memory
            .map_or(MOST_KEPT, |all| Bytes(all.0 / 8))
            .min(MOST_KEPT)
    }

    /// Allocates the two buffers for transfers, unless they already have at least `bytes` bytes.
    fn prepare_ends(&mut self, bytes: Bytes) -> Result<()> {
        if self.ends.is_some_and(|ends| ends[0].bytes >= bytes) {
            return Ok(());
        }
        for old in self.ends.take().into_iter().flatten() {
            self.device.release(old.buffer);
        }
        let mut end = || -> Result<Sized> {
            let buffer = self.device.allocate(bytes)?;
            Ok(Sized { buffer, bytes })
        };
        let first = end()?;
        let second = end()?;
        self.ends = Some([first, second]);
        Ok(())
    }

    fn prepare_copies(&mut self, copies: &Copies) -> Result<()> {
        self.prepare_ends(copies.bytes)?;
        if self.host.is_none_or(|(bytes, _)| bytes < copies.bytes) {
            self.device.set_host(copies.bytes, self.value)?;
            self.host = Some((copies.bytes, self.value));
        }
        Ok(())
    }

    fn stream(&mut self, layout: &Layout, passes: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a kernel runs before it was prepared");
        let buffer = self.streams.ok_or_else(missing)?.buffer;
        let sums = self.sums.ok_or_else(missing)?.buffer;
        let value = self.value;
        let operation = layout.operation;
        let floats = operation == StreamOperation::Triad;
        let words = layout.words;
        let fill = |index: u32, value| Call::Fill {
            buffer,
            to: words * index,
            words,
            value,
            floats,
        };
        // Sources hold numbers that begin with `value`. The target holds other numbers.
        let fills = match operation {
            StreamOperation::Read | StreamOperation::Update => vec![fill(0, value)],
            StreamOperation::Write => vec![fill(0, value ^ BEFORE)],
            StreamOperation::Copy => vec![fill(0, value), fill(1, value ^ BEFORE)],
            StreamOperation::Triad => {
                vec![fill(0, value), fill(1, value), fill(2, value ^ BEFORE)]
            }
        };
        for call in fills {
            self.device.run(&call)?;
        }
        let call = layout.call([buffer, sums], passes, value);
        let timing = self.device.run(&Call::Stream(call))?;
        if operation == StreamOperation::Read {
            let expected = layout.expected_sum(passes, value);
            self.check_sums(u64::from(layout.items()), sums, expected)?;
        } else {
            let expected = if operation == StreamOperation::Update {
                value.wrapping_add(value.wrapping_mul(u64::from(passes)))
            } else {
                value
            };
            let to = call.offsets()[0];
            let wrong = self.wrong()?;
            self.check_words(
                Call::Verify {
                    buffer,
                    to,
                    words,
                    value: expected,
                    triad: floats,
                    wrong,
                },
                operation.name(),
            )?;
        }
        Ok(GpuWindow::new(timing))
    }

    fn local(&mut self, local: &Local, passes: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a kernel runs before it was prepared");
        let sums = self.sums.ok_or_else(missing)?.buffer;
        let read = LocalRead {
            words: local.words,
            groups: local.groups,
            group_size: local.group_size,
            accesses: local.pass() * passes,
            value: self.value,
            sums,
        };
        let timing = self.device.run(&Call::LocalRead(read))?;
        // In each pass, a work-group loads every word of its shared memory (its tile) once.
        let words = u64::from(local.words);
        let tile = sum_of(0, words).wrapping_add(words.wrapping_mul(self.value));
        let times = u64::from(local.groups) * u64::from(passes) * u64::from(local.width);
        self.check_sums(read.items(), sums, tile.wrapping_mul(times))?;
        Ok(GpuWindow::new(timing))
    }

    fn atomics(&mut self, atomics: Atomics, accesses: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a kernel runs before it was prepared");
        let buffer = self.counters.ok_or_else(missing)?.buffer;
        let count = atomics.counts(buffer, accesses);
        let mut bytes = vec![0; count.bytes() as usize];
        self.device.upload(buffer, &bytes)?;
        let timing = self.device.run(&Call::Count(count))?;
        self.device.download(buffer, &mut bytes)?;
        // The sum covers all words, because the words between separate counters are zero.
        let numbers = bytes.chunks_exact(4).map(|chunk| {
            let mut number = [0; 4];
            number.copy_from_slice(chunk);
            u32::from_ne_bytes(number)
        });
        let sum = numbers.fold(0u32, u32::wrapping_add);
        if sum != (count.items() as u32).wrapping_mul(accesses) {
            return Err(Error::failure("the device lost atomic additions"));
        }
        Ok(GpuWindow::new(timing))
    }

    /// Checks that the sum of all loads of `items` work-items is `expected`.
    ///
    /// # Errors
    /// The sum differs, or the driver failed.
    fn check_sums(&mut self, items: u64, sums: GpuBuffer, expected: u64) -> Result<()> {
        let mut bytes = vec![0; items as usize * 8];
        self.device.download(sums, &mut bytes)?;
        let numbers = bytes.chunks_exact(8).map(|chunk| {
            let mut number = [0; 8];
            number.copy_from_slice(chunk);
            u64::from_ne_bytes(number)
        });
        if numbers.fold(0u64, u64::wrapping_add) == expected {
            return Ok(());
        }
        Err(Error::failure(
            "the device read other data than its memory holds",
        ))
    }

    /// Copies from the device to its peer, and verifies the copy. Each device first fills its own
    /// buffer, so that the buffer lies in the memory of this device.
    fn copies_to_peer(&mut self, peer: &Peer, repetitions: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a transfer runs before it was prepared");
        let [first, second] = self.ends.ok_or_else(missing)?;
        let words = (peer.bytes.0 / (u64::from(self.device.width()) * 8)) as u32;
        let value = self.value;
        let fill = |buffer, value| fill_whole(buffer, words, value);
        self.device.run(&fill(first.buffer, value))?;
        self.device
            .run_on_peer(&fill(second.buffer, value ^ BEFORE))?;
        let timing = self.device.copy_to_peer(&PeerCopy {
            from: first.buffer,
            to: second.buffer,
            bytes: peer.bytes,
            repetitions,
        })?;
        let wrong = self.wrong()?;
        let verify = Call::Verify {
            buffer: second.buffer,
            to: 0,
            words,
            value,
            triad: false,
            wrong,
        };
        self.device.run_on_peer(&verify)?;
        self.check_count(wrong, "copy to another device")?;
        Ok(GpuWindow::new(timing))
    }

    /// Lets the device count wrong words with `call`, which has to be [`Call::Verify`]. `what`
    /// names the work in the text of an error.
    ///
    /// # Errors
    /// The device counted wrong words, or the driver failed.
    fn check_words(&mut self, call: Call, what: &str) -> Result<()> {
        let Call::Verify { wrong, .. } = call else {
            return Ok(());
        };
        self.device.run(&call)?;
        self.check_count(wrong, what)
    }

    /// Reads the number of wrong words, which the device counted in the buffer `wrong`.
    ///
    /// # Errors
    /// The number is not 0, or the driver failed.
    fn check_count(&mut self, wrong: GpuBuffer, what: &str) -> Result<()> {
        let mut count = [0; 4];
        self.device.download(wrong, &mut count)?;
        match u32::from_ne_bytes(count) {
            0 => Ok(()),
            count => Err(Error::failure(format!(
                "{count} words in the memory of the device are wrong after: {what}"
            ))),
        }
    }

    fn chase(&mut self, chase: &Chase, hops: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a chase runs before it was prepared");
        let chain = self.chains.get_mut(chase).ok_or_else(missing)?;
        let timing = self.device.run(&Call::Chase {
            chain: chain.buffer,
            hops,
        })?;
        chain.hops += u64::from(hops);
        let place = self.device.place(chain.buffer)?;
        if place != after(&chain.order, chain.hops) {
            return Err(Error::failure("the device left its chain of pointers"));
        }
        Ok(GpuWindow::new(timing))
    }

    fn copies(&mut self, copies: &Copies, repetitions: u32) -> Result<GpuWindow> {
        let missing = || Error::failure("a transfer runs before it was prepared");
        let [first, second] = self.ends.ok_or_else(missing)?;
        let (_, sent) = self.host.ok_or_else(missing)?;
        let width = self.device.width();
        let words = (copies.bytes.0 / (u64::from(width) * 8)) as u32;
        let value = self.value;
        let both = copies.direction == Direction::Both;
        let source = if both { second } else { first };
        let fill = |buffer, value| fill_whole(buffer, words, value);
        if copies.direction != Direction::ToHost {
            self.device.run(&fill(first.buffer, sent ^ BEFORE))?;
        }
        if copies.direction != Direction::ToDevice {
            self.device.run(&fill(source.buffer, value))?;
        }
        let timing = self.device.transfer(&Transfer {
            direction: copies.direction,
            memory: copies.memory,
            buffer: first.buffer,
            second: second.buffer,
            bytes: copies.bytes,
            repetitions,
        })?;
        if copies.direction != Direction::ToHost {
            let wrong = self.wrong()?;
            self.check_words(
                Call::Verify {
                    buffer: first.buffer,
                    to: 0,
                    words,
                    value: sent,
                    triad: false,
                    wrong,
                },
                "transfer to the device",
            )?;
        }
        if copies.direction != Direction::ToDevice {
            let bytes = copies.bytes;
            if !self.device.has_received(copies.memory, bytes, value)? {
                return Err(Error::failure(
                    "the host received other data than the device sent",
                ));
            }
        }
        Ok(GpuWindow::new(timing))
    }
}

/// The call that fills the first `words` words of a buffer with numbers that begin with `value`.
fn fill_whole(buffer: GpuBuffer, words: u32, value: u64) -> Call {
    Call::Fill {
        buffer,
        to: 0,
        words,
        value,
        floats: false,
    }
}

impl GpuWindow {
    fn new(timing: Timing) -> Self {
        Self {
            device: timing.device,
            host: timing.host,
            conditions: GpuConditions::default(),
        }
    }

    /// Length of the sample, on the clock of the device if there is one, else on the host's clock.
    pub fn elapsed(&self) -> Nanos {
        self.device.unwrap_or(self.host)
    }

    /// The window, if the two clocks agree.
    ///
    /// # Errors
    /// The device claims to have worked longer than the host waited for it.
    fn checked(self) -> Result<Self> {
        let most = self.host * CLOCK_TOLERANCE + CLOCK_RESOLUTION;
        match self.device {
            Some(device) if device > most => Err(Error::failure(format!(
                "the clocks disagree: {device} by the device, {} by the host",
                self.host
            ))),
            _ => Ok(self),
        }
    }
}

/// Smallest number of passes, hops, transfers or additions in a sample. The actual number in a
/// sample is a multiple of the smallest number.
fn least(task: &Task) -> u64 {
    match task {
        Task::Chase(_) => HOPS,
        Task::Stream(_) | Task::Copies(_) | Task::Peer(_) | Task::Local(_) | Task::Atomics(_) => 1,
    }
}

/// Largest possible number of passes, hops, transfers or additions in a sample.
fn most(task: &Task) -> u64 {
    match task {
        Task::Stream(layout) => u64::from(layout.most_passes()),
        Task::Chase(_) => MOST_STEPS,
        Task::Local(local) => u64::from((u32::MAX / 2 / local.pass().max(1)).max(1)),
        Task::Atomics(_) => MOST_STEPS,
        // A driver keeps a record of each waiting command, so the number of commands is limited.
        Task::Copies(_) => 4096,
        // A driver may keep a copy of the source on the peer. A second copy would then stay within
        // the peer.
        Task::Peer(_) => 1,
    }
}
