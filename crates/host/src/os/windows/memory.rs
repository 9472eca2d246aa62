//! Maps memory by VirtualAllocExNuma, and reads back the granted pages by QueryWorkingSetEx.

use super::page_size;
use crate::memory::Place;
use crate::os::PageCounts;
use std::io;
use std::ops::Range;
use std::ptr::NonNull;
use std::sync::OnceLock;
use windows_sys::Win32::Foundation::{CloseHandle, ERROR_PRIVILEGE_NOT_HELD, GetLastError, HANDLE};
use windows_sys::Win32::Security::{
    AdjustTokenPrivileges, LUID_AND_ATTRIBUTES, LookupPrivilegeValueW, SE_PRIVILEGE_ENABLED,
    TOKEN_ADJUST_PRIVILEGES, TOKEN_PRIVILEGES, TOKEN_QUERY,
};
use windows_sys::Win32::System::Memory::{
    GetLargePageMinimum, MEM_COMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS,
    PAGE_READWRITE, VirtualAlloc, VirtualAllocExNuma, VirtualFree,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32QueryWorkingSetEx, PSAPI_WORKING_SET_EX_BLOCK, PSAPI_WORKING_SET_EX_INFORMATION,
};
use windows_sys::Win32::System::Threading::{GetCurrentProcess, OpenProcessToken};

/// Value of VirtualAllocExNuma for no preferred node (NUMA_NO_PREFERRED_NODE).
const NO_NODE: u32 = u32::MAX;

/// Bytes of a guard. Windows reserves address space in multiples of 64 KiB.
const GUARD: usize = 64 << 10;

/// Memory of this process, which is freed when dropped. It lies between two inaccessible guards,
/// unless it has large pages. Windows reserves and commits large pages in one call, so they have no
/// guards.
#[derive(Debug)]
pub struct Region {
    base: NonNull<u8>,
    start: NonNull<u8>,
    length: usize,
    guard: usize,
    node: Option<u32>,
}

// SAFETY: a Region is an address range that it alone owns; which thread frees it does not matter.
unsafe impl Send for Region {}
// SAFETY: its methods only hand out the address.
unsafe impl Sync for Region {}

/// Size of a large page in bytes; `None` if the processor or the system has no large pages.
pub fn large_page() -> Option<u64> {
    // SAFETY: no arguments; returns a number.
    let size = unsafe { GetLargePageMinimum() } as u64;
    (size.is_power_of_two() && size > page_size() as u64).then_some(size)
}

/// Enables the privilege to lock pages for this process, which large pages need. Later calls return
/// the same result.
///
/// # Errors
/// `PermissionDenied` with the reason if the user lacks the privilege.
pub fn enable_large_pages() -> io::Result<()> {
    static ENABLED: OnceLock<Result<(), i32>> = OnceLock::new();
    let outcome = *ENABLED.get_or_init(|| {
        enable_privilege().map_err(|error| error.raw_os_error().unwrap_or_default())
    });
    outcome.map_err(|code| {
        let error = io::Error::from_raw_os_error(code);
        io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!(
                "large pages need the privilege 'Lock pages in memory' \
                 (SeLockMemoryPrivilege), which this process lacks: {error}"
            ),
        )
    })
}

fn enable_privilege() -> io::Result<()> {
    let name = super::registry::wide("SeLockMemoryPrivilege");
    let mut token: HANDLE = std::ptr::null_mut();
    let access = TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY;
    // SAFETY: the handle is the calling process's own; the call writes a handle.
    if unsafe { OpenProcessToken(GetCurrentProcess(), access, &mut token) } == 0 {
        return Err(io::Error::last_os_error());
    }
    let mut privileges = TOKEN_PRIVILEGES {
        PrivilegeCount: 1,
        Privileges: [LUID_AND_ATTRIBUTES {
            Attributes: SE_PRIVILEGE_ENABLED,
            ..Default::default()
        }],
    };
    // SAFETY: the name ends with a zero; the calls read and write the structure; the handle is
    // open, and is closed once.
    let error = unsafe {
        let luid = &mut privileges.Privileges[0].Luid;
        let known = LookupPrivilegeValueW(std::ptr::null(), name.as_ptr(), luid) != 0;
        let adjusted = known
            && AdjustTokenPrivileges(
                token,
                0,
                &privileges,
                0,
                std::ptr::null_mut(),
                std::ptr::null_mut(),
            ) != 0;
        // If the user lacks the privilege, the call succeeds, but sets the last error.
        let error = GetLastError();
        CloseHandle(token);
        match (adjusted, error) {
            (true, error) => error,
            (false, 0) => ERROR_PRIVILEGE_NOT_HELD,
            (false, error) => error,
        }
    };
    if error == 0 {
        Ok(())
    } else {
        Err(io::Error::from_raw_os_error(error as i32))
    }
}

/// Reserves or commits `length` bytes; `kind` says which. The bytes begin at `at`, or anywhere if
/// `at` is `None`. New pages come from `node` if this node has free pages.
fn allocate(
    at: Option<NonNull<u8>>,
    length: usize,
    kind: u32,
    access: u32,
    node: Option<u32>,
) -> io::Result<NonNull<u8>> {
    let address = at.map_or(std::ptr::null(), |at| at.as_ptr().cast_const().cast());
    // SAFETY: without an address Windows chooses a free range; with one, the caller owns the range.
    let start = unsafe {
        match node {
            None => VirtualAlloc(address, length, kind, access),
            Some(node) => VirtualAllocExNuma(
                GetCurrentProcess(),
                address,
                length,
                kind,
                access,
                node.min(NO_NODE - 1),
            ),
        }
    };
    NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)
}

impl Region {
    /// Maps `length` bytes between guards at a multiple of `align`, without touching them. `align`
    /// is a power of two and at least the page size. `length` is a multiple of the page size.
    /// `huge` requests large pages of that size. Pages come from the NUMA node `node` if it has
    /// free pages. Otherwise a page comes from the node of the thread that first touches it.
    pub fn map(
        length: usize,
        align: usize,
        huge: Option<u64>,
        node: Option<u32>,
    ) -> io::Result<Region> {
        if let Some(size) = huge {
            return Self::large(length, size, node);
        }
        let too_large = || io::Error::from(io::ErrorKind::OutOfMemory);
        let total = length
            .checked_add(align)
            .and_then(|n| n.checked_add(2 * GUARD))
            .ok_or_else(too_large)?;
        let base = allocate(None, total, MEM_RESERVE, PAGE_NOACCESS, node)?;
        let mut region = Region {
            base,
            start: base,
            length,
            guard: GUARD,
            node,
        };
        let address = base.as_ptr() as usize;
        let skip = (address + GUARD).next_multiple_of(align) - address;
        // SAFETY: skip + length + GUARD <= total, because next_multiple_of adds less than align.
        region.start = unsafe { base.add(skip) };
        // The rest of the reserved range stays inaccessible as guards. An error drops the region,
        // which frees the range.
        allocate(Some(region.start), length, MEM_COMMIT, PAGE_READWRITE, None)?;
        Ok(region)
    }

    /// Maps large pages. Windows provides either all of them at once or none.
    fn large(length: usize, size: u64, node: Option<u32>) -> io::Result<Region> {
        if large_page() != Some(size) {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                match large_page() {
                    Some(other) => format!("large pages have {} here", units::Bytes(other)),
                    None => "this processor or system has no large pages".to_owned(),
                },
            ));
        }
        enable_large_pages()?;
        let kind = MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES;
        let base = allocate(None, length, kind, PAGE_READWRITE, node)?;
        Ok(Region {
            base,
            start: base,
            length,
            guard: 0,
            node,
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

    /// Bytes of each guard; 0 if there are none.
    pub fn guard(&self) -> usize {
        self.guard
    }

    /// Always an error of kind `Unsupported`: Windows has no transparent huge pages.
    pub fn advise_huge(&self, _wanted: bool) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// `Ok` if the memory was mapped for `place`, because Windows cannot change the place later.
    /// Otherwise `Unsupported`.
    pub fn place(&self, place: &Place) -> io::Result<()> {
        match (place, self.node) {
            (Place::Local, None) => Ok(()),
            (Place::Node(wanted), Some(node)) if *wanted == node => Ok(()),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: `base` was returned by a reservation, which is freed once and as a whole.
        unsafe { VirtualFree(self.base.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}

/// Largest number of pages in one call of QueryWorkingSetEx.
const PAGES_AT_A_TIME: usize = 1 << 14;

/// Attributes of a page, as in the documentation of PSAPI_WORKING_SET_EX_BLOCK.
#[derive(Clone, Copy)]
struct Attributes(usize);

impl Attributes {
    fn is_resident(self) -> bool {
        self.0 & 1 == 1
    }

    fn node(self) -> i32 {
        (self.0 >> 16 & 0x3f) as i32
    }

    fn is_large(self) -> bool {
        self.0 >> 22 & 1 == 1
    }
}

/// Attributes of the page at each of `addresses`. At most [`PAGES_AT_A_TIME`] addresses are
/// allowed.
fn attributes(addresses: impl Iterator<Item = usize>) -> io::Result<Vec<Attributes>> {
    let mut pages: Vec<PSAPI_WORKING_SET_EX_INFORMATION> = addresses
        .map(|address| PSAPI_WORKING_SET_EX_INFORMATION {
            VirtualAddress: address as *mut _,
            VirtualAttributes: PSAPI_WORKING_SET_EX_BLOCK { Flags: 0 },
        })
        .collect();
    let length = size_of_val(pages.as_slice()) as u32;
    // SAFETY: the call reads the addresses and writes the attributes of as many pages as the length
    // has room for.
    let told =
        unsafe { K32QueryWorkingSetEx(GetCurrentProcess(), pages.as_mut_ptr().cast(), length) };
    if told == 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: all parts of the union are the same number.
    let flags = |page: &PSAPI_WORKING_SET_EX_INFORMATION| unsafe { page.VirtualAttributes.Flags };
    Ok(pages.iter().map(|page| Attributes(flags(page))).collect())
}

/// Numbers of bytes in a page-aligned range of addresses, by kind of page. Windows has no shared
/// page of zeros.
pub fn page_counts(range: &Range<usize>) -> io::Result<PageCounts> {
    let page = page_size();
    let mut counts = PageCounts::default();
    for start in range.clone().step_by(PAGES_AT_A_TIME * page) {
        let end = range.end.min(start.saturating_add(PAGES_AT_A_TIME * page));
        for one in attributes((start..end).step_by(page))? {
            if one.is_resident() {
                counts.present += page as u64;
                counts.huge += if one.is_large() { page as u64 } else { 0 };
            }
        }
    }
    Ok(counts)
}

/// Number of resident bytes of a page-aligned range.
pub fn resident_bytes(range: &Range<usize>) -> io::Result<u64> {
    page_counts(range).map(|counts| counts.present)
}

/// NUMA node of the page at each address. A negative number means that no page is present.
pub fn node_of_each(addresses: &[usize]) -> io::Result<Vec<i32>> {
    let mut nodes = Vec::with_capacity(addresses.len());
    for some in addresses.chunks(PAGES_AT_A_TIME) {
        let found = attributes(some.iter().copied())?;
        nodes.extend(
            found
                .iter()
                .map(|one| if one.is_resident() { one.node() } else { -1 }),
        );
    }
    Ok(nodes)
}
