//! Memory to measure: mapped, fenced, handed out in windows, and read back from the system.
//!
//! A [`Mapping`] is address space with a request for pages, a [`Window`] an exclusive part of it.
//! Rust code touches the memory as atomic words only, so that assembly and several threads may work
//! on it at the same time.

mod mode;
mod place;
mod reading;

pub use mode::PageMode;
pub use place::Place;
pub use reading::PageReading;

use super::facts::SystemFiles;
use super::os;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use units::Bytes;
use units::error::{Error, Result};

/// Windows start and end at multiples of this many bytes, the line size of every measured cache.
const WINDOW_STEP: usize = 64;

/// Lets all threads started from now on allocate from one heap. Under a limit of address space
/// (`ulimit -v`), a heap for each thread would take memory from measurements. The measuring loops
/// allocate nothing.
pub fn share_one_heap() {
    os::share_one_heap();
}

/// Anonymous memory of this process, with inaccessible guards on both sides if the system can make
/// them (see [`Mapping::guard`]). A window that starts at 0 or ends at [`Mapping::len`] touches a
/// guard, so an overrun by a single byte ends the process.
#[derive(Debug)]
pub struct Mapping {
    region: os::Region,
    mode: PageMode,
    huge: u64,
    taken: Mutex<Vec<Range<usize>>>,
}

impl Mapping {
    /// Maps at least `bytes` without touching them. Lengths are rounded up to the page, which is
    /// the base page for `Base` and `huge` for the others; [`Mapping::len`] is the result. `huge`
    /// is the size of the huge page to use (unused for `Base`), and the mapping starts at a
    /// multiple of it.
    ///
    /// A kernel without transparent huge pages is no error: [`Window::inspect`] reads back the
    /// granted pages. [`Mapping::place`] spreads huge pages of the pool over nodes.
    ///
    /// # Errors
    /// No bytes, an invalid page size, no memory, or too few huge pages in the pool.
    pub fn new(bytes: Bytes, mode: PageMode, huge: Bytes) -> Result<Arc<Mapping>> {
        Self::for_place(bytes, mode, huge, &Place::Local)
    }

    /// Like [`Mapping::new`], for memory at `place`. Systems that choose a node when memory is
    /// mapped (Windows) request it here. Other systems choose it in [`Mapping::place`], which has to be
    /// called in any case.
    ///
    /// # Errors
    /// Like [`Mapping::new`].
    pub fn for_place(
        bytes: Bytes,
        mode: PageMode,
        huge: Bytes,
        place: &Place,
    ) -> Result<Arc<Mapping>> {
        let base = os::page_size() as u64;
        let page = if mode == PageMode::Base { base } else { huge.0 };
        let refuse = |why: &str| {
            Err(Error::failure(format!(
                "cannot map {bytes} in pages of {}, mode {mode}; {why}",
                Bytes(page)
            )))
        };
        if !page.is_power_of_two() || page < base || usize::try_from(page).is_err() {
            return refuse(
                "a page size is a power of two and not below the base page; use --pages 4k",
            );
        }
        let length = bytes.round_up(page);
        if bytes.0 == 0 || length < bytes || isize::try_from(length.0).is_err() {
            return refuse(
                "the length must be above 0 and fit into the address space; name another size",
            );
        }
        let pool = mode.is_reserved().then_some(page);
        let node = match place {
            Place::Node(node) => Some(*node),
            Place::Local | Place::Interleaved(_) | Place::Weighted(_) => None,
        };
        let region =
            os::Region::map(length.to_usize(), page as usize, pool, node).map_err(|error| {
                match pool {
                    Some(_) => pool_error(&SystemFiles::real(), length, huge, &error),
                    None => Error::failure(format!(
                        "cannot map {bytes}: {error}; take less memory, or raise the limit"
                    )),
                }
            })?;
        if !mode.is_reserved() {
            match region.advise_huge(mode == PageMode::Transparent) {
                Err(e)
                    if !matches!(
                        e.kind(),
                        io::ErrorKind::InvalidInput | io::ErrorKind::Unsupported
                    ) =>
                {
                    return Err(Error::failure(format!(
                        "cannot choose pages, mode {mode}: {e}; use another mode"
                    )));
                }
                _ => {}
            }
        }
        Ok(Arc::new(Mapping {
            region,
            mode,
            huge: huge.0,
            taken: Mutex::new(Vec::new()),
        }))
    }

    /// Length in bytes, a multiple of the page.
    pub fn len(&self) -> usize {
        self.region.length()
    }

    /// Start address, a multiple of the page.
    #[inline]
    pub fn address(&self) -> usize {
        self.region.start().as_ptr() as usize
    }

    /// Always false: a mapping has at least one page.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requested kind of pages.
    pub fn mode(&self) -> PageMode {
        self.mode
    }

    /// Bytes of inaccessible address space directly before the first and after the last byte; 0 if
    /// the system offers none.
    pub fn guard(&self) -> usize {
        self.region.guard()
    }

    /// Takes all pages from `place`, moving pages that were touched before. The call is `mbind`
    /// with `MPOL_BIND`, `MPOL_INTERLEAVE`, or `MPOL_WEIGHTED_INTERLEAVE` (Linux 6.9 and newer). On
    /// Windows the place has to be the one of [`Mapping::for_place`].
    ///
    /// # Errors
    /// The node does not exist or has too few free huge pages, or the system or a container does
    /// not allow the placement.
    pub fn place(&self, place: &Place) -> Result<()> {
        if let (true, Place::Node(node)) = (self.mode.is_reserved(), place) {
            // The pool is reserved for the machine, not by node. A node without free pages would
            // end the process.
            let folder = format!(
                "/sys/devices/system/node/node{node}/hugepages/{}",
                pool_name(self.huge)
            );
            let free: Option<u64> =
                SystemFiles::real().read_as(&format!("{folder}/free_hugepages"));
            let needed = self.len() as u64 / self.huge;
            if free.is_some_and(|free| free < needed) {
                return Err(Error::failure(format!(
                    "cannot bind {needed} huge pages to node {node}: {} are free there; reserve \
                     more as root: echo {needed} > {folder}/nr_hugepages",
                    free.unwrap_or(0)
                )));
            }
        }
        self.region.place(place).map_err(|error| {
            let what = match place {
                Place::Local | Place::Node(_) => {
                    "a container may forbid it unless it has \
                     CAP_SYS_NICE"
                }
                Place::Interleaved(_) => {
                    "a container may forbid it unless it has CAP_SYS_NICE; \
                     use --interleave none"
                }
                Place::Weighted(_) => "weights need Linux 6.9; use --interleave even",
            };
            Error::failure(format!(
                "cannot bind memory to {place}: {error}; 'memgauge list host' shows the nodes; \
                 {what}"
            ))
        })
    }

    /// Takes the part `range` (bytes from the start, both ends multiples of 64) exclusively, until
    /// the window is dropped.
    ///
    /// # Errors
    /// The range is empty, misaligned or outside, or overlaps a window that is still alive.
    pub fn take(self: &Arc<Self>, range: Range<usize>) -> Result<Window> {
        let refuse = |why: String| {
            Err(Error::failure(format!(
                "cannot take bytes {}..{} of a mapping: {why}",
                range.start, range.end
            )))
        };
        if range.start >= range.end || range.end > self.len() {
            return refuse(format!(
                "it has {} bytes; take a part that is not empty and inside",
                self.len()
            ));
        }
        if !(range.start.is_multiple_of(WINDOW_STEP) && range.end.is_multiple_of(WINDOW_STEP)) {
            return refuse(format!(
                "windows are multiples of {WINDOW_STEP} bytes; round both ends"
            ));
        }
        let mut taken = self.taken();
        if let Some(other) = taken
            .iter()
            .find(|other| other.start < range.end && range.start < other.end)
        {
            return refuse(format!(
                "bytes {}..{} are taken; drop that window first",
                other.start, other.end
            ));
        }
        taken.push(range.clone());
        drop(taken);
        Ok(Window {
            mapping: Arc::clone(self),
            range,
        })
    }

    /// Ranges in use. The list is consistent at every moment, so a panic of another thread does no
    /// harm.
    fn taken(&self) -> MutexGuard<'_, Vec<Range<usize>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name of the folder of a pool in /sys.
fn pool_name(page: u64) -> String {
    format!("hugepages-{}kB", page >> 10)
}

/// The kernel's folder of pools of reserved huge pages.
const POOLS: &str = "/sys/kernel/mm/hugepages";

/// Command for root that gives a pool `needed` free pages of `huge` bytes, if it has `total` and
/// `free` now.
pub fn reserve_command(huge: Bytes, needed: u64, total: u64, free: u64) -> String {
    let wanted = total.saturating_sub(free).saturating_add(needed);
    format!("echo {wanted} > {POOLS}/{}/nr_hugepages", pool_name(huge.0))
}

/// Error for `length` bytes of huge pages that are not available, with a remedy. `files` describe
/// the pools.
fn pool_error(files: &SystemFiles, length: Bytes, huge: Bytes, error: &io::Error) -> Error {
    if !os::HAS_SYSTEM_FILES {
        return Error::failure(format!(
            "cannot map {length} in pages of {huge}: {error}; use --pages 4k"
        ));
    }
    let needed = length.0 / huge.0.max(1);
    let read = |name: &str| files.read_as::<u64>(&format!("{POOLS}/{}/{name}", pool_name(huge.0)));
    let remedy = match (read("nr_hugepages"), read("free_hugepages")) {
        (Some(total), Some(free)) => format!(
            "{needed} are needed and {free} of {total} reserved are free; reserve them as root: {}",
            reserve_command(huge, needed, total, free)
        ),
        _ => match files.names(POOLS).join(", ").as_str() {
            // A container may hide the folder, so that the pools are unknown.
            "" => format!("no pools are listed in {POOLS}; use --pages thp"),
            there => format!("the pools of this system are: {there}; use --pages thp"),
        },
    };
    Error::failure(format!(
        "cannot map {length} in pages of {huge}: {error}; {remedy}"
    ))
}

/// An exclusive part of a mapping, given back when dropped. Threads may share it by reference.
#[derive(Debug)]
pub struct Window {
    mapping: Arc<Mapping>,
    range: Range<usize>,
}

impl Window {
    /// The window as words of 8 bytes. Atomics allow assembly and other threads to write to it at
    /// the same time. Rust code has no other access.
    #[inline]
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the range lies inside the mapping, which `self` keeps alive and which is readable
        // and writable. Steps of 64 bytes keep it aligned. Any bits are a valid AtomicU64, and
        // atomics may change at any time.
        unsafe {
            let start = self
                .mapping
                .region
                .start()
                .add(self.range.start)
                .cast::<AtomicU64>();
            std::slice::from_raw_parts(start.as_ptr(), self.range.len() / size_of::<AtomicU64>())
        }
    }

    /// Address of the first byte for assembly, a multiple of 64.
    pub fn address(&self) -> usize {
        self.mapping.region.start().as_ptr() as usize + self.range.start
    }

    /// Length in bytes, a multiple of 64.
    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// Always false: [`Mapping::take`] fails for an empty range.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// Mapping that the window is a part of.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// Fills the words that lie entirely in `pages` with [`initial_word`], by the calling thread,
    /// so that first touch puts the pages on its node. `pages` counts bytes from the start of the
    /// window; bytes outside are ignored.
    pub fn touch(&self, pages: Range<usize>) {
        const WORD: usize = size_of::<AtomicU64>();
        let first = pages.start.min(self.len()).div_ceil(WORD);
        let last = pages.end.min(self.len()) / WORD;
        for (index, word) in self.words().iter().enumerate().take(last).skip(first) {
            word.store(initial_word(index), Ordering::Relaxed);
        }
    }

    /// Reads back from the system the pages of the window. Nodes are read for `node_samples` pages
    /// spread over it, or for all pages if it has no more. Walks page tables: microseconds for a
    /// few MiB, up to seconds for hundreds of GiB of base pages.
    pub fn inspect(&self, node_samples: usize) -> PageReading {
        let start = self.mapping.region.start().as_ptr() as usize;
        let requested = reading::ReadingRequest {
            window: self.address()..self.address() + self.len(),
            mapping: start..start + self.mapping.len(),
            mode: self.mapping.mode,
            huge: self.mapping.huge,
        };
        reading::read(&requested, node_samples)
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.mapping.taken().retain(|range| *range != self.range);
    }
}

/// Value that [`Window::touch`] writes to word `index` of a window. Values are never zero and
/// hardly ever repeat, so neither compression nor deduplication saves memory.
#[inline]
pub fn initial_word(index: usize) -> u64 {
    // The odd multiplier (2^64 / golden ratio) permutes the words; setting a bit excludes zero.
    (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

#[cfg(test)]
mod tests;
