//! Where results go: standard output, a file, the saved report.

use super::args::{CommonOptions, ReportOptions, Theme};
use super::saved;
use crate::error::{Error, Result};
use crate::render::{self, NamedReport, Options, Renderer};
use crate::results::{Report, is_replaceable, write_atomically};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Writes `bytes` to standard output and flushes them, so that a full disk is noticed. A reader that went away is no
/// error: it has what it wanted.
pub fn to_stdout(bytes: &[u8]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Error::io("cannot write to standard output", &e)),
        _ => Ok(()),
    }
}

/// Whether `path` is a name of standard output. Opened by itself, it would be written over by what is printed.
fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout"].iter().any(|name| path == Path::new(name))
}

/// A line for people on standard error; who closed it does not want it.
pub fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Where a run's result goes, checked before anything is measured.
pub struct Destination {
    stdout: Option<&'static dyn Renderer>,
    file: Option<(PathBuf, &'static dyn Renderer)>,
    options: Options,
}

impl std::fmt::Debug for Destination {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stdout = self.stdout.map(|r| r.name());
        f.debug_struct("Destination").field("stdout", &stdout).field("file", &self.file.as_ref().map(|f| &f.0)).finish()
    }
}

impl Destination {
    /// As the options say; `stamp` is the time in the name of a report that the user did not name.
    /// `place` is where the report of a continued run was.
    pub fn of(options: &CommonOptions, stamp: &str, place: Option<&Path>) -> Result<Self> {
        let shown = Options {
            scores: options.scores,
            verbose: options.verbose,
            title: options.title.clone(),
            ..Options::default()
        };
        let chosen = options.format.as_deref().map(render::by_name).transpose()?;
        check_scores(options.scores, chosen)?;
        let table = || render::by_name("table");
        let formats =
            [chosen.map_or_else(table, Ok).ok(), options.output.as_deref().and_then(|p| render::by_extension(p).ok())];
        check_drawing(&shown, &formats.into_iter().flatten().collect::<Vec<_>>())?;
        match options.output.as_deref().or(place) {
            Some(path) if is_stdout(path) => {
                Ok(Self { stdout: Some(chosen.map_or_else(table, Ok)?), file: None, options: shown })
            }
            Some(path) => {
                check_no_folder(path)?;
                let by_extension = render::by_extension(path);
                let format = by_extension.or_else(|e| chosen.ok_or(e))?;
                check_writable(path)?;
                Ok(Self {
                    stdout: Some(chosen.map_or_else(table, Ok)?),
                    file: Some((path.to_owned(), format)),
                    options: shown,
                })
            }
            None => {
                let path = free_name(stamp);
                let json = render::by_name("json")?;
                // A read-only working directory must not stop a measurement whose result goes to the terminal.
                let file = check_writable(&path).is_ok().then_some((path, json));
                if file.is_none() {
                    tell("memgauge: the working directory is not writable: the report is not saved; type -o FILE");
                }
                Ok(Self { stdout: Some(chosen.map_or_else(table, Ok)?), file, options: shown })
            }
        }
    }

    /// Where the result goes, in words.
    pub fn describe(&self) -> String {
        let stdout = self.stdout.map(|r| format!("{} on standard output", r.name()));
        let file = self.file.as_ref().map(|(path, r)| format!("{} in {}", r.name(), path.display()));
        stdout.into_iter().chain(file).collect::<Vec<_>>().join(", ")
    }

    /// Whether who reads standard output sees the findings there.
    pub fn shows_findings(&self) -> bool {
        self.stdout.is_some_and(|r| ["table", "markdown"].contains(&r.name()))
    }

    /// Where the journal of the run lies until its report is saved.
    pub fn journal(&self) -> Option<PathBuf> {
        let (path, _) = self.file.as_ref()?;
        // A pipe or a device has no neighbour to put a journal into.
        is_replaceable(path).then(|| journal_of(path))
    }

    /// The saved result, if `--resume` can read it.
    pub fn readable(&self) -> Option<&Path> {
        let (path, format) = self.file.as_ref()?;
        (["json", "jsonl"].contains(&format.name()) && is_replaceable(path)).then_some(path)
    }

    /// Saves the report, then prints it; tells first whether it was saved. What cannot be saved is still printed.
    pub fn deliver(&self, report: &Report) -> (bool, Result<()>) {
        let mut options = self.options.clone();
        let mut saved = Ok(());
        if let Some((path, format)) = &self.file {
            saved = format.render(report, &options).and_then(|bytes| save(path, &bytes));
            if saved.is_ok() {
                options.saved_to = Some(path.display().to_string());
                let alone = NamedReport { name: String::new(), report: report.clone() };
                let shown = shown_in(path, *format, &[alone], &options).unwrap_or_default();
                if !shown.is_empty() {
                    tell(&shown);
                }
            }
        }
        options.bars = may_draw();
        let printed = self.stdout.map_or(Ok(()), |format| show(report, format, &options));
        (saved.is_ok(), saved.and(printed))
    }
}

/// Prints `report` and, on standard error, what the format has to say beside it.
fn show(report: &Report, format: &dyn Renderer, options: &Options) -> Result<()> {
    to_stdout(&format.render(report, options)?)?;
    let notes = format.notes(report, options)?;
    if !notes.is_empty() {
        tell(notes.trim_end());
    }
    Ok(())
}

/// What the name of a journal has behind that of its report.
const JOURNAL: &str = ".journal.jsonl";

/// The journal of the run whose report is `path`.
fn journal_of(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(JOURNAL);
    path.with_file_name(name)
}

/// Where the report of the run belongs that `path` is the journal or the report of.
pub fn report_of(path: &Path) -> PathBuf {
    let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_suffix(JOURNAL));
    name.filter(|name| !name.is_empty()).map_or_else(|| path.to_owned(), |name| path.with_file_name(name))
}

/// A name for a report that neither a report nor the journal of another run has: two runs may start in one second.
fn free_name(stamp: &str) -> PathBuf {
    let name = |n: u32| if n == 1 { String::new() } else { format!("-{n}") };
    let mut names = (1..).map(|n| PathBuf::from(format!("memgauge-report-{stamp}{}.json", name(n))));
    let free = |path: &PathBuf| !path.exists() && !journal_of(path).exists();
    names.find(free).unwrap_or_else(|| PathBuf::from(format!("memgauge-report-{stamp}.json")))
}

/// Scores are by one tool's formulas, and only its format has them.
fn check_scores(scores: bool, format: Option<&dyn Renderer>) -> Result<()> {
    match format.map(|f| f.name()) {
        Some("sc-membench") => Ok(()),
        _ if !scores => Ok(()),
        other => Err(Error::usage(format!(
            "no scores in this format: --scores with '{}'; only sc-membench has them; type --format sc-membench --scores",
            other.unwrap_or("table")
        ))),
    }
}

/// What only drawings have is asked for where one of `formats` draws.
fn check_drawing(asked: &Options, formats: &[&dyn Renderer]) -> Result<()> {
    let named = |option: &str, draw: &dyn Fn(&dyn Renderer) -> bool| {
        if formats.iter().any(|format| draw(*format)) {
            return Ok(());
        }
        let formats: Vec<&str> = formats.iter().map(|format| format.name()).collect();
        Err(Error::usage(format!(
            "nothing is drawn: {option} with '{}'; svg, png, html and charts in the terminal are drawn; type -o picture.svg",
            formats.join("' and '")
        )))
    };
    let picture = |format: &dyn Renderer| ["svg", "png"].contains(&format.name());
    let page = |format: &dyn Renderer| picture(format) || format.name() == "html";
    let chart = |format: &dyn Renderer| page(format) || format.name() == "table";
    let title = |format: &dyn Renderer| page(format) || (format.name() == "table" && !asked.charts.is_empty());
    asked.title.as_ref().map_or(Ok(()), |_| named("--title", &title))?;
    asked.charts.first().map_or(Ok(()), |_| named("--chart", &chart))?;
    if asked.dark { named("--theme dark", &|format| picture(format)) } else { Ok(()) }
}

fn check_no_folder(path: &Path) -> Result<()> {
    if !path.is_dir() {
        return Ok(());
    }
    Err(Error::usage(format!(
        "cannot write the result: '{}' is a folder; -o takes the name of a file; type -o {}",
        path.display(),
        path.join("report.json").display()
    )))
}

/// Finds out before the run whether a file can be written where its result shall go.
fn check_writable(path: &Path) -> Result<()> {
    let refused = |e: &std::io::Error| {
        Error::usage(format!(
            "cannot write the result: '{}': {}; type -o with a path that can be written",
            path.display(),
            reason(e)
        ))
    };
    match std::fs::metadata(path) {
        Ok(_) => std::fs::File::options().append(true).open(path).map(drop).map_err(|e| refused(&e)),
        // The file itself must not appear before there is something to put into it.
        Err(_) => {
            let mut name = path.file_name().unwrap_or_default().to_os_string();
            name.push(format!(".{}.check", std::process::id()));
            let probe = path.with_file_name(name);
            std::fs::File::create(&probe).map_err(|e| refused(&e))?;
            std::fs::remove_file(&probe).map_err(|e| refused(&e))
        }
    }
}

/// Writes a result. Where its folder went away meanwhile, the working directory takes it; that is still an error.
fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    let Err(trouble) = write_atomically(path, bytes) else { return Ok(()) };
    let instead = path.file_name().map(Path::new).filter(|name| *name != path && !name.exists());
    let vanished = trouble.kind() == std::io::ErrorKind::NotFound;
    match instead.filter(|name| vanished && write_atomically(name, bytes).is_ok()) {
        None => Err(cannot_write(path, &trouble)),
        Some(name) => Err(Error::failure(format!(
            "cannot save the result: '{}': {}; it is in the working directory, as '{}'",
            path.display(),
            reason(&trouble),
            name.display()
        ))),
    }
}

/// The result could be made but not saved.
fn cannot_write(path: &Path, error: &std::io::Error) -> Error {
    let (path, why) = (path.display(), reason(error));
    Error::failure(format!("cannot save the result: '{path}': {why}; type -o with a place that has room for it"))
}

/// What the system says, without the number that it has for it.
fn reason(error: &std::io::Error) -> String {
    reason_in(&error.to_string()).to_lowercase()
}

/// The same where it is text already, with what else may have gone wrong.
pub fn reason_in(text: &str) -> &str {
    text.split(" (os error").next().unwrap_or(text)
}

/// Writes what `make` gives to the file at `path`, or to standard output where that is none or a name of it; `make` is told
/// which file it is. Tells whether it was a file.
pub fn put(path: Option<&Path>, make: impl FnOnce(Option<&Path>) -> Result<Vec<u8>>) -> Result<bool> {
    match path.filter(|path| !is_stdout(path)) {
        Some(path) => {
            check_no_folder(path)?;
            check_writable(path)?;
            write_atomically(path, &make(Some(path))?).map_err(|e| cannot_write(path, &e)).map(|()| true)
        }
        None => to_stdout(&make(None)?).map(|()| false),
    }
}

/// What the file shows, where that does not go without saying.
fn shown_in(path: &Path, format: &dyn Renderer, reports: &[NamedReport], options: &Options) -> Result<String> {
    let contents = format.contents(reports, options)?;
    Ok(if contents.is_empty() { contents } else { format!("memgauge: {}: {contents}", path.display()) })
}

/// `memgauge report FILE...`
pub fn report(options: &ReportOptions) -> Result<()> {
    let chosen = options.format.as_deref().map(render::by_name).transpose()?;
    check_scores(options.scores, chosen)?;
    let mut reports = Vec::new();
    for file in &options.files {
        let name = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        reports.push(NamedReport { name, report: saved::read(file)? });
    }
    let to_file = options.output.as_deref().is_some_and(|path| !is_stdout(path));
    let settings = Options {
        scores: options.scores,
        verbose: options.verbose,
        charts: options.chart.clone(),
        title: options.title.clone(),
        dark: options.theme == Theme::Dark,
        width: terminal_width(),
        color: !to_file && may_color(),
        bars: !to_file && may_draw(),
        ..Options::default()
    };
    let mut notes = String::new();
    put(options.output.as_deref(), |path| {
        let by_extension = |path| render::by_extension(path).or_else(|e| chosen.ok_or(e));
        let format = path.map_or_else(|| chosen.map_or_else(|| render::by_name("table"), Ok), by_extension)?;
        check_drawing(&settings, &[format])?;
        if let (None, [one]) = (path, reports.as_slice()) {
            notes = format.notes(&one.report, &settings)?;
        }
        if let Some(path) = path {
            notes = shown_in(path, format, &reports, &settings)?;
        }
        format.render_all(&reports, &settings)
    })?;
    if !notes.is_empty() {
        tell(notes.trim_end());
    }
    Ok(())
}

/// The columns of the terminal that standard output is; none where it is none.
fn terminal_width() -> Option<u16> {
    terminal_size::terminal_size_of(std::io::stdout()).map(|(width, _)| width.0)
}

/// Whether standard output is a terminal whose user has nothing against colours (no-color.org).
fn may_color() -> bool {
    let unset = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    unset && std::env::var_os("TERM").is_none_or(|term| term != "dumb") && std::io::stdout().is_terminal()
}

/// Whether standard output is a terminal that shows block elements: one that may have colours, in a locale of UTF-8.
fn may_draw() -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(std::env::var_os).find(|value| !value.is_empty());
    let name = locale.map(|value| value.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    (name.contains("utf-8") || name.contains("utf8")) && may_color()
}
