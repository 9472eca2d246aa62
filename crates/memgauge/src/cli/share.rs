//! The option `--share` of `memgauge report`: reports that other people may see.

use super::terminal::tell;
use render::NamedReport;
use report::shared;
use std::collections::BTreeSet;
use std::env;
use std::path::Path;
use units::error::{Error, Result};

/// Environment variables with the name or the home folder of the user.
const PRIVATE_VARIABLES: [&str; 5] = ["USER", "LOGNAME", "USERNAME", "HOME", "USERPROFILE"];

/// Removes from `reports` the parts that identify the user and the host. Prints the list of these
/// parts.
///
/// # Errors
/// A report has a figure that JSON cannot express.
pub fn share(reports: &mut [NamedReport]) -> Result<()> {
    let private = private_names();
    let count = reports.len();
    let mut withheld = BTreeSet::new();
    for (index, named) in reports.iter_mut().enumerate() {
        named.report = shared(&named.report, &private).map_err(Error::failure)?;
        // The name of the file may contain the name of the host.
        named.name = match count {
            1 => "shared".to_owned(),
            _ => format!("machine {}", index + 1),
        };
        let parts = &named.report.provenance.withheld;
        withheld.extend(
            parts
                .iter()
                .map(|one| format!("{} ({})", one.part, one.reason)),
        );
    }
    let list: Vec<String> = withheld.into_iter().collect();
    tell(&format!("memgauge: left out: {}", list.join(", ")));
    tell(
        "memgauge: note: other names are not known to the program; read the file before you post it",
    );
    Ok(())
}

/// Values of the private variables. For a value that is a path, the name of its last folder
/// follows.
fn private_names() -> Vec<String> {
    let known = PRIVATE_VARIABLES.into_iter().filter_map(env::var_os);
    let values: Vec<String> = known
        .map(|value| value.to_string_lossy().into_owned())
        .collect();
    let last = |value: &String| {
        let name = Path::new(value).file_name()?;
        Some(name.to_string_lossy().into_owned())
    };
    let folders: Vec<String> = values.iter().filter_map(last).collect();
    [values, folders].concat()
}
