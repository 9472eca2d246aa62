//! The program's end of the pipes to a process that opens drivers.

use super::message::{Answer, NOTHING, Received, Reply, Request, Sent, receive, send};
use std::fmt;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::Builder;
use std::time::Duration;
use units::Nanos;
use units::error::{Error, Result};

/// How long the process of a driver may take.
#[derive(Debug, Clone, Copy)]
pub struct DriverLimits {
    /// For a reply. A driver may compile for many seconds.
    pub reply: Duration,
    /// To end when it is asked to.
    pub end: Duration,
}

impl Default for DriverLimits {
    fn default() -> Self {
        Self {
            reply: Duration::from_secs(60),
            end: Duration::from_secs(2),
        }
    }
}

/// A reply with its data, or why there is none.
type Arrived = io::Result<(Reply, Received)>;

/// A connection to a process that answers one request after the other.
pub struct Connection {
    requests: Box<dyn Write + Send>,
    replies: Receiver<Arrived>,
    /// The process; `None` in tests.
    process: Option<Child>,
    limits: DriverLimits,
    cpu: Nanos,
    /// Why there are no more replies.
    lost: Option<String>,
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("process", &self.process)
            .field("lost", &self.lost)
            .finish_non_exhaustive()
    }
}

impl Connection {
    /// A connection to `process`, by its standard input and output.
    ///
    /// # Errors
    /// No thread could be started.
    pub fn to(mut process: Child, limits: DriverLimits) -> Result<Self> {
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (requests, replies) = pipes.ok_or_else(|| Error::failure("a process has no pipes"))?;
        let mut connection = Self::over(replies, requests, limits)?;
        connection.process = Some(process);
        Ok(connection)
    }

    /// A connection over two pipes.
    ///
    /// # Errors
    /// No thread could be started.
    pub fn over(
        replies: impl Read + Send + 'static,
        requests: impl Write + Send + 'static,
        limits: DriverLimits,
    ) -> Result<Self> {
        let (sender, received) = channel();
        let mut replies = BufReader::new(replies);
        // Only a thread of its own can wait for a pipe with a limit on every system.
        let listen = move || {
            loop {
                let reply = receive(&mut replies);
                let is_last = !matches!(reply, Ok(Some(_)));
                let Some(reply) = reply.transpose() else {
                    return;
                };
                if sender.send(reply).is_err() || is_last {
                    return;
                }
            }
        };
        Builder::new()
            .spawn(listen)
            .map_err(|why| Error::failure(format!("cannot start a thread: {why}")))?;
        Ok(Self {
            requests: Box::new(BufWriter::new(requests)),
            replies: received,
            process: None,
            limits,
            cpu: Nanos::ZERO,
            lost: None,
        })
    }

    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// The request failed, or the process ended or did not answer in time.
    pub fn ask(&mut self, request: Request, data: Sent<'_>) -> Result<(Answer, Received)> {
        if let Some(reason) = &self.lost {
            return Err(Error::failure(reason.clone()));
        }
        if send(&mut self.requests, &request, data).is_err() {
            // The reason is in what the process left.
            return Err(self.lose(None));
        }
        match self.replies.recv_timeout(self.limits.reply) {
            Ok(Ok((reply, data))) => {
                self.cpu = reply.cpu.unwrap_or(self.cpu);
                match reply.answer {
                    Answer::Failed {
                        usage: true,
                        reason,
                    } => Err(Error::usage(reason)),
                    Answer::Failed { reason, .. } => Err(Error::failure(reason)),
                    answer => Ok((answer, data)),
                }
            }
            Ok(Err(why)) => Err(self.lose(Some(why.to_string()))),
            Err(RecvTimeoutError::Disconnected) => Err(self.lose(None)),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = self.limits.reply.as_secs_f64();
                Err(self.lose(Some(format!(
                    "the driver did not return within {seconds} s"
                ))))
            }
        }
    }

    /// Ends the process and remembers why it is lost: `reason`, or how it ended by itself.
    fn lose(&mut self, reason: Option<String>) -> Error {
        let patience = if reason.is_some() {
            Duration::ZERO
        } else {
            self.limits.end
        };
        let status = self.process.as_mut().and_then(|p| end(p, patience));
        let reason = reason.unwrap_or_else(|| match status {
            Some(status) => format!("the process of the driver ended ({status})"),
            None => "the process of the driver ended".to_owned(),
        });
        self.lost = Some(reason.clone());
        Error::failure(reason)
    }

    /// CPU time that the process used so far.
    pub fn cpu_time(&self) -> Nanos {
        self.cpu
    }

    /// True if the process ended, or was ended because it did not answer.
    pub fn is_lost(&self) -> bool {
        self.lost.is_some()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let asked = self.lost.is_none()
            && send(&mut self.requests, &Request::End, NOTHING).is_ok()
            && matches!(self.replies.recv_timeout(self.limits.end), Ok(Ok(_)));
        let patience = if asked {
            self.limits.end
        } else {
            Duration::ZERO
        };
        if let Some(process) = &mut self.process {
            end(process, patience);
        }
    }
}

/// Waits for the end of `process`, and ends it after `patience`. Returns how it ended, unless it was
/// ended here or the system does not say.
fn end(process: &mut Child, patience: Duration) -> Option<ExitStatus> {
    const PAUSE: Duration = Duration::from_millis(5);
    const LAST_PAUSES: u32 = 200;
    let mut waited = Duration::ZERO;
    while waited < patience {
        match process.try_wait() {
            Ok(None) => {}
            Ok(Some(status)) => return Some(status),
            Err(_) => break,
        }
        std::thread::sleep(PAUSE);
        waited += PAUSE;
    }
    // Errors are ignored: it may have ended in between. A process that hangs in the kernel does not
    // end, so it is not waited for without a limit.
    let _ = process.kill();
    for _ in 0..LAST_PAUSES {
        if !matches!(process.try_wait(), Ok(None)) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    None
}
