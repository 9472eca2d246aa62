//! Messages between the program and a process that opens drivers.
//!
//! A message in a pipe is a head of 24 bytes, a text in JSON, and data. The head is a mark, the
//! kind of the data, the length of the text and the length of the data. Lengths are in bytes, in
//! the byte order of the machine.

use super::super::call::{Call, GpuBuffer};
use super::super::conditions::GpuConditions;
use super::super::device::{HostMemory, PeerCopy, Timing, Transfer};
use report::GpuFacts;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use units::{Bytes, Nanos};

/// First bytes of a message. Drivers print nothing that begins like this.
const MARK: [u8; 4] = *b"\x01mgd";

/// Longest text of a message that is accepted, in bytes.
const LONGEST_TEXT: u64 = 16 << 20;

/// Number of bytes that are converted from or to numbers at a time.
const PIECE: usize = 64 << 10;

/// A request of the program. Each request gets one [`Reply`].
#[derive(Debug, Serialize, Deserialize)]
pub enum Request {
    /// Lists the devices of all drivers.
    List,
    /// Opens a device. All later requests are about this device.
    Open {
        /// Number of the device.
        number: u32,
        /// Number of its peer, if it has one.
        peer: Option<u32>,
        /// Lanes in a word.
        width: u32,
    },
    /// Allocates a buffer of this size.
    Allocate(Bytes),
    /// Frees a buffer.
    Release(GpuBuffer),
    /// Writes the message's data to the start of a buffer.
    Upload(GpuBuffer),
    /// Reads this number of bytes from the start of a buffer.
    Download(GpuBuffer, Bytes),
    /// Allocates a chain. The message's data are its indices.
    Chain,
    /// Asks where the last chase through a chain stopped.
    Place(GpuBuffer),
    /// Runs a kernel.
    Run(Call),
    /// Runs a kernel on the peer.
    RunOnPeer(Call),
    /// Copies from the device to its peer.
    CopyToPeer(PeerCopy),
    /// Carries out transfers.
    Transfer(Transfer),
    /// Fills the host's memory for transfers. The fields are its size in bytes, and the number in
    /// its first word.
    SetHost(Bytes, u64),
    /// Asks whether the last transfer to this kind of memory wrote this many bytes. The last field
    /// is the number in the first word.
    HasReceived(HostMemory, Bytes, u64),
    /// Asks for the conditions of the device.
    Conditions,
    /// Closes the device. The process ends after its reply to this request.
    End,
}

/// Answer to a request.
#[derive(Debug, Serialize, Deserialize)]
pub enum Answer {
    /// The request was carried out. The message has data if it answers a download.
    Done,
    /// Facts about all devices.
    Devices(Vec<GpuFacts>),
    /// The device was opened. The field contains facts about it.
    Opened(Box<GpuFacts>),
    /// The buffer that was allocated.
    Buffer(GpuBuffer),
    /// Index at which the last chase stopped.
    Place(u32),
    /// Duration of a command on two clocks.
    Took(Timing),
    /// Conditions of the device.
    Conditions(GpuConditions),
    /// Answer to a question that is answered with yes or no.
    Is(bool),
    /// The request failed.
    Failed {
        /// True if the user has to change what was requested.
        usage: bool,
        /// The reason.
        reason: String,
    },
}

/// Answer to a request, with the CPU time of the process.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// The answer.
    pub answer: Answer,
    /// CPU time that the process has used; `None` if the system does not report it.
    pub cpu: Option<Nanos>,
}

/// Data of a message to send.
#[derive(Debug, Clone, Copy)]
pub enum Sent<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// Numbers of 32 bits.
    Numbers(&'a [u32]),
}

/// Data of a received message.
#[derive(Debug, PartialEq, Eq)]
pub enum Received {
    /// Bytes.
    Bytes(Vec<u8>),
    /// Numbers of 32 bits.
    Numbers(Vec<u32>),
}

/// Data of a message without data.
pub const NOTHING: Sent<'static> = Sent::Bytes(&[]);

/// Writes a message.
///
/// # Errors
/// The pipe is closed.
pub fn send(to: &mut impl Write, text: &impl Serialize, data: Sent<'_>) -> io::Result<()> {
    let text = serde_json::to_vec(text)?;
    let (kind, length) = match data {
        Sent::Bytes(bytes) => (0u32, bytes.len()),
        Sent::Numbers(numbers) => (1, size_of_val(numbers)),
    };
    to.write_all(&MARK)?;
    to.write_all(&kind.to_ne_bytes())?;
    to.write_all(&(text.len() as u64).to_ne_bytes())?;
    to.write_all(&(length as u64).to_ne_bytes())?;
    to.write_all(&text)?;
    match data {
        Sent::Bytes(bytes) => to.write_all(bytes)?,
        Sent::Numbers(numbers) => {
            for piece in numbers.chunks(PIECE / size_of::<u32>()) {
                let bytes: Vec<u8> = piece.iter().flat_map(|n| n.to_ne_bytes()).collect();
                to.write_all(&bytes)?;
            }
        }
    }
    to.flush()
}

/// Reads a message; `None` at the end of the pipe.
///
/// # Errors
/// The pipe ends within a message, or something else was written to it.
pub fn receive<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(T, Received)>> {
    let mut mark = Vec::new();
    from.by_ref()
        .take(MARK.len() as u64)
        .read_to_end(&mut mark)?;
    if mark.is_empty() {
        return Ok(None);
    }
    if mark != MARK {
        return Err(io::Error::other("a driver wrote to the standard output"));
    }
    let kind = u32::from_ne_bytes(array(from)?);
    let text_length = u64::from_ne_bytes(array(from)?);
    let length = u64::from_ne_bytes(array(from)?);
    if text_length > LONGEST_TEXT {
        return Err(io::Error::other("a message is too long"));
    }
    let text = bytes(from, text_length)?;
    let data = match kind {
        0 => Received::Bytes(bytes(from, length)?),
        _ => Received::Numbers(numbers(from, length)?),
    };
    Ok(Some((serde_json::from_slice(&text)?, data)))
}

fn array<const N: usize>(from: &mut impl Read) -> io::Result<[u8; N]> {
    let mut array = [0; N];
    from.read_exact(&mut array)?;
    Ok(array)
}

/// Reads exactly `length` bytes. Memory is allocated while bytes arrive, so that a wrong `length`
/// does not allocate memory of this size.
fn bytes(from: &mut impl Read, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.by_ref().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Reads `length` bytes as numbers. Chains are large, so memory of exactly their size is allocated.
fn numbers(from: &mut impl Read, length: u64) -> io::Result<Vec<u32>> {
    let count = usize::try_from(length / size_of::<u32>() as u64).unwrap_or(usize::MAX);
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(count).map_err(io::Error::other)?;
    let mut left = length;
    while left > 0 {
        let piece = bytes(from, left.min(PIECE as u64))?;
        left -= piece.len() as u64;
        numbers.extend(piece.chunks_exact(size_of::<u32>()).map(|chunk| {
            let mut number = [0; size_of::<u32>()];
            number.copy_from_slice(chunk);
            u32::from_ne_bytes(number)
        }));
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let many: Vec<u32> = (0..100_000).collect();
        let mut pipe = Vec::new();
        send(&mut pipe, &7u32, NOTHING).expect("memory");
        send(&mut pipe, &"text", Sent::Bytes(&[1, 2, 3])).expect("memory");
        send(&mut pipe, &None::<u32>, Sent::Numbers(&many)).expect("memory");
        let mut rest = pipe.as_slice();
        let first = receive::<u32>(&mut rest).expect("a message");
        assert_eq!(first, Some((7, Received::Bytes(Vec::new()))));
        let second = receive::<String>(&mut rest).expect("a message");
        assert_eq!(
            second,
            Some(("text".to_owned(), Received::Bytes(vec![1, 2, 3])))
        );
        let third = receive::<Option<u32>>(&mut rest).expect("a message");
        assert_eq!(third, Some((None, Received::Numbers(many))));
        assert_eq!(receive::<u32>(&mut rest).expect("the end"), None);
    }

    #[test]
    fn anything_else_in_the_pipe_is_an_error() {
        let mut whole = Vec::new();
        send(&mut whole, &7u32, Sent::Bytes(&[0; 10])).expect("memory");
        for cut in 1..whole.len() {
            assert!(receive::<u32>(&mut &whole[..cut]).is_err(), "{cut}");
        }
        let mut long = whole.clone();
        long[8..16].copy_from_slice(&u64::MAX.to_ne_bytes());
        let mut data = whole.clone();
        data[16..24].copy_from_slice(&u64::MAX.to_ne_bytes());
        for wrong in [&long[..], &data[..], b"hello, world", b"x"] {
            assert!(receive::<u32>(&mut &wrong[..]).is_err(), "{wrong:?}");
        }
        assert!(receive::<String>(&mut &whole[..]).is_err());
    }
}
