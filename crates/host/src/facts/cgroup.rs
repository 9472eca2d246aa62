//! Control groups of this process and their limits (Documentation/admin-guide/cgroup-v1/memory.rst,
//! cgroup-v2.rst).

use super::files::SystemFiles;
use units::Bytes;

/// Version of control groups. A machine may use both versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One hierarchy for each controller.
    V1,
    /// One hierarchy for all controllers.
    V2,
}

/// Folders of this process's control group and of its visible ancestors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    /// Version of the control groups, which determines the names of files.
    pub version: Version,
    /// Folders from this process's group up to the root of the mount.
    pub folders: Vec<String>,
}

/// Memory that the limit of a control group leaves to this process.
#[derive(Debug, Clone, PartialEq)]
pub struct CgroupRoom {
    /// Bytes that may still be allocated.
    pub left: Bytes,
    /// The limit and the file that sets it, in words.
    pub source: String,
}

/// Usual mount point of control groups.
const USUAL: &str = "/sys/fs/cgroup";

/// Hierarchies of this process that may have the controller `controller` (`memory`, `cpu`), v1
/// before v2. Empty without control groups.
pub fn hierarchies(files: &SystemFiles, controller: &str) -> Vec<Hierarchy> {
    let membership = files.read("/proc/self/cgroup").unwrap_or_default();
    let mounts = mounts(files);
    let mut found = Vec::new();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(names), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let version = match names {
            "" => Version::V2,
            _ if names.split(',').any(|name| name == controller) => Version::V1,
            _ => continue,
        };
        let fits = |mount: &&Mount| {
            mount.version == version && (version == Version::V2 || mount.has(controller))
        };
        let (mount, root) = match (mounts.iter().find(fits), version) {
            (Some(mount), _) => (mount.folder.clone(), mount.root.as_str()),
            (None, Version::V1) => (format!("{USUAL}/{controller}"), "/"),
            (None, Version::V2) => (USUAL.to_owned(), "/"),
        };
        found.push(Hierarchy {
            version,
            folders: ancestry(&mount, below(root, path)),
        });
    }
    found.sort_by_key(|hierarchy| hierarchy.version == Version::V2);
    found
}

/// A mount of control groups.
struct Mount {
    version: Version,
    /// Group that is the root of the mount; `/` if all groups are mounted.
    root: String,
    /// Mount point.
    folder: String,
    /// Mount options, which include the controllers.
    options: String,
}

impl Mount {
    fn has(&self, controller: &str) -> bool {
        self.options.split(',').any(|word| word == controller)
    }
}

/// Mounts of control groups in /proc/self/mountinfo.
fn mounts(files: &SystemFiles) -> Vec<Mount> {
    let text = files.read("/proc/self/mountinfo").unwrap_or_default();
    let parse = |line: &str| {
        let (place, kind) = line.split_once(" - ")?;
        let mut place = place.split(' ').skip(3);
        let mut kind = kind.split(' ');
        let version = match kind.next()? {
            "cgroup" => Version::V1,
            "cgroup2" => Version::V2,
            _ => return None,
        };
        let root = unescape(place.next()?);
        let folder = unescape(place.next()?);
        Some(Mount {
            version,
            root,
            folder,
            options: kind.nth(1).unwrap_or_default().to_owned(),
        })
    };
    text.lines().filter_map(parse).collect()
}

/// Replaces octal escapes such as `\040` by their characters.
pub(crate) fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    plain
}

/// Rest of the group's path `path` below the group `root`, which is the root of the mount. Empty if
/// `path` is not below `root`, as in a container.
fn below<'a>(root: &str, path: &'a str) -> &'a str {
    let rest = path
        .strip_prefix(root.trim_end_matches('/'))
        .unwrap_or_default();
    let inside =
        (rest.is_empty() || rest.starts_with('/')) && !path.split('/').any(|part| part == "..");
    if inside { rest.trim_matches('/') } else { "" }
}

/// Folders from a group up to the root of its mount: `mount/a/b`, `mount/a`, `mount`.
fn ancestry(mount: &str, rest: &str) -> Vec<String> {
    let mut folders = vec![mount.trim_end_matches('/').to_owned()];
    for part in rest.split('/').filter(|part| !part.is_empty()) {
        let deeper = format!("{}/{part}", folders[folders.len() - 1]);
        folders.push(deeper);
    }
    folders.reverse();
    folders
}

/// Memory that the tightest limit of this process's groups leaves; `None` if no group has a limit.
pub fn memory_left(files: &SystemFiles) -> Option<CgroupRoom> {
    let all = hierarchies(files, "memory");
    let groups = all.iter().flat_map(|hierarchy| {
        hierarchy
            .folders
            .iter()
            .map(|folder| (hierarchy.version, folder))
    });
    groups
        .filter_map(|(version, folder)| memory_left_in(files, version, folder))
        .min_by_key(|found| found.left)
}

/// Memory that the limit of the group `folder` leaves; `None` if the group has no limit.
fn memory_left_in(files: &SystemFiles, version: Version, folder: &str) -> Option<CgroupRoom> {
    // In v1, a value near 2^63 means that there is no limit.
    let number = |name: &str| {
        files
            .read_as::<u64>(&format!("{folder}/{name}"))
            .filter(|&bytes| bytes < 1 << 60)
    };
    let stat = files
        .read(&format!("{folder}/memory.stat"))
        .unwrap_or_default();
    let counted = |key: &str| {
        let line = stat
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
        line.and_then(|value| value.trim().parse::<u64>().ok())
            .filter(|&bytes| bytes < 1 << 60)
    };
    let (limits, used, cache) = match version {
        // `memory.high` counts as a limit, because the kernel slows down a group above it, which
        // would disturb samples.
        Version::V2 => (
            [
                ("memory.max", number("memory.max")),
                ("memory.high", number("memory.high")),
            ],
            number("memory.current"),
            counted("inactive_file"),
        ),
        Version::V1 => (
            [
                ("memory.limit_in_bytes", number("memory.limit_in_bytes")),
                // This limit includes the limits of ancestors that a container does not see.
                ("memory.stat", counted("hierarchical_memory_limit")),
            ],
            number("memory.usage_in_bytes"),
            counted("total_inactive_file"),
        ),
    };
    let (name, limit) = limits
        .into_iter()
        .filter_map(|(name, limit)| Some((name, limit?)))
        .min_by_key(|l| l.1)?;
    // Inactive page cache does not count as used, because the kernel reclaims it first.
    let held = used.unwrap_or(0).saturating_sub(cache.unwrap_or(0));
    let held_text = used.map_or_else(
        || "use unknown".to_owned(),
        |_| format!("{} in use", Bytes(held)),
    );
    Some(CgroupRoom {
        left: Bytes(limit.saturating_sub(held)),
        source: format!("{folder}/{name}: limit {}, {held_text}", Bytes(limit)),
    })
}

/// Number of CPUs that the tightest CPU quota of this process's groups allows (CPU time per elapsed
/// time), with its source. `None` without a quota.
pub fn cpu_quota(files: &SystemFiles) -> Option<(f64, String)> {
    let all = hierarchies(files, "cpu");
    let groups = all.iter().flat_map(|hierarchy| {
        hierarchy
            .folders
            .iter()
            .map(|folder| (hierarchy.version, folder))
    });
    let quotas = groups.filter_map(|(version, folder)| {
        let (quota, period, path): (f64, f64, String) = match version {
            Version::V2 => {
                let path = format!("{folder}/cpu.max");
                let text = files.read(&path)?;
                let (quota, period) = text.split_once(' ')?;
                (quota.parse().ok()?, period.trim().parse().ok()?, path)
            }
            Version::V1 => {
                let path = format!("{folder}/cpu.cfs_quota_us");
                (
                    files.read_as(&path)?,
                    files.read_as(&format!("{folder}/cpu.cfs_period_us"))?,
                    path,
                )
            }
        };
        let cpus = quota / period;
        (quota > 0.0 && period > 0.0 && cpus.is_finite()).then_some((cpus, path))
    });
    quotas.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// A control group whose CPU quota may keep threads from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throttle {
    version: Version,
    /// Path of the group's `cpu.stat`.
    path: String,
}

impl Throttle {
    /// This process's group and its ancestors, as far as they count throttled time: the time for
    /// which a quota kept threads from running. The root group of v2 and groups without the CPU
    /// controller do not count it.
    pub fn all(files: &SystemFiles) -> Vec<Throttle> {
        let groups = hierarchies(files, "cpu").into_iter().flat_map(|hierarchy| {
            let throttle = move |folder| Throttle {
                version: hierarchy.version,
                path: format!("{folder}/cpu.stat"),
            };
            hierarchy.folders.into_iter().map(throttle)
        });
        groups
            .filter(|group| group.nanoseconds(files).is_some())
            .collect()
    }

    /// Total time in ns for which the quotas of all `groups` have kept threads from running, over
    /// all CPUs. `None` if no group counts this time, or if a file has disappeared. The times of
    /// the groups are added. In a maximum, one group that was throttled for long would hide the
    /// others.
    pub fn sum(groups: &[Throttle], files: &SystemFiles) -> Option<f64> {
        let times = groups.iter().map(|group| group.nanoseconds(files));
        times
            .collect::<Option<Vec<f64>>>()
            .filter(|times| !times.is_empty())
            .map(|times| times.iter().sum())
    }

    fn nanoseconds(&self, files: &SystemFiles) -> Option<f64> {
        let text = files.read(&self.path)?;
        let (key, unit) = match self.version {
            Version::V1 => ("throttled_time ", 1.0),
            Version::V2 => ("throttled_usec ", 1e3),
        };
        let value = text.lines().find_map(|line| line.strip_prefix(key))?;
        Some(value.trim().parse::<u64>().ok()? as f64 * unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_mounted_group() {
        assert_eq!(below("/", "/a/b"), "a/b");
        assert_eq!(below("/docker/1", "/docker/1"), "");
        assert_eq!(below("/docker/1", "/docker/1/x"), "x");
        assert_eq!(below("/docker/1", "/docker/12"), "");
        assert_eq!(below("/", "/../../other"), "");
        assert_eq!(ancestry("/m/", "a/b"), ["/m/a/b", "/m/a", "/m"]);
        assert_eq!(ancestry("/m", ""), ["/m"]);
    }

    #[test]
    fn escapes_of_mountinfo() {
        assert_eq!(unescape(r"/a\040b\134c"), r"/a b\c");
        assert_eq!(unescape(r"\9\0é\04"), r"\9\0é\04");
    }
}
