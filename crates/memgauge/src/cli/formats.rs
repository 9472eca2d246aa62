//! The values of `--format` and `--output`, made from the tables of renderers.

use super::terminal::terminal_width;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, ValueEnum};
use render::{
    self, COMPARISON_FORMATS, FLEET_FORMATS, NamedReport, RENDERERS, Renderer, are_several_machines,
};
use std::ffi::OsStr;
use std::path::Path;
use units::error::Error;

/// Renderer of the format `name`; `None` if the name is unknown. Without a name, the result is the
/// first renderer.
pub fn format_named(name: Option<&str>) -> Option<&'static dyn Renderer> {
    name.map_or_else(
        || RENDERERS.first().copied(),
        |name| render::by_name(name).ok(),
    )
}

/// Returns `chosen` if it is the gallery and `found` is the ordinary HTML page. Otherwise returns
/// `found`, the format that belongs to the extension of a file.
pub fn preferred(
    found: &'static dyn Renderer,
    chosen: Option<&'static dyn Renderer>,
) -> &'static dyn Renderer {
    let is_page = |chosen: &&dyn Renderer| found.name() == PAGE && chosen.name() == GALLERY;
    chosen.filter(is_page).unwrap_or(found)
}

/// Format of the file at `path` for `reports`. A page about several machines is a gallery. If
/// `charts` are requested, the page is an ordinary one that draws all machines in one chart.
///
/// # Errors
/// The extension is unknown and no format was chosen.
pub fn file_format(
    path: &Path,
    chosen: Option<&'static dyn Renderer>,
    reports: &[NamedReport],
    charts: &[String],
) -> Result<&'static dyn Renderer, Error> {
    let found = render::by_extension(path).or_else(|e| chosen.ok_or(e))?;
    let is_gallery = found.name() == PAGE
        && chosen.is_none()
        && charts.is_empty()
        && are_several_machines(reports);
    match is_gallery {
        true => render::by_name(GALLERY),
        false => Ok(preferred(found, chosen)),
    }
}

/// Names of the formats that make HTML pages.
const PAGE: &str = "html";
const GALLERY: &str = "gallery";

/// True if `format` uses `option`.
pub fn uses(format: Option<&'static dyn Renderer>, option: &str) -> bool {
    format.is_some_and(|format| format.options().contains(&option))
}

/// Parser of the names of formats. For the value `help`, the error is a list of all formats.
#[derive(Debug, Clone)]
pub struct Formats {
    /// Names of the formats with their descriptions.
    known: Vec<[&'static str; 2]>,
}

impl Formats {
    /// A parser of the formats of reports.
    pub fn of_reports() -> Self {
        Self {
            known: RENDERERS.iter().map(|r| [r.name(), r.help()]).collect(),
        }
    }

    /// A parser of the formats of comparisons.
    pub fn of_comparisons() -> Self {
        Self {
            known: COMPARISON_FORMATS
                .iter()
                .map(|f| [f.name, f.help])
                .collect(),
        }
    }

    /// A parser of the formats of verdicts on fleets.
    pub fn of_fleets() -> Self {
        Self {
            known: FLEET_FORMATS.iter().map(|f| [f.name, f.help]).collect(),
        }
    }

    /// Output of `--format help`, a table.
    fn table(&self) -> String {
        let rows: Vec<Vec<String>> = self
            .known
            .iter()
            .map(|row| row.map(str::to_owned).to_vec())
            .collect();
        render::list_table(&["format", "what it is"], &rows, terminal_width())
    }

    fn values(&self) -> Vec<PossibleValue> {
        self.known
            .iter()
            .map(|[name, _]| PossibleValue::new(*name))
            .collect()
    }
}

impl TypedValueParser for Formats {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        if value == "help" {
            return Err(clap::Error::raw(ErrorKind::DisplayHelp, self.table()));
        }
        PossibleValuesParser::new(self.values()).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(
            self.values()
                .into_iter()
                .chain([PossibleValue::new("help")]),
        ))
    }
}

/// Parser of the values of the enum `T`. For the value `help`, the error is a list of all values.
#[derive(Debug, Clone)]
pub struct Values<T>(std::marker::PhantomData<T>);

impl<T> Values<T> {
    /// A parser of the values of `T`.
    pub fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

impl<T: ValueEnum + Clone + Send + Sync + 'static> TypedValueParser for Values<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        if value == "help" {
            let known = T::value_variants()
                .iter()
                .filter_map(ValueEnum::to_possible_value);
            let help =
                |v: &PossibleValue| v.get_help().map(ToString::to_string).unwrap_or_default();
            let rows: Vec<Vec<String>> = known
                .map(|v| vec![v.get_name().to_owned(), help(&v)])
                .collect();
            let table = render::list_table(&["format", "what it is"], &rows, terminal_width());
            return Err(clap::Error::raw(ErrorKind::DisplayHelp, table));
        }
        clap::value_parser!(T).parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known = T::value_variants()
            .iter()
            .filter_map(ValueEnum::to_possible_value);
        Some(Box::new(known.chain([PossibleValue::new("help")])))
    }
}

/// Help text of `--output` of measurements.
pub fn run_output() -> String {
    let folder = "[default: a report in the folder of runs, see list runs]";
    format!(
        "{} {folder}",
        output_help(report_extensions(), ", JSON to a pipe")
    )
}

/// Help text of `--output` of `memgauge report`.
pub fn report_output() -> String {
    output_help(report_extensions(), "")
}

/// Help text of `--output` of comparisons.
pub fn comparison_output() -> String {
    output_help(COMPARISON_FORMATS.iter().map(|f| f.extension), "")
}

/// Help text of `--output` of `memgauge fleet`.
pub fn fleet_output() -> String {
    output_help(FLEET_FORMATS.iter().map(|f| f.extension), "")
}

fn report_extensions() -> impl Iterator<Item = &'static str> {
    RENDERERS
        .iter()
        .flat_map(|r| r.extensions().iter().copied())
}

fn output_help(extensions: impl Iterator<Item = &'static str>, otherwise: &str) -> String {
    let extensions: Vec<String> = extensions.map(|e| format!(".{e}")).collect();
    let extensions = extensions.join(" ");
    format!(
        "Write to FILE, format by extension ({extensions}){otherwise}; - is standard output and \
         saves nothing"
    )
}
