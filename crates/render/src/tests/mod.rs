//! Tests of the renderers.
//!
//! Whole outputs are compared with the files in `golden/`. After an intended change, renew the
//! files with `cargo test -p memgauge-render --lib renew_golden_files -- --ignored`. Read the
//! difference before committing it.

mod charts;
mod comparisons;
mod formats;
mod gallery;
mod golden;
mod machine;
mod properties;
mod reports;
mod safety;
mod sc_membench;
mod told;

use super::{Options, by_name};
use report::Report;

/// Renders a report in a format, as text.
fn render(format: &str, report: &Report, options: &Options) -> String {
    String::from_utf8(by_name(format).unwrap().render(report, options).unwrap()).unwrap()
}
