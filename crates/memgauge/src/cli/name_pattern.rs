//! File names that contain facts about the session: `results/%h-%j-%r.json`.

use report::Launch;
use std::path::{Path, PathBuf};
use units::error::{Error, Result};

/// Facts that names of files can contain.
pub struct NameFacts<'a> {
    /// Name of the machine, if it is known.
    pub hostname: Option<&'a str>,
    /// The launch of the process; `None` without a launcher.
    pub launch: Option<&'a Launch>,
    /// Start of the session, such as `20261123T050126`.
    pub stamp: &'a str,
}

/// The letters after a percent sign, each with the fact that replaces it. This is the text of the
/// help.
const LETTERS: &str = "%h host, %j job, %r rank, %t time, %% a percent sign";

impl NameFacts<'_> {
    /// Returns `path` with facts in place of their letters. An unknown fact becomes `unknown`.
    /// Without a launcher, the job becomes `none` and the rank 0.
    ///
    /// # Errors
    /// A percent sign is followed by an unknown letter.
    pub fn fill_in(&self, path: &Path) -> Result<PathBuf> {
        let Some(text) = path.to_str().filter(|text| text.contains('%')) else {
            return Ok(path.to_owned());
        };
        let mut name = String::with_capacity(text.len());
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            if letter != '%' {
                name.push(letter);
                continue;
            }
            match letters.next() {
                Some('%') => name.push('%'),
                Some('h') => name.push_str(&in_name(self.host())),
                Some('j') => name.push_str(&in_name(self.job())),
                Some('r') => name.push_str(&self.rank().to_string()),
                Some('t') => name.push_str(self.stamp),
                other => {
                    let typed = other.map_or_else(|| "%".to_owned(), |other| format!("%{other}"));
                    return Err(Error::usage(format!(
                        "unknown part of a file name: '{typed}'; known are {LETTERS}; type %% for \
                         a percent sign"
                    )));
                }
            }
        }
        Ok(PathBuf::from(name))
    }

    fn host(&self) -> &str {
        let node = self.launch.and_then(|launch| launch.node.as_deref());
        node.or(self.hostname).unwrap_or("unknown")
    }

    fn job(&self) -> &str {
        let job = self.launch.and_then(|launch| launch.job.as_deref());
        job.unwrap_or("none")
    }

    fn rank(&self) -> u64 {
        self.launch.and_then(|launch| launch.rank).unwrap_or(0)
    }
}

/// Returns `fact` with a dash in place of each character that a file name should not have, such as
/// a slash.
fn in_name(fact: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    let name: String = fact
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .collect();
    match name.trim_start_matches('.') {
        "" => "unknown".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_take_the_place_of_letters() {
        let launch = Launch {
            node: Some("../n/1".to_owned()),
            job: Some("17".to_owned()),
            rank: Some(5),
            ..Launch::default()
        };
        let facts = NameFacts {
            hostname: Some("h"),
            launch: Some(&launch),
            stamp: "20260102T030405",
        };
        let alone = NameFacts {
            launch: None,
            ..facts
        };
        for (pattern, launched, without) in [
            ("r.json", "r.json", "r.json"),
            ("a/%h-%j-%r.json", "a/-n-1-17-5.json", "a/h-none-0.json"),
            ("%t%%%h", "20260102T030405%-n-1", "20260102T030405%h"),
        ] {
            let filled = |facts: &NameFacts<'_>| facts.fill_in(Path::new(pattern)).unwrap();
            assert_eq!(filled(&facts), Path::new(launched));
            assert_eq!(filled(&alone), Path::new(without));
        }
        for wrong in ["%", "a%", "%x.json", "%H"] {
            assert!(facts.fill_in(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
