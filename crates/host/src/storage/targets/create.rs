//! Creates files to measure.

use super::{Opening, cannot_open, refusal};
use crate::os;
use crate::os::files::OpenHow;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use units::Bytes;
use units::error::{Error, Result};

/// Number of bytes per write.
const CHUNK: usize = 1 << 20;

/// Creates a file of `bytes` bytes, which is written from start to end. If `keep` is set and the
/// system supports it, the file only gets its name when it is complete. Otherwise an incomplete
/// file is removed after a failure.
pub(super) fn create(path: &Path, bytes: u64, keep: bool, opening: &Opening) -> Result<File> {
    let name = name_for(path, keep)?;
    check_room(path, &name, bytes)?;
    // From here on, a write beyond the limit on file size no longer ends the process.
    crate::interrupt::report_file_limit()?;
    let refused = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => cannot_create(path, bytes, &error.to_string()),
    };
    if !keep {
        let file = os::create_vanishing(&name).map_err(refused)?;
        return fill(&file, path, bytes, opening).map(|()| file);
    }
    match os::create_unnamed(&name) {
        Ok(file) => {
            fill(&file, path, bytes, opening)?;
            os::give_name(&file, &name).map_err(refused)?;
            Ok(file)
        }
        Err(error) if error.kind() == io::ErrorKind::Unsupported => {
            let how = OpenHow {
                write: true,
                create_new: true,
                ..OpenHow::default()
            };
            let file = os::open_file(&name, &how).map_err(refused)?;
            fill(&file, path, bytes, opening)
                .map(|()| file)
                .inspect_err(|_| {
                    // The file is ours: the name was free, and opening was exclusive.
                    let _ = std::fs::remove_file(&name);
                })
        }
        Err(error) => Err(refused(error)),
    }
}

/// Path of the file to create: `path`, which must not exist. For a temporary file (`keep` is
/// false), `path` may be a folder, and the result is a path in it.
fn name_for(path: &Path, keep: bool) -> Result<PathBuf> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(path.to_path_buf()),
        Err(error) => Err(cannot_open(path, &error)),
        Ok(found) if found.is_dir() && !keep => {
            Ok(path.join(format!(".memgauge-{}", std::process::id())))
        }
        Ok(found) if found.is_dir() => Err(refusal(
            path,
            "it is a folder",
            "name the file to keep in it",
        )),
        Ok(_) => Err(taken(path)),
    }
}

fn taken(path: &Path) -> Error {
    let why = "it exists, and only new files are created";
    refusal(
        path,
        why,
        "name a new file, leave out --create to read it, or overwrite it with --destroy-data",
    )
}

/// Returns an error if a file of `bytes` bytes at `path` could not be created. Creates nothing.
pub fn check_creation(path: &Path, bytes: u64, keep: bool) -> Result<()> {
    check_room(path, &name_for(path, keep)?, bytes)
}

/// Returns an error if `bytes` is 0, or exceeds the limit on file size or the free space. The file
/// is to be created at `name`, and messages name `path`. Writes nothing.
fn check_room(path: &Path, name: &Path, bytes: u64) -> Result<()> {
    if bytes == 0 {
        return Err(refusal(
            path,
            "an empty file cannot be measured",
            "use --create 1GiB",
        ));
    }
    if let Some(limit) = os::file_size_limit().filter(|limit| bytes > *limit) {
        let why = format!(
            "{} to create, files may have {} (ulimit -f)",
            Bytes(bytes),
            Bytes(limit)
        );
        return Err(refusal(
            path,
            &why,
            "create a smaller one, or raise the limit",
        ));
    }
    let folder = name
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    if let Some(free) = os::free_space(folder).filter(|free| bytes > *free) {
        let why = format!("{} to create, {} are free there", Bytes(bytes), Bytes(free));
        return Err(refusal(path, &why, "create a smaller one, or elsewhere"));
    }
    Ok(())
}

/// Allocates `bytes` bytes, writes all of them, and synchronises the file.
fn fill(file: &File, path: &Path, bytes: u64, opening: &Opening) -> Result<()> {
    let failed = |error: io::Error| cannot_create(path, bytes, &error.to_string());
    match os::reserve(file, bytes) {
        Ok(()) => {}
        // Other errors do not matter: allocation is optional, and the writes may succeed.
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
            ) => {}
        Err(error) => return Err(failed(error)),
    }
    let mut chunk = vec![0; CHUNK.min(usize::try_from(bytes).unwrap_or(CHUNK))];
    let mut at = 0;
    while at < bytes {
        if opening.stop.is_set() {
            return Err(cannot_create(path, bytes, "interrupted"));
        }
        let length = chunk
            .len()
            .min(usize::try_from(bytes - at).unwrap_or(CHUNK));
        opening.pattern.fill(&mut chunk[..length], at);
        write_all(file, &chunk[..length], at).map_err(failed)?;
        at += length as u64;
    }
    file.sync_all().map_err(failed)?;
    // An error does not matter. The file may then stay in the page cache, and its buffered reads
    // are marked like reads of a file smaller than memory.
    let _ = os::forget_cached(file);
    Ok(())
}

/// Writes all of `bytes` at the offset `at`.
fn write_all(file: &File, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match os::write_at(file, bytes, at)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                (bytes, at) = (
                    bytes.get(written..).unwrap_or_default(),
                    at + written as u64,
                )
            }
        }
    }
    Ok(())
}

fn cannot_create(path: &Path, bytes: u64, why: &str) -> Error {
    let path = path.display();
    Error::failure(format!(
        "cannot create {path} of {}: {why}; create it in a folder of yours with room",
        Bytes(bytes)
    ))
}
