//! Lists and ranges as a user types them: sizes, thread counts, CPUs.

use super::{Bytes, ParseError};
#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Largest number of entries of a list. A longer list is taken for a typing error.
const LONGEST_LIST: usize = 100_000;

/// Reads a comma-separated list. `one` parses each entry.
pub fn parse_list<T>(
    text: &str,
    one: impl Fn(&str) -> Result<T, ParseError>,
) -> Result<Vec<T>, ParseError> {
    text.split(',').map(|entry| one(entry.trim())).collect()
}

/// Sizes: `32KiB`, `1MiB,2MiB`, `4KiB..4GiB` (doubling), `4KiB..64KiB:4KiB` (steps),
/// `4KiB..1GiB:x4` (factors).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct SizeList(pub Vec<Bytes>);

impl FromStr for SizeList {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let mut sizes = Vec::new();
        for entry in text.split(',') {
            match entry.split_once("..") {
                None => sizes.push(entry.parse()?),
                Some((first, rest)) => expand_range(entry, first, rest, &mut sizes)?,
            }
        }
        Ok(SizeList(sizes))
    }
}

/// Appends the sizes of a range to `sizes`. `rest` is the last size and an optional step:
/// `64KiB:x4`. The last size is always included, even if no step reaches it exactly.
fn expand_range(
    entry: &str,
    first: &str,
    rest: &str,
    sizes: &mut Vec<Bytes>,
) -> Result<(), ParseError> {
    let (last, step) = rest.split_once(':').unwrap_or((rest, "x2"));
    let first: Bytes = first.parse()?;
    let last: Bytes = last.parse()?;
    let wrong = |why: &str| Err(ParseError::new(entry, why).with_example("4KiB..64KiB"));
    if first.0 == 0 || first > last {
        return wrong("a range goes from a size above 0 to one that is not smaller: 4KiB..4GiB");
    }
    let factor = match step.strip_prefix('x') {
        Some(f) => match f.parse::<f64>() {
            Ok(f) if f.is_finite() && f >= 1.001 => Some(f),
            _ => return wrong("a step by factor is a number above 1: 4KiB..4GiB:x2 or :x1.5"),
        },
        None => None,
    };
    let stride = if factor.is_none() {
        step.parse::<Bytes>()?.0
    } else {
        0
    };
    if factor.is_none() && stride == 0 {
        return wrong("a step is a size above 0: 4KiB..64KiB:4KiB");
    }
    let mut size = first;
    while size < last {
        sizes.push(size);
        if sizes.len() > LONGEST_LIST {
            return wrong("this range has more than 100000 members; take larger steps");
        }
        size = match factor {
            Some(f) => Bytes(((size.0 as f64 * f).round() as u64).max(size.0 + 1)),
            None => size + Bytes(stride),
        };
    }
    sizes.push(last);
    Ok(())
}

/// Requested number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ThreadCount {
    /// Exactly this number of threads.
    Exactly(usize),
    /// One thread for each CPU that the process may use.
    All,
    /// The number of threads that kernel selection finds fastest.
    Best,
}

impl ThreadCount {
    /// The number of threads on a machine with `cpus` allowed CPUs. `None` for
    /// [`ThreadCount::Best`], because kernel selection finds this number later.
    pub fn resolve(self, cpus: usize) -> Option<usize> {
        match self {
            ThreadCount::Exactly(n) => Some(n),
            ThreadCount::All => Some(cpus),
            ThreadCount::Best => None,
        }
    }
}

/// Thread counts: `1`, `1,2,all`, `1..8`, `best`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct ThreadList(pub Vec<ThreadCount>);

impl FromStr for ThreadList {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let allowed = "thread counts are numbers from 1 on, ranges or 'all': 1,2,all or 1..8";
        let number = |t: &str| match t.trim().parse::<usize>() {
            Ok(n) if n >= 1 => Ok(n),
            _ => Err(ParseError::new(t, allowed).with_example("1,all")),
        };
        let mut counts = Vec::new();
        for entry in text.split(',').map(str::trim) {
            match entry.split_once("..") {
                _ if entry.eq_ignore_ascii_case("all") => counts.push(ThreadCount::All),
                _ if entry.eq_ignore_ascii_case("best") => counts.push(ThreadCount::Best),
                None => counts.push(ThreadCount::Exactly(number(entry)?)),
                Some((first, last)) => {
                    let first = number(first)?;
                    let last = number(last)?;
                    if first > last || last - first >= LONGEST_LIST {
                        return Err(ParseError::new(entry, allowed).with_example("1,all"));
                    }
                    counts.extend((first..=last).map(ThreadCount::Exactly));
                }
            }
        }
        Ok(ThreadList(counts))
    }
}

/// CPU numbers must be below this limit. No machine has more CPUs.
const MAX_CPUS: u32 = 1 << 20;

/// CPU numbers in the notation of Linux: `0-3,8`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(transparent)]
pub struct CpuList(pub Vec<u32>);

impl FromStr for CpuList {
    type Err = ParseError;

    /// Reads numbers and ranges in the given order, without duplicates. Also reads the groups of
    /// the notation of Linux: `0-15:2/4` stands for the first 2 of every 4 CPUs.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        let wrong = || {
            ParseError::new(text, "a list of CPUs or nodes is numbers and ranges: 0-3,8")
                .with_example("0")
        };
        let number = |t: &str| t.trim().parse::<u32>().ok().filter(|&n| n < MAX_CPUS);
        let mut cpus: Vec<u32> = Vec::new();
        // Number of CPUs of all ranges together. It is limited, because a short text can repeat a
        // range of a million CPUs.
        let mut named = 0;
        for entry in text.trim().split(',') {
            let (range, group) = entry.split_once(':').unwrap_or((entry, "1/1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let first = number(first).ok_or_else(wrong)?;
            let last = number(last).filter(|&l| l >= first).ok_or_else(wrong)?;
            let (used, size) = group.split_once('/').ok_or_else(wrong)?;
            let used = number(used).filter(|&u| u > 0).ok_or_else(wrong)?;
            let size = number(size)
                .filter(|&s| s > 0 && used <= s)
                .ok_or_else(wrong)?;
            named += last - first + 1;
            if named > MAX_CPUS {
                return Err(wrong());
            }
            cpus.extend((first..=last).filter(|cpu| (cpu - first) % size < used));
        }
        let mut seen = std::collections::BTreeSet::new();
        cpus.retain(|cpu| seen.insert(*cpu));
        Ok(CpuList(cpus))
    }
}

impl fmt::Display for CpuList {
    /// Writes the notation of Linux, in which consecutive numbers are a range: `0-3,8`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut start = 0;
        for i in 0..self.0.len() {
            if self
                .0
                .get(i + 1)
                .is_some_and(|&next| self.0[i].checked_add(1) == Some(next))
            {
                continue;
            }
            let comma = if start == 0 { "" } else { "," };
            match i - start {
                0 => write!(f, "{comma}{}", self.0[i])?,
                _ => write!(f, "{comma}{}-{}", self.0[start], self.0[i])?,
            }
            start = i + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_lists_and_ranges_expand() {
        let read = |t: &str| {
            t.parse::<SizeList>()
                .map(|l| l.0.iter().map(|b| b.0).collect::<Vec<_>>())
        };
        assert_eq!(read("1k,2k"), Ok(vec![1024, 2048]));
        assert_eq!(read("1k..8k"), Ok(vec![1024, 2048, 4096, 8192]));
        assert_eq!(read("1k..7k"), Ok(vec![1024, 2048, 4096, 7168]));
        assert_eq!(read("4k..12k:4k"), Ok(vec![4096, 8192, 12288]));
        assert_eq!(read("1k..16k:x4"), Ok(vec![1024, 4096, 16384]));
        for text in [
            "",
            ",",
            "1k,",
            "8k..1k",
            "0..1k",
            "1k..2k:0",
            "1k..2k:x1",
            "1k..2k:x",
            "1..16EiB",
            "1B..1TiB:1",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn thread_lists() {
        let read = |t: &str| t.parse::<ThreadList>().map(|l| l.0);
        assert_eq!(
            read("1,all"),
            Ok(vec![ThreadCount::Exactly(1), ThreadCount::All])
        );
        assert_eq!(
            read("Best,2"),
            Ok(vec![ThreadCount::Best, ThreadCount::Exactly(2)])
        );
        assert_eq!(
            read("2..3"),
            Ok(vec![ThreadCount::Exactly(2), ThreadCount::Exactly(3)])
        );
        for text in ["", "0", "-1", "some", "3..1", "1.5", "1..999999999"] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cpu_lists_round_trip() {
        for (text, cpus, shown) in [
            ("0-3,8", vec![0, 1, 2, 3, 8], "0-3,8"),
            ("0", vec![0], "0"),
            ("0-7:1/4", vec![0, 4], "0,4"),
            ("1,1,0-1", vec![1, 0], "1,0"),
        ] {
            let list: CpuList = text.parse().unwrap();
            assert_eq!(list.0, cpus);
            assert_eq!(list.to_string(), shown);
        }
        for text in [
            "",
            "a",
            "3-1",
            "-1",
            "0-",
            "1:",
            "0-3:2",
            "0-3:5/4",
            "99999999999",
            "0-99999999",
            "0-600000,0-600000",
        ] {
            assert!(text.parse::<CpuList>().is_err(), "{text}");
        }
    }
}
