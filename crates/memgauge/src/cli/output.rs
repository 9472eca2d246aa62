//! Destinations of results: standard output, a file, the saved report.

use super::args::{ReportOptions, Theme};
use super::common_options::CommonOptions;
use super::exit::Exit;
use super::formats::file_format;
use super::target::{Target, check_no_folder, is_stdout, put};
use super::terminal::{quoted, terminal_width};
pub use super::terminal::{tell, to_stdout};
use super::{saved, share, state};
use render::{self, NamedReport, Options, Renderer, SavedReport};
use report::{Report, is_replaceable};
use std::io::IsTerminal;
use std::path::Path;
use units::error::Result;

/// Destination of a session's result, checked before anything is measured.
pub struct Destination {
    stdout: Option<&'static dyn Renderer>,
    file: Option<(Target, &'static dyn Renderer)>,
    options: Options,
    /// True if the user named no file. The report then goes into the folder of saved sessions.
    unnamed: bool,
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stdout = self.stdout.map(|r| r.name());
        f.debug_struct("Destination")
            .field("stdout", &stdout)
            .field("file", &self.file.as_ref().map(|f| &f.0))
            .finish()
    }
}

/// Parts of the file name that a report gets if the user names no file.
#[derive(Debug, Clone, Copy)]
pub struct Unnamed<'a> {
    /// Start of the session.
    pub stamp: &'a str,
    /// Profile or experiment of the session.
    pub profile: &'a str,
    /// File of the session that this one continues; `None` for a new session.
    pub before: Option<&'a Path>,
}

impl Destination {
    /// Makes the destination from the options. `output` is the file that the user names.
    pub fn new(
        options: &CommonOptions,
        output: Option<&Path>,
        unnamed: Unnamed<'_>,
    ) -> Result<Self> {
        let shown = Options {
            scores: options.scores,
            verbose: options.verbose,
            title: options.title.clone(),
            ..Options::default()
        };
        let chosen = options.format.as_deref().map(render::by_name).transpose()?;
        let stdout = Some(chosen.map_or_else(|| render::by_name("table"), Ok)?);
        let only_stdout = Self {
            stdout,
            file: None,
            options: shown,
            unnamed: false,
        };
        let path = match output.or(unnamed.before) {
            Some(path) if is_stdout(path) => return Ok(only_stdout),
            Some(path) => path,
            None => {
                let place = state::place(unnamed.stamp, unnamed.profile, options.dry_run);
                if let Some(note) = place.note {
                    tell(&format!("memgauge: note: {note}"));
                }
                let json = render::by_name("json")?;
                let file = place.file.map(|path| (Target::File(path), json));
                return Ok(Self {
                    file,
                    unnamed: true,
                    ..only_stdout
                });
            }
        };
        check_no_folder(path)?;
        let format = match render::by_extension(path).or_else(|e| chosen.ok_or(e)) {
            // The name of a pipe or a device does not determine a format, so JSON is written.
            Err(_) if !is_replaceable(path) => render::by_name("json")?,
            format => format?,
        };
        // A dry run does not open pipes, because their readers wait for the result.
        let target = match options.dry_run && !is_replaceable(path) {
            true => Target::File(path.to_owned()),
            false => Target::open(path)?,
        };
        Ok(Self {
            file: Some((target, format)),
            ..only_stdout
        })
    }

    /// The destination in words.
    pub fn describe(&self) -> String {
        let stdout = self
            .stdout
            .map(|r| format!("{} on standard output", r.name()));
        let file = self
            .file
            .as_ref()
            .map(|(target, r)| format!("{} in {}", r.name(), target.path().display()));
        stdout
            .into_iter()
            .chain(file)
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// True if the format on standard output shows the findings.
    pub fn shows_findings(&self) -> bool {
        self.stdout
            .is_some_and(|r| ["table", "markdown"].contains(&r.name()))
    }

    /// True if the format on standard output shows the health of the machine.
    pub fn shows_health(&self) -> bool {
        self.stdout.is_some_and(|r| r.name() == "line") || self.shows_findings()
    }

    /// File for the result. `None` for a pipe or a device, which cannot have a journal next to it.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_ref()?.0.file()
    }

    /// True if the user named no file for the report.
    pub fn is_unnamed(&self) -> bool {
        self.unnamed
    }

    /// File of the saved result if `--resume` can read its format; `None` otherwise.
    pub fn readable(&self) -> Option<&Path> {
        let (target, format) = self.file.as_ref()?;
        target
            .file()
            .filter(|_| ["json", "jsonl"].contains(&format.name()))
    }

    /// Saves the report, then prints it with the place where it was saved. A report that cannot be
    /// saved is still printed. An existing file is renamed, unless `replaces` says that the report
    /// contains all points of that file. Returns true if the report was saved.
    pub fn deliver(&self, report: &Report, replaces: bool) -> (bool, Result<()>) {
        let mut options = self.options.clone();
        let mut saved = Ok(());
        if let Some((target, format)) = &self.file {
            saved = format
                .render(report, &options)
                .and_then(|bytes| target.write(&bytes, |_| !replaces));
            if saved.is_ok() {
                options.saved_to = Some(SavedReport {
                    name: match self.unnamed {
                        true => "last".to_owned(),
                        false => quoted(&target.path().to_string_lossy()),
                    },
                    is_readable: self.readable().is_some(),
                });
                let alone = NamedReport {
                    name: String::new(),
                    report: report.clone(),
                };
                let shown =
                    shown_in(target.path(), *format, &[alone], &options).unwrap_or_default();
                if !shown.is_empty() {
                    tell(&shown);
                }
            }
            if self
                .stdout
                .is_none_or(|shown| shown.name() != format.name())
            {
                saved = saved.and_then(|()| tell_notes(report, *format, &options));
            }
        }
        options.bars = may_draw();
        options.color = may_color();
        options.width = terminal_width();
        let printed = self
            .stdout
            .map_or(Ok(()), |format| show(report, format, &options));
        (saved.is_ok(), saved.and(printed))
    }

    /// True if the format on standard output or the format of the file has nothing to show of
    /// `report`.
    pub fn shows_nothing(&self, report: &Report) -> bool {
        let file = self.file.as_ref().map(|(_, format)| *format);
        self.stdout
            .into_iter()
            .chain(file)
            .any(|format| format.shows_nothing(report, &self.options))
    }
}

/// Prints `report` on standard output, and the format's notes on standard error.
fn show(report: &Report, format: &dyn Renderer, options: &Options) -> Result<()> {
    to_stdout(&format.render(report, options)?)?;
    tell_notes(report, format, options)
}

/// Prints the notes of a format on standard error.
fn tell_notes(report: &Report, format: &dyn Renderer, options: &Options) -> Result<()> {
    let notes = format.notes(report, options)?;
    if !notes.is_empty() {
        tell(notes.trim_end());
    }
    Ok(())
}

/// Message about the content of the file at `path`; empty if the extension makes the content
/// obvious.
fn shown_in(
    path: &Path,
    format: &dyn Renderer,
    reports: &[NamedReport],
    options: &Options,
) -> Result<String> {
    let contents = format.contents(reports, options)?;
    Ok(if contents.is_empty() {
        contents
    } else {
        format!("memgauge: {}: {contents}", path.display())
    })
}

/// Runs `memgauge report FILE...`. Returns [`Exit::Incomplete`] if the format has nothing to show.
pub fn report(options: &ReportOptions) -> Result<Exit> {
    let chosen = options.format.as_deref().map(render::by_name).transpose()?;
    let mut reports = Vec::new();
    for file in &options.files {
        let file = state::resolved(file)?;
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        reports.push(NamedReport {
            name,
            report: saved::read(&file)?,
        });
    }
    if options.share {
        share::share(&mut reports)?;
    }
    let to_file = options
        .output
        .as_deref()
        .is_some_and(|path| !is_stdout(path));
    let settings = Options {
        scores: options.scores,
        verbose: options.verbose,
        charts: options.chart.clone(),
        title: options.title.clone(),
        dark: options.theme == Theme::Dark,
        width: if to_file { None } else { terminal_width() },
        color: !to_file && may_color(),
        bars: !to_file && may_draw(),
        ..Options::default()
    };
    let mut notes = String::new();
    let mut nothing = false;
    put(options.output.as_deref(), |path| {
        let format = path.map_or_else(
            || chosen.map_or_else(|| render::by_name("table"), Ok),
            |path| file_format(path, chosen, &reports, &options.chart),
        )?;
        if let [one] = reports.as_slice() {
            notes = format.notes(&one.report, &settings)?;
            nothing = format.shows_nothing(&one.report, &settings);
        }
        if let Some(path) = path {
            notes.push_str(&shown_in(path, format, &reports, &settings)?);
        }
        format.render_all(&reports, &settings)
    })?;
    if !notes.is_empty() {
        tell(notes.trim_end());
    }
    Ok(if nothing {
        Exit::Incomplete
    } else {
        Exit::Done
    })
}

/// True if standard output is a terminal and the user did not switch colours off (no-color.org).
fn may_color() -> bool {
    let unset = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    unset
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        && std::io::stdout().is_terminal()
}

/// True if standard output is a terminal that shows block elements: colours are allowed, and the
/// locale is UTF-8.
fn may_draw() -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(std::env::var_os)
        .find(|value| !value.is_empty());
    let name = locale
        .map(|value| value.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    (name.contains("utf-8") || name.contains("utf8")) && may_color()
}
