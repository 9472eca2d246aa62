//! Streams that several experiments use: sizes that fit an operation, and their points.

use crate::coordinates::{coordinates, name, number};
use crate::experiment::{Bound, Draft, Scope};
use crate::hierarchy::MEMORY;
use crate::lists::{OperationSpec, Operations, for_each_thread, is_reference_kernel};
use engine::{StreamWork, Work};
use host::memory::Place;
use kernels::{BLOCK_BYTES, Family, Operation, Policy};
use report::{Coordinates, Outcome};
use std::collections::BTreeMap;
use units::error::{Error, Result};
use units::{Bytes, SizeList};

fn stream_coordinates(
    work: &StreamWork,
    requested: OperationSpec,
    kernel: &str,
    level: &str,
) -> Coordinates {
    let mut coordinates = coordinates([
        ("operation", name(requested)),
        ("kernel", name(kernel)),
        ("width", name(work.width)),
        ("level", name(level)),
        ("size_bytes", number(work.bytes.0)),
        (
            "threads",
            if work.counts.is_empty() {
                number(work.cpus.len() as u64)
            } else {
                name("best")
            },
        ),
        ("pages", name(work.pages)),
    ]);
    if work.contract().prefetches {
        coordinates.insert("prefetch_bytes".to_owned(), number(work.distance.0));
    }
    if let Some(Place::Node(node)) = work.place {
        coordinates.insert("node".to_owned(), number(node));
    }
    coordinates
}

/// The draft of the point of `work`. If the machine lacks the kernel or the memory, the draft has
/// an outcome in place of the work.
pub fn draft_point(
    scope: &Scope<'_>,
    work: StreamWork,
    requested: OperationSpec,
    level: &str,
) -> Draft {
    // The C library chooses its method according to the size: non-temporal stores, string
    // instructions, other ports. `touch` counts a whole line for each word. Therefore the bound of
    // the L1 ports does not hold for the C library and `touch`.
    let by_ports = level == "L1"
        && !is_reference_kernel(work.operation)
        && work.contract().family != Family::Touch;
    let bound = match level {
        "L1" if by_ports => Bound::L1Ports,
        MEMORY => Bound::Memory,
        _ => Bound::Unknown,
    };
    let extra = level == "between" || work.contract().policy != Policy::Temporal;
    let bytes = |w: StreamWork| w.slot().0.saturating_mul(w.cpus.len() as u64);
    let memory = work
        .counts()
        .into_iter()
        .map(bytes)
        .max()
        .unwrap_or_default();
    let kernel = scope.machine.kernel(&Work::Stream(work.clone()));
    let unsupported = format!("{}/{}", work.operation, work.width);
    let name = kernel.as_ref().map_or(unsupported, |k| k.name.clone());
    let coordinates = stream_coordinates(&work, requested, &name, level);
    let each = for_each_thread(work.cpus.len() as u64);
    let no_room = scope.no_room(Bytes(memory), format_args!("{}{each}", work.bytes));
    let work = match kernel {
        Err(reason) => Err(Outcome::Unsupported { reason }),
        Ok(_) => match no_room {
            Some(outcome) => Err(outcome),
            None => Ok(Work::Stream(work)),
        },
    };
    Draft {
        coordinates,
        work,
        bound,
        drop_priority: u8::from(extra),
    }
}

/// A working set that suits an operation, with the operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FittedStream {
    /// The requested operation, or its variant with shorter iterations that suit the working set.
    pub operation: Operation,
    /// Bytes of all streams together.
    pub bytes: Bytes,
}

impl FittedStream {
    /// A working set of exactly `bytes`. `None` if `bytes` are no whole iterations of any variant
    /// of the operation.
    fn exactly(requested: OperationSpec, bytes: Bytes) -> Option<Self> {
        let contract = requested.operation().contract();
        let streams = u64::from(contract.streams());
        let fitting = contract
            .for_streams(bytes.0 / streams)
            .filter(|_| bytes.0.is_multiple_of(streams))?;
        Some(Self {
            operation: fitting.operation,
            bytes,
        })
    }
}

/// Working sets of one iteration of each stream, for each length of iteration that `requested` has.
/// Longest first.
fn shortest(requested: OperationSpec) -> Vec<FittedStream> {
    let streams = u64::from(requested.operation().contract().streams());
    let lengths = [BLOCK_BYTES, 256, 128, 64].into_iter();
    lengths
        .filter_map(|bytes| FittedStream::exactly(requested, Bytes(bytes * streams)))
        .collect()
}

/// Smallest possible working set of `requested`.
fn smallest(requested: OperationSpec) -> Bytes {
    let block = Bytes(BLOCK_BYTES * u64::from(requested.streams()));
    shortest(requested)
        .into_iter()
        .map(|fitted| fitted.bytes)
        .min()
        .unwrap_or(block)
}

/// Fails if one of `sizes` is too small for one of `ops`. The message names the operation that
/// needs the most bytes.
pub fn check_sizes(sizes: &[Bytes], ops: &Operations) -> Result<()> {
    let Some(&largest) = ops.0.iter().max_by_key(|requested| smallest(**requested)) else {
        return Ok(());
    };
    sizes
        .iter()
        .try_for_each(|&size| fitted(largest, size).map(drop))
}

/// Largest working set of `requested` that is at most `size`. The working set is `size` if this is
/// whole iterations, otherwise whole blocks of each stream. For a family, it is whole blocks for
/// every operation of the family, if `size` is large enough. Fails if `size` is too small.
pub fn fitted(requested: OperationSpec, size: Bytes) -> Result<FittedStream> {
    let whole = size.round_down(BLOCK_BYTES * u64::from(requested.streams()));
    let in_blocks = (whole.0 > 0).then_some(FittedStream {
        operation: requested.operation(),
        bytes: whole,
    });
    let exactly = FittedStream::exactly(requested, size);
    let best = if matches!(requested, OperationSpec::BestOf(_)) {
        in_blocks.or(exactly)
    } else {
        exactly.or(in_blocks)
    };
    let below = shortest(requested)
        .into_iter()
        .find(|fitted| fitted.bytes <= size);
    best.or(below).ok_or_else(|| {
        let smallest = smallest(requested);
        Error::usage(format!(
            "too small a size: {size}; the smallest working set of {requested} is {smallest}; type \
             --sizes {} or more",
            smallest.0
        ))
    })
}

/// A text for each of `sizes` that an operation in `ops` rounds down.
pub fn rounded_sizes(sizes: Option<&SizeList>, ops: &Operations) -> Vec<String> {
    let requested = sizes.into_iter().flat_map(|list| &list.0);
    let mut rounded: BTreeMap<(Bytes, Bytes), Vec<String>> = BTreeMap::new();
    for (&size, &operation) in requested.flat_map(|size| ops.0.iter().map(move |op| (size, op))) {
        let Ok(used) = fitted(operation, size) else {
            continue;
        };
        let names = rounded.entry((size, used.bytes)).or_default();
        let name = operation.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let differ = rounded
        .into_iter()
        .filter(|((requested, used), _)| requested != used);
    let tell = |((requested, used), names): ((Bytes, Bytes), Vec<String>)| {
        format!(
            "{} B were rounded down to {} B for {}: whole iterations of a kernel only",
            requested.0,
            used.0,
            names.join(", ")
        )
    };
    differ.map(tell).collect()
}
