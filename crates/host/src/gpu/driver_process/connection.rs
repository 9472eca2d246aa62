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

/// Limits on the time that the process of a driver may take.
#[derive(Debug, Clone, Copy)]
pub struct DriverLimits {
    /// Longest wait for a reply. A driver may compile kernels for many seconds.
    pub reply: Duration,
    /// Longest wait for the end of the process after it is asked to end.
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

/// A reply with its data. The error is the reason why no reply arrived.
type Arrived = io::Result<(Reply, Received)>;

/// A connection to a process that answers one request after the other.
pub struct Connection {
    requests: Box<dyn Write + Send>,
    replies: Receiver<Arrived>,
    /// The process; `None` in tests.
    process: Option<Child>,
    limits: DriverLimits,
    cpu: Nanos,
    /// Reason why there are no more replies; `None` while the process answers.
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
        // Not every system can read a pipe with a time limit. So a separate thread reads the pipe,
        // and passes the replies on.
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
            // The process has closed its pipe, so it has probably ended. Its exit status is the
            // reason.
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

    /// Ends the process, and stores and returns the reason of its loss. If `reason` is `None`, the
    /// reason is the exit status of the process.
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

    /// CPU time that the process has used.
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

/// Waits for the end of `process`, and kills it after `patience`. Returns the exit status. `None`
/// if the process was killed here, or if the system does not report the status.
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
    // Errors are ignored, because the process may have ended in between. The wait is limited,
    // because a process that hangs in the kernel does not end.
    let _ = process.kill();
    for _ in 0..LAST_PAUSES {
        if !matches!(process.try_wait(), Ok(None)) {
            break;
        }
        std::thread::sleep(PAUSE);
    }
    None
}
