//! Opens drivers in separate processes.
//!
//! If a driver crashes or never returns, only one measurement ends, and the program continues. A
//! statically linked program cannot load libraries, but it can contain a small program that can.

mod connection;
mod message;
mod serve;

#[cfg(test)]
mod tests;

pub use connection::DriverLimits;
pub use serve::serve;

use super::Drivers;
use super::call::{Call, GpuBuffer};
use super::conditions::GpuConditions;
use super::device::{GpuDevice, HostMemory, PeerCopy, Timing, Transfer};
use crate::os;
use connection::Connection;
use message::{Answer, NOTHING, Received, Request, Sent};
use report::GpuFacts;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use units::error::{Error, Result};
use units::{Bytes, Nanos};

/// The program that opens drivers and runs [`serve`].
#[derive(Debug, Clone)]
pub enum DriverProgram {
    /// Path of a program, and its arguments.
    File(PathBuf, Vec<OsString>),
    /// Bytes of a program that needs the C library of the system.
    Embedded(Vec<u8>),
}

/// Opens each device in a process of its own.
#[derive(Debug, Clone)]
pub struct DriverProcesses {
    /// The program that is started.
    pub program: DriverProgram,
    /// Limits on the time that the process may take.
    pub limits: DriverLimits,
}

impl DriverProcesses {
    /// Starts a process and connects to it.
    fn start(&self) -> Result<Connection> {
        let failed = |why: std::io::Error| {
            let reason = match (why.kind(), &self.program) {
                (std::io::ErrorKind::NotFound, DriverProgram::Embedded(_)) => {
                    "this system lacks /proc, or the GNU C library, which drivers need".to_owned()
                }
                _ => why.to_string(),
            };
            Error::failure(format!("cannot start the process for drivers: {reason}"))
        };
        // The file of an embedded program stays open until the process has been started.
        let (path, arguments, _file) = match &self.program {
            DriverProgram::File(path, arguments) => (path.clone(), arguments.as_slice(), None),
            DriverProgram::Embedded(bytes) => {
                let (path, file) = os::program_in_memory(bytes).map_err(failed)?;
                (path, Default::default(), Some(file))
            }
        };
        let mut command = Command::new(path);
        command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        // The process must not receive Ctrl-C. Only the program receives it, and then ends the
        // process.
        os::start_apart(&mut command);
        Connection::to(command.spawn().map_err(failed)?, self.limits)
    }
}

impl DriverProcesses {
    /// Facts about all devices. `None` if no process could be started, or if there is no driver.
    ///
    /// # Errors
    /// The process ended, did not answer in time, or gave the answer to another request.
    pub fn try_devices(&self) -> Result<Option<Vec<GpuFacts>>> {
        let Ok(mut connection) = self.start() else {
            return Ok(None);
        };
        match connection.ask(Request::List, NOTHING) {
            Ok((Answer::Devices(devices), _)) => Ok(Some(devices)),
            Ok(_) => Err(unexpected()),
            Err(why) if connection.is_lost() => Err(why),
            Err(_) => Ok(None),
        }
    }
}

impl Drivers for DriverProcesses {
    fn devices(&self) -> Result<Vec<GpuFacts>> {
        match self.start()?.ask(Request::List, NOTHING)? {
            (Answer::Devices(devices), _) => Ok(devices),
            _ => Err(unexpected()),
        }
    }

    fn open(&self, number: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
        let opened = RemoteDevice::open(self.start()?, (number, None), width)?;
        Ok(Box::new(opened))
    }

    fn open_pair(&self, number: u32, peer: u32, width: u32) -> Result<Box<dyn GpuDevice>> {
        let opened = RemoteDevice::open(self.start()?, (number, Some(peer)), width)?;
        Ok(Box::new(opened))
    }
}

/// Opens a device that another process reaches. The other process runs [`serve`] at the other end
/// of the two pipes, `replies` and `requests`. `numbers` are the number of the device, and the
/// number of its peer if it has one. In tests, a thread of this process runs [`serve`].
///
/// # Errors
/// The device cannot be opened.
pub fn open_over(
    replies: impl Read + Send + 'static,
    requests: impl Write + Send + 'static,
    numbers: (u32, Option<u32>),
    width: u32,
) -> Result<Box<dyn GpuDevice>> {
    let connection = Connection::over(replies, requests, DriverLimits::default())?;
    Ok(Box::new(RemoteDevice::open(connection, numbers, width)?))
}

fn unexpected() -> Error {
    Error::failure("the process of the driver gave the answer to another request")
}

/// A device that another process opened.
#[derive(Debug)]
struct RemoteDevice {
    connection: Connection,
    facts: GpuFacts,
    width: u32,
}

impl RemoteDevice {
    fn open(
        mut connection: Connection,
        (number, peer): (u32, Option<u32>),
        width: u32,
    ) -> Result<Self> {
        let request = Request::Open {
            number,
            peer,
            width,
        };
        match connection.ask(request, NOTHING)? {
            (Answer::Opened(facts), _) => Ok(Self {
                connection,
                facts: *facts,
                width,
            }),
            _ => Err(unexpected()),
        }
    }

    fn ask(&mut self, request: Request) -> Result<Answer> {
        Ok(self.connection.ask(request, NOTHING)?.0)
    }

    fn make(&mut self, request: Request, data: Sent<'_>) -> Result<GpuBuffer> {
        match self.connection.ask(request, data)? {
            (Answer::Buffer(buffer), _) => Ok(buffer),
            _ => Err(unexpected()),
        }
    }

    fn time(&mut self, request: Request) -> Result<Timing> {
        match self.ask(request)? {
            Answer::Took(timing) => Ok(timing),
            _ => Err(unexpected()),
        }
    }
}

impl GpuDevice for RemoteDevice {
    fn facts(&self) -> &GpuFacts {
        &self.facts
    }

    fn width(&self) -> u32 {
        self.width
    }

    fn allocate(&mut self, bytes: Bytes) -> Result<GpuBuffer> {
        self.make(Request::Allocate(bytes), NOTHING)
    }

    fn release(&mut self, buffer: GpuBuffer) {
        // If the process has ended, its buffers are free already.
        let _ = self.ask(Request::Release(buffer));
    }

    fn upload(&mut self, buffer: GpuBuffer, data: &[u8]) -> Result<()> {
        let request = Request::Upload(buffer);
        self.connection.ask(request, Sent::Bytes(data)).map(drop)
    }

    fn download(&mut self, buffer: GpuBuffer, data: &mut [u8]) -> Result<()> {
        let request = Request::Download(buffer, Bytes(data.len() as u64));
        match self.connection.ask(request, NOTHING)? {
            (Answer::Done, Received::Bytes(bytes)) if bytes.len() == data.len() => {
                data.copy_from_slice(&bytes);
                Ok(())
            }
            _ => Err(unexpected()),
        }
    }

    fn chain(&mut self, next: &[u32]) -> Result<GpuBuffer> {
        self.make(Request::Chain, Sent::Numbers(next))
    }

    fn place(&mut self, chain: GpuBuffer) -> Result<u32> {
        match self.ask(Request::Place(chain))? {
            Answer::Place(index) => Ok(index),
            _ => Err(unexpected()),
        }
    }

    fn run(&mut self, call: &Call) -> Result<Timing> {
        self.time(Request::Run(*call))
    }

    fn run_on_peer(&mut self, call: &Call) -> Result<Timing> {
        self.time(Request::RunOnPeer(*call))
    }

    fn copy_to_peer(&mut self, copy: &PeerCopy) -> Result<Timing> {
        self.time(Request::CopyToPeer(*copy))
    }

    fn transfer(&mut self, transfer: &Transfer) -> Result<Timing> {
        self.time(Request::Transfer(*transfer))
    }

    fn set_host(&mut self, bytes: Bytes, value: u64) -> Result<()> {
        self.ask(Request::SetHost(bytes, value)).map(drop)
    }

    fn has_received(&mut self, memory: HostMemory, bytes: Bytes, value: u64) -> Result<bool> {
        match self.ask(Request::HasReceived(memory, bytes, value))? {
            Answer::Is(filled) => Ok(filled),
            _ => Err(unexpected()),
        }
    }

    fn conditions(&mut self) -> GpuConditions {
        match self.ask(Request::Conditions) {
            Ok(Answer::Conditions(conditions)) => conditions,
            _ => GpuConditions::default(),
        }
    }

    fn cpu_time(&self) -> Nanos {
        self.connection.cpu_time()
    }

    fn is_lost(&self) -> bool {
        self.connection.is_lost()
    }
}
