//! Index tables: the order in which a walk visits the pieces of its streams.
//!
//! A table has a 32-bit entry per piece, in memory of its own. Each pass reads the table once, in
//! addition to the streams: 4 B for every 64 B or 512 B of a stream. The constructor proves that
//! the table names every piece exactly once, so that a kernel stays inside its streams.

use assembly::AccessOrder;
use assembly::BLOCK_BYTES;
use host::memory::Window;
use std::sync::atomic::Ordering::Relaxed;
use units::error::{Error, Result};

/// Bytes of a piece of [`AccessOrder::Lines`].
pub const LINE_BYTES: u64 = 64;

/// Unit of entries in bytes: the largest factor by which an x86 or Arm address can scale an index
/// register.
const UNIT: u64 = 8;

/// Limit for the length of a stream with an index table, in bytes. It follows from the 32 bits of
/// an entry.
pub const LONGEST_ORDERED: u64 = UNIT << 32;

/// The order in which a kernel visits the pieces of streams with the same length.
#[derive(Debug)]
pub struct IndexTable {
    window: Window,
    visits: AccessOrder,
    stream: u64,
}

impl IndexTable {
    /// Bytes of memory for a table of streams of `stream` bytes.
    pub fn bytes_for(visits: AccessOrder, stream: u64) -> u64 {
        (stream / piece(visits) * 4).next_multiple_of(64)
    }

    /// Writes to `window` a table whose entry `i` is piece `order(i)`. `stream` is the length of
    /// each stream in bytes.
    ///
    /// # Errors
    /// `visits` does not use a table. The stream is no multiple of a block or longer than
    /// [`LONGEST_ORDERED`]. The window is too small. The order names a piece that does not exist,
    /// or a piece twice.
    pub fn new(
        window: Window,
        visits: AccessOrder,
        stream: u64,
        mut order: impl FnMut(u64) -> u64,
    ) -> Result<Self> {
        let by_table = matches!(visits, AccessOrder::Lines | AccessOrder::Chunks);
        let pieces = stream / piece(visits);
        let fits = stream > 0 && stream.is_multiple_of(BLOCK_BYTES) && stream <= LONGEST_ORDERED;
        if !by_table || !fits || (window.len() as u64) < Self::bytes_for(visits, stream) {
            let have = window.len();
            let visits = format!("{visits:?}").to_lowercase();
            return Err(Error::failure(format!(
                "cannot order {visits} of {stream} B in a table of {have} B"
            )));
        }
        let mut seen = vec![0u64; pieces.div_ceil(64) as usize];
        let units = piece(visits) / UNIT;
        let mut entry = |i: u64| -> Result<u64> {
            if i >= pieces {
                return Ok(0); // fills the last word; no walk gets there
            }
            let named = order(i);
            let bit = 1u64 << (named % 64);
            match seen
                .get_mut((named / 64) as usize)
                .filter(|word| named < pieces && **word & bit == 0)
            {
                Some(word) => *word |= bit,
                None => {
                    return Err(Error::failure(format!(
                        "piece {named} of {pieces} is named twice or not there"
                    )));
                }
            }
            Ok(named * units)
        };
        let little_endian = cfg!(target_endian = "little");
        for (i, word) in window
            .words()
            .iter()
            .take(pieces.div_ceil(2) as usize)
            .enumerate()
        {
            let first = entry(2 * i as u64)?;
            let second = entry(2 * i as u64 + 1)?;
            let (low, high) = if little_endian {
                (first, second)
            } else {
                (second, first)
            };
            word.store(low | high << 32, Relaxed);
        }
        Ok(Self {
            window,
            visits,
            stream,
        })
    }

    /// Order of visits for which the table is made: by lines or by chunks.
    pub fn visits(&self) -> AccessOrder {
        self.visits
    }

    /// Length in bytes of each stream for which the table is made.
    pub fn stream_bytes(&self) -> u64 {
        self.stream
    }

    /// Address of the first entry.
    pub(super) fn address(&self) -> usize {
        self.window.address()
    }

    /// Length of the table in bytes, without the padding of the last line.
    pub(super) fn bytes(&self) -> usize {
        (self.stream / piece(self.visits) * 4) as usize
    }
}

/// Bytes of a piece: a line or a block.
fn piece(visits: AccessOrder) -> u64 {
    if visits == AccessOrder::Lines {
        LINE_BYTES
    } else {
        BLOCK_BYTES
    }
}
