//! Limits and refusals of files that are read.

use super::SCHEMA_VERSION;
use units::Bytes;

/// More than this of one file is not kept in memory: more than a million points take (2 to 3 kB
/// each without their samples), and less than addresses of 32 bits reach. A report that was read
/// takes about as much memory as its file.
pub const LARGEST_REPORT: Bytes = Bytes::mib(if usize::BITS > 32 { 4096 } else { 512 });

/// Message about a file from a later version of the program.
pub(super) fn newer(version: u32) -> String {
    format!(
        "schema version {version} is newer than this program's {SCHEMA_VERSION}; update memgauge"
    )
}

/// `text` cut where it quotes more of the file than anybody wants to see; the end, with the place,
/// stays.
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
