//! The command `memgauge list runs`: the folder of saved sessions.

use super::resume::command;
use super::saved;
use super::state::{self, Head, MAX_RUNS, SavedRun};
use super::terminal::terminal_width;
use report::{Report, RunStatus, VerdictGrade};
use serde::Serialize;
use units::counted;
use units::error::Result;

/// A saved session as listed.
#[derive(Debug, Serialize)]
pub struct RunEntry {
    /// Name that users type, such as `last~1`; `null` while the session is running.
    name: Option<String>,
    /// Start, RFC 3339, UTC; `null` if the file cannot be read.
    started: Option<String>,
    /// Model of the processor, and name of the host if known.
    machine: String,
    /// The command line.
    command: String,
    /// Verdict on the session's figures, or the reason why there is no verdict.
    verdict: String,
    /// Absolute path of the report or journal.
    file: String,
}

/// Every saved session, newest first.
pub fn entries() -> Vec<RunEntry> {
    let mut ended = 0..;
    state::runs()
        .iter()
        .map(|run| entry(run, ended.by_ref().take(usize::from(!run.under_way)).next()))
        .collect()
}

fn entry(run: &SavedRun, back: Option<usize>) -> RunEntry {
    let name = back.map(state::name_of);
    let file = run.file.to_string_lossy().into_owned();
    let head = state::head(&run.file).or_else(|| {
        let report = saved::read_quietly(&run.file)?;
        let Report {
            status,
            verdict,
            provenance,
            ..
        } = report;
        Some(Head {
            status,
            verdict,
            provenance,
        })
    });
    let Some(head) = head else {
        let verdict = if run.under_way {
            "under way"
        } else {
            "cannot be read"
        }
        .to_owned();
        return RunEntry {
            name,
            started: None,
            machine: String::new(),
            command: String::new(),
            verdict,
            file,
        };
    };
    let host = &head.provenance.host;
    let names = [host.system.hostname.get(), host.cpu.model_name.get()];
    let machine = names
        .into_iter()
        .flatten()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    RunEntry {
        name,
        started: Some(head.provenance.started.clone()),
        machine,
        command: command(&head.provenance.command_line),
        verdict: verdict(run, &head),
        file,
    }
}

fn verdict(run: &SavedRun, head: &Head) -> String {
    let measured: u64 = head.verdict.points.values().sum();
    let grade = match head.verdict.grade {
        VerdictGrade::Solid => "solid",
        VerdictGrade::Doubtful => "doubtful",
        VerdictGrade::Rejected => "rejected",
    };
    match head.status {
        _ if run.under_way => "under way".to_owned(),
        RunStatus::Interrupted => format!("unfinished, {}", counted(measured, "point")),
        RunStatus::Partial => format!("{grade}, some failed"),
        RunStatus::Complete if measured == 0 => "nothing measured".to_owned(),
        RunStatus::Complete => grade.to_owned(),
    }
}

/// The list as a table, with the path of the folder and the commands that use it.
pub fn table() -> Result<String> {
    let folder = match state::folder() {
        Ok(folder) => folder,
        Err(why) => {
            return Ok(format!(
                "no runs are saved here: {why}; -o FILE saves a report\n"
            ));
        }
    };
    let all = entries();
    if all.is_empty() {
        return Ok(format!(
            "no runs in {}: a run without -o is saved there\n",
            folder.display()
        ));
    }
    let file = |path: &str| path.rsplit(['/', '\\']).next().unwrap_or(path).to_owned();
    let dash = || "-".to_owned();
    let row = |e: RunEntry| {
        let started = e
            .started
            .map_or_else(dash, |at| at.get(..16).unwrap_or(&at).replace('T', " "));
        vec![
            e.name.unwrap_or_else(dash),
            started,
            e.machine,
            e.command,
            e.verdict,
            file(&e.file),
        ]
    };
    let rows: Vec<Vec<String>> = all.into_iter().map(row).collect();
    let text = render::list_table(
        &[
            "name",
            "started (UTC)",
            "machine",
            "command",
            "verdict",
            "file",
        ],
        &rows,
        terminal_width(),
    );
    Ok(format!(
        "{text}\nin {}; the oldest complete ones beyond {MAX_RUNS} runs are removed\nmemgauge \
         report NAME shows one, memgauge compare last~1 last compares two, --resume NAME \
         continues one\n",
        folder.display()
    ))
}
