//! Maps memory by mmap(2), and reads back resident pages by mincore(2).

use super::page_size;
use crate::memory::Place;
use crate::os::PageCounts;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

/// Memory of this process, which is unmapped when dropped. It lies between two inaccessible guards,
/// unless superpages were requested.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    length: usize,
    guard: usize,
}

// SAFETY: a Region is an address range that it alone owns; which thread unmaps it does not matter.
unsafe impl Send for Region {}
// SAFETY: its methods only hand out the address.
unsafe impl Sync for Region {}

/// Makes an anonymous private mapping. `pages` is passed in place of a file descriptor: -1, or a
/// request to macOS for superpages.
fn map_anywhere(length: usize, access: libc::c_int, pages: libc::c_int) -> io::Result<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: without an address the kernel chooses a free range.
    let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, pages, 0) };
    match NonNull::new(start.cast::<u8>()) {
        Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(start),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Region {
    /// Maps `length` bytes between guards at a multiple of `align`, without touching them. `align`
    /// is a power of two and at least the page size. `length` is a multiple of the page size.
    /// `huge` requests superpages of that size, which only macOS on Intel's processors supports.
    /// `_node` is ignored.
    pub fn map(
        length: usize,
        align: usize,
        huge: Option<u64>,
        _node: Option<u32>,
    ) -> io::Result<Region> {
        if let Some(size) = huge {
            return Self::superpages(length, size);
        }
        let guard = page_size().max(64 << 10);
        let total = length
            .checked_add(align)
            .and_then(|n| n.checked_add(2 * guard))
            .ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let base = map_anywhere(total, libc::PROT_NONE, -1)?;
        let address = base.as_ptr() as usize;
        let skip = (address + guard).next_multiple_of(align) - address;
        // SAFETY: skip + length + guard <= total, because next_multiple_of adds less than align to
        // base + guard.
        let (start, end) = unsafe { (base.add(skip), base.add(skip + length + guard)) };
        unmap(base, skip - guard);
        unmap(end, total - skip - length - guard);
        let region = Region {
            start,
            length,
            guard,
        };
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the range is ours and unused. An error drops the region, which unmaps it.
        if unsafe { libc::mprotect(start.as_ptr().cast(), length, access) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // Child processes do not inherit the memory. If a child shared the pages, the next store to
        // each page would copy it.
        #[cfg(target_os = "freebsd")]
        // SAFETY: the range is ours; the call only changes what child processes get.
        unsafe {
            libc::minherit(start.as_ptr().cast(), length, libc::INHERIT_NONE);
        }
        Ok(region)
    }

    #[cfg(all(target_os = "macos", target_arch = "x86_64"))]
    fn superpages(length: usize, size: u64) -> io::Result<Region> {
        if size != 2 << 20 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // VM_FLAGS_SUPERPAGE_SIZE_2MB of <mach/vm_statistics.h>. libc's constant for it is
        // deprecated.
        const SUPERPAGES: libc::c_int = 2 << 16;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let start = map_anywhere(length, access, SUPERPAGES)?;
        Ok(Region {
            start,
            length,
            guard: 0,
        })
    }

    #[cfg(not(all(target_os = "macos", target_arch = "x86_64")))]
    fn superpages(_length: usize, _size: u64) -> io::Result<Region> {
        Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "this system gives a program no large pages on request",
        ))
    }

    /// Address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes between the guards.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bytes of each guard; 0 if there are none.
    pub fn guard(&self) -> usize {
        self.guard
    }

    /// Always an error of kind `Unsupported`: neither system takes such advice.
    pub fn advise_huge(&self, _wanted: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// `Ok` for [`Place::Local`], the default. Every other place is `Unsupported`.
    pub fn place(&self, place: &Place) -> io::Result<()> {
        match place {
            Place::Local => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the guard in front belongs to the mapping.
        let first = unsafe { self.start.sub(self.guard) };
        unmap(first, self.length + 2 * self.guard);
    }
}

/// Unmaps `length` bytes at `start`, which must be the caller's own. Does nothing if `length` is 0.
fn unmap(start: NonNull<u8>, length: usize) {
    if length > 0 {
        // SAFETY: the caller owns the range and nothing refers to it any more.
        unsafe { libc::munmap(start.as_ptr().cast(), length) };
    }
}

/// True if a page with the mark `mark` of mincore is part of a superpage. FreeBSD marks superpages
/// (MINCORE_SUPER; since version 13 a number in the same bits). On Apple's own processors programs
/// have no superpages.
fn is_super(mark: u8) -> bool {
    const SUPER: u8 = 0x60;
    cfg!(target_os = "freebsd") && mark & SUPER != 0
}

/// Numbers of bytes in a page-aligned range of addresses, by kind of page. Neither system shares a
/// page of zeros among private mappings.
///
/// # Errors
/// The range is not mapped, or the system is macOS on Intel's processors, which does not report
/// superpages.
pub fn page_counts(range: &Range<usize>) -> io::Result<PageCounts> {
    if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    counts(range)
}

/// Numbers of bytes in `range` by kind of page, from mincore.
fn counts(range: &Range<usize>) -> io::Result<PageCounts> {
    const CHUNK: usize = 1 << 30;
    let page = page_size();
    let mut marks = vec![0u8; CHUNK.min(range.len()).div_ceil(page)];
    let mut counts = PageCounts::default();
    for start in range.clone().step_by(CHUNK) {
        let length = CHUNK.min(range.end - start);
        let to = marks.as_mut_ptr().cast();
        // SAFETY: marks has one byte for each page of the range; the kernel only reads the range.
        if unsafe { libc::mincore(start as *mut libc::c_void, length, to) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let of_pages = marks.iter().take(length.div_ceil(page));
        for &mark in of_pages.filter(|&&mark| mark & 1 == 1) {
            counts.present += page as u64;
            counts.huge += if is_super(mark) { page as u64 } else { 0 };
        }
    }
    Ok(counts)
}

/// Number of resident bytes of a page-aligned range.
pub fn resident_bytes(range: &Range<usize>) -> io::Result<u64> {
    counts(range).map(|counts| counts.present)
}
