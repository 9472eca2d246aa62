//! What is wrong with arguments that the parser does not take, in the one-line form of every other error.

use super::args::Cli;
use crate::units::nearest_name;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};
use std::error::Error as _;
use std::ffi::OsString;

/// `<what failed>: <value given>; <what is allowed>; <what to type>`
pub fn refusal(error: &clap::Error, arguments: &[OsString]) -> String {
    let words: Vec<String> = arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect();
    let typed = Typed::of(&words);
    let option = first_word(&text(error, ContextKind::InvalidArg));
    match error.kind() {
        ErrorKind::InvalidSubcommand => typed.unknown_command(&text(error, ContextKind::InvalidSubcommand)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand => typed.no_command(),
        ErrorKind::MissingRequiredArgument => typed.missing(&text(error, ContextKind::InvalidArg)),
        ErrorKind::UnknownArgument => typed.unknown_word(&option),
        ErrorKind::InvalidValue => typed.not_among(error, &option),
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            format!("invalid value for {option}: {why}")
        }
        ErrorKind::TooManyValues => {
            format!("{option} takes no value: '{}'; type {option} alone", text(error, ContextKind::InvalidValue))
        }
        ErrorKind::ArgumentConflict => typed.conflict(error, &option),
        ErrorKind::InvalidUtf8 => {
            let odd = arguments.iter().find(|a| a.to_str().is_none()).map(|a| a.to_string_lossy().into_owned());
            let odd = odd.unwrap_or_default();
            format!("an argument is not text: '{odd}'; only the names of files need not be UTF-8; {}", typed.help())
        }
        _ => one_line(&error.render().to_string()),
    }
}

/// The commands at the start of the arguments, and what they were found to be.
struct Typed<'a> {
    words: &'a [String],
    command: Command,
    path: String,
}

impl<'a> Typed<'a> {
    fn of(words: &'a [String]) -> Self {
        let mut command = Cli::command();
        command.build();
        let mut path = "memgauge".to_owned();
        for word in words.iter().skip(1) {
            let Some(next) = command.find_subcommand(word).cloned() else { break };
            path = format!("{path} {word}");
            command = next;
        }
        Self { words, command, path }
    }

    fn help(&self) -> String {
        format!("type {} --help", self.path)
    }

    fn commands(&self) -> Vec<&str> {
        self.command.get_subcommands().map(Command::get_name).collect()
    }

    fn unknown_command(&self, given: &str) -> String {
        let known = self.commands();
        format!("unknown command: '{given}'; known are {}; {}", known.join(", "), self.cure(given, &known))
    }

    fn no_command(&self) -> String {
        let known = self.commands();
        let first = known.first().copied().unwrap_or_default();
        format!("no command: '{}'; known are {}; type {} {first}", self.path, known.join(", "), self.path)
    }

    /// `names` are the arguments that are missing, `<FILE>, <OTHER>`.
    fn missing(&self, names: &str) -> String {
        let names = names.replace(['<', '>'], "");
        let values = self.command.get_positionals().flat_map(|a| a.get_possible_values());
        let known: Vec<String> = values.map(|v| v.get_name().to_owned()).collect();
        if known.is_empty() {
            return format!("argument missing: {names}; {}", self.help());
        }
        format!("argument missing: {names}; known are {}; type {} {}", known.join(", "), self.path, known[0])
    }

    /// An option that does not exist, or a word where none belongs. The parser gives the first letter of short ones.
    fn unknown_word(&self, given: &str) -> String {
        let whole = |word: &&String| !given.is_empty() && word.starts_with(given);
        let position = self.words.iter().skip(1).position(|w| whole(&w)).map(|p| p + 1);
        let word = position.map_or(given, |p| self.words[p].split('=').next().unwrap_or(given));
        let digits = word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if digits {
            let before = position.and_then(|p| self.words.get(p - 1)).map_or("", String::as_str);
            return format!("negative value: '{before} {word}'; numbers are 0 or above here; {}", self.help());
        }
        if !word.starts_with('-') {
            return format!("word too many: '{word}'; options start with --; {}", self.help());
        }
        let names = self.command.get_arguments().filter(|a| !a.is_hide_set()).filter_map(clap::Arg::get_long);
        let names: Vec<String> = names.map(|name| format!("--{name}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("unknown option: '{word}'; {}", self.cure(word, &names))
    }

    fn cure(&self, given: &str, known: &[&str]) -> String {
        nearest_name(given, known).map_or_else(|| self.help(), |near| format!("did you mean '{near}'?"))
    }

    /// A value that is none of the few that there are, or none at all.
    fn not_among(&self, error: &clap::Error, option: &str) -> String {
        let given = text(error, ContextKind::InvalidValue);
        let known = match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(known)) => known.iter().map(String::as_str).collect(),
            _ => Vec::new(),
        };
        if known.is_empty() {
            return format!("no value for {option}: '{given}'; {}", self.help());
        }
        let cure = self.cure(&given, &known);
        format!("invalid value for {option}: '{given}'; known are {}; {cure}", known.join(", "))
    }

    fn conflict(&self, error: &clap::Error, option: &str) -> String {
        let prior = first_word(&text(error, ContextKind::PriorArg));
        if let Some(command) = self.words.iter().skip(1).find(|w| self.command.find_subcommand(w).is_some()) {
            let given = if option.starts_with('-') { option } else { &prior };
            return format!(
                "option before its command: {given}; options of a command come after it; type memgauge {command} {given}"
            );
        }
        if prior == option || prior.is_empty() {
            return format!("option given twice: {option}; once is allowed, lists are a,b,c; {}", self.help());
        }
        format!("options contradict each other: {option} and {prior}; leave one out")
    }
}

/// What the error says about `kind`, several values separated by commas.
fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(one)) => one.clone(),
        Some(ContextValue::Strings(all)) => all.join(", "),
        _ => String::new(),
    }
}

/// `--sizes` of `--sizes <LIST>`.
fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

/// clap's message as one line: what is wrong and the tips, without the usage block.
fn one_line(message: &str) -> String {
    let ends = |line: &str| line.starts_with("Usage:") || line.starts_with("For more information");
    let parts: Vec<&str> = message.lines().map(str::trim).take_while(|line| !ends(line)).collect();
    let text = parts.split(|line| line.is_empty()).map(|p| p.join(" ")).filter(|p| !p.is_empty());
    let text = text.collect::<Vec<String>>().join("; ");
    text.strip_prefix("error: ").unwrap_or(&text).replace("; tip: ", "; ")
}
