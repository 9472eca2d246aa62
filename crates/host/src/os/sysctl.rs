//! Kernel values by name (sysctl(3)), as a trait, so that the code that interprets them can be
//! tested with recorded values.

/// A source of kernel values.
pub trait Sysctl {
    /// The number (32 or 64 bits) called `name`. `None` if the kernel does not know the name.
    fn number(&self, name: &str) -> Option<u64>;

    /// The text with the name `name`, without surrounding space. `None` if the kernel does not know
    /// the name, or if the text is empty.
    fn text(&self, name: &str) -> Option<String>;

    /// The array of 64-bit numbers called `name`. Empty if the kernel does not know the name.
    fn numbers(&self, name: &str) -> Vec<u64>;
}

/// Recorded answers for tests: lines `name: value`, as sysctl(8) prints them.
#[cfg(test)]
pub struct Recorded(pub &'static str);

#[cfg(test)]
impl Sysctl for Recorded {
    fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    fn text(&self, name: &str) -> Option<String> {
        let found = self.0.split("\n\n").find_map(|answer| {
            answer
                .lines()
                .position(|line| line.trim_start().starts_with(&format!("{name}: ")))
                .map(|at| (answer, at))
        });
        let (answer, at) = found?;
        let lines: Vec<&str> = answer.lines().collect();
        // An answer of several lines ends at the next empty line.
        let first = lines[at].split_once(": ")?.1;
        let rest = &lines[at + 1..];
        let several = first.starts_with('<');
        let text = if several {
            [&[first], rest].concat().join("\n")
        } else {
            first.to_owned()
        };
        Some(text.trim().to_owned()).filter(|text| !text.is_empty())
    }

    fn numbers(&self, name: &str) -> Vec<u64> {
        let text = self.text(name).unwrap_or_default();
        text.split_whitespace()
            .map_while(|word| word.parse().ok())
            .collect()
    }
}
