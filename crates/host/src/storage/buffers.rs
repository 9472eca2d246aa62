//! Buffers of an engine: one per slot, and the engine's alone while an operation is in flight.

use crate::os;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use units::error::{Error, Result};

/// More than this the kernels move in no single operation.
const LARGEST_BLOCK: usize = 1 << 30;

/// Blocks from this size on lie in huge pages if the system has them. In base pages a block has a
/// random number of physical pieces. A device that takes at most 254 of them at a time (virtio)
/// gets two requests for some blocks of 1 MiB and one for others.
const SCATTERED: usize = 64 << 10;

/// The size of huge pages on most systems; where they are of another one, base pages it is.
const HUGE: usize = 2 << 20;

/// As many buffers as an engine has slots, each of one block, each at a page boundary plus the
/// misalignment requested.
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
    /// `slots` buffers of `block` bytes, moved by `misalign` bytes from their page boundary, all
    /// zeros, and touched so that no operation pays for a page fault.
    ///
    /// # Errors
    /// A number that is 0, or too little memory.
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
        let region = os::Region::map(mapped, align, None).map_err(|e| refuse(&e.to_string()))?;
        if whole.is_some() {
            // Without them the blocks are in as many pieces as they happen to be, which works as
            // well.
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
            // SAFETY: inside the region, which nobody else knows yet; volatile, so that the page is
            // really touched.
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

    /// Whether an operation uses the buffer at this moment.
    pub fn in_flight(&self, slot: usize) -> bool {
        self.lent.get(slot).copied().unwrap_or(false)
    }

    /// The bytes of a buffer; `None` while it is in flight, or where there is no such slot.
    pub fn slot(&self, slot: usize) -> Option<&[u8]> {
        let start = self.idle(slot)?;
        // SAFETY: initialized memory of the region that no operation writes to: it is not lent, and
        // lending it needs the exclusive reference that this shared one keeps away.
        Some(unsafe { std::slice::from_raw_parts(start.as_ptr(), self.block) })
    }

    /// The bytes of a buffer, to be changed; `None` while it is in flight, or where there is no
    /// such slot.
    pub fn slot_mut(&mut self, slot: usize) -> Option<&mut [u8]> {
        let start = self.idle(slot)?;
        // SAFETY: as in `slot`, and the buffers do not overlap; the exclusive reference makes this
        // the only access.
        Some(unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), self.block) })
    }

    /// Start of the buffer of an idle slot.
    fn idle(&self, slot: usize) -> Option<NonNull<u8>> {
        (!*self.lent.get(slot)?).then(|| self.address(slot))
    }

    /// Start of a slot's buffer; the slot must exist.
    fn address(&self, slot: usize) -> NonNull<u8> {
        debug_assert!(slot < self.lent.len());
        // SAFETY: slots * stride bytes were mapped, and stride holds misalign + block.
        unsafe { self.region.start().add(slot * self.stride + self.misalign) }
    }

    /// Lends the buffer to an operation: nobody else gets at it until [`IoBuffers::give_back`].
    /// `None` where there is no such slot or it is lent already.
    pub(crate) fn lend(&mut self, slot: usize) -> Option<NonNull<u8>> {
        let start = self.idle(slot)?;
        self.lent[slot] = true;
        Some(start)
    }

    /// The operation on this slot is over.
    pub(crate) fn give_back(&mut self, slot: usize) {
        if let Some(lent) = self.lent.get_mut(slot) {
            *lent = false;
        }
    }

    /// Address and length of every buffer, for kernels that want to know them in advance.
    #[allow(dead_code)] // Linux's engines need it
    pub(crate) fn ranges(&self) -> Vec<(NonNull<u8>, usize)> {
        (0..self.slots())
            .map(|slot| (self.address(slot), self.block))
            .collect()
    }

    /// Never gives the memory back: the system may still write to it.
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
