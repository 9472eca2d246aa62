//! Determines the files and the blocks that operations may use.

use super::replay::Recorded;
use super::settings::{Settings, Timing};
use crate::target::IoTarget;
use crate::work::{IoFile, IoWork, Order, Pace, Permission, Recording, Step};
use host::storage::is_named;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use units::Bytes;
use units::error::{Error, Result};

/// Properties of operations that determine which blocks of a file they may use.
#[derive(Debug, Clone, Copy)]
pub struct Range {
    /// Bytes of an operation.
    pub block: Bytes,
    /// True if the page cache is bypassed.
    pub direct: bool,
    /// True if any operation writes.
    pub writes: bool,
}

/// Function that finds the facts about a file before any operation. Its `bool` argument says
/// whether direct I/O is requested.
#[derive(Clone)]
pub struct FileLookup(Arc<Look>);

type Look = dyn Fn(&IoFile, bool) -> Result<IoTarget> + Send + Sync;

impl FileLookup {
    /// Uses `look`. Its error is a message that says why the file cannot be used.
    pub fn new(look: impl Fn(&IoFile, bool) -> Result<IoTarget> + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }
}

impl std::fmt::Debug for FileLookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileLookup")
    }
}

/// The files of a session. The facts about each file are found once and kept.
pub struct Files<'a> {
    settings: &'a Settings,
    lookup: &'a FileLookup,
    seen: BTreeMap<(PathBuf, Permission, bool), IoTarget>,
}

impl<'a> Files<'a> {
    /// The files of `settings`, with facts from `lookup`.
    pub fn new(settings: &'a Settings, lookup: &'a FileLookup) -> Self {
        Self {
            settings,
            lookup,
            seen: BTreeMap::new(),
        }
    }

    /// The files of the settings, each with the blocks that operations of `range` may use.
    pub fn files_for(&mut self, range: &Range) -> Result<Vec<IoFile>> {
        let paths = self.settings.files.clone();
        paths.iter().map(|path| self.file(path, range)).collect()
    }

    fn file(&mut self, path: &Path, range: &Range) -> Result<IoFile> {
        let permission = self.permission(path, range.writes)?;
        let target = self.look(path, permission, range.direct)?;
        let (first, blocks) = blocks(self.settings, path, range.block, target.size)?;
        if range.direct {
            aligned(path, (first, range.block.0), &target)?;
        }
        Ok(IoFile {
            path: path.to_owned(),
            permission,
            first,
            blocks,
        })
    }

    /// Permission for `path`. Fails if writes were requested and the user has not agreed to lose
    /// the data.
    fn permission(&self, path: &Path, writes: bool) -> Result<Permission> {
        let s = self.settings;
        if let Some(size) = s.create {
            return Ok(Permission::Create { size, keep: s.keep });
        }
        match (writes, is_named(path, &s.destroy_data)) {
            (false, _) => Ok(Permission::Read),
            (true, true) => Ok(Permission::Destroy),
            (true, false) => Err(Error::usage(format!(
                "cannot write to {}: its data would be lost; only new files and files named with \
                 --destroy-data are written to; type --create 1GiB with a new name, or \
                 --destroy-data \
                 {}",
                path.display(),
                path.display()
            ))),
        }
    }

    fn look(&mut self, path: &Path, permission: Permission, direct: bool) -> Result<IoTarget> {
        let key = (path.to_owned(), permission, direct);
        if let Some(target) = self.seen.get(&key) {
            return Ok(target.clone());
        }
        let file = IoFile {
            permission,
            ..IoFile::named(path)
        };
        let target = (self.lookup.0)(&file, direct)?;
        self.seen.insert(key, target.clone());
        Ok(target)
    }

    /// Sentences about the files, which the plan shows.
    pub fn remarks(&mut self, recorded: Option<&Recorded>) -> Vec<String> {
        let named: Vec<PathBuf> = recorded
            .and_then(|r| r.paths(&self.settings.files).ok())
            .unwrap_or_default();
        let paths = if named.is_empty() {
            self.settings.files.clone()
        } else {
            named
        };
        let direct = self.settings.accesses().contains(&true);
        let mut all = Vec::new();
        for path in paths.iter().filter(|_| self.settings.create.is_none()) {
            let Ok(target) = self.look(path, Permission::Read, direct) else {
                continue;
            };
            all.extend(
                target
                    .remarks
                    .iter()
                    .map(|remark| format!("{}: {remark}", path.display())),
            );
            if let (Err(why), true) = (&target.direct, direct) {
                let path = path.display();
                all.push(format!(
                    "{path}: no direct I/O, {why}; its figures are those of the page cache"
                ));
            }
        }
        all
    }

    /// Gives `work` the recorded operations: all reads, and the writes to files that may be
    /// written. Fails if no operation is left, or if a file cannot be used for its operations.
    pub fn replay(&mut self, recorded: &Recorded, work: &mut IoWork, timing: Timing) -> Result<()> {
        let paths = recorded.paths(&self.settings.files)?;
        let may_write = |path: &Path| {
            self.settings.create.is_some() || is_named(path, &self.settings.destroy_data)
        };
        let writable: BTreeSet<usize> =
            (0..paths.len()).filter(|&i| may_write(&paths[i])).collect();
        let steps: Vec<Step> = recorded
            .steps
            .iter()
            .filter(|s| !s.write || writable.contains(&s.file))
            .copied()
            .collect();
        let Some(block) = steps.iter().map(|s| s.bytes as u64).max() else {
            return Err(Error::usage(
                "nothing to replay: the trace has no reads, and writes are left out; type \
                 --create SIZE or --destroy-data FILE",
            ));
        };
        work.block = Bytes(block);
        work.files.clear();
        let mut by_file: BTreeMap<usize, Vec<&Step>> = BTreeMap::new();
        steps
            .iter()
            .for_each(|step| by_file.entry(step.file).or_default().push(step));
        for (index, path) in paths.iter().enumerate() {
            let own = || by_file.get(&index).into_iter().flatten().copied();
            let permission = self.permission(path, own().any(|s| s.write))?;
            let target = self.look(path, permission, work.direct)?;
            if let Some(beyond) =
                own().find(|s| s.offset.saturating_add(s.bytes as u64) > target.size)
            {
                return Err(Error::usage(format!(
                    "recorded operation beyond the end: {} B at byte {} of {}; it has {} B; name \
                     a larger file or device",
                    beyond.bytes,
                    beyond.offset,
                    path.display(),
                    target.size
                )));
            }
            if work.direct {
                own().try_for_each(|s| aligned(path, (s.offset, s.bytes as u64), &target))?;
            }
            let blocks = target.size / block;
            work.files.push(IoFile {
                path: path.clone(),
                permission,
                first: 0,
                blocks,
            });
        }
        work.order = Order::Recorded(Recording::new(steps));
        work.pace = if timing == Timing::Recorded {
            Pace::Recorded
        } else {
            Pace::Free
        };
        Ok(())
    }
}

/// Offset in bytes of the first block, and number of blocks, that operations may use in a file of
/// `size` bytes.
fn blocks(s: &Settings, path: &Path, block: Bytes, size: u64) -> Result<(u64, u64)> {
    let refuse = |text: String| Err(Error::usage(text));
    let end = s.end.map_or(size, |end| end.bytes(block));
    let start = s.start.bytes(block);
    for (name, place) in [("--start", start), ("--end", end)] {
        if place > size {
            return refuse(format!(
                "{name} too far: {place} B in {}; it has {size} B, {} blocks of {block}; type a \
                 smaller one",
                path.display(),
                size / block.0
            ));
        }
        if place != size && !place.is_multiple_of(block.0) {
            return refuse(format!(
                "{name} not possible: {place} B; it is a multiple of the block, {block}; type \
                 {name} {}",
                place / block.0
            ));
        }
    }
    if start >= end {
        return refuse(format!(
            "range without blocks: from {start} B to {end} B; it ends behind its start; type \
             another --end"
        ));
    }
    let first = start.saturating_add(s.misalign.0);
    match end.saturating_sub(first) / block.0 {
        0 => refuse(format!(
            "block larger than the range: {block} in {} B of {}; a range has one block at least; \
             type a smaller --blocks",
            end.saturating_sub(first),
            path.display()
        )),
        blocks => Ok((first, blocks)),
    }
}

/// Fails if direct I/O is possible, and the offset or the size of operations is no multiple of the
/// unit of direct I/O.
fn aligned(path: &Path, (offset, bytes): (u64, u64), target: &IoTarget) -> Result<()> {
    let unit = target.logical_block.max(1);
    if target.direct.is_err() || (offset.is_multiple_of(unit) && bytes.is_multiple_of(unit)) {
        return Ok(());
    }
    Err(Error::usage(format!(
        "misaligned for direct I/O: {bytes} B at byte {offset} of {}; offsets and sizes are \
         multiples of {unit} B there; type --buffered, or another --blocks or --misalign",
        path.display()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Args, Command, FromArgMatches};

    fn settings(options: &str) -> Settings {
        let command = Settings::augment_args(Command::new("test").no_binary_name(true));
        let matches = command
            .try_get_matches_from(options.split_whitespace())
            .unwrap();
        Settings::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn ranges_are_whole_blocks_inside() {
        let blocks_for = |options: &str, size: u64| {
            blocks(&settings(options), Path::new("data"), Bytes(4096), size)
        };
        let good = [
            ("data", 10_000, (0, 2)),
            ("data --start 1", 12_288, (4096, 2)),
            ("data --start 4KiB --end 2", 12_288, (4096, 1)),
            ("data --misalign 512", 12_288, (512, 2)),
            ("data --end 10000B", 10_000, (0, 2)),
        ];
        for (options, size, expected) in good {
            assert_eq!(blocks_for(options, size).unwrap(), expected, "{options}");
        }
        let bad = [
            ("data", 4095, "block larger than the range"),
            ("data --start 3", 12_287, "--start too far: 12288 B"),
            ("data --end 4", 12_288, "--end too far"),
            ("data --start 2 --end 2", 12_288, "range without blocks"),
            ("data --start 2 --end 1", 12_288, "range without blocks"),
            ("data --start 100B", 12_288, "it is a multiple of the block"),
            (
                "data --misalign 1TiB",
                12_288,
                "block larger than the range",
            ),
            (
                "data --start 18446744073709551615",
                12_288,
                "--start too far",
            ),
        ];
        for (options, size, expected) in bad {
            let text = blocks_for(options, size).unwrap_err().to_string();
            assert!(text.contains(expected), "{options}: {text}");
        }
    }
}
