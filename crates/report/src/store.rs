//! Reports on disk: they are written whole or not at all, and read with a limit on their size.

use super::journal::{Journal, is_journal_line, read_journal};
use super::reading::{LARGEST_REPORT, brief, newer};
use super::{Report, SCHEMA_VERSION, csv_table, sc_membench};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, Read, Write};
use std::path::{Path, PathBuf};
use units::Bytes;

/// Number of bytes at the start of a file that determine its format. Input of an unknown format is
/// not read further, because it may never end.
const START: u64 = 64 << 10;

/// Replaces the content of `path` with `content`. A reader sees the old file or the new file, never
/// a part of one.
///
/// The content goes to a temporary file in the same directory, which is synchronised and then
/// renamed. On an error `path` is unchanged and the temporary file is gone. If `path` is a link,
/// its target is replaced. Pipes, devices (`/dev/full`) and files behind the system's own links
/// (`/dev/fd/3`) are appended to.
pub fn write_atomically(path: &Path, content: &[u8]) -> io::Result<()> {
    if !is_replaceable(path) {
        return File::options().append(true).open(path)?.write_all(content);
    }
    let link = fs::symlink_metadata(path).is_ok_and(|m| m.is_symlink());
    let target = if link {
        fs::canonicalize(path)?
    } else {
        path.to_owned()
    };
    let path = target.as_path();
    let temporary = temporary_name(path);
    let written = File::options()
        .write(true)
        .create_new(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // An error of the removal is ignored, because the error of the writing is returned.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// True if a renamed file may replace `path`. A file below `/dev` or `/proc` may not be replaced,
/// except below `/dev/shm`. Even a regular file there is the target of a link of the system. For
/// example, replacing `/dev/stdout` would take it from every program.
pub fn is_replaceable(path: &Path) -> bool {
    let system = ["/dev", "/proc"]
        .iter()
        .any(|folder| path.starts_with(folder));
    // `/dev/shm` is a mounted file system with ordinary files.
    let of_system = system && !path.starts_with("/dev/shm");
    !of_system && fs::metadata(path).map_or(true, |m| m.is_file())
}

/// A name in the folder of `path` that no other process uses. On a network file system, a process
/// on another machine may have the same process id. Therefore the name has a random part.
fn temporary_name(path: &Path) -> PathBuf {
    let random = RandomState::new().hash_one(std::process::id());
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}-{random:016x}.tmp", std::process::id()));
    path.with_file_name(name)
}

/// A report or a journal that was read back.
#[derive(Debug, Clone, PartialEq)]
pub enum Saved {
    /// A report.
    Report(Box<Report>),
    /// A journal.
    Journal(Box<Journal>),
}

impl Saved {
    /// The report, or the report that a journal contains.
    pub fn into_report(self) -> Report {
        match self {
            Saved::Report(report) => *report,
            Saved::Journal(journal) => journal.report,
        }
    }
}

/// Reads a report, a journal, or CSV of memgauge or sc-membench. The content of the file determines
/// the format. An error says why the file cannot be read.
pub fn read_saved(path: &Path) -> Result<Saved, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    parse_saved(io::BufReader::new(file))
}

/// Like [`read_saved`], but from any reader.
pub fn parse_saved(input: impl BufRead) -> Result<Saved, String> {
    parse_within(LARGEST_REPORT, input)
}

/// Like [`parse_saved`], but with at most `limit` bytes in memory.
fn parse_within(limit: Bytes, mut input: impl BufRead) -> Result<Saved, String> {
    let mut bytes = Vec::new();
    let failed = |e: io::Error| e.to_string();
    input
        .by_ref()
        .take(START.min(limit.0 + 1))
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    let is_csv = csv_table::is_heading(first_line(&bytes));
    let is_table = is_csv || sc_membench::is_heading(first_line(&bytes));
    if !is_table && bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(
            "not a memgauge report: it begins neither like one nor like CSV of memgauge or \
             sc-membench"
                .to_owned(),
        );
    }
    if !is_table && !bytes.contains(&b'\n') {
        let left = limit.0 + 1 - bytes.len() as u64;
        input
            .by_ref()
            .take(left)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)?;
    }
    if !is_table && is_journal_line(first_line(&bytes)) {
        return read_journal(bytes.as_slice().chain(input))
            .map(|journal| Saved::Journal(Box::new(journal)));
    }
    let left = limit.0 + 1 - bytes.len() as u64;
    input.take(left).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > limit.0 {
        return Err(format!("larger than {limit}, not a report"));
    }
    if is_table {
        let report = if is_csv {
            csv_table::read(&bytes)
        } else {
            sc_membench::read(&bytes)
        };
        return report.map(|report| Saved::Report(Box::new(report)));
    }
    let none = |e: serde_json::Error| brief(format!("not a memgauge report: {e}"));
    let version: SchemaProbe = serde_json::from_slice(&bytes).map_err(none)?;
    if version.schema_version > SCHEMA_VERSION {
        return Err(newer(version.schema_version));
    }
    serde_json::from_slice(&bytes)
        .map(|report| Saved::Report(Box::new(report)))
        .map_err(none)
}

/// The first line of `bytes`.
fn first_line(bytes: &[u8]) -> &[u8] {
    bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default()
}

/// The only field that reports of all schema versions have.
#[derive(serde::Deserialize)]
struct SchemaProbe {
    schema_version: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        write_atomically(&path, b"one").unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(write_atomically(&dir.path().join("missing/r.json"), b"x").is_err());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_stay_links() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        let link = dir.path().join("link");
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        write_atomically(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        for system in [
            "/dev/stdout",
            "/dev/fd/1",
            "/proc/self/fd/1",
            "/dev/full",
            "/dev/null",
        ] {
            assert!(!is_replaceable(Path::new(system)), "{system}");
        }
        assert!(is_replaceable(&link) && is_replaceable(Path::new("/dev/shm/r.json")));
    }

    #[test]
    fn what_is_not_a_report_is_said_so() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        for (text, word) in [
            ("", "not a memgauge report"),
            ("{}", "schema_version"),
            (r#"{"schema_version":999}"#, "newer"),
        ] {
            fs::write(&path, text).unwrap();
            assert!(read_saved(&path).unwrap_err().contains(word), "{text}");
        }
    }

    /// A reader that never ends, and fails if more than `left` bytes are read.
    struct Endless {
        byte: u8,
        left: usize,
    }

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.left = self
                .left
                .checked_sub(into.len())
                .expect("more is read than is needed");
            into.fill(self.byte);
            Ok(into.len())
        }
    }

    #[test]
    fn what_never_ends_is_refused() {
        for byte in [b'0', b' ', b'\n', 0] {
            let endless = io::BufReader::new(Endless {
                byte,
                left: 1 << 20,
            });
            assert!(
                parse_saved(endless).unwrap_err().contains("begins neither"),
                "{byte}"
            );
        }
        let limit = Bytes::mib(1);
        for start in ["{", "{\n", "{\"line\" :", "size_kb\n", " \n{\"a\":1}"] {
            let endless = start.as_bytes().chain(Endless {
                byte: b'x',
                left: 2 << 20,
            });
            let why = parse_within(limit, io::BufReader::new(endless)).unwrap_err();
            assert_eq!(why, "larger than 1 MiB, not a report", "{start}");
        }
    }
}
