//! The main function of the process that opens drivers: it carries out the requests of the program.

use super::super::Drivers;
use super::super::device::GpuDevice;
use super::message::{Answer, NOTHING, Received, Reply, Request, Sent, receive, send};
use crate::os;
use std::io::{BufReader, BufWriter, Read, Write};
use std::sync::mpsc::sync_channel;
use std::thread::Builder;
use units::Nanos;
use units::error::{Error, Kind, Result};

/// Carries out the requests in `input` with `drivers`, and writes the replies to `output`.
///
/// Returns after the request `Request::End`. If the input ends earlier, the program has ended. This
/// process then ends at once, because the driver may never return.
///
/// # Errors
/// The output is closed, or no thread could be started.
pub fn serve(
    drivers: &dyn Drivers,
    input: impl Read + Send + 'static,
    output: impl Write,
) -> Result<()> {
    let (sender, requests) = sync_channel(1);
    let mut input = BufReader::new(input);
    let listen = move || {
        while let Ok(Some(message)) = receive::<Request>(&mut input) {
            let is_last = matches!(message.0, Request::End);
            if sender.send(message).is_err() || is_last {
                return;
            }
        }
        // A normal exit would call the functions that a driver registered for it, which could hang
        // too.
        signal_hook::low_level::exit(1);
    };
    Builder::new()
        .spawn(listen)
        .map_err(|why| Error::failure(format!("cannot start a thread: {why}")))?;
    let mut output = BufWriter::new(output);
    let mut device = None;
    for (request, data) in requests {
        let is_last = matches!(request, Request::End);
        let mut answered = Vec::new();
        let answer = carry_out(drivers, &mut device, request, data, &mut answered);
        let answer = answer.unwrap_or_else(|why| Answer::Failed {
            usage: why.kind() == Kind::Usage,
            reason: why.to_string(),
        });
        let reply = Reply {
            answer,
            cpu: os::process_cpu_ns().map(|ns| Nanos(ns as f64)),
        };
        let data = match answered.as_slice() {
            [] => NOTHING,
            bytes => Sent::Bytes(bytes),
        };
        send(&mut output, &reply, data)
            .map_err(|why| Error::failure(format!("cannot answer: {why}")))?;
        if is_last {
            break;
        }
    }
    Ok(())
}

/// Carries out one request and returns the answer. `answered` receives the data of the answer.
fn carry_out(
    drivers: &dyn Drivers,
    device: &mut Option<Box<dyn GpuDevice>>,
    request: Request,
    data: Received,
    answered: &mut Vec<u8>,
) -> Result<Answer> {
    match request {
        Request::List => return Ok(Answer::Devices(drivers.devices()?)),
        Request::Open {
            number,
            peer,
            width,
        } => {
            let opened = match peer {
                Some(peer) => drivers.open_pair(number, peer, width)?,
                None => drivers.open(number, width)?,
            };
            let facts = opened.facts().clone();
            *device = Some(opened);
            return Ok(Answer::Opened(Box::new(facts)));
        }
        Request::End => {
            *device = None;
            return Ok(Answer::Done);
        }
        _ => {}
    }
    let closed = || Error::failure("no device is open");
    let device = device.as_mut().ok_or_else(closed)?;
    Ok(match request {
        Request::List | Request::Open { .. } | Request::End => Answer::Done,
        Request::Allocate(bytes) => Answer::Buffer(device.allocate(bytes)?),
        Request::Release(buffer) => {
            device.release(buffer);
            Answer::Done
        }
        Request::Upload(buffer) => {
            let Received::Bytes(bytes) = data else {
                return Err(Error::failure("an upload has no bytes"));
            };
            device.upload(buffer, &bytes)?;
            Answer::Done
        }
        Request::Download(buffer, bytes) => {
            answered.resize(bytes.to_usize(), 0);
            device.download(buffer, answered)?;
            Answer::Done
        }
        Request::Chain => {
            let Received::Numbers(numbers) = data else {
                return Err(Error::failure("a chain has no numbers"));
            };
            Answer::Buffer(device.chain(&numbers)?)
        }
        Request::Place(chain) => Answer::Place(device.place(chain)?),
        Request::Run(call) => Answer::Took(device.run(&call)?),
        Request::RunOnPeer(call) => Answer::Took(device.run_on_peer(&call)?),
        Request::CopyToPeer(copy) => Answer::Took(device.copy_to_peer(&copy)?),
        Request::Transfer(transfer) => Answer::Took(device.transfer(&transfer)?),
        Request::SetHost(bytes, value) => {
            device.set_host(bytes, value)?;
            Answer::Done
        }
        Request::Conditions => Answer::Conditions(device.conditions()),
        Request::HasReceived(memory, bytes, value) => {
            Answer::Is(device.has_received(memory, bytes, value)?)
        }
    })
}
