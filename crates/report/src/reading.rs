//! Limit on the size of a file that is read, and messages about unreadable files.

use super::SCHEMA_VERSION;
use units::Bytes;

/// Largest size of a file that is read into memory. On 64-bit systems, a file of this size has more
/// than a million points of 2 to 3 kB each, if it has no samples. A parsed report takes about as
/// much memory as its file. The limit is lower for 32-bit programs, because their address space is
/// small.
pub const LARGEST_REPORT: Bytes = Bytes::mib(if usize::BITS > 32 { 4096 } else { 512 });

/// Message about a file that a later version of the program wrote. `version` is the schema version
/// of the file.
pub(super) fn newer(version: u32) -> String {
    format!(
        "schema version {version} is newer than this program's {SCHEMA_VERSION}; update memgauge"
    )
}

/// Shortens `text`, the text of an error, in the middle, because it may quote much of the file. The
/// end of the text stays, because it names the position of the error in the file.
pub(super) fn brief(text: String) -> String {
    const START: usize = 140;
    const END: usize = 60;
    let all: Vec<char> = text.chars().collect();
    if all.len() <= START + END {
        return text;
    }
    all[..START]
        .iter()
        .chain(&['…'])
        .chain(&all[all.len() - END..])
        .collect()
}
