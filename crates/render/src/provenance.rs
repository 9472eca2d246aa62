//! Provenance of a report, in words.

use super::text::shorten;
use report::Provenance;

/// Text with the facts that are needed to repeat the session and to judge whether another session
/// is comparable.
pub(super) fn provenance(provenance: &Provenance) -> String {
    let tool = &provenance.tool;
    let kernels: Vec<String> = provenance
        .kernels
        .iter()
        .map(|k| {
            format!(
                "{} {}",
                shorten(&k.name, 60),
                shorten(k.code().unwrap_or("(not of this program)"), 80)
            )
        })
        .collect();
    let kernels = if kernels.is_empty() {
        "none".to_owned()
    } else {
        kernels.join(", ")
    };
    format!(
        "{} {} ({}), started {}, finished {}, seed {}, command line: {}. Kernels: {kernels}.",
        tool.name,
        tool.version,
        tool.machine,
        provenance.started,
        provenance.finished,
        provenance.seed,
        shorten(&command_line(&provenance.command_line), 1000),
    )
}

/// Writes `arguments` as a command line for a shell, quoted where necessary.
pub(super) fn command_line(arguments: &[String]) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_=.,/:+@%".contains(c);
    let quote = |a: &String| match !a.is_empty() && a.chars().all(plain) {
        true => a.clone(),
        false => format!("'{}'", a.replace('\'', r"'\''")),
    };
    arguments.iter().map(quote).collect::<Vec<_>>().join(" ")
}
