//! Words for points and sampling in messages of the plan.

use engine::Sampling;
use report::{Coordinate, Coordinates};
use units::{Bytes, counted};

/// Number of points that a message names. Further points are only counted.
pub(super) const MAX_NAMED: usize = 5;

/// A point in words: `copy DRAM (2 threads, thp pages)`
pub(super) fn describe_point(coordinates: &Coordinates) -> String {
    let coordinate = |axis: &str| {
        coordinates
            .get(axis)
            .map(ToString::to_string)
            .unwrap_or_default()
    };
    let threads = counted(coordinate("threads"), "thread");
    let size = match coordinates.get("size_bytes") {
        Some(Coordinate::Number(bytes)) => format!(" {}", Bytes(*bytes)),
        _ => String::new(),
    };
    if coordinates.contains_key("cpu_node") {
        let operation = coordinate("operation");
        let cpus = coordinate("cpu_node");
        let memory = coordinate("memory_node");
        return format!(
            "{operation} from node {cpus} to memory {memory} ({} pages)",
            coordinate("pages")
        );
    }
    if coordinates.contains_key("from") {
        return format!(
            "{} from {} to {}",
            coordinate("operation"),
            coordinate("from"),
            coordinate("to")
        );
    }
    if let Some(Coordinate::Number(block)) = coordinates.get("block_bytes") {
        let operation = coordinate("operation");
        let pattern = coordinate("pattern");
        let block = Bytes(*block);
        return format!(
            "{pattern} {operation} of {block} ({threads}, depth {}, {})",
            coordinate("depth"),
            coordinate("engine")
        );
    }
    if let (Some(mix), Some(pause)) = (coordinates.get("mix"), coordinates.get("pause_cycles")) {
        let coordinate = coordinate("operation");
        return format!(
            "{coordinate}{size} under {mix} traffic of {threads}, pauses of {pause} cycles"
        );
    }
    format!(
        "{} {}{size} ({threads}, {} pages)",
        coordinate("operation"),
        coordinate("level"),
        coordinate("pages")
    )
}

/// A change in words: `3 rounds of 4 samples of 1 ms instead of 6 of 10 of 5 ms`
pub(super) fn describe_sampling(short: &Sampling, full: &Sampling) -> String {
    format!(
        "{} of {} of {} instead of {} of {} of {}",
        counted(short.rounds, "round"),
        counted(short.per_round, "sample"),
        short.length,
        full.rounds,
        full.per_round,
        full.length
    )
}
