//! Converts errors of the parser of arguments to the one-line form of all errors.

use super::args;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;
use std::ffi::OsString;
use units::{ParseError, nearest_name};

/// Message for a parser's error: `<what failed>: <value given>; <what is allowed>; <what to type>`
pub fn refusal(error: &clap::Error, arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments
        .iter()
        .map(|a| a.to_string_lossy().into_owned())
        .collect();
    let typed = Typed::read(&words);
    let option = first_word(&text(error, ContextKind::InvalidArg));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            typed.unknown_command(&text(error, ContextKind::InvalidSubcommand))
        }
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => {
            typed.no_command()
        }
        ErrorKind::MissingRequiredArgument => typed.missing(&text(error, ContextKind::InvalidArg)),
        ErrorKind::UnknownArgument => typed.unknown_word(&option),
        ErrorKind::InvalidValue => typed.not_among(error, &option),
        ErrorKind::ValueValidation => typed.not_possible(error, &option),
        ErrorKind::TooManyValues => {
            format!(
                "{option} takes no value: '{}'; type {option} alone",
                text(error, ContextKind::InvalidValue)
            )
        }
        ErrorKind::ArgumentConflict => typed.conflict(error, &option),
        ErrorKind::InvalidUtf8 => {
            let odd = arguments
                .iter()
                .find(|a| a.to_str().is_none())
                .map(|a| a.to_string_lossy().into_owned());
            let odd = odd.unwrap_or_default();
            format!(
                "an argument is not text: '{odd}'; only the names of files need not be UTF-8; {}",
                typed.help()
            )
        }
        _ => one_line(&error.render().to_string()),
    }
}

/// The typed words, and the command that they begin with.
struct Typed<'a> {
    words: &'a [String],
    command: Command,
    path: String,
}

impl<'a> Typed<'a> {
    fn read(words: &'a [String]) -> Self {
        let mut command = args::command();
        command.build();
        let mut path = "memgauge".to_owned();
        for word in words.iter().skip(1) {
            let Some(next) = command.find_subcommand(word).cloned() else {
                break;
            };
            path = format!("{path} {word}");
            command = next;
        }
        Self {
            words,
            command,
            path,
        }
    }

    fn help(&self) -> String {
        format!("type {} --help", self.path)
    }

    fn commands(&self) -> Vec<&str> {
        self.command
            .get_subcommands()
            .map(Command::get_name)
            .collect()
    }

    fn unknown_command(&self, given: &str) -> String {
        let known = self.commands();
        format!(
            "unknown command: '{given}'; known are {}; {}",
            known.join(", "),
            self.advice(given, &known)
        )
    }

    fn no_command(&self) -> String {
        let known = self.commands();
        let first = known.first().copied().unwrap_or_default();
        format!(
            "no command: '{}'; known are {}; type {} {first}",
            self.path,
            known.join(", "),
            self.path
        )
    }

    /// Error about missing arguments. `names` lists them: `<FILE>, <OTHER>`.
    fn missing(&self, names: &str) -> String {
        let names = names.replace(['<', '>'], "");
        let values = self
            .command
            .get_positionals()
            .flat_map(|a| a.get_possible_values());
        let known: Vec<String> = values.map(|v| v.get_name().to_owned()).collect();
        if known.is_empty() {
            return format!("argument missing: {names}; {}", self.help());
        }
        format!(
            "argument missing: {names}; known are {}; type {} {}",
            known.join(", "),
            self.path,
            known[0]
        )
    }

    /// Error about an unknown option or a superfluous word. The word is looked up in the arguments,
    /// because the parser gives only the first letter of short options.
    fn unknown_word(&self, given: &str) -> String {
        let whole = |word: &&String| !given.is_empty() && word.starts_with(given);
        let position = self
            .words
            .iter()
            .skip(1)
            .position(|w| whole(&w))
            .map(|p| p + 1);
        let word = position.map_or(given, |p| self.words[p].split('=').next().unwrap_or(given));
        let digits = word
            .strip_prefix('-')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if digits {
            let before = position
                .and_then(|p| self.words.get(p - 1))
                .map_or("", String::as_str);
            return format!(
                "negative value: '{before} {word}'; numbers are 0 or above here; {}",
                self.help()
            );
        }
        if !word.starts_with('-') {
            return format!(
                "unexpected argument: '{word}'; options start with --; {}",
                self.help()
            );
        }
        let names = self
            .command
            .get_arguments()
            .filter(|a| !a.is_hide_set())
            .filter_map(clap::Arg::get_long);
        let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("unknown option: '{word}'; {}", self.advice(word, &names))
    }

    fn advice(&self, given: &str, known: &[&str]) -> String {
        nearest_name(given, known)
            .map_or_else(|| self.help(), |near| format!("did you mean '{near}'?"))
    }

    /// Error about an invalid value. It advises the option's default value, or an example of the
    /// value's type if there is no default.
    fn not_possible(&self, error: &clap::Error, option: &str) -> String {
        let why = error.source().map(ToString::to_string).unwrap_or_default();
        let wrong = error
            .source()
            .and_then(|source| source.downcast_ref::<ParseError>());
        let example = wrong.and_then(|wrong| wrong.example.clone());
        let says = wrong.is_some_and(|wrong| {
            wrong.allowed.contains("did you mean") || wrong.allowed.contains("type ")
        });
        let default = self
            .default_of(option)
            .filter(|_| !wrong.is_some_and(|wrong| wrong.meant));
        match default.or(example).filter(|_| !says) {
            Some(value) => format!("invalid value for {option}: {why}; type {option} {value}"),
            None => format!("invalid value for {option}: {why}"),
        }
    }

    /// Default value of `option`; `None` if it has none.
    fn default_of(&self, option: &str) -> Option<String> {
        let arg = self
            .command
            .get_arguments()
            .find(|arg| arg.get_long() == option.strip_prefix("--"))?;
        arg.get_default_values()
            .first()
            .map(|value| value.to_string_lossy().into_owned())
    }

    /// Error about a value that is missing, or that is not one of the allowed values.
    fn not_among(&self, error: &clap::Error, option: &str) -> String {
        let given = text(error, ContextKind::InvalidValue);
        let known = match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(known)) => known.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        if known.is_empty() {
            return format!("no value for {option}: '{given}'; {}", self.help());
        }
        let possible = self
            .default_of(option)
            .unwrap_or_else(|| known[0].to_owned());
        let typed = if option.starts_with("--") {
            format!("{option} {possible}")
        } else {
            possible
        };
        let near = nearest_name(&given, &known).map(|near| format!("did you mean '{near}'?"));
        let advice = near.unwrap_or_else(|| format!("type {typed}"));
        format!(
            "invalid value for {option}: '{given}'; known are {}; {advice}",
            known.join(", ")
        )
    }

    fn conflict(&self, error: &clap::Error, option: &str) -> String {
        let prior = first_word(&text(error, ContextKind::PriorArg));
        if let Some(command) = self
            .words
            .iter()
            .skip(1)
            .find(|w| self.command.find_subcommand(w).is_some())
        {
            let given = if option.starts_with('-') {
                option
            } else {
                &prior
            };
            return format!(
                "option before its command: {given}; options of a command come after it; type \
                 memgauge {command} {given}"
            );
        }
        if prior == option || prior.is_empty() {
            return format!(
                "option given twice: {option}; once is allowed, lists are a,b,c; {}",
                self.help()
            );
        }
        format!("options contradict each other: {option} and {prior}; leave one out")
    }
}

/// Values of `kind` in the error, separated by commas.
fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(all)) => all.join(", "),
        _ => String::new(),
    }
}

/// First word of `text`: `--sizes` of `--sizes <LIST>`.
fn first_word(text: &str) -> String {
    text.split_whitespace()
        .next()
        .unwrap_or_default()
        .to_owned()
}

/// Converts clap's message to one line: the error and its tips, without the usage block.
fn one_line(message: &str) -> String {
    let ends = |line: &str| line.starts_with("Usage:") || line.starts_with("For more information");
    let parts: Vec<&str> = message
        .lines()
        .map(str::trim)
        .take_while(|line| !ends(line))
        .collect();
    let text = parts
        .split(|line| line.is_empty())
        .map(|p| p.join(" "))
        .filter(|p| !p.is_empty());
    let text = text.collect::<Vec<String>>().join("; ");
    text.strip_prefix("error: ")
        .unwrap_or(&text)
        .replace("; tip: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::super::Parsed;
    use super::super::args;
    use std::collections::{BTreeMap, BTreeSet};
    use std::ffi::OsString;
    use units::nearest_name;

    /// Values that few options accept.
    const ODD: &[&str] = &[
        "",
        "0",
        "-1",
        "1.5",
        "99999999999999999999",
        "nan",
        "9..1",
        "1..999999999",
        "1,,2",
        "5 parsecs",
        "7",
        "16EiB",
        "\u{e4}",
        "0x10",
    ];

    fn refusal(words: &[&str]) -> Option<String> {
        let words: Vec<OsString> = ["memgauge"].iter().chain(words).map(Into::into).collect();
        Parsed::parse(&words).err().map(|error| error.to_string())
    }

    /// Every option whose value is not a file, each with one command that has it.
    fn options() -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut seen = BTreeSet::new();
        for command in args::command().get_subcommands() {
            for arg in command.get_arguments() {
                let names = arg
                    .get_value_names()
                    .map(|names| names[0].to_string())
                    .unwrap_or_default();
                let file = ["FILE", "TRACE"].contains(&names.as_str());
                let Some(long) = arg
                    .get_long()
                    .filter(|_| arg.get_action().takes_values() && !file)
                else {
                    continue;
                };
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                if seen.insert((long.to_owned(), help)) {
                    all.push((command.get_name().to_owned(), format!("--{long}")));
                }
            }
        }
        assert!(all.len() > 70, "{all:?}");
        all
    }

    /// Arguments that a command needs to be accepted.
    fn base(command: &str) -> Vec<&str> {
        match command {
            "io" => vec!["io", "x"],
            "report" => vec!["report", "x"],
            "compare" => vec!["compare", "x", "y"],
            "list" => vec!["list", "kernels"],
            "fleet" => vec!["fleet", "reports"],
            command => vec![command],
        }
    }

    #[test]
    fn odd_values_are_quoted_with_their_option_and_the_advice_is_taken() {
        let mut refused = 0;
        let mut complaints = Vec::new();
        let mut taken = BTreeSet::new();
        for (command, option) in options() {
            for value in ODD {
                let typed = format!("{option}={value}");
                let words: Vec<&str> = base(&command).into_iter().chain([typed.as_str()]).collect();
                let Some(said) = refusal(&words).filter(|said| !said.contains("without effect"))
                else {
                    continue;
                };
                refused += 1;
                let mut expect = |holds: bool, what: &str| {
                    if !holds {
                        complaints.push(format!("{command} {typed}: {what}: {said}"));
                    }
                };
                let quoted = |part: &str| {
                    said.contains(&format!("'{part}'"))
                        || said.contains(&format!("'{}'", part.trim()))
                };
                expect(
                    quoted(value) || value.split([',', '.', ':']).any(quoted),
                    "the value is not told",
                );
                expect(said.contains(&option), "the option is not told");
                let mut others = said
                    .split([' ', ';', ',', ':', '\''])
                    .filter(|word| word.starts_with("--"));
                expect(
                    others.all(|word| word == option || word == "--help"),
                    "another option is told",
                );
                if taken.contains(&(
                    command.clone(),
                    option.clone(),
                    said.rsplit(' ').next().map(str::to_owned),
                )) {
                    continue;
                }
                if let Some((_, advice)) = said.rsplit_once(&format!("type {option} ")) {
                    let better: Vec<&str> = base(&command)
                        .into_iter()
                        .chain([option.as_str(), advice])
                        .collect();
                    let then = refusal(&better).filter(|then| !then.contains("without effect"));
                    expect(then.is_none(), &format!("the advice is refused: {then:?}"));
                    taken.insert((command.clone(), option.clone(), Some(advice.to_owned())));
                } else {
                    expect(said.contains("did you mean"), "no advice");
                }
            }
        }
        assert!(
            complaints.is_empty(),
            "{} complaints\n{}",
            complaints.len(),
            complaints.join("\n")
        );
        assert!(refused > 600, "{refused}");
    }

    #[test]
    fn both_numbers_of_every_option_are_taken() {
        for pair in [
            "--size --sizes",
            "--cpu --cpus",
            "--node --memory-nodes",
            "--thread --threads",
            "--page --pages",
        ] {
            let (one, other) = pair.split_once(' ').unwrap();
            for command in ["bandwidth", "latency", "loaded-latency", "numa"] {
                let value = if one == "--size" {
                    "1MiB"
                } else if one == "--page" {
                    "4k"
                } else {
                    "1"
                };
                let taken = |option| refusal(&[command, option, value]).is_none();
                assert_eq!(taken(one), taken(other), "{command} {pair}");
            }
        }
        for line in [
            "io x --block 4KiB",
            "io x --mix 30%",
            "patterns --block 64",
            "locks --thread 1",
            "list kernels --formats json",
        ] {
            assert_eq!(
                refusal(&line.split(' ').collect::<Vec<_>>()),
                None,
                "{line}"
            );
        }
    }

    #[test]
    fn no_two_commands_spell_one_option_in_two_ways() {
        let mut spelled: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (_, option) in options() {
            let stem = option
                .trim_end_matches("es")
                .trim_end_matches('s')
                .to_owned();
            spelled.entry(stem).or_default().insert(option);
        }
        // These two pairs of options are similar: one has the number of windows, the other their
        // length.
        spelled.remove("--window");
        spelled.remove("--tim");
        let twice: Vec<_> = spelled.values().filter(|names| names.len() > 1).collect();
        assert!(twice.is_empty(), "{twice:?}");
        assert!(nearest_name("--sise", &["--sizes"]).is_some());
    }

    #[test]
    fn help_is_a_value_of_every_format() {
        for line in ["run", "io", "report", "compare", "list kernels", "tlb"] {
            let words: Vec<OsString> = format!("memgauge {line} --format help")
                .split(' ')
                .map(Into::into)
                .collect();
            let Ok(Parsed::Text(text)) = Parsed::parse(&words) else {
                panic!("{line}")
            };
            let names: Vec<&str> = text
                .lines()
                .skip(1)
                .filter_map(|row| row.split(' ').next())
                .collect();
            assert!(
                names.contains(&"table") && names.contains(&"json") && text.starts_with("format"),
                "{text}"
            );
            for name in names {
                let words = ["memgauge", &format!("{line} x y --format {name}")].join(" ");
                let words: Vec<OsString> = words.split(' ').map(Into::into).collect();
                let refused = Parsed::parse(&words)
                    .err()
                    .map(|e| e.to_string())
                    .unwrap_or_default();
                assert!(!refused.contains("--format"), "{line} {name}: {refused}");
            }
        }
    }

    #[test]
    fn help_is_a_command() {
        for (words, part) in [
            ("memgauge help", "Commands:"),
            ("memgauge help latency", "--chain-mode"),
        ] {
            let words: Vec<OsString> = words.split(' ').map(Into::into).collect();
            let Ok(Parsed::Text(text)) = Parsed::parse(&words) else {
                panic!("{words:?}")
            };
            assert!(text.contains(part), "{text}");
        }
        assert!(refusal(&["help", "latncy"]).is_some_and(|said| said.contains("latency")));
    }
}
