//! Makes a report for other people, without the parts that identify user and host.

use super::report::{Report, Withheld};
use super::{Coordinate, Fact, Outcome};
use serde_json::Value;
use std::collections::BTreeSet;

/// Text that replaces a name or a path.
const REPLACEMENT: &str = "(left out)";

/// Source text of a fact that was left out.
const WHY_UNKNOWN: &str = "left out of a shared report";

/// Longest seed that is kept, in digits. A longer seed may be a reading of the clock, which tells
/// the time of day.
const LONGEST_SEED: usize = 12;

/// Length of the shortest name that is searched for, in characters. Single letters occur
/// everywhere.
const SHORTEST_NAME: usize = 2;

/// A name of at least this length is replaced inside longer words too.
const LONG_NAME: usize = 8;

/// Accounts and hosts that identify nobody, and that texts of the program contain.
const COMMON_NAMES: [&str; 7] = [
    "root",
    "user",
    "host",
    "localhost",
    "server",
    "docker",
    "vm",
];

/// Folders of the system that are the same on every machine.
const SYSTEM_FOLDERS: [&str; 2] = ["/sys/", "/proc/"];

/// Folders of the system whose paths name jobs, containers and users.
const NAMING_FOLDERS: [&str; 1] = ["/sys/fs/cgroup/"];

/// Other files and folders of the system whose paths are kept in texts.
const SYSTEM_PATHS: [&str; 6] = [
    "/run",
    "/run/.containerenv",
    "/run/systemd/container",
    "/.dockerenv",
    "/docker/",
    "/lxc/",
];

/// Folders whose members are named after users.
const HOMES: [&str; 4] = ["/home/", "/Users/", r"\Users\", "/user/"];

/// `report` without host name, user names, paths, command line, time of day and samples.
///
/// `private` has further names that must not remain, such as the names of the user and the home
/// folder. Every text of the result is searched for all known names. `provenance.withheld` of the
/// result lists the removed parts. A report that was shared before stays the same.
///
/// # Errors
/// The report has a figure that JSON cannot express.
pub fn shared(report: &Report, private: &[String]) -> Result<Report, String> {
    let cannot = |e: serde_json::Error| format!("cannot share the report: {e}");
    let names = names(report, private);
    let mut report = report.clone();
    let mut withheld = std::mem::take(&mut report.provenance.withheld);
    let removed = remove(&mut report);
    let mut value = serde_json::to_value(&report).map_err(cannot)?;
    // Paths are replaced first, because a replaced name inside a path would end the path too early.
    let mut paths = 0;
    change_texts(&mut value, &mut |text| {
        let clean = without_paths(text)?;
        paths += 1;
        Some(clean)
    });
    let mut found = 0;
    for name in &names {
        let mut attempt = value.clone();
        let mut count = 0;
        change_texts(&mut attempt, &mut |text| {
            let clean = without_name(text, name)?;
            count += 1;
            Some(clean)
        });
        // A name may be a word of the report's format. Such a name is kept, because the report
        // could not be read back without it.
        if count > 0 && serde_json::from_value::<Report>(attempt.clone()).is_ok() {
            value = attempt;
            found += count;
        }
    }
    let mut result: Report = serde_json::from_value(value).map_err(cannot)?;
    let texts = [
        (paths > 0).then_some(("paths in texts", "may have names")),
        (found > 0).then_some(("names in texts", "private")),
    ];
    for (part, reason) in removed.into_iter().chain(texts.into_iter().flatten()) {
        let one = Withheld {
            part: part.to_owned(),
            reason: reason.to_owned(),
        };
        if !withheld.contains(&one) {
            withheld.push(one);
        }
    }
    result.provenance.withheld = withheld;
    Ok(result)
}

/// A part that was left out, and the reason.
type Removed = (&'static str, &'static str);

/// Removes the parts of `report` that are always private. Returns the parts that existed.
fn remove(report: &mut Report) -> Vec<Removed> {
    let mut removed = Vec::new();
    let provenance = &mut report.provenance;
    let system = &mut provenance.host.system;
    if system.hostname.value.is_some() {
        removed.push(("host name", "private"));
    }
    system.hostname = Fact::unknown(WHY_UNKNOWN);
    let hidden: Vec<String> = ["memgauge", "..."].map(str::to_owned).to_vec();
    if provenance.command_line != hidden {
        removed.push(("command line", "may have names"));
        provenance.command_line = hidden;
    }
    let moments = [&mut provenance.started, &mut provenance.finished];
    let mut has_time = false;
    for moment in moments.into_iter().chain(&mut provenance.resumed) {
        let day = midnight(moment);
        has_time |= *moment != day;
        *moment = day;
    }
    if has_time {
        removed.push(("time of day", "private"));
    }
    if let Some(release) = &mut system.kernel.value {
        let version = version(release);
        if *release != version {
            removed.push(("suffix of the kernel release", "may have names"));
            *release = version;
        }
    }
    if provenance.seed.len() > LONGEST_SEED && !provenance.is_unknown() {
        removed.push(("seed", "made of the time"));
        provenance.seed = REPLACEMENT.to_owned();
    }
    if let Some(launch) = &mut provenance.launch {
        let names = [launch.node.take(), launch.job.take()];
        if names.iter().any(Option::is_some) {
            removed.push(("node and job of the launcher", "private"));
        }
    }
    let mut had_samples = false;
    let mut had_files = false;
    for point in report.datasets.iter_mut().flat_map(|d| &mut d.points) {
        let Outcome::Measured(measured) = &mut point.outcome else {
            continue;
        };
        had_samples |= !measured.samples.is_empty();
        measured.samples = Vec::new();
        let files = measured.storage.iter_mut().flat_map(|s| &mut s.files);
        for (index, file) in files.enumerate() {
            let number = format!("file {}", index + 1);
            had_files |= *file != number;
            *file = number;
        }
    }
    if had_files {
        removed.push(("names of files", "private"));
    }
    if had_samples {
        removed.push(("samples", "size; their figures stay"));
    }
    removed
}

/// Midnight of the day of an RFC 3339 time in UTC. Any other text is returned unchanged.
fn midnight(moment: &str) -> String {
    let is_time = moment.as_bytes().get(10) == Some(&b'T') && moment.ends_with('Z');
    match moment.get(..10).filter(|_| is_time) {
        Some(day) => format!("{day}T00:00:00Z"),
        None => moment.to_owned(),
    }
}

/// The version number at the start of a kernel's release: `6.1.0` of `6.1.0-18-acme`.
fn version(release: &str) -> String {
    let is_number = |c: char| c.is_ascii_digit() || c == '.';
    let end = release.find(|c| !is_number(c)).unwrap_or(release.len());
    match release[..end].trim_end_matches('.') {
        "" => REPLACEMENT.to_owned(),
        version => version.to_owned(),
    }
}

/// Names that identify who measured, and on which host. Longer names come first, because a shorter
/// name may be a part of a longer one.
fn names(report: &Report, private: &[String]) -> Vec<String> {
    let mut names: BTreeSet<String> = private.iter().cloned().collect();
    let provenance = &report.provenance;
    if let Some(host) = provenance.host.system.hostname.get() {
        names.insert(host.clone());
        names.extend(host.split('.').next().map(str::to_owned));
    }
    if let Some(launch) = &provenance.launch {
        // A job's number is no name to search for, because any text may contain the same number.
        let is_number = |name: &String| name.chars().all(|c| c.is_ascii_digit());
        let known = [&launch.node, &launch.job].into_iter().flatten();
        names.extend(known.filter(|name| !is_number(name)).cloned());
    }
    let arguments = provenance.command_line.iter().skip(1);
    names.extend(arguments.flat_map(|argument| file_names(argument.rsplit('=').next())));
    let points = report.datasets.iter().flat_map(|d| &d.points);
    let files = points
        .filter_map(|point| point.outcome.measured()?.storage.as_ref())
        .flat_map(|storage| &storage.files);
    names.extend(files.flat_map(|file| [vec![file.clone()], file_names(Some(file))].concat()));
    if let Ok(mut value) = serde_json::to_value(report) {
        change_texts(&mut value, &mut |text| {
            names.extend(users(text));
            None
        });
    }
    let terms = terms(report);
    let is_private = |name: &String| {
        let lower = name.to_ascii_lowercase();
        name.chars().count() >= SHORTEST_NAME
            && !COMMON_NAMES.contains(&lower.as_str())
            && !terms.contains(name.as_str())
    };
    let mut names: Vec<String> = names.into_iter().filter(is_private).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    names
}

/// Words of the report that describe the measurement. They stay even if a host or a user has the
/// same name.
fn terms(report: &Report) -> BTreeSet<&str> {
    let mut terms: BTreeSet<&str> = [
        report.plan.profile.as_str(),
        report.provenance.tool.name.as_str(),
        report.provenance.host.system.os.as_str(),
        report.provenance.host.cpu.architecture.as_str(),
    ]
    .into();
    for dataset in &report.datasets {
        terms.insert(&dataset.experiment);
        terms.insert(&dataset.quantity.name);
        terms.insert(&dataset.quantity.unit);
        terms.extend(dataset.axes.iter().map(|axis| axis.name.as_str()));
        let coordinates = dataset.points.iter().flat_map(|p| &p.coordinates);
        terms.extend(coordinates.filter_map(|(axis, at)| match at {
            Coordinate::Name(name) if axis == "operation" => Some(name.as_str()),
            _ => None,
        }));
    }
    terms
}

/// `word` and its last part, if `word` looks like the name of a file; otherwise empty.
fn file_names(word: Option<&str>) -> Vec<String> {
    let Some(word) = word else {
        return Vec::new();
    };
    let last = word.rsplit(['/', '\\']).next().unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let has_extension = last
        .rsplit_once('.')
        .is_some_and(|(stem, extension)| !stem.is_empty() && extension.starts_with(is_letter));
    if last != word || has_extension {
        vec![word.to_owned(), last.to_owned()]
    } else {
        Vec::new()
    }
}

/// Names of users in the paths of `text`. Such a name is the part of a path that follows a member
/// of [`HOMES`].
fn users(text: &str) -> Vec<String> {
    let ends = |c: char| c == '/' || c == '\\' || ends_word(c);
    let after = |home: &&str| {
        let parts: Vec<&str> = text.split(*home).skip(1).collect();
        parts
            .into_iter()
            .map(|rest| rest.split(ends).next().unwrap_or_default().to_owned())
            .collect::<Vec<String>>()
    };
    HOMES.iter().flat_map(after).collect()
}

/// Calls `change` with every text in `value`, names of members included. If `change` returns a
/// text, it replaces the old one.
fn change_texts(value: &mut Value, change: &mut impl FnMut(&str) -> Option<String>) {
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| change_texts(item, change)),
        Value::Object(members) => {
            for (name, mut member) in std::mem::take(members) {
                change_texts(&mut member, change);
                let name = change(&name).unwrap_or(name);
                members.insert(name, member);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// `text` with every occurrence of `name` replaced, in upper or lower case. `None` if `name` does
/// not occur. A short name is replaced only if it is a whole word.
fn without_name(text: &str, name: &str) -> Option<String> {
    // Only ASCII letters ignore case, because other letters may change their length with case.
    let haystack = text.to_ascii_lowercase();
    let needle = name.to_ascii_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::new();
    let mut done = 0;
    for (start, _) in haystack.match_indices(&needle) {
        let end = start + needle.len();
        let is_inside =
            haystack[..start].ends_with(is_word) || haystack[end..].starts_with(is_word);
        if is_inside && needle.chars().count() < LONG_NAME {
            continue;
        }
        out.push_str(&text[done..start]);
        out.push_str(REPLACEMENT);
        done = end;
    }
    (done > 0).then(|| out + &text[done..])
}

/// `text` with its absolute paths replaced, except for paths of the system. `None` if nothing was
/// replaced.
fn without_paths(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut done = 0;
    let mut before = None;
    for (start, c) in text.char_indices() {
        let is_free = start >= done && before.is_none_or(may_precede_path);
        before = Some(c);
        if !is_free || !begins_path(&text[start..]) {
            continue;
        }
        let quote = text[..start]
            .chars()
            .next_back()
            .filter(|c| "'\"`".contains(*c));
        let path = path_at(&text[start..], quote);
        if is_of_system(path) {
            continue;
        }
        out.push_str(&text[done..start]);
        out.push_str(REPLACEMENT);
        done = start + path.len();
    }
    (done > 0).then(|| out + &text[done..])
}

/// True for characters after which a path may begin. After any other character, a slash is part of
/// a word, a rate or an address.
fn may_precede_path(c: char) -> bool {
    c.is_whitespace() || "'\"`([{<=,;:|>".contains(c)
}

/// True if `text` begins like an absolute path of a Unix or Windows system, or like a path in the
/// home folder.
fn begins_path(text: &str) -> bool {
    let is_part =
        |rest: &str| rest.starts_with(|c: char| c.is_alphanumeric() || "._-@".contains(c));
    let after_drive = text.strip_prefix(|c: char| c.is_ascii_alphabetic());
    let starts = ["/", "~/", r"\\"].map(|start| text.strip_prefix(start));
    let drives = [r":\", ":/"].map(|start| after_drive.and_then(|rest| rest.strip_prefix(start)));
    starts.into_iter().chain(drives).flatten().any(is_part)
}

/// The path at the start of `text`. A quoted path ends at the closing `quote`. Any other path ends
/// with the word.
fn path_at(text: &str, quote: Option<char>) -> &str {
    let end = match quote {
        Some(quote) => text.find(quote),
        None => text.find(ends_word),
    };
    let path = &text[..end.unwrap_or(text.len())];
    match quote {
        Some(_) => path,
        None => path.trim_end_matches(['.', ',', ';', ':', '/']),
    }
}

/// True for characters that end an unquoted path. Commas and colons may occur inside a path.
fn ends_word(c: char) -> bool {
    c.is_whitespace() || "'\"`()[]<>|".contains(c)
}

/// True for a path that exists on every machine.
fn is_of_system(path: &str) -> bool {
    let begins = |folders: &[&str]| folders.iter().any(|folder| path.starts_with(folder));
    let is_process = path
        .strip_prefix("/proc/")
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    SYSTEM_PATHS.contains(&path)
        || (begins(&SYSTEM_FOLDERS) && !begins(&NAMING_FOLDERS) && !is_process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_people_go_and_paths_of_the_system_stay() {
        let gone = [
            (
                "file '/home/al ice/my runs/r.json' is old",
                "file '(left out)' is old",
            ),
            ("in /srv/acme/r.json: no", "in (left out): no"),
            (
                "limit of /sys/fs/cgroup/cpu,cpuacct/jobs/7/cpu.max.",
                "limit of (left out).",
            ),
            ("see ~/r.json, then", "see (left out), then"),
            (
                r"at C:\Users\alice\r.json and \\acme\share",
                "at (left out) and (left out)",
            ),
            (
                "file:/mnt/acme (/proc/4711/exe)",
                "file:(left out) ((left out))",
            ),
        ];
        for (text, clean) in gone {
            assert_eq!(without_paths(text).as_deref(), Some(clean), "{text}");
        }
        let stays = [
            "/proc/self/exe and /proc/thread-self/exe are the same",
            "neither /sys/a nor /sys/b, as usual; GB/s, 1/s, and/or",
            "https://example.org/a/b, read/avx512, 100:0",
            "no mark of a container in /, /run or /proc/self/cgroup",
        ];
        for text in stays {
            assert_eq!(without_paths(text), None, "{text}");
        }
    }

    #[test]
    fn short_names_are_replaced_as_whole_words() {
        let clean = |text, name| without_name(text, name);
        assert_eq!(
            clean("Al's palace, al", "al").as_deref(),
            Some("(left out)'s palace, (left out)")
        );
        assert_eq!(
            clean("xbuild-node17y", "build-node17").as_deref(),
            Some("x(left out)y")
        );
        assert_eq!(clean("size_bytes", "size"), None);
        assert_eq!(clean("\u{130}Alice", "alice"), None);
        assert_eq!(
            clean("\u{130} Alice", "alice").as_deref(),
            Some("\u{130} (left out)")
        );
    }

    #[test]
    fn the_day_and_the_version_of_a_kernel_stay() {
        assert_eq!(midnight("2026-11-24T15:59:40Z"), "2026-11-24T00:00:00Z");
        assert_eq!(midnight("a table has no time"), "a table has no time");
        assert_eq!(version("6.1.0-18-acme"), "6.1.0");
        assert_eq!(version("acme-6"), REPLACEMENT);
    }
}
