//! The part of a report that a verdict on many machines needs, read without the other parts.
//!
//! Samples, most evidence and topology are skipped while the text is read. A report of megabytes
//! therefore takes only as much memory as its figures.

use super::journal::is_journal_line;
use super::reading::{LARGEST_REPORT, brief, newer};
use super::store::parse_saved;
use super::{
    Coordinate, Coordinates, Launch, MemoryBus, Report, SCHEMA_VERSION, VcpuPlacement, VerdictGrade,
};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::io::{self, BufRead, Read};
use units::Bytes;

/// Longest text of a report that is kept whole in memory. A longer report is read piece by piece.
const LONGEST_TEXT: Bytes = Bytes::mib(32);

/// Largest number of points of a report. A report with more points is not read. The profiles of
/// memgauge measure less than a tenth of this number.
const MAX_POINTS: usize = 20_000;

/// Longest name or setting that is kept, in characters.
const LONGEST_NAME: usize = 200;

/// Axis that is added for the placement of vCPUs. Figures at different placements count as
/// different quantities.
const PLACEMENT: &str = "placement";

/// Largest number of coordinates that are kept of one point. Further coordinates are dropped.
const MAX_AXES: usize = 24;

/// Figures of one machine, and the facts that distinguish it from other machines.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeReport {
    /// Name of the machine from the launcher, or else from the system; `None` if neither reports
    /// it. If all processes on the machine measured, each name has the rank of its process.
    pub host: Option<String>,
    /// Start of the session, RFC 3339, UTC.
    pub started: String,
    /// Hardware of the machine.
    pub hardware: NodeHardware,
    /// Known settings of the system, by name.
    pub settings: Vec<(&'static str, String)>,
    /// Measured points, without rejected, auxiliary and derived ones.
    pub values: Vec<NodeValue>,
    /// Number of rejected points, which `values` does not have.
    pub rejected: u64,
}

/// Facts that must agree for machines to count as equal. Unknown facts are `None`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeHardware {
    /// Instruction set architecture.
    pub architecture: String,
    /// Whether instructions ran natively or emulated, or the session was simulated.
    pub machine: String,
    /// Model name as the processor reports it.
    pub model: Option<String>,
    /// Family, model and stepping.
    pub signature: Option<String>,
    /// Design of the core.
    pub core_design: Option<String>,
    /// Number of CPUs that the process was allowed to use.
    pub cpus: u64,
    /// Memory of the whole machine.
    pub memory: Option<Bytes>,
    /// Channels to the memory modules, with their transfer rate.
    pub modules: Option<MemoryBus>,
    /// Operating system.
    pub os: String,
    /// Release of the kernel.
    pub kernel: Option<String>,
    /// Hypervisor; `none` on bare metal.
    pub virtualization: Option<String>,
}

/// A measured value of one machine.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeValue {
    /// Name of the experiment.
    pub experiment: String,
    /// Name of the quantity.
    pub quantity: String,
    /// Base unit.
    pub unit: String,
    /// True if more is better.
    pub higher_is_better: bool,
    /// Coordinates as measured.
    pub coordinates: Coordinates,
    /// Median, finite and above 0.
    pub median: f64,
    /// Half of the 95% confidence interval divided by the median; `None` if unknown.
    pub spread: Option<f64>,
    /// How far the value can be trusted.
    pub grade: VerdictGrade,
}

/// Reads the reports in `input`: one report, or JSON Lines with a report in each line. `each` gets
/// the number of a line, from 1, and the report or the error of this line. Reading goes on after a
/// faulty line. The number is 0 if the input is a single report.
pub fn read_node_reports(
    mut input: impl BufRead,
    each: &mut dyn FnMut(u64, Result<NodeReport, String>),
) {
    let mut line = Vec::new();
    match read_line(&mut input, &mut line) {
        Err(error) => return each(0, Err(error.to_string())),
        Ok(LineEnd::Long) => {
            let rest = line.as_slice().chain(input);
            return each(0, from_reader(rest));
        }
        Ok(LineEnd::Whole | LineEnd::Last) => {}
    }
    if line.trim_ascii_start().first() != Some(&b'{') && !line.trim_ascii().is_empty() {
        return each(0, Err("not a memgauge report: it is not JSON".to_owned()));
    }
    // In most inputs the first line is a whole report, so this case is tried first.
    let first = from_text(&line);
    if first.is_err() {
        if is_journal_line(&line) {
            return each(0, from_journal(line.as_slice().chain(input)));
        }
        // The first line of an indented report is no whole value. Its second line is indented.
        let is_whole = serde_json::from_slice::<IgnoredAny>(&line).is_ok();
        if !is_whole
            && input
                .fill_buf()
                .is_ok_and(|next| next.first() != Some(&b'{'))
        {
            return each(0, from_indented(line, input));
        }
    }
    if is_at_end(&mut input) {
        return each(0, first);
    }
    if !line.trim_ascii().is_empty() {
        each(1, first);
    }
    let mut number = 1;
    loop {
        number += 1;
        match read_line(&mut input, &mut line) {
            Ok(LineEnd::Last) if line.is_empty() => return,
            Ok(LineEnd::Whole | LineEnd::Last) if line.trim_ascii().is_empty() => {}
            Ok(LineEnd::Whole | LineEnd::Last) => each(number, from_text(&line)),
            Ok(LineEnd::Long) => {
                each(number, Err(format!("a line longer than {LONGEST_TEXT}")));
                if skip_line(&mut input).is_err() {
                    return;
                }
            }
            Err(error) => return each(number, Err(error.to_string())),
        }
    }
}

/// How the reading of a line ended.
#[derive(Debug, PartialEq, Eq)]
enum LineEnd {
    /// The line ended at a line break.
    Whole,
    /// The line ended at the end of the input.
    Last,
    /// The line was cut at the largest length.
    Long,
}

/// Replaces `line` by the next line of `input`.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineEnd> {
    line.clear();
    input
        .by_ref()
        .take(LONGEST_TEXT.0)
        .read_until(b'\n', line)?;
    Ok(match line.last() {
        Some(b'\n') => LineEnd::Whole,
        _ if line.len() as u64 >= LONGEST_TEXT.0 => LineEnd::Long,
        _ => LineEnd::Last,
    })
}

/// Skips the rest of a line.
fn skip_line(input: &mut impl BufRead) -> io::Result<()> {
    loop {
        let buffer = input.fill_buf()?;
        let length = buffer.len();
        let end = buffer.iter().position(|byte| *byte == b'\n');
        input.consume(end.map_or(length, |end| end + 1));
        if end.is_some() || length == 0 {
            return Ok(());
        }
    }
}

/// True if `input` has nothing left but white space.
fn is_at_end(input: &mut impl BufRead) -> bool {
    loop {
        match input.fill_buf() {
            Ok([]) => return true,
            Ok(buffer) if buffer.trim_ascii().is_empty() => {
                let length = buffer.len();
                input.consume(length);
            }
            _ => return false,
        }
    }
}

/// Reads an indented report. Its first line was read before and is in `start`.
fn from_indented(start: Vec<u8>, mut rest: impl BufRead) -> Result<NodeReport, String> {
    let mut text = start;
    let left = LONGEST_TEXT.0.saturating_sub(text.len() as u64);
    let read = rest.by_ref().take(left).read_to_end(&mut text);
    read.map_err(|e| e.to_string())?;
    if (text.len() as u64) < LONGEST_TEXT.0 {
        return from_text(&text);
    }
    from_reader(text.as_slice().chain(rest))
}

/// Reads a report whose whole text is in memory.
fn from_text(text: &[u8]) -> Result<NodeReport, String> {
    match serde_json::from_slice::<SlimReport>(text) {
        Ok(report) => report.into_node(),
        Err(error) => Err(match serde_json::from_slice::<SchemaOnly>(text) {
            Ok(SchemaOnly { schema_version }) if schema_version > SCHEMA_VERSION => {
                newer(schema_version)
            }
            _ => brief(format!("not a memgauge report: {error}")),
        }),
    }
}

/// Reads a report piece by piece, up to the size limit.
fn from_reader(input: impl Read) -> Result<NodeReport, String> {
    let mut limited = io::BufReader::new(input.take(LARGEST_REPORT.0 + 1));
    let report = serde_json::from_reader::<_, SlimReport>(&mut limited);
    if limited.get_ref().limit() == 0 {
        return Err(format!("larger than {LARGEST_REPORT}, not a report"));
    }
    report
        .map_err(|e| brief(format!("not a memgauge report: {e}")))?
        .into_node()
}

/// Reads the report in a journal.
fn from_journal(input: impl BufRead) -> Result<NodeReport, String> {
    node_report(&parse_saved(input)?.into_report())
}

/// Returns the part of `report` that a verdict on many machines needs.
///
/// # Errors
/// The report has too many points.
pub fn node_report(report: &Report) -> Result<NodeReport, String> {
    let text = serde_json::to_vec(report).map_err(|e| e.to_string())?;
    from_text(&text)
}

#[derive(Deserialize)]
struct SchemaOnly {
    schema_version: u32,
}

/// A fact without its source.
#[derive(Deserialize)]
struct SlimFact<T> {
    value: Option<T>,
}

impl<T> Default for SlimFact<T> {
    fn default() -> Self {
        Self { value: None }
    }
}

#[derive(Deserialize)]
struct SlimReport {
    schema_version: u32,
    provenance: SlimProvenance,
    datasets: Vec<SlimDataset>,
}

#[derive(Deserialize)]
struct SlimProvenance {
    tool: SlimTool,
    started: String,
    #[serde(default)]
    launch: Option<Launch>,
    host: SlimHost,
}

#[derive(Deserialize)]
struct SlimTool {
    name: String,
    version: String,
    machine: String,
}

#[derive(Deserialize)]
struct SlimHost {
    cpu: SlimCpu,
    #[serde(default)]
    topology: SlimTopology,
    #[serde(default)]
    memory: SlimMemory,
    #[serde(default)]
    pages: SlimPages,
    system: SlimSystem,
    #[serde(default)]
    environment: SlimEnvironment,
}

#[derive(Deserialize)]
struct SlimCpu {
    architecture: String,
    #[serde(default)]
    model_name: SlimFact<String>,
    #[serde(default)]
    signature: SlimFact<String>,
    #[serde(default)]
    microarchitecture: SlimFact<String>,
    #[serde(default)]
    microcode: SlimFact<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlimTopology {
    /// Number of CPUs that the process was allowed to use.
    #[serde(deserialize_with = "allowed_cpus")]
    cpus: u64,
    #[serde(deserialize_with = "length")]
    nodes: u64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlimMemory {
    total: SlimFact<Bytes>,
    bus: SlimFact<MemoryBus>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlimPages {
    thp_mode: SlimFact<String>,
    thp_defrag: SlimFact<String>,
}

#[derive(Deserialize)]
struct SlimSystem {
    os: String,
    #[serde(default)]
    kernel: SlimFact<String>,
    #[serde(default)]
    hostname: SlimFact<String>,
    #[serde(default)]
    virtualization: SlimFact<String>,
    #[serde(default)]
    container: SlimFact<String>,
    #[serde(default)]
    cpu_quota: SlimFact<f64>,
    #[serde(default)]
    firmware: SlimFact<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlimEnvironment {
    governor: SlimFact<String>,
    turbo: SlimFact<bool>,
    smt: SlimFact<bool>,
    numa_balancing: SlimFact<bool>,
    mitigations: SlimFact<Vec<String>>,
}

#[derive(Deserialize)]
struct SlimDataset {
    experiment: String,
    quantity: SlimQuantity,
    points: Vec<SlimPoint>,
    #[serde(default)]
    auxiliary: bool,
    #[serde(default)]
    derived: bool,
}

#[derive(Deserialize)]
struct SlimQuantity {
    name: String,
    unit: String,
    higher_is_better: bool,
}

#[derive(Deserialize)]
struct SlimPoint {
    #[serde(deserialize_with = "kept_coordinates")]
    coordinates: Coordinates,
    outcome: SlimOutcome,
}

#[derive(Deserialize)]
struct SlimOutcome {
    #[serde(default)]
    summary: Option<SlimSummary>,
    #[serde(default)]
    verdict: Option<SlimVerdict>,
    #[serde(default)]
    evidence: Option<SlimEvidence>,
}

#[derive(Deserialize)]
struct SlimEvidence {
    #[serde(default)]
    vcpu_placement: Option<SlimPlacement>,
}

#[derive(Deserialize)]
struct SlimPlacement {
    /// The figures by placement of vCPUs. The first placement is the one that the summary uses.
    #[serde(default)]
    strata: Vec<SlimStratum>,
}

#[derive(Deserialize)]
struct SlimStratum {
    placement: VcpuPlacement,
}

impl SlimOutcome {
    /// Placement of the vCPUs in the rounds of the summary; `None` if it was not measured.
    fn placement(&self) -> Option<VcpuPlacement> {
        let strata = &self.evidence.as_ref()?.vcpu_placement.as_ref()?.strata;
        Some(strata.first()?.placement)
    }
}

#[derive(Deserialize)]
struct SlimSummary {
    median: f64,
    ci_low: f64,
    ci_high: f64,
    #[serde(default = "known")]
    confidence: f64,
}

#[derive(Deserialize)]
struct SlimVerdict {
    grade: VerdictGrade,
}

/// Confidence of an interval in a report that does not state it. Any number above 0 means that the
/// interval is known.
fn known() -> f64 {
    1.0
}

/// Number of CPUs in the list that the process was allowed to use.
fn allowed_cpus<'de, D: Deserializer<'de>>(list: D) -> Result<u64, D::Error> {
    #[derive(Deserialize)]
    struct SlimCpuEntry {
        allowed: bool,
    }
    struct Allowed;
    impl<'de> Visitor<'de> for Allowed {
        type Value = u64;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list of CPUs")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u64, A::Error> {
            let mut count = 0;
            while let Some(cpu) = list.next_element::<SlimCpuEntry>()? {
                count += u64::from(cpu.allowed);
            }
            Ok(count)
        }
    }
    list.deserialize_seq(Allowed)
}

/// Counts the elements of a list without keeping them.
fn length<'de, D: Deserializer<'de>>(list: D) -> Result<u64, D::Error> {
    struct Length;
    impl<'de> Visitor<'de> for Length {
        type Value = u64;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<u64, A::Error> {
            let mut count = 0;
            while list.next_element::<IgnoredAny>()?.is_some() {
                count += 1;
            }
            Ok(count)
        }
    }
    list.deserialize_seq(Length)
}

impl SlimReport {
    /// Converts this report to the figures and facts to keep. A newer schema version is an error,
    /// and so are too many points.
    fn into_node(self) -> Result<NodeReport, String> {
        if self.schema_version > SCHEMA_VERSION {
            return Err(newer(self.schema_version));
        }
        let points: usize = self.datasets.iter().map(|d| d.points.len()).sum();
        if points > MAX_POINTS {
            return Err(format!("{points} points; at most {MAX_POINTS} are read"));
        }
        let mut values = Vec::new();
        let mut rejected = 0;
        for dataset in self.datasets {
            if dataset.auxiliary || dataset.derived {
                continue;
            }
            let SlimQuantity {
                name,
                unit,
                higher_is_better,
            } = dataset.quantity;
            let experiment = kept(dataset.experiment);
            let quantity = kept(name);
            let unit = kept(unit);
            for mut point in dataset.points {
                if let Some(placement) = point.outcome.placement() {
                    let at = Coordinate::Name(placement.to_string());
                    point.coordinates.insert(PLACEMENT.to_owned(), at);
                }
                let Some((summary, verdict)) = point.outcome.summary.zip(point.outcome.verdict)
                else {
                    continue;
                };
                let is_number = summary.median.is_finite() && summary.median > 0.0;
                if verdict.grade == VerdictGrade::Rejected || !is_number {
                    rejected += 1;
                    continue;
                }
                values.push(NodeValue {
                    experiment: experiment.clone(),
                    quantity: quantity.clone(),
                    unit: unit.clone(),
                    higher_is_better,
                    coordinates: point.coordinates,
                    median: summary.median,
                    spread: summary.spread(),
                    grade: verdict.grade,
                });
            }
        }
        let settings = self.provenance.settings();
        let SlimProvenance {
            tool,
            started,
            launch,
            host,
        } = self.provenance;
        let name = name(launch, host.system.hostname.value);
        Ok(NodeReport {
            host: name.map(kept),
            started: kept(started),
            hardware: NodeHardware {
                architecture: kept(host.cpu.architecture),
                machine: kept(tool.machine),
                model: host.cpu.model_name.value.map(kept),
                signature: host.cpu.signature.value.map(kept),
                core_design: host.cpu.microarchitecture.value.map(kept),
                cpus: host.topology.cpus,
                memory: host.memory.total.value,
                modules: host.memory.bus.value,
                os: kept(host.system.os),
                kernel: host.system.kernel.value.map(kept),
                virtualization: host.system.virtualization.value.map(kept),
            },
            settings,
            values,
            rejected,
        })
    }
}

/// Name of a machine: the launcher's name, or else `hostname`. The rank is appended if all ranks
/// measured. `None` if both names are unknown.
fn name(launch: Option<Launch>, hostname: Option<String>) -> Option<String> {
    let launch = launch.unwrap_or_default();
    let name = launch.node.or(hostname)?;
    let rank = launch.local_rank.filter(|_| launch.all_ranks);
    Some(rank.map_or(name.clone(), |rank| format!("{name} rank {rank}")))
}

impl SlimProvenance {
    /// Number of processes of a job that measured at the same time on this machine; `None` if only
    /// one measured.
    fn measuring(&self) -> Option<String> {
        let launch = self.launch.as_ref().filter(|launch| launch.all_ranks)?;
        launch.local_ranks.map(|ranks| ranks.to_string())
    }

    /// Known settings by name. Settings that explain a difference more often come first.
    fn settings(&self) -> Vec<(&'static str, String)> {
        let host = &self.host;
        let text = |fact: &SlimFact<String>| fact.value.clone();
        let switch = |fact: &SlimFact<bool>| {
            fact.value
                .map(|on| if on { "on" } else { "off" }.to_owned())
        };
        let mitigations = &host.environment.mitigations.value;
        let all = [
            ("firmware", text(&host.system.firmware)),
            ("microcode", text(&host.cpu.microcode)),
            ("governor", text(&host.environment.governor)),
            ("turbo", switch(&host.environment.turbo)),
            ("SMT", switch(&host.environment.smt)),
            ("NUMA nodes", Some(host.topology.nodes.to_string())),
            ("NUMA balancing", switch(&host.environment.numa_balancing)),
            ("transparent huge pages", text(&host.pages.thp_mode)),
            (
                "defragmentation of huge pages",
                text(&host.pages.thp_defrag),
            ),
            ("kernel", text(&host.system.kernel)),
            (
                "mitigations",
                mitigations.as_ref().map(|list| list.join(", ")),
            ),
            (
                "CPU quota",
                host.system.cpu_quota.value.map(|cpus| cpus.to_string()),
            ),
            ("container", text(&host.system.container)),
            ("ranks that measured at the same time", self.measuring()),
            (
                "program",
                Some(format!("{} {}", self.tool.name, self.tool.version)),
            ),
        ];
        all.into_iter()
            .filter_map(|(name, value)| Some((name, kept(value?))))
            .collect()
    }
}

impl SlimSummary {
    /// Half the width of the interval divided by the median; `None` if unknown.
    fn spread(&self) -> Option<f64> {
        let share = (self.ci_high / 2.0 - self.ci_low / 2.0) / self.median;
        (self.confidence > 0.0 && share.is_finite() && share >= 0.0).then_some(share)
    }
}

/// `text`, cut to the longest length of a name.
fn kept(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_NAME) {
        text.truncate(end);
        text.shrink_to_fit();
    }
    text
}

/// Reads coordinates. Names are cut to the longest length. Coordinates take most of the memory kept
/// of a report, and the derived reader of [`Coordinate`] would copy each coordinate twice.
fn kept_coordinates<'de, D: Deserializer<'de>>(map: D) -> Result<Coordinates, D::Error> {
    struct Kept;
    impl<'de> Visitor<'de> for Kept {
        type Value = Coordinates;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("coordinates")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Coordinates, A::Error> {
            let mut all = Coordinates::new();
            while let Some((axis, SlimCoordinate(at))) = map.next_entry::<String, _>()? {
                if all.len() < MAX_AXES {
                    all.insert(kept(axis), at);
                }
            }
            Ok(all)
        }
    }
    map.deserialize_map(Kept)
}

/// A coordinate that is read without copying its text twice.
struct SlimCoordinate(Coordinate);

impl<'de> Deserialize<'de> for SlimCoordinate {
    fn deserialize<D: Deserializer<'de>>(value: D) -> Result<Self, D::Error> {
        struct Either;
        impl Visitor<'_> for Either {
            type Value = SlimCoordinate;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a number or a name")
            }

            fn visit_u64<E>(self, number: u64) -> Result<SlimCoordinate, E> {
                Ok(SlimCoordinate(Coordinate::Number(number)))
            }

            fn visit_str<E>(self, name: &str) -> Result<SlimCoordinate, E> {
                Ok(SlimCoordinate(Coordinate::Name(kept(name.to_owned()))))
            }
        }
        value.deserialize_any(Either)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report with one point in a single line.
    fn report(host: &str, median: &str) -> String {
        let cpu = r#"{"architecture":"x86_64","model_name":{"value":"M","source":"s"}}"#;
        let topology = r#"{"cpus":[{"id":0,"allowed":true},{"allowed":false}],"nodes":[{}]}"#;
        let memory = r#"{"total":{"value":1073741824,"source":""}}"#;
        let system = format!(r#"{{"os":"linux","hostname":{{"value":"{host}","source":""}}}}"#);
        let host =
            format!(r#"{{"cpu":{cpu},"topology":{topology},"memory":{memory},"system":{system}}}"#);
        let tool = r#"{"name":"memgauge","version":"1","machine":"native"}"#;
        let started = "2026-01-01T00:00:00Z";
        let provenance = format!(r#"{{"tool":{tool},"started":"{started}","host":{host}}}"#);
        let summary = format!(r#"{{"median":{median},"ci_low":0.9,"ci_high":1.1}}"#);
        let verdict = r#"{"grade":"doubtful","reasons":[]}"#;
        let outcome = format!(r#"{{"summary":{summary},"samples":[1,2],"verdict":{verdict}}}"#);
        let at = r#"{"level":"L1","size_bytes":1}"#;
        let skipped = r#"{"coordinates":{},"outcome":{"status":"skipped","reason":"r"}}"#;
        let points = format!(r#"[{{"coordinates":{at},"outcome":{outcome}}},{skipped}]"#);
        let quantity = r#"{"name":"latency","unit":"ns","higher_is_better":false}"#;
        let dataset = format!(
            r#"{{"experiment":"latency","quantity":{quantity},"axes":[],"points":{points}}}"#
        );
        format!(
            r#"{{"schema_version":{SCHEMA_VERSION},"provenance":{provenance},"datasets":[{dataset}]}}"#
        )
    }

    fn read(text: &str) -> Vec<(u64, Result<NodeReport, String>)> {
        let mut all = Vec::new();
        read_node_reports(text.as_bytes(), &mut |line, report| {
            all.push((line, report));
        });
        all
    }

    #[test]
    fn figures_and_facts_are_kept() {
        let all = read(&report("a", "1.0"));
        let (0, Ok(one)) = &all[0] else {
            panic!("{all:?}")
        };
        assert_eq!((one.host.as_deref(), one.hardware.cpus), (Some("a"), 1));
        assert_eq!(one.hardware.model.as_deref(), Some("M"));
        assert_eq!(one.values.len(), 1);
        assert_eq!(one.values[0].grade, VerdictGrade::Doubtful);
        assert!((one.values[0].spread.expect("a spread") - 0.1).abs() < 1e-12);
    }

    #[test]
    fn lines_after_a_faulty_one_are_read() {
        let text = [
            &report("a", "1.0"),
            "{\"schema_version\":",
            r#"{"schema_version":999}"#,
            "",
            &report("b", "2.0"),
        ]
        .join("\n");
        let all = read(&text);
        let lines: Vec<u64> = all.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 5]);
        assert!(all[0].1.is_ok() && all[3].1.is_ok());
        assert!(all[1].1.as_ref().is_err_and(|why| why.contains("EOF")));
        assert!(all[2].1.as_ref().is_err_and(|why| why.contains("newer")));
    }

    #[test]
    fn a_faulty_first_line_costs_no_other() {
        let text = ["{\"schema_version\":", &report("b", "2.0")].join("\n");
        let all = read(&text);
        assert!(matches!(all[..], [(1, Err(_)), (2, Ok(_))]), "{all:?}");
    }

    #[test]
    fn indented_and_broken_reports() {
        let value: serde_json::Value = serde_json::from_str(&report("a", "1.0")).expect("JSON");
        let text = serde_json::to_string_pretty(&value).expect("text");
        assert!(matches!(read(&text)[..], [(0, Ok(_))]));
        for end in [1, 10, text.len() / 2, text.len() - 2] {
            let all = read(&text[..end]);
            assert!(matches!(all[..], [(0, Err(_))]), "{end}: {all:?}");
        }
        for broken in ["", "\n", "{}", "[]", "null", "\u{0}", "1,2\n3,4", "{}\n{}"] {
            let all = read(broken);
            assert!(all.iter().all(|(_, report)| report.is_err()), "{broken:?}");
            assert!(!all.is_empty(), "{broken:?}");
        }
    }

    #[test]
    fn numbers_that_are_none_are_left_out() {
        for odd in ["0", "-1", "-0.0", "1e400"] {
            let all = read(&report("a", odd));
            let none = all[0].1.as_ref().is_ok_and(|node| node.values.is_empty());
            assert!(none || all[0].1.is_err(), "{odd}");
        }
    }

    #[test]
    fn hostile_text_takes_little_memory() {
        let deep = format!("{{\"a\":{}", "[".repeat(1 << 20));
        assert!(read(&deep)[0].1.is_err());
        let name = "x".repeat(1 << 20);
        let all = read(&report(&name, "1.0"));
        let host = all[0].1.as_ref().expect("a report").host.as_ref();
        assert_eq!(host.map(String::len), Some(LONGEST_NAME));
    }
}
