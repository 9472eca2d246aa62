//! Buffers of an engine, one for each slot. While an operation on a buffer is in flight, nobody
//! else can access the buffer.

use crate::os;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use units::error::{Error, Result};

/// Largest block that is accepted, in bytes. Operating systems do not transfer more in a single
/// operation.
const LARGEST_BLOCK: usize = 1 << 30;

/// Blocks of at least this many bytes are allocated in huge pages if the system has them. In base
/// pages, a block consists of a random number of contiguous physical pieces. A device that takes at
/// most 254 pieces at a time (virtio) then gets one or two requests for a block of 1 MiB.
const SCATTERED: usize = 64 << 10;

/// Size of huge pages on most systems, in bytes. On other systems, buffers are in base pages.
const HUGE: usize = 2 << 20;

/// Buffers of one block each, one for each slot of an engine. A buffer starts at a page boundary
/// plus the requested misalignment.
#[derive(Debug)]
pub struct IoBuffers {
    region: ManuallyDrop<os::Region>,
    keep: bool,
    block: usize,
    stride: usize,
    misalign: usize,
    lent: Vec<bool>,
}

impl IoBuffers {
    /// Allocates `slots` buffers of `block` bytes, each starting `misalign` bytes after a page
    /// boundary. All pages are touched and contain zeros, so that no operation causes a page fault.
    ///
    /// # Errors
    /// `slots` or `block` is invalid, or memory is insufficient.
    pub fn new(slots: usize, block: usize, misalign: usize) -> Result<IoBuffers> {
        let refuse = |why: &str| {
            Error::failure(format!(
                "cannot make buffers for I/O: {slots} of {block} bytes; {why}; take a smaller \
                 --blocks or --depth"
            ))
        };
        let page = os::page_size().max(4096);
        if slots == 0 || block == 0 || block > LARGEST_BLOCK {
            return Err(refuse("there is at least one, of 1 byte to 1 GiB"));
        }
        let stride = block
            .checked_add(misalign)
            .and_then(|bytes| bytes.checked_next_multiple_of(page));
        let length = stride
            .and_then(|stride| stride.checked_mul(slots))
            .filter(|&all| isize::try_from(all).is_ok());
        let (Some(stride), Some(length)) = (stride, length) else {
            return Err(refuse("they do not fit into the address space"));
        };
        let whole = length
            .checked_next_multiple_of(HUGE)
            .filter(|_| block >= SCATTERED);
        let (mapped, align) = whole.map_or((length, page), |whole| (whole, page.max(HUGE)));
        let region =
            os::Region::map(mapped, align, None, None).map_err(|e| refuse(&e.to_string()))?;
        if whole.is_some() {
            // An error does not matter: without huge pages, blocks only have more physical pieces.
            let _ = region.advise_huge(true);
        }
        let region = ManuallyDrop::new(region);
        let buffers = IoBuffers {
            region,
            keep: false,
            block,
            stride,
            misalign,
            lent: vec![false; slots],
        };
        for at in (0..length).step_by(os::page_size()) {
            // SAFETY: inside the region, which no other code knows yet; volatile, so that the page
            // is really touched.
            unsafe { buffers.region.start().add(at).write_volatile(0) };
        }
        Ok(buffers)
    }

    /// Number of buffers.
    pub fn slots(&self) -> usize {
        self.lent.len()
    }

    /// Bytes of each buffer.
    pub fn block(&self) -> usize {
        self.block
    }

    /// True if an operation on the buffer of `slot` is in flight.
    pub fn in_flight(&self, slot: usize) -> bool {
        self.lent.get(slot).copied().unwrap_or(false)
    }

    /// The buffer of `slot`. `None` while an operation uses the buffer, or if there is no such
    /// slot.
    pub fn slot(&self, slot: usize) -> Option<&[u8]> {
        let start = self.idle(slot)?;
        // SAFETY: initialized memory of the region that no operation writes to. It is not lent, and
        // lending needs an exclusive reference, which this shared one excludes.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), self.block) })
    }

    /// The bytes of the buffer of `slot`, for writing. `None` while an operation uses it, or if
    /// there is no such slot.
    pub fn slot_mut(&mut self, slot: usize) -> Option<&mut [u8]> {
        let start = self.idle(slot)?;
        // SAFETY: as in `slot`, and the buffers do not overlap; the exclusive reference makes this
        // the only access.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.block) })
    }

    /// Address of the buffer of `slot`. `None` while an operation uses it, or if there is no such
    /// slot.
    fn idle(&self, slot: usize) -> Option<NonNull<u8>> {
        (!*self.lent.get(slot)?).then(|| self.address(slot))
    }

    /// Address of the buffer of `slot`, which must exist.
    fn address(&self, slot: usize) -> NonNull<u8> {
        debug_assert!(slot < self.lent.len());
        // SAFETY: slots * stride bytes were mapped, and stride holds misalign + block.
        unsafe { self.region.start().add(slot * self.stride + self.misalign) }
    }

    /// Lends the buffer of `slot` to an operation until [`IoBuffers::give_back`], and returns its
    /// address. `None` if there is no such slot or its buffer is lent already.
    pub(crate) fn lend(&mut self, slot: usize) -> Option<NonNull<u8>> {
        let start = self.idle(slot)?;
        self.lent[slot] = true;
        Some(start)
    }

    /// Takes the buffer of `slot` back from its operation.
    pub(crate) fn give_back(&mut self, slot: usize) {
        if let Some(lent) = self.lent.get_mut(slot) {
            *lent = false;
        }
    }

    /// Address and length of every buffer, to register them with the operating system.
    #[allow(dead_code)] // Linux's engines need it
    pub(crate) fn ranges(&self) -> Vec<(NonNull<u8>, usize)> {
        (0..self.slots())
            .map(|slot| (self.address(slot), self.block))
            .collect()
    }

    /// Keeps the memory from being freed, because the system may still write to it.
    #[allow(dead_code)] // Linux's engines need it
    pub(crate) fn leak(&mut self) {
        self.keep = true;
    }
}

impl Drop for IoBuffers {
    fn drop(&mut self) {
        if !self.keep {
            // SAFETY: dropped once, here, and not used after.
            unsafe { ManuallyDrop::drop(&mut self.region) };
        }
    }
}
