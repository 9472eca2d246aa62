//! Reads recorded operations: a file of `--trace`, or the output of `blkparse` for a trace of
//! blktrace.

use super::settings::Settings;
use crate::work::Step;
use report::{TraceRecord, read_trace};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use units::Nanos;
use units::error::{Error, Result};

/// Bytes of a sector in the records of blktrace. The size is the same for every device
/// (documentation of blktrace, blkparse(1)).
const SECTOR: u64 = 512;

/// Size of the largest operation that is accepted, in bytes. No device records a larger operation.
const LARGEST: u64 = 1 << 30;

/// Content of a trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Path of the trace.
    path: PathBuf,
    /// Names of files or devices in the trace, in the order of their first operation.
    names: Vec<String>,
    /// Index in `names` of each name.
    places: BTreeMap<String, usize>,
    /// True if the names are paths of files.
    are_paths: bool,
    /// Operations in the order of their submission. The file of an operation is an index into
    /// `names`.
    pub steps: Vec<Step>,
    /// Number of records that are neither reads nor writes.
    others: u64,
}

/// Parses `text`, the content of the trace `path`, in any of the known formats.
pub fn parse_trace(path: &Path, text: &str) -> Result<Recorded> {
    let wrong = |why: String| {
        Error::usage(format!(
            "cannot replay: '{}': {why}; a trace is what --trace writes or blkparse prints; type \
             the name of one",
            path.display()
        ))
    };
    let start = text.trim_start();
    let mut recorded = Recorded {
        path: path.to_owned(),
        names: Vec::new(),
        places: BTreeMap::new(),
        are_paths: true,
        steps: Vec::new(),
        others: 0,
    };
    if start.starts_with('{') || start.starts_with("point,") {
        let records =
            read_trace(text).map_err(|(line, why)| wrong(format!("line {line}: {why}")))?;
        recorded.add_own(records);
    } else {
        recorded.are_paths = false;
        recorded.add_blkparse(text);
    }
    if recorded.steps.is_empty() {
        return Err(wrong("it has no reads and no writes".to_owned()));
    }
    recorded.put_in_order();
    Ok(recorded)
}

impl Recorded {
    fn add_own(&mut self, records: Vec<TraceRecord>) {
        for record in records {
            let write = record.operation == "write";
            let sound =
                record.size > 0 && record.size <= LARGEST && (write || record.operation == "read");
            self.add(
                sound,
                &record.file,
                (record.offset, record.size, write, record.issue_ns),
            );
        }
    }

    /// Adds the lines of `blkparse`, like `8,0 3 11 0.009507758 697 D W 223490 + 8 [kjournald]`.
    /// The fields are device, CPU, sequence number, time, process, action, kind, sector, sectors.
    /// Lines with action `D` count, which record that the driver gets an operation. If there are no
    /// such lines, lines with action `Q` count, which record that the operating system queues an
    /// operation.
    fn add_blkparse(&mut self, text: &str) {
        let lines = || text.lines().filter_map(Event::read);
        let action = if lines().any(|event| event.action == "D") {
            "D"
        } else {
            "Q"
        };
        for event in lines().filter(|event| event.action == action) {
            let discard = event.kind.contains('D');
            let write = event.kind.contains('W');
            let bytes = event
                .sectors
                .checked_mul(SECTOR)
                .filter(|&b| b > 0 && b <= LARGEST);
            let offset = event.sector.checked_mul(SECTOR);
            let sound = !discard && (write || event.kind.contains('R'));
            let at = offset.zip(bytes).filter(|_| sound);
            let (offset, bytes) = at.unwrap_or_default();
            self.add(
                at.is_some(),
                event.device,
                (offset, bytes, write, event.nanos),
            );
        }
    }

    fn add(
        &mut self,
        sound: bool,
        name: &str,
        (offset, size, write, nanos): (u64, u64, bool, u64),
    ) {
        let Some(bytes) = usize::try_from(size).ok().filter(|_| sound) else {
            self.others += 1;
            return;
        };
        let file = self.places.get(name).copied().unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.places.insert(name.to_owned(), self.names.len() - 1);
            self.names.len() - 1
        });
        self.steps.push(Step {
            file,
            offset,
            bytes,
            write,
            recorded: Some(nanos),
        });
    }

    /// Sorts the operations by time. The time of the first operation becomes 0.
    fn put_in_order(&mut self) {
        self.steps.sort_by_key(|step| step.recorded);
        let first = self
            .steps
            .first()
            .and_then(|step| step.recorded)
            .unwrap_or(0);
        for step in &mut self.steps {
            step.recorded = step.recorded.map(|nanos| nanos - first);
        }
    }

    /// Time from the first operation to the last one.
    pub fn duration(&self) -> Nanos {
        Nanos(
            self.steps
                .last()
                .and_then(|step| step.recorded)
                .unwrap_or(0) as f64,
        )
    }

    /// Files of the operations: the `given` files if there are any, otherwise the files of the
    /// trace. The first given file stands for the first name in the trace, and so on. Names are in
    /// the order of their first operation. Fails if the number of files does not match.
    pub fn paths(&self, given: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let wanted = self.names.len();
        let trace = self.path.display();
        match given.len() {
            n if n == wanted => Ok(given.to_vec()),
            0 if self.are_paths => Ok(self.names.iter().map(PathBuf::from).collect()),
            n => Err(Error::usage(format!(
                "cannot replay {trace}: {n} files are named; it is of {wanted} ({}); type a name \
                 for each, in this order",
                self.some_names()
            ))),
        }
    }

    /// The first few names in the trace, shortened for a message.
    fn some_names(&self) -> String {
        const MOST: usize = 5;
        let mut all: Vec<String> = self
            .names
            .iter()
            .take(MOST)
            .map(|name| name.chars().take(60).collect())
            .collect();
        all.extend((self.names.len() > MOST).then(|| "...".to_owned()));
        all.join(", ")
    }

    /// Sentences about records that are not replayed.
    pub fn remarks(&self, settings: &Settings) -> Vec<String> {
        let mut all = Vec::new();
        let trace = self.path.display();
        if self.others > 0 {
            all.push(format!(
                "{trace}: {} operations that neither read nor write are left out",
                self.others
            ));
        }
        let writes = self.steps.iter().filter(|step| step.write).count();
        if writes > 0 && settings.create.is_none() && settings.destroy_data.is_empty() {
            all.push(format!(
                "{trace}: {writes} writes are left out; --destroy-data FILE lets \
                 them overwrite FILE"
            ));
        }
        all
    }
}

/// The fields of a line of `blkparse` that are used.
struct Event<'a> {
    device: &'a str,
    nanos: u64,
    action: &'a str,
    kind: &'a str,
    sector: u64,
    sectors: u64,
}

impl<'a> Event<'a> {
    /// Parses a line. `None` for a line without sectors, such as a message, a plug or the summary.
    fn read(line: &'a str) -> Option<Self> {
        let words: Vec<&str> = line.split_whitespace().take(10).collect();
        let &[
            device,
            _cpu,
            _number,
            time,
            _process,
            action,
            kind,
            sector,
            "+",
            sectors,
        ] = words.as_slice()
        else {
            return None;
        };
        let (major, minor) = device.split_once(',')?;
        let numbers = major.parse::<u32>().is_ok() && minor.parse::<u32>().is_ok();
        let (seconds, fraction) = time.split_once('.')?;
        let digits = fraction.len() == 9 && fraction.bytes().all(|b| b.is_ascii_digit());
        let nanos = seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?;
        let nanos = nanos.checked_add(fraction.parse().ok()?)?;
        let sector = sector.parse().ok()?;
        let sectors = sectors.parse().ok()?;
        (numbers && digits).then_some(Event {
            device,
            nanos,
            action,
            kind,
            sector,
            sectors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLKPARSE: &str = "
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  P   N [kjournald]
  8,0    3        3     0.000005000   697  D   W 223490 + 8 [kjournald]
  8,0    1        4     0.000004000   698  D  RA 1000 + 256 [cat]
  8,0    1        5     0.000009000   698  D  DS 0 + 8 [fstrim]
  8,0    1        6     1.500000000   698  D FWS 8 + 16 [cat]
  8,0    1        7     1.600000000   698  C   R 1000 + 256 [0]
CPU0 (8,0):
 Reads Queued:           0,        0KiB	 Writes Queued:           1,        4KiB
";

    #[test]
    fn what_blkparse_prints_is_read() {
        let recorded = parse_trace(Path::new("trace"), BLKPARSE).unwrap();
        let step = |offset: u64, bytes, write, nanos| Step {
            file: 0,
            offset: offset * 512,
            bytes,
            write,
            recorded: Some(nanos),
        };
        let expected = [
            step(1000, 131_072, false, 0),
            step(223_490, 4096, true, 1000),
            step(8, 8192, true, 1_499_996_000),
        ];
        assert_eq!(
            (recorded.steps.as_slice(), recorded.others),
            (expected.as_slice(), 1)
        );
        assert_eq!(recorded.names, ["8,0"]);
        assert_eq!(
            recorded.paths(&[PathBuf::from("disk")]).unwrap(),
            [PathBuf::from("disk")]
        );
        assert!(
            recorded
                .paths(&[])
                .unwrap_err()
                .to_string()
                .contains("it is of 1 (8,0)")
        );
    }

    #[test]
    fn without_issues_what_was_queued_counts() {
        let queued = "8,16 0 1 0.000000001 1 Q R 0 + 8 [a]\n8,16 0 2 0.000000003 1 Q R 8 + 8 [a]\n";
        let recorded = parse_trace(Path::new("trace"), queued).unwrap();
        assert_eq!((recorded.steps.len(), recorded.duration()), (2, Nanos(2.0)));
    }

    #[test]
    fn own_traces_are_read_and_ordered_by_time() {
        let heading = "point,window,thread,operation,issue_ns,complete_ns,due_ns,offset,size,moved,error,file\n";
        let lines = "0,0,0,read,500,900,500,4096,512,512,,b\n0,0,0,write,100,900,100,0,1024,,5,\
             a\n0,0,0,fsync,1,2,1,0,0,0,,a\n";
        let recorded = parse_trace(Path::new("trace"), &format!("{heading}{lines}")).unwrap();
        assert_eq!(recorded.names, ["b", "a"]);
        let all: Vec<_> = recorded
            .steps
            .iter()
            .map(|s| (s.file, s.offset, s.write, s.recorded))
            .collect();
        assert_eq!(all, [(1, 0, true, Some(0)), (0, 4096, false, Some(400))]);
        assert_eq!((recorded.others, recorded.duration()), (1, Nanos(400.0)));
        assert_eq!(
            recorded.paths(&[]).unwrap(),
            [PathBuf::from("b"), PathBuf::from("a")]
        );
    }

    #[test]
    fn of_many_names_some_are_told() {
        let line = |n: u32| format!("8,{n} 0 1 0.00000000{} 1 D R 0 + 8 [a]\n", n % 10);
        let recorded =
            parse_trace(Path::new("trace"), &(0..1000).map(line).collect::<String>()).unwrap();
        let why = recorded.paths(&[]).unwrap_err().to_string();
        assert!(
            why.contains("it is of 1000 (8,0, 8,1, 8,2, 8,3, 8,4, ...)"),
            "{why}"
        );
    }

    #[test]
    fn what_is_no_trace_is_refused() {
        for text in [
            "",
            "hello\n",
            "point,window\n1,2\n",
            "{}",
            "8,0 1 1 0.5 1 D R 0 + 8 [x]",
            "8,0 1 1 0.000000000 1 D R 0 + 0 [x]",
        ] {
            let why = parse_trace(Path::new("odd"), text).unwrap_err().to_string();
            assert!(why.starts_with("cannot replay: 'odd'"), "{text}: {why}");
        }
        let huge =
            "8,0 1 1 18446744073.999999999 1 D R 18446744073709551615 + 18446744073709551615 [x]";
        assert!(parse_trace(Path::new("odd"), huge).is_err());
    }
}
