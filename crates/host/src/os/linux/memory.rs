//! Linux: maps memory, and reads back the pages that the kernel granted.

use super::{check, page_size};
use crate::memory::Place;
use crate::os::PageCounts;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;

/// Memory of this process between two inaccessible guards, which is unmapped when dropped.
#[derive(Debug)]
pub struct Region {
    start: NonNull<u8>,
    length: usize,
    guard: usize,
}

// SAFETY: a Region is an address range that it alone owns; which thread unmaps it does not matter.
unsafe impl Send for Region {}
// SAFETY: its methods only hand out the address or make system calls that the kernel orders.
unsafe impl Sync for Region {}

impl Region {
    /// Maps `length` bytes between guards at a multiple of `align`, without touching them. `align`
    /// is a power of two and at least the page size. `length` is a multiple of the page size. If
    /// `huge` is given, the pages come from the pool of huge pages of that size. `_node` is unused,
    /// because [`Region::place`] requests NUMA nodes.
    pub fn map(
        length: usize,
        align: usize,
        huge: Option<u64>,
        _node: Option<u32>,
    ) -> io::Result<Region> {
        let guard = page_size().max(64 << 10);
        let too_large = || io::Error::from_raw_os_error(libc::ENOMEM);
        let total = length
            .checked_add(align)
            .and_then(|n| n.checked_add(2 * guard))
            .ok_or_else(too_large)?;
        if huge.is_some() {
            // A failed MAP_FIXED may leave a hole, in which another thread may map memory. So a
            // mapping at another address is tried first.
            let probe = map_at(None, length, libc::PROT_NONE, huge)?;
            unmap(probe, length);
        }
        let base = map_at(None, total, libc::PROT_NONE, None)?;
        let skip =
            (base.as_ptr() as usize + guard).next_multiple_of(align) - base.as_ptr() as usize;
        // SAFETY: skip + length + guard <= total, because next_multiple_of adds less than align to
        // base + guard.
        let (start, end) = unsafe { (base.add(skip), base.add(skip + length + guard)) };
        unmap(base, skip - guard);
        unmap(end, total - skip - length - guard);
        let opened = match huge {
            // SAFETY: the range is ours and unused, and start is aligned to the page.
            None => check(unsafe {
                libc::mprotect(
                    start.as_ptr().cast(),
                    length,
                    libc::PROT_READ | libc::PROT_WRITE,
                )
            }),
            Some(_) => map_at(
                Some(start),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                huge,
            )
            .map(drop),
        };
        if let Err(error) = opened {
            // SAFETY: skip >= guard, so this is inside the mapping.
            unmap(unsafe { start.sub(guard) }, guard);
            // SAFETY: the guard behind is the last part of the mapping.
            unmap(unsafe { start.add(length) }, guard);
            if huge.is_none() {
                unmap(start, length);
            }
            return Err(error);
        }
        Ok(Region {
            start,
            length,
            guard,
        })
    }

    /// Address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Bytes between the guards.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bytes of each guard.
    pub fn guard(&self) -> usize {
        self.guard
    }

    /// Requests transparent huge pages if `wanted`, else base pages only. The error is
    /// `InvalidInput` if the kernel has no transparent huge pages.
    pub fn advise_huge(&self, wanted: bool) -> io::Result<()> {
        let advice = if wanted {
            libc::MADV_HUGEPAGE
        } else {
            libc::MADV_NOHUGEPAGE
        };
        // SAFETY: the range is mapped and ours; neither advice changes what it contains.
        check(unsafe { libc::madvise(self.start.as_ptr().cast(), self.length, advice) })
    }

    /// Requests that all pages lie at `place`. Pages that lie elsewhere are moved.
    pub fn place(&self, place: &Place) -> io::Result<()> {
        const NODES: usize = 1024;
        const MOVE_OR_FAIL: libc::c_long = 1 | 2; // MPOL_MF_STRICT | MPOL_MF_MOVE
        const WORD: usize = libc::c_ulong::BITS as usize;
        let mut mask = [0 as libc::c_ulong; NODES / WORD];
        for &node in place.nodes() {
            match mask.get_mut(node as usize / WORD) {
                Some(word) => *word |= 1 << (node as usize % WORD),
                None => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
            }
        }
        // Values of the kernel's interface (linux/mempolicy.h).
        let policy: libc::c_long = match place {
            Place::Node(_) => 2,
            Place::Interleaved(_) => 3,
            Place::Weighted(_) => 6,
            Place::Local => 4,
        };
        // SAFETY: the range is mapped and ours, and the kernel reads at most NODES bits of the
        // mask.
        let result = unsafe {
            libc::syscall(
                libc::SYS_mbind,
                self.start.as_ptr(),
                self.length,
                policy,
                mask.as_ptr(),
                NODES as libc::c_long,
                MOVE_OR_FAIL,
            )
        };
        check(result as libc::c_int)
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the guard in front belongs to the mapping.
        unmap(
            unsafe { self.start.sub(self.guard) },
            self.length + 2 * self.guard,
        );
    }
}

/// Makes an anonymous private mapping, at `at` if given. A mapping at `at` replaces existing pages,
/// which must be the caller's own.
fn map_at(
    at: Option<NonNull<u8>>,
    length: usize,
    access: libc::c_int,
    huge: Option<u64>,
) -> io::Result<NonNull<u8>> {
    let fixed = if at.is_some() { libc::MAP_FIXED } else { 0 };
    let pool = huge.map_or(0, |size| {
        libc::MAP_HUGETLB | (size.trailing_zeros() as libc::c_int) << 26
    });
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | fixed | pool;
    let address = at.map_or(std::ptr::null_mut(), |start| start.as_ptr().cast());
    // SAFETY: without an address the kernel chooses a free range; with one, the caller owns the
    // range.
    let start = unsafe { libc::mmap(address, length, access, flags, -1, 0) };
    match NonNull::new(start.cast::<u8>()) {
        Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => Ok(start),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Unmaps `length` bytes at `start`, which must be the caller's own. Does nothing if `length` is 0.
fn unmap(start: NonNull<u8>, length: usize) {
    if length > 0 {
        // SAFETY: the caller owns the range and nothing refers to it any more.
        unsafe { libc::munmap(start.as_ptr().cast(), length) };
    }
}

/// Argument of the PAGEMAP_SCAN request, as in linux/fs.h.
#[repr(C)]
#[derive(Default)]
struct ScanRequest {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    regions: u64,
    regions_length: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// One result of PAGEMAP_SCAN: a range of pages with equal properties.
#[repr(C)]
#[derive(Default, Clone, Copy)]
struct ScanRegion {
    start: u64,
    end: u64,
    categories: u64,
}

const PAGE_IS_PRESENT: u64 = 1 << 3;
const PAGE_IS_PFNZERO: u64 = 1 << 5;
const PAGE_IS_HUGE: u64 = 1 << 6;
/// `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: u64 =
    3 << 30 | (size_of::<ScanRequest>() as u64) << 16 | (b'f' as u64) << 8 | 16;

/// Numbers of bytes in a page-aligned range of addresses, by kind of page. This needs Linux 6.7
/// (`PAGEMAP_SCAN`, Documentation/admin-guide/mm/pagemap.rst).
pub fn page_counts(range: &Range<usize>) -> io::Result<PageCounts> {
    use std::os::fd::AsRawFd;
    let pagemap = std::fs::File::open("/proc/self/pagemap")?;
    let mut regions = [ScanRegion::default(); 64];
    let mut counts = PageCounts::default();
    let mut next = range.start as u64;
    let end = range.end as u64;
    while next < end {
        let mut request = ScanRequest {
            size: size_of::<ScanRequest>() as u64,
            start: next,
            end,
            regions: regions.as_mut_ptr() as u64,
            regions_length: regions.len() as u64,
            category_mask: PAGE_IS_PRESENT,
            return_mask: PAGE_IS_PRESENT | PAGE_IS_PFNZERO | PAGE_IS_HUGE,
            ..ScanRequest::default()
        };
        // SAFETY: the request names its own size and a buffer of regions_length entries that
        // outlives the call.
        let found = unsafe { libc::ioctl(pagemap.as_raw_fd(), PAGEMAP_SCAN as _, &mut request) };
        let found = usize::try_from(found).map_err(|_| io::Error::last_os_error())?;
        for region in regions.iter().take(found) {
            let bytes = region.end.saturating_sub(region.start);
            match region.categories {
                c if c & PAGE_IS_PFNZERO != 0 => counts.zero += bytes,
                c => {
                    counts.present += bytes;
                    counts.huge += if c & PAGE_IS_HUGE != 0 { bytes } else { 0 };
                }
            }
        }
        if request.walk_end <= next {
            return Err(io::Error::other("PAGEMAP_SCAN made no progress"));
        }
        next = request.walk_end;
    }
    Ok(counts)
}

/// Smallest base page of all supported systems, in bytes.
const SMALLEST_PAGE: usize = 4 << 10;
/// A mark that `mincore` never writes, because its marks are 0 and 1.
const NO_MARK: u8 = 0xff;

/// Resident bytes of a page-aligned range, including the shared page of zeros (`mincore`).
pub fn resident_bytes(range: &Range<usize>) -> io::Result<u64> {
    const CHUNK: usize = 1 << 30;
    let page = page_size();
    // QEMU's user mode writes a mark for each page of the host, whose pages may be smaller.
    let mut marks = vec![NO_MARK; CHUNK.min(range.len()).div_ceil(SMALLEST_PAGE.min(page))];
    let mut resident = 0;
    for start in range.clone().step_by(CHUNK) {
        let length = CHUNK.min(range.end - start);
        marks.fill(NO_MARK);
        // SAFETY: marks has one byte for each page of the range, even for the smallest pages; the
        // kernel only reads the range.
        check(unsafe { libc::mincore(start as *mut libc::c_void, length, marks.as_mut_ptr()) })?;
        resident += present(&marks, length.div_ceil(page))? * page;
    }
    Ok(resident as u64)
}

/// Number of resident pages, from the first `pages` marks of mincore in `marks`. An error if the
/// system wrote more marks.
fn present(marks: &[u8], pages: usize) -> io::Result<usize> {
    let (asked, beyond) = marks.split_at_checked(pages).unwrap_or((marks, &[]));
    if beyond.iter().any(|mark| *mark != NO_MARK) {
        return Err(io::Error::other(
            "the system marks pages of another size than it reports",
        ));
    }
    Ok(asked.iter().filter(|mark| **mark & 1 == 1).count())
}

/// NUMA node of the page at each address (`move_pages` without target nodes). A negative number
/// means that no page is present.
pub fn node_of_each(addresses: &[usize]) -> io::Result<Vec<i32>> {
    let mut status = vec![-libc::ENOENT; addresses.len()];
    // SAFETY: both arrays hold as many entries as are named; without target nodes nothing is moved.
    let result = unsafe {
        libc::syscall(
            libc::SYS_move_pages,
            0 as libc::c_long,
            addresses.len(),
            addresses.as_ptr(),
            std::ptr::null::<libc::c_int>(),
            status.as_mut_ptr(),
            0 as libc::c_long,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_smaller_pages_are_not_counted() {
        assert_eq!(present(&[1, 0, 1, NO_MARK], 3).unwrap(), 2);
        assert_eq!(present(&[1, 0, 1], 3).unwrap(), 2);
        assert!(present(&[1, 0, 1, 0], 3).is_err());
    }
}
