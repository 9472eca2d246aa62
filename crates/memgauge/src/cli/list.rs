//! The command `memgauge list`: what can be measured here, and why the rest cannot.

use super::args::{ListFormat, ListOptions, Listed};
use super::catalogue::experiments;
#[cfg(feature = "storage")]
use super::engines;
use super::processors;
use super::runs;
use super::terminal::{terminal_width, to_stdout};
#[cfg(feature = "gpu")]
use super::{gpu, gpu_drivers::drivers};
use host::facts::{SystemFiles, discover};
#[cfg(feature = "gpu")]
use host::gpu::Drivers;
use kernels::{Listing, catalogue};
use serde::Serialize;
use units::error::{Error, Result};
use units::nearest_name;

/// Number of bytes of machine code in a printed line.
const BYTES_PER_LINE: usize = 16;

/// A kernel as listed.
#[derive(Debug, Serialize)]
struct KernelEntry {
    family: &'static str,
    name: String,
    does: String,
    /// Width of the registers in bits; `any` if the processor chooses it.
    bits: String,
    needs: String,
    /// Reason why the kernel cannot run here; `null` if it can.
    unavailable: Option<String>,
    /// True if no processor with this instruction set can run it.
    unsupported: bool,
    digest: Option<String>,
    /// Machine code in hexadecimal, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

/// An experiment as listed.
#[derive(Debug, Serialize)]
struct ExperimentEntry {
    name: &'static str,
    question: &'static str,
}

/// Prints the list that the options request.
pub fn list(options: &ListOptions) -> Result<()> {
    let json = options.format == ListFormat::Json;
    if let Some(name) = options
        .name
        .as_ref()
        .filter(|_| !matches!(options.what, Listed::Kernels | Listed::Processors))
    {
        return Err(Error::usage(format!(
            "too much: {name}; only kernels and processors have names; type memgauge list kernels \
             {name} or memgauge list processors {name}"
        )));
    }
    let text = match options.what {
        Listed::Kernels => {
            let chosen = chosen(options.name.as_deref())?;
            if json {
                to_json(
                    &chosen
                        .iter()
                        .map(|l| entry(l, options.code))
                        .collect::<Vec<_>>(),
                )?
            } else if options.code {
                chosen.iter().map(code).collect()
            } else {
                kernel_table(&chosen)
            }
        }
        Listed::Experiments if json => to_json(&experiment_entries())?,
        Listed::Experiments => experiment_table(),
        #[cfg(feature = "storage")]
        Listed::Engines if json => to_json(&engines::entries())?,
        #[cfg(feature = "storage")]
        Listed::Engines => engines::table(),
        #[cfg(feature = "gpu")]
        Listed::Gpus if json => to_json(&drivers()?.devices()?)?,
        #[cfg(feature = "gpu")]
        Listed::Gpus => gpu::table(&drivers()?.devices()?),
        Listed::Processors if json => to_json(&processors::entries(options.name.as_deref())?)?,
        Listed::Processors => processors::table(options.name.as_deref())?,
        Listed::Runs if json => to_json(&runs::entries())?,
        Listed::Runs => runs::table()?,
        Listed::Host if json => to_json(&discover(&SystemFiles::real()))?,
        Listed::Host => render::host_table(&discover(&SystemFiles::real()), terminal_width()),
    };
    to_stdout(text.as_bytes())
}

fn to_json(value: &impl Serialize) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| Error::failure(format!("cannot write JSON: {e}")))?;
    Ok(text + "\n")
}

/// Listings of the kernel, operation or family `name`. Without a name, the result is all listings.
/// An unknown name is an error.
fn chosen(name: Option<&str>) -> Result<Vec<Listing>> {
    let all = catalogue();
    let Some(name) = name else { return Ok(all) };
    let exactly = |l: &&Listing| l.name == name;
    let alike = |l: &&Listing| l.operation == name || l.family == name;
    let found: Vec<Listing> = match all.iter().find(exactly) {
        Some(one) => vec![one.clone()],
        None => all.iter().filter(alike).cloned().collect(),
    };
    if found.is_empty() {
        let names: Vec<&str> = all.iter().map(|l| l.name.as_str()).collect();
        let near = nearest_name(name, &names)
            .map(|n| format!("did you mean '{n}'? "))
            .unwrap_or_default();
        return Err(Error::usage(format!(
            "unknown kernel: '{name}'; {near}type memgauge list kernels for all of them"
        )));
    }
    Ok(found)
}

fn entry(l: &Listing, with_code: bool) -> KernelEntry {
    let hex = |code: &Vec<u8>| code.iter().map(|byte| format!("{byte:02x}")).collect();
    KernelEntry {
        family: l.family,
        name: l.name.clone(),
        does: l.does.clone(),
        bits: l.bits.clone(),
        needs: l.needs.clone(),
        unavailable: l.unavailable.clone(),
        unsupported: l.unsupported,
        digest: l.digest.clone(),
        code: l.code.as_ref().filter(|_| with_code).map(hex),
    }
}

/// Machine code of a kernel as lines of hexadecimal, with the command that disassembles it.
fn code(l: &Listing) -> String {
    let (Some(code), Some(digest)) = (&l.code, &l.digest) else {
        let why = l
            .unavailable
            .as_deref()
            .unwrap_or("it is not this program's code");
        return format!("# {}: no machine code: {why}\n\n", l.name);
    };
    let mut text = format!(
        "# {}: {}\n# {} bytes, digest {digest} (the first 16 digits of their SHA-256), needs {}\n\
         # to disassemble: xxd -r -p > kernel.bin, then objdump -D -b binary -m {} kernel.bin\n",
        l.name,
        l.does,
        code.len(),
        l.needs,
        objdump_machine(),
    );
    for line in code.chunks(BYTES_PER_LINE) {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        text += &(bytes.join(" ") + "\n");
    }
    text + "\n"
}

/// Name of this program's architecture for objdump.
fn objdump_machine() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "i386:x86-64",
        "x86" => "i386",
        "riscv64" => "riscv:rv64",
        other => other,
    }
}

fn kernel_table(listed: &[Listing]) -> String {
    let row = |l: &Listing| {
        let here = l.unavailable.clone().unwrap_or_else(|| "yes".to_owned());
        let digest = l.digest.clone().unwrap_or_else(|| "-".to_owned());
        vec![
            l.name.clone(),
            l.bits.clone(),
            l.needs.clone(),
            here,
            digest,
            l.does.clone(),
        ]
    };
    let rows: Vec<Vec<String>> = listed.iter().map(row).collect();
    render::list_table(
        &[
            "kernel",
            "bits",
            "needs",
            "available here",
            "digest",
            "does",
        ],
        &rows,
        terminal_width(),
    )
}

fn experiment_entries() -> Vec<ExperimentEntry> {
    experiments()
        .map(|e| ExperimentEntry {
            name: e.name,
            question: e.question,
        })
        .collect()
}

fn experiment_table() -> String {
    let rows: Vec<Vec<String>> = experiment_entries()
        .into_iter()
        .map(|e| vec![e.name.to_owned(), e.question.to_owned()])
        .collect();
    render::list_table(&["experiment", "question"], &rows, terminal_width())
}

/// The kernel list as a Markdown page. The page is the same on every machine with this instruction
/// set.
pub fn kernel_page() -> String {
    let mut page = format!(
        "# Kernels of {}\n\nGenerated by `memgauge generate kernels`; do not edit.\n\nA digest is \
         the start of SHA-256 over the kernel's machine code: equal digests mean that the same \
         instructions were timed. Reference kernels have none: they are not this program's code. \
         `memgauge list kernels NAME --code` prints the code itself.\n\n| kernel | bits | needs | \
         digest | does |\n|---|---|---|---|---|\n",
        std::env::consts::ARCH
    );
    for l in catalogue() {
        let digest = match (&l.digest, &l.unavailable) {
            (Some(digest), _) => format!("`{digest}`"),
            (None, Some(why)) if l.unsupported => format!("unsupported: {why}"),
            _ => "-".to_owned(),
        };
        page += &format!(
            "| {} | {} | {} | {digest} | {} |\n",
            l.name, l.bits, l.needs, l.does
        );
    }
    page
}
