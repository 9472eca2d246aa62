//! A trace: a text with one line for each operation on storage, for analysis or replay.

use super::reading::brief;
use serde::{Deserialize, Serialize};
use std::io::{self, BufRead, Write};

/// One operation of a trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceRecord {
    /// Number of the point in its experiment.
    pub point: u32,
    /// Number of the window, counted from the start of the session. Windows without a result are
    /// counted too.
    pub window: u64,
    /// Index of the thread that did the operation.
    pub thread: u32,
    /// `read`, `write`, `fsync` or `fdatasync`.
    pub operation: String,
    /// Time of submission, in ns since the first operation of the trace.
    pub issue_ns: u64,
    /// Time at which the operation was found complete, in ns since the first operation of the
    /// trace.
    pub complete_ns: u64,
    /// Time at which the operation was due, in ns since the first operation of the trace. Under a
    /// rate limit, the due time is at or before the submission. Without one, both times are equal.
    pub due_ns: u64,
    /// Offset in the file, in bytes.
    pub offset: u64,
    /// Number of requested bytes.
    pub size: u64,
    /// Number of bytes moved; empty if the operation failed.
    pub moved: Option<u64>,
    /// Error number of the system; empty if there was none.
    pub error: Option<i32>,
    /// Name of the file as the user gave it.
    pub file: String,
}

/// Format of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceFormat {
    /// CSV: a heading, then lines of values.
    Csv,
    /// One JSON object in each line.
    JsonLines,
}

impl TraceFormat {
    /// Returns the format for the name of a file: JSON Lines for `.jsonl` and `.json`, CSV for any
    /// other name.
    pub fn from_name(name: &str) -> Self {
        if name.ends_with(".jsonl") || name.ends_with(".json") {
            TraceFormat::JsonLines
        } else {
            TraceFormat::Csv
        }
    }
}

/// Writes the records of a trace in one format.
pub struct TraceWriter {
    format: TraceFormat,
    out: Box<dyn Write + Send>,
    begun: bool,
}

impl std::fmt::Debug for TraceWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TraceWriter")
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}

impl TraceWriter {
    /// A writer that writes one trace in `format` to `out`.
    pub fn new(format: TraceFormat, out: Box<dyn Write + Send>) -> Self {
        Self {
            format,
            out,
            begun: false,
        }
    }

    /// Writes `records` and flushes the output.
    ///
    /// # Errors
    /// A write failed.
    pub fn write(&mut self, records: &[TraceRecord]) -> io::Result<()> {
        match self.format {
            TraceFormat::JsonLines => {
                for record in records {
                    serde_json::to_writer(&mut self.out, record)?;
                    self.out.write_all(b"\n")?;
                }
            }
            TraceFormat::Csv => {
                let mut lines = csv::WriterBuilder::new()
                    .has_headers(!self.begun)
                    .from_writer(Vec::new());
                for record in records {
                    lines.serialize(record).map_err(io::Error::other)?;
                }
                self.out.write_all(
                    &lines
                        .into_inner()
                        .map_err(|e| io::Error::other(e.to_string()))?,
                )?;
                self.begun |= !records.is_empty();
            }
        }
        self.out.flush()
    }
}

/// Reads `text`, a trace in CSV or JSON Lines.
///
/// # Errors
/// The error is the number of the first invalid line, from 1, and the reason.
pub fn read_trace(text: &str) -> Result<Vec<TraceRecord>, (usize, String)> {
    if text.trim_start().starts_with('{') {
        let lines = text.as_bytes().lines().enumerate();
        let lines = lines
            .map(|(at, line)| (at + 1, line.unwrap_or_default()))
            .filter(|(_, line)| !line.trim().is_empty());
        return lines
            .map(|(at, line)| serde_json::from_str(&line).map_err(|e| (at, brief(e.to_string()))))
            .collect();
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    // The reader counts lines, because a file name may span several lines. The heading is line 1.
    let line = |e: &csv::Error| {
        e.position()
            .map_or(1, |at| usize::try_from(at.line()).unwrap_or(usize::MAX))
    };
    reader
        .deserialize()
        .map(|record| record.map_err(|e| (line(&e), brief(e.to_string()))))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn record(window: u64) -> TraceRecord {
        TraceRecord {
            point: 1,
            window,
            thread: 2,
            operation: "read".to_owned(),
            issue_ns: 3,
            complete_ns: u64::MAX,
            due_ns: 3,
            offset: 4096,
            size: 512,
            moved: (window == 0).then_some(512),
            error: (window == 1).then_some(5),
            file: "a \"strange\", name\n".to_owned(),
        }
    }

    #[test]
    fn a_trace_is_read_back_as_it_was_written() {
        for name in ["trace.csv", "trace.jsonl", "trace"] {
            let out = Shared::default();
            let mut writer = TraceWriter::new(TraceFormat::from_name(name), Box::new(out.clone()));
            writer.write(&[]).unwrap();
            writer.write(&[record(0)]).unwrap();
            writer.write(&[record(1), record(2)]).unwrap();
            let text = String::from_utf8(out.0.lock().unwrap().clone()).unwrap();
            assert_eq!(
                read_trace(&text).unwrap(),
                [record(0), record(1), record(2)],
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_trace_is_told_by_its_line() {
        assert!(matches!(read_trace("{\"point\": 1}\n"), Err((1, _))));
        assert!(matches!(read_trace("a,b\n1,2\n"), Err((2, _))));
        assert_eq!(read_trace(""), Ok(Vec::new()));
        // A file name of two lines, then an invalid line. The error quotes only a part of it.
        let heading = "point,window,thread,operation,issue_ns,complete_ns,due_ns,offset,size,moved,error,file\n";
        let broken = format!(
            "{heading}0,0,0,read,1,2,1,0,512,512,,\"a\nb\"\n0,0,0,read,x,2,1,0,512,512,,a\n"
        );
        assert!(
            matches!(read_trace(&broken), Err((4, _))),
            "{:?}",
            read_trace(&broken)
        );
        let long = format!("{{\"point\": \"{}\"}}", "x".repeat(10_000));
        assert!(read_trace(&long).unwrap_err().1.chars().count() < 300);
    }
}
