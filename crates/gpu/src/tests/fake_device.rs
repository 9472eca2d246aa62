//! A simulated device. It carries out the kernels in ordinary memory, with faults on request.

use host::gpu::{
    Call, Direction, GpuBuffer, GpuConditions, GpuDevice, HostMemory, PeerCopy, Stream,
    StreamOperation, Timing, Transfer, filled, is_filled,
};
use report::{Fact, GpuFacts};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// A fault of the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Everything works.
    None,
    /// Streaming kernels leave out their last access.
    LosesAnAccess,
    /// Transfers change a byte.
    ChangesAByte,
    /// The chase stops one hop early.
    LosesAHop,
    /// Allocations fail.
    NoMemory,
    /// The driver fails at every kernel.
    Vanishes,
    /// The process of the driver is gone after the first kernel.
    Lost,
    /// The clock of the device runs too fast.
    WrongClock,
}

/// A simulated device.
#[derive(Debug)]
pub struct FakeDevice {
    pub facts: GpuFacts,
    fault: Fault,
    buffers: BTreeMap<usize, Vec<u64>>,
    chains: BTreeMap<usize, (Vec<u32>, u32)>,
    /// Number of chains that were made so far.
    pub chains_made: Rc<Cell<u32>>,
    /// Number of programs that use the device, this program included. `None` if the driver does not
    /// report it.
    pub programs: Option<Rc<Cell<u32>>>,
    next: usize,
    is_lost: bool,
    sent: Vec<u8>,
    received: Vec<u8>,
}

/// Facts about a device of `kind` with `units` compute units.
pub fn facts(kind: &str, units: u32) -> GpuFacts {
    let bytes = |bytes: u64| Fact::known(Bytes(bytes), "test");
    GpuFacts {
        number: 0,
        name: "fake".to_owned(),
        vendor: "test".to_owned(),
        kind: kind.to_owned(),
        interface: "opencl".to_owned(),
        driver: Fact::known("1.0".to_owned(), "test"),
        memory: bytes(1 << 30),
        largest_allocation: bytes(256 << 20),
        cache: bytes(4 << 20),
        line: bytes(128),
        local_memory: bytes(64 << 10),
        compute_units: Fact::known(units, "test"),
        shares_host_memory: Fact::known(false, "test"),
        ..GpuFacts::unknown("test")
    }
}

impl FakeDevice {
    pub fn new(kind: &str, units: u32, fault: Fault) -> Self {
        Self {
            facts: facts(kind, units),
            fault,
            buffers: BTreeMap::new(),
            chains: BTreeMap::new(),
            chains_made: Rc::default(),
            programs: None,
            next: 0,
            is_lost: false,
            sent: Vec::new(),
            received: Vec::new(),
        }
    }

    fn lanes(&self) -> usize {
        self.width() as usize
    }

    fn buffer(&mut self, buffer: GpuBuffer) -> Result<&mut Vec<u64>> {
        let known = self.buffers.get_mut(&buffer.0);
        known.ok_or_else(|| Error::failure("no such buffer"))
    }

    fn stream(&mut self, stream: &Stream) -> Result<()> {
        let lanes = self.lanes();
        let lost = self.fault == Fault::LosesAnAccess;
        let [to, from, other] = stream.offsets().map(|word| word as usize);
        let items = stream.items() as u32;
        let mut sums = vec![0u64; items as usize];
        let memory = self.buffer(stream.buffer)?;
        for item in 0..items {
            let low = item * stream.per_item;
            let mut i = low + item * stream.start % stream.region;
            for access in 0..stream.accesses {
                let is_last = item + 1 == items && access + 1 == stream.accesses;
                if !(lost && is_last) {
                    for lane in 0..lanes {
                        let at = |word: usize| (word + i as usize) * lanes + lane;
                        match stream.operation {
                            StreamOperation::Read => {
                                let sum = &mut sums[item as usize];
                                *sum = sum.wrapping_add(memory[at(from)]);
                            }
                            StreamOperation::Write => {
                                memory[at(to)] = u64::from(i).wrapping_add(stream.value);
                            }
                            StreamOperation::Copy => memory[at(to)] = memory[at(from)],
                            StreamOperation::Update => {
                                memory[at(to)] = memory[at(to)].wrapping_add(stream.value);
                            }
                            StreamOperation::Triad => {
                                memory[at(to)] = memory[at(from)] + 3 * memory[at(other)];
                            }
                        }
                    }
                }
                i += stream.step;
                if i >= low + stream.region {
                    i -= stream.region;
                }
            }
        }
        if stream.operation == StreamOperation::Read {
            self.buffer(stream.sums)?[..sums.len()].copy_from_slice(&sums);
        }
        Ok(())
    }
}

impl GpuDevice for FakeDevice {
    fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    fn width(&self) -> u32 {
        if self.facts.kind == "cpu" { 8 } else { 2 }
    }

    fn allocate(&mut self, bytes: Bytes) -> Result<GpuBuffer> {
        if self.fault == Fault::NoMemory {
            return Err(Error::failure("cannot allocate: not enough memory"));
        }
        self.next += 1;
        let words = bytes.0.div_ceil(8) as usize;
        self.buffers.insert(self.next, vec![0xDEAD; words]);
        Ok(GpuBuffer(self.next))
    }

    fn release(&mut self, buffer: GpuBuffer) {
        self.buffers.remove(&buffer.0);
        self.chains.remove(&buffer.0);
    }

    fn upload(&mut self, buffer: GpuBuffer, data: &[u8]) -> Result<()> {
        let memory = self.buffer(buffer)?;
        for (word, chunk) in memory.iter_mut().zip(data.chunks(8)) {
            let mut bytes = word.to_ne_bytes();
            bytes[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_ne_bytes(bytes);
        }
        Ok(())
    }

    fn download(&mut self, buffer: GpuBuffer, data: &mut [u8]) -> Result<()> {
        let memory = self.buffer(buffer)?;
        for (word, chunk) in memory.iter().zip(data.chunks_mut(8)) {
            chunk.copy_from_slice(&word.to_ne_bytes()[..chunk.len()]);
        }
        Ok(())
    }

    fn chain(&mut self, next: &[u32]) -> Result<GpuBuffer> {
        self.next += 1;
        self.chains_made.set(self.chains_made.get() + 1);
        self.chains.insert(self.next, (next.to_vec(), 0));
        Ok(GpuBuffer(self.next))
    }

    fn place(&mut self, chain: GpuBuffer) -> Result<u32> {
        Ok(self.chains[&chain.0].1)
    }

    fn run(&mut self, call: &Call) -> Result<Timing> {
        if self.fault == Fault::Lost {
            self.is_lost = true;
            return Err(Error::failure("the process of the driver ended"));
        }
        if self.fault == Fault::Vanishes {
            return Err(Error::failure("cannot run: device not available"));
        }
        let lanes = self.lanes();
        match *call {
            Call::Stream(stream) => self.stream(&stream)?,
            Call::Fill {
                buffer,
                to,
                words,
                value,
                floats,
            } => {
                let memory = self.buffer(buffer)?;
                for i in 0..u64::from(words) {
                    let number = i.wrapping_add(value);
                    let number = if floats { number & 4095 } else { number };
                    let at = (to as usize + i as usize) * lanes;
                    memory[at..at + lanes].fill(number);
                }
            }
            Call::Verify {
                buffer,
                to,
                words,
                value,
                triad,
                wrong,
            } => {
                let memory = self.buffer(buffer)?;
                let count = (0..u64::from(words)).filter(|&i| {
                    let number = i.wrapping_add(value);
                    let number = if triad { 4 * (number & 4095) } else { number };
                    let at = (to as usize + i as usize) * lanes;
                    memory[at..at + lanes].iter().any(|&lane| lane != number)
                });
                let count = count.count() as u32;
                self.upload(wrong, &count.to_ne_bytes())?;
            }
            Call::LocalRead(read) => {
                let lost = u64::from(self.fault == Fault::LosesAnAccess);
                let words = u64::from(read.words);
                let size = u64::from(read.group_size);
                let sums = (0..read.items()).map(|item| {
                    let first = item % size;
                    let count = u64::from(read.accesses) - lost;
                    let places = (0..count).map(|access| (first + access * size) % words);
                    places.map(|i| i + read.value).sum::<u64>() * lanes as u64
                });
                let sums: Vec<u64> = sums.collect();
                self.buffer(read.sums)?[..sums.len()].copy_from_slice(&sums);
            }
            Call::Count(count) => {
                let mut bytes = vec![0; count.bytes() as usize];
                self.download(count.counters, &mut bytes)?;
                let each = count.accesses - u32::from(self.fault == Fault::LosesAnAccess);
                for item in 0..count.items() {
                    let at = (item * u64::from(count.stride) * 4) as usize;
                    let counter = &mut bytes[at..at + 4];
                    let old = u32::from_ne_bytes(counter.try_into().expect("4 bytes"));
                    counter.copy_from_slice(&(old + each).to_ne_bytes());
                }
                self.upload(count.counters, &bytes)?;
            }
            Call::Chase { chain, hops } => {
                let hops = hops - u32::from(self.fault == Fault::LosesAHop);
                let (next, place) = self.chains.get_mut(&chain.0).expect("a chain");
                for _ in 0..hops {
                    *place = next[*place as usize];
                }
            }
        }
        let host = Nanos(1e6);
        let device = if self.fault == Fault::WrongClock {
            host * 2.0
        } else {
            host * 0.9
        };
        Ok(Timing {
            device: Some(device),
            host,
        })
    }

    fn transfer(&mut self, transfer: &Transfer) -> Result<Timing> {
        let bytes = transfer.bytes.to_usize();
        let mut moved = self.sent[..bytes].to_vec();
        if self.fault == Fault::ChangesAByte {
            moved[bytes / 2] ^= 1;
        }
        let both = transfer.direction == Direction::Both;
        if transfer.direction != Direction::ToDevice {
            let source = if both {
                transfer.second
            } else {
                transfer.buffer
            };
            let mut received = vec![0; bytes];
            self.download(source, &mut received)?;
            if self.fault == Fault::ChangesAByte {
                received[bytes - 1] ^= 1;
            }
            self.received = received;
        }
        if transfer.direction != Direction::ToHost {
            self.upload(transfer.buffer, &moved)?;
        }
        Ok(Timing {
            device: None,
            host: Nanos(1e6),
        })
    }

    fn set_host(&mut self, bytes: Bytes, value: u64) -> Result<()> {
        self.sent = filled(bytes.to_usize(), self.width(), value);
        Ok(())
    }

    fn has_received(&mut self, _memory: HostMemory, bytes: Bytes, value: u64) -> Result<bool> {
        let part = &self.received[..bytes.to_usize()];
        Ok(is_filled(part, self.width(), value))
    }

    /// The memory of the device also contains the buffers of the peer.
    fn run_on_peer(&mut self, call: &Call) -> Result<Timing> {
        self.run(call)
    }

    fn copy_to_peer(&mut self, copy: &PeerCopy) -> Result<Timing> {
        let mut data = vec![0; copy.bytes.to_usize()];
        self.download(copy.from, &mut data)?;
        if self.fault == Fault::ChangesAByte {
            data[copy.bytes.to_usize() - 1] ^= 1;
        }
        self.upload(copy.to, &data)?;
        Ok(Timing {
            device: None,
            host: Nanos(1e6),
        })
    }

    fn conditions(&mut self) -> GpuConditions {
        GpuConditions {
            other_programs: self.programs.as_ref().map(|programs| programs.get() - 1),
            ..GpuConditions::default()
        }
    }

    fn cpu_time(&self) -> Nanos {
        Nanos(1e6)
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }
}
