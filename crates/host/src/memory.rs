//! Memory to measure: maps memory between guards, lends parts of it (windows), and asks the system
//! which pages it granted.
//!
//! A [`Mapping`] is a range of addresses for which a kind of pages was requested. A [`Window`] is
//! an exclusive part of a mapping. Rust code only accesses the memory as atomic words, so that
//! assembly and several threads may use it at the same time.

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

/// Windows start and end at multiples of this many bytes, the length of a cache line.
const WINDOW_STEP: usize = 64;

/// Makes all threads that start later share one heap. A heap for each thread would take address
/// space from measurements if `ulimit -v` limits it. Sharing costs no time, because the measuring
/// loops allocate nothing.
pub fn share_one_heap() {
    os::share_one_heap();
}

/// Anonymous memory of this process, with an inaccessible guard on both sides if the system
/// supports that (see [`Mapping::guard`]). At either end of a mapping, an access one byte outside
/// hits a guard and ends the process.
#[derive(Debug)]
pub struct Mapping {
    region: os::Region,
    mode: PageMode,
    huge: u64,
    taken: Mutex<Vec<Range<usize>>>,
}

impl Mapping {
    /// Maps at least `bytes` bytes without touching them. `huge` is the size of huge pages; it is
    /// unused for `Base`. The start and the length ([`Mapping::len`]) of the mapping are multiples
    /// of the page size: the base page for `Base`, else `huge`.
    ///
    /// It is no error if the kernel has no transparent huge pages. [`Window::inspect`] reports the
    /// pages that the system granted. [`Mapping::place`] selects the NUMA nodes of the pages.
    ///
    /// # Errors
    /// `bytes` is 0, the page size is invalid, or there is too little memory or too few huge pages
    /// in the pool.
    pub fn new(bytes: Bytes, mode: PageMode, huge: Bytes) -> Result<Arc<Mapping>> {
        Self::for_place(bytes, mode, huge, &Place::Local)
    }

    /// Like [`Mapping::new`], for memory at `place`. On Windows, the node has to be requested when
    /// the memory is mapped, so this function requests it. Other systems choose the node in
    /// [`Mapping::place`], which has to be called in any case.
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

    /// Length in bytes, a multiple of the page size.
    pub fn len(&self) -> usize {
        self.region.length()
    }

    /// Start address, a multiple of the page size.
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

    /// Bytes of inaccessible address space on each side of the mapping; 0 if the system offers
    /// none.
    pub fn guard(&self) -> usize {
        self.region.guard()
    }

    /// Requests that all pages lie at `place`. Pages that were touched before are moved. The call
    /// is `mbind` with `MPOL_BIND`, `MPOL_INTERLEAVE`, or `MPOL_WEIGHTED_INTERLEAVE` (Linux 6.9 and
    /// newer). On Windows, `place` has to be the argument of [`Mapping::for_place`].
    ///
    /// # Errors
    /// The node does not exist or has too few free huge pages, or the system or a container does
    /// not allow the placement.
    pub fn place(&self, place: &Place) -> Result<()> {
        if let (true, Place::Node(node)) = (self.mode.is_reserved(), place) {
            // The system reserves huge pages for the whole pool, not for each node. If the node ran
            // out of free pages, the process would be killed.
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

    /// Lends the part `range` of the mapping exclusively, until the window is dropped. `range` is
    /// in bytes from the start, with both ends multiples of 64.
    ///
    /// # Errors
    /// `range` is empty, misaligned, outside the mapping, or overlaps a window that has not been
    /// dropped.
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

    /// Ranges of the mapping that are lent. A poisoned lock is ignored, because the list is
    /// consistent at every moment.
    fn taken(&self) -> MutexGuard<'_, Vec<Range<usize>>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Name of the folder in /sys of the pool with pages of `page` bytes.
fn pool_name(page: u64) -> String {
    format!("hugepages-{}kB", page >> 10)
}

/// The kernel's folder of pools of reserved huge pages.
const POOLS: &str = "/sys/kernel/mm/hugepages";

/// Shell command for root after which the pool of pages of `huge` bytes has `needed` free pages.
/// The pool now has `total` pages, `free` of them free.
pub fn reserve_command(huge: Bytes, needed: u64, total: u64, free: u64) -> String {
    let wanted = total.saturating_sub(free).saturating_add(needed);
    format!("echo {wanted} > {POOLS}/{}/nr_hugepages", pool_name(huge.0))
}

/// Error message that `length` bytes of huge pages are not available, with a remedy. `files`
/// describe the pools.
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
            // The list is also empty if a container hides the folder of pools.
            "" => format!("no pools are listed in {POOLS}; use --pages thp"),
            there => format!("the pools of this system are: {there}; use --pages thp"),
        },
    };
    Error::failure(format!(
        "cannot map {length} in pages of {huge}: {error}; {remedy}"
    ))
}

/// An exclusive part of a mapping, which is given back when the window is dropped. Threads may
/// share a window by reference.
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
        // and writable. Steps of 64 bytes keep it aligned. Every bit pattern is a valid AtomicU64,
        // and atomics may change at any time.
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

    /// Address of the first byte, a multiple of 64.
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

    /// The mapping that contains the window.
    pub fn mapping(&self) -> &Arc<Mapping> {
        &self.mapping
    }

    /// Stores [`initial_word`] to all words in `pages`, a range of bytes from the start of the
    /// window. Bytes outside the window and incomplete words are ignored. At [`Place::Local`], a
    /// page comes from the NUMA node of the thread that first touches it.
    pub fn touch(&self, pages: Range<usize>) {
        const WORD: usize = size_of::<AtomicU64>();
        let first = pages.start.min(self.len()).div_ceil(WORD);
        let last = pages.end.min(self.len()) / WORD;
        for (index, word) in self.words().iter().enumerate().take(last).skip(first) {
            word.store(initial_word(index), Ordering::Relaxed);
        }
    }

    /// Asks the system for the sizes and NUMA nodes of the window's pages. Nodes are read for
    /// `node_samples` pages spread over the window, or for all pages if there are fewer. The system
    /// walks page tables, which takes microseconds for a few MiB and up to seconds for hundreds of
    /// GiB of base pages.
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
/// hardly ever repeat, so that the system can neither compress nor deduplicate the memory.
#[inline]
pub fn initial_word(index: usize) -> u64 {
    // Multiplication by an odd number is a bijection, and setting a bit excludes zero.
    (index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

#[cfg(test)]
mod tests;
