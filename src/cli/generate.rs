//! `memgauge generate`: what is made from the tables that the code uses.

use super::args::{Cli, Generated};
use super::exit;
use super::list::kernel_page;
use super::output::to_stdout;
use crate::error::{Error, Result};
use crate::render;
use clap::CommandFactory;

/// Prints what was asked for.
pub fn generate(what: Generated) -> Result<()> {
    let bytes = match what {
        Generated::Man => man()?,
        Generated::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "memgauge", &mut script);
            script
        }
        Generated::Schema => render::schema().as_bytes().to_vec(),
        Generated::Kernels => kernel_page().into_bytes(),
    };
    to_stdout(&bytes)
}

/// One page: the program, then each command.
fn man() -> Result<Vec<u8>> {
    let failed = |e: std::io::Error| Error::failure(format!("cannot write the man page: {e}"));
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let man = clap_mangen::Man::new(command.clone());
    man.render_title(&mut page).map_err(failed)?;
    man.render_name_section(&mut page).map_err(failed)?;
    man.render_synopsis_section(&mut page).map_err(failed)?;
    man.render_description_section(&mut page).map_err(failed)?;
    man.render_options_section(&mut page).map_err(failed)?;
    man.render_subcommands_section(&mut page).map_err(failed)?;
    for sub in command.get_subcommands() {
        page.extend_from_slice(format!(".SH \"MEMGAUGE {}\"\n", sub.get_name().to_uppercase()).as_bytes());
        let man = clap_mangen::Man::new(sub.clone());
        let mut section = Vec::new();
        man.render_synopsis_section(&mut section).map_err(failed)?;
        man.render_description_section(&mut section).map_err(failed)?;
        man.render_options_section(&mut section).map_err(failed)?;
        if sub.has_subcommands() {
            man.render_subcommands_section(&mut section).map_err(failed)?;
        }
        // Sections of a command are subsections of its part of the page.
        let text = String::from_utf8_lossy(&section).replace(".SH ", ".SS ");
        page.extend_from_slice(text.as_bytes());
    }
    let page = String::from_utf8_lossy(&page).lines().map(without_reference).collect::<String>();
    Ok((page + &closing()).into_bytes())
}

/// A line of the page with its newline; a reference to a command's own page, of which there is none, is its name.
fn without_reference(line: &str) -> String {
    let name = line.strip_prefix("memgauge\\-").and_then(|rest| rest.strip_suffix("(1)"));
    name.map_or_else(|| format!("{line}\n"), |name| format!("memgauge {}\n", name.replace("\\-", " ")))
}

/// What holds for every command.
fn closing() -> String {
    format!(
        ".SH \"EXIT STATUS\"\n{}.SH FILES\n.TP\n~/.local/state/memgauge/\nReports of runs \
         without \\-\\-output (in $XDG_STATE_HOME where it is set; memgauge list runs has the place).\n.TP\nREPORT.journal.jsonl\nFinished points while a run is under way; \
         it stays where a run was killed, and goes when the report is saved.\n",
        exit::roff()
    )
}
