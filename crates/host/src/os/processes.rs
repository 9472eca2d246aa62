//! Starts other programs.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;

/// Makes `command` start in a process that Ctrl-C in the terminal does not reach.
pub fn start_apart(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        command.process_group(0);
    }
    #[cfg(windows)]
    {
        use std::os::windows::process::CommandExt;
        use windows_sys::Win32::System::Threading::CREATE_NEW_PROCESS_GROUP;
        command.creation_flags(CREATE_NEW_PROCESS_GROUP);
    }
    #[cfg(not(any(unix, windows)))]
    let _ = command;
}

/// Writes `program` to a file in memory. Returns the path by which the program can be started, and
/// the file. The path is valid while the file is open.
///
/// # Errors
/// There is not enough memory, or the kernel is older than Linux 3.17.
#[cfg(any(target_os = "linux", target_os = "android"))]
pub fn program_in_memory(program: &[u8]) -> io::Result<(PathBuf, File)> {
    use std::io::Write;
    use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

    let name = c"memgauge-gpu-driver";
    // Flag that announces an executable file. Linux 6.3 and newer can be set to refuse to execute
    // other files in memory (memfd_create(2)).
    const ANNOUNCED: libc::c_uint = 0x10;
    let create = |flags: libc::c_uint| {
        // SAFETY: the name ends with a zero byte. The kernel copies it.
        let fd = unsafe { libc::syscall(libc::SYS_memfd_create, name.as_ptr(), flags) };
        i32::try_from(fd)
            .ok()
            .filter(|fd| *fd >= 0)
            .ok_or_else(io::Error::last_os_error)
    };
    // Older kernels do not know the flag, so the call is repeated without it.
    let fd = create(libc::MFD_CLOEXEC | ANNOUNCED).or_else(|_| create(libc::MFD_CLOEXEC))?;
    // SAFETY: the kernel just made this descriptor, and nobody else has it.
    let mut file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(program)?;
    Ok((format!("/proc/self/fd/{}", file.as_raw_fd()).into(), file))
}

/// Not supported, because programs for this system open drivers themselves.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub fn program_in_memory(_program: &[u8]) -> io::Result<(PathBuf, File)> {
    Err(io::ErrorKind::Unsupported.into())
}
