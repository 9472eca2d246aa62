//! Mapped files (mmap(2)). Copies from and to them return an error if a page cannot be provided.

use super::guarded_copy;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

/// Always `Ok`, because these systems can map files.
pub fn file_mapping_availability() -> Result<(), String> {
    Ok(())
}

/// Size of a regular file at this moment, in bytes.
pub fn current_size(file: &File) -> io::Result<u64> {
    let mut status = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills the whole structure when it returns 0, and it is read only then.
    let size = unsafe {
        if libc::fstat(file.as_raw_fd(), status.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        status.assume_init().st_size
    };
    Ok(u64::try_from(size).unwrap_or(0))
}

/// A mapping of the first bytes of a file, shared with all users of the file.
#[derive(Debug)]
pub struct FileMapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping is an address range that only this object hands to the copying routine; it
// belongs to no thread.
unsafe impl Send for FileMapping {}

impl FileMapping {
    /// Maps the first `length` bytes of `file`. With `writable`, the mapping can be written, which
    /// needs a file that is open for writing.
    pub fn map(file: &File, length: u64, writable: bool) -> io::Result<FileMapping> {
        guarded_copy::prepare()?;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| isize::try_from(*length).is_ok());
        let length = length.ok_or_else(|| io::Error::from_raw_os_error(libc::ENOMEM))?;
        let access = libc::PROT_READ | if writable { libc::PROT_WRITE } else { 0 };
        // SAFETY: the kernel chooses a free range.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                access,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        };
        match NonNull::new(start.cast::<u8>()) {
            Some(start) if start.as_ptr().cast() != libc::MAP_FAILED => {
                Ok(FileMapping { start, length })
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Copies `to.len()` bytes at `offset` to `to`. An error if the mapping does not contain all of
    /// these bytes, or if the system cannot read the file.
    pub fn read(&self, offset: usize, to: &mut [u8]) -> io::Result<()> {
        let from = self.inside(offset, to.len())?;
        // SAFETY: both ranges are mapped, of that length, and apart: `to` is memory of this
        // program's own.
        unsafe { guarded_copy::copy(to.as_mut_ptr(), from.as_ptr(), to.len()) }
    }

    /// Copies `from` to `offset`. The mapping must be writable. An error if `from` does not fit
    /// into the mapping, or if the system cannot access the file.
    pub fn write(&self, offset: usize, from: &[u8]) -> io::Result<()> {
        let to = self.inside(offset, from.len())?;
        // SAFETY: as in `read`.
        unsafe { guarded_copy::copy(to.as_ptr(), from.as_ptr(), from.len()) }
    }

    /// Writes changed pages of the mapping back to the device, and waits until this is done.
    pub fn sync(&self) -> io::Result<()> {
        // SAFETY: the range is mapped.
        match unsafe { libc::msync(self.start.as_ptr().cast(), self.length, libc::MS_SYNC) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Address of the byte at `offset`. An error unless `bytes` bytes from there are mapped.
    fn inside(&self, offset: usize, bytes: usize) -> io::Result<NonNull<u8>> {
        match offset.checked_add(bytes) {
            // SAFETY: within the mapping, or directly behind it for no bytes.
            Some(end) if end <= self.length => Ok(unsafe { self.start.add(offset) }),
            _ => Err(io::Error::from_raw_os_error(libc::EINVAL)),
        }
    }
}

impl Drop for FileMapping {
    fn drop(&mut self) {
        // SAFETY: the range is this object's, and nothing refers to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_are_gone_are_errors_as_often_as_they_are_touched() {
        let mut file = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut file, &[7; 65536]).unwrap();
        let mapping = FileMapping::map(&file, 65536, true).unwrap();
        let mut buffer = [0; 8192];
        mapping.read(0, &mut buffer).unwrap();
        assert_eq!(buffer, [7; 8192]);
        mapping.write(4096, &[9; 100]).unwrap();
        mapping.sync().unwrap();
        if cfg!(not(target_os = "linux")) {
            return;
        }
        file.set_len(4096).unwrap();
        for _ in 0..3 {
            for offset in [0, 4096, 57344] {
                assert_eq!(
                    mapping
                        .read(offset, &mut buffer)
                        .unwrap_err()
                        .raw_os_error(),
                    Some(libc::EIO)
                );
                assert_eq!(
                    mapping.write(offset, &buffer).unwrap_err().raw_os_error(),
                    Some(libc::EIO)
                );
            }
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    assert!(
                        FileMapping::map(&file, 8192, false)
                            .unwrap()
                            .read(4096, &mut [0; 1])
                            .is_err()
                    )
                });
            });
        }
        mapping.read(0, &mut buffer[..4096]).unwrap();
        assert!(
            mapping.read(65535, &mut buffer).is_err()
                && mapping.read(usize::MAX, &mut buffer).is_err()
        );
    }

    #[test]
    #[ignore = "started by other_faults_end_the_process in a process of its own"]
    fn child_that_touches_a_missing_page() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let mapping = FileMapping::map(&file, 4096, false).unwrap();
        file.set_len(0).unwrap();
        // SAFETY: the page is mapped. The test is about the signal that is raised because the
        // system cannot provide the page.
        let byte = unsafe { mapping.start.as_ptr().read_volatile() };
        println!("read {byte}");
    }

    #[test]
    fn other_faults_end_the_process() {
        use std::os::unix::process::ExitStatusExt;
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                &crate::tests::name_of(module_path!(), "child_that_touches_a_missing_page"),
            ])
            .output()
            .unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGBUS));
    }
}
