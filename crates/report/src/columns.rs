//! The columns of CSV files, in one list for writing, reading back and documentation.

use super::{Load, Measured};

/// A column of a CSV file. Every command writes all columns, so that files can be concatenated.
#[derive(Debug, Clone, Copy)]
pub struct CsvColumn {
    /// Heading of the column.
    pub name: &'static str,
    /// Content of the column's cells.
    pub cell: CsvCell,
    /// Meaning of the column, for the documentation.
    pub meaning: &'static str,
}

/// Content of a column's cells. A cell is empty if its point has no such content.
#[derive(Debug, Clone, Copy)]
pub enum CsvCell {
    /// Name of the experiment.
    Experiment,
    /// Name of the quantity.
    Quantity,
    /// Unit of the quantity.
    Unit,
    /// Whether a higher or a lower value is better.
    Better,
    /// Role of the dataset.
    Role,
    /// Status of the point.
    Status,
    /// Grade of the point's verdict.
    Trust,
    /// Reasons why the point's grade is below solid, or why the point has no number.
    Reason,
    /// Cause of the first reason in the point's verdict.
    Cause,
    /// Coordinate on the axis with the column's name.
    Axis,
    /// Figure of [`Measured::also`] with the column's name.
    Also,
    /// A figure of a measured point.
    Figure(CsvFigure),
}

/// Functions that read and set one figure of a measured point.
#[derive(Debug, Clone, Copy)]
pub struct CsvFigure {
    /// Returns the figure; `None` if the point has none.
    pub get: fn(&Measured) -> Option<f64>,
    /// Writes the figure into a point that is read back from CSV.
    pub set: fn(&mut Measured, f64),
}

const fn column(name: &'static str, cell: CsvCell, meaning: &'static str) -> CsvColumn {
    CsvColumn {
        name,
        cell,
        meaning,
    }
}

const fn axis(name: &'static str, meaning: &'static str) -> CsvColumn {
    column(name, CsvCell::Axis, meaning)
}

const fn also(name: &'static str, meaning: &'static str) -> CsvColumn {
    column(name, CsvCell::Also, meaning)
}

const fn figure(
    name: &'static str,
    get: fn(&Measured) -> Option<f64>,
    set: fn(&mut Measured, f64),
    meaning: &'static str,
) -> CsvColumn {
    column(name, CsvCell::Figure(CsvFigure { get, set }), meaning)
}

/// Background traffic of `measured`, a point that is read back from CSV. The first call inserts
/// zeros.
fn load(measured: &mut Measured) -> &mut Load {
    let none = Load {
        median: 0.0,
        ci_low: 0.0,
        ci_high: 0.0,
        confidence: 0.0,
        bus_estimate: 0.0,
    };
    measured.load.get_or_insert(none)
}

/// All columns in the order of a file. New columns are added at the end only.
pub const CSV_COLUMNS: &[CsvColumn] = &[
    column(
        "experiment",
        CsvCell::Experiment,
        "the experiment, as its command is called",
    ),
    column(
        "quantity",
        CsvCell::Quantity,
        "what `value` is: bandwidth, latency, operations, ...",
    ),
    column(
        "unit",
        CsvCell::Unit,
        "unit of `value`, `best`, `ci_low`, `ci_high`, `mad` and `limit`",
    ),
    axis(
        "operation",
        "what is done: read, copy-nt, an instruction, a lock's operation",
    ),
    axis("kernel", "the kernel that was timed"),
    axis(
        "level",
        "level of the hierarchy that contains the working set",
    ),
    axis(
        "size_bytes",
        "working set of a thread, all streams of the operation together",
    ),
    axis(
        "threads",
        "threads; with background traffic, threads of the traffic",
    ),
    figure(
        "page_bytes",
        |m| m.evidence.pages.granted_bytes.map(|bytes| bytes as f64),
        |m, bytes| m.evidence.pages.granted_bytes = Some(bytes as u64),
        "size of the pages that were granted",
    ),
    column(
        "status",
        CsvCell::Status,
        "measured, skipped, unsupported, interrupted or failed",
    ),
    figure(
        "value",
        |m| Some(m.summary.median),
        |m, v| m.summary.median = v,
        "median of the samples",
    ),
    figure(
        "best",
        |m| Some(m.summary.best),
        |m, v| m.summary.best = v,
        "best sample",
    ),
    figure(
        "ci_low",
        |m| m.summary.interval().map(|ends| ends.0),
        |m, v| m.summary.ci_low = v,
        "lower end of the confidence interval of the median",
    ),
    figure(
        "ci_high",
        |m| m.summary.interval().map(|ends| ends.1),
        |m, v| m.summary.ci_high = v,
        "upper end of that interval",
    ),
    figure(
        "samples",
        |m| Some(m.summary.undisturbed_samples as f64),
        |m, v| m.summary.undisturbed_samples = v as u64,
        "undisturbed samples",
    ),
    column("trust", CsvCell::Trust, "solid, doubtful or rejected"),
    column(
        "reason",
        CsvCell::Reason,
        "why the number is less than solid, or why there is none",
    ),
    also(
        "single_count",
        "bandwidth with each byte of the working set counted once",
    ),
    also(
        "bus_estimate",
        "bandwidth on the bus, including lines that stores read first",
    ),
    also("core_cycles", "`value` in cycles of the core clock"),
    figure(
        "limit",
        |m| m.limit.as_ref().map(|limit| limit.value),
        |m, value| {
            m.limit = Some(super::Limit {
                value,
                source: "not in the CSV".to_owned(),
                tolerance: 1.0,
            });
        },
        "limit of the hardware for the value",
    ),
    axis("pages", "requested page kind"),
    axis("stride_bytes", "distance between two accesses"),
    axis("repeat", "number of the repetition"),
    figure(
        "mad",
        |m| m.summary.mad,
        |m, v| m.summary.mad = Some(v),
        "median absolute deviation of the samples",
    ),
    figure(
        "disturbed_samples",
        |m| Some(m.evidence.disturbed_samples as f64),
        |m, v| m.evidence.disturbed_samples = v as u64,
        "disturbed samples, which the figures leave out",
    ),
    also(
        "share_of_forward",
        "share of the bandwidth of the forward order",
    ),
    also("per_cycle", "instructions for each cycle of the core clock"),
    also("per_second", "instructions for each second"),
    also(
        "ns_per_operation",
        "time of an operation on each thread, in ns",
    ),
    figure(
        "traffic",
        |m| m.load.map(|load| load.median),
        |m, v| load(m).median = v,
        "background traffic, in B/s",
    ),
    figure(
        "traffic_ci_low",
        |m| m.load.map(|load| load.ci_low),
        |m, v| load(m).ci_low = v,
        "lower end of its interval",
    ),
    figure(
        "traffic_ci_high",
        |m| m.load.map(|load| load.ci_high),
        |m, v| load(m).ci_high = v,
        "upper end of its interval",
    ),
    figure(
        "traffic_bus_estimate",
        |m| m.load.map(|load| load.bus_estimate),
        |m, v| load(m).bus_estimate = v,
        "the same on the bus",
    ),
    column(
        "better",
        CsvCell::Better,
        "whether `more` or `less` of the quantity is better",
    ),
    column(
        "role",
        CsvCell::Role,
        "`auxiliary` points only serve findings, `derived` ones come from other points",
    ),
    column(
        "cause",
        CsvCell::Cause,
        "first cause of doubt, a word for programs",
    ),
    figure(
        "confidence",
        |m| Some(m.summary.confidence),
        |m, v| m.summary.confidence = v,
        "confidence of the interval, 0 to 1",
    ),
    axis("width", "width of loads and stores in bits, or `best`"),
    axis("prefetch_bytes", "how far ahead the kernel prefetches"),
    axis(
        "requested_threads",
        "`best` if the number of threads was selected by measuring",
    ),
    also(
        "fairness",
        "work of the slowest thread, as a share of that of the fastest",
    ),
    axis("node", "NUMA node of the memory"),
    axis("cpu", "CPU that was measured"),
    axis("chains", "pointer chains walked at once"),
    axis("chain_mode", "order of the chain"),
    axis(
        "window_bytes",
        "window of memory that the chain visits before the next window",
    ),
    also("p50", "median over short windows"),
    also("p90", "90th percentile over short windows"),
    also("p95", "95th percentile over short windows"),
    also("p99", "99th percentile over short windows"),
    also("p99_9", "99.9th percentile over short windows"),
    also("max", "slowest short window"),
    also("windows", "number of short windows"),
    also("window_ns", "length of a short window, in ns"),
    figure(
        "standard_deviation",
        |m| m.summary.standard_deviation,
        |m, v| m.summary.standard_deviation = Some(v),
        "standard deviation of the undisturbed samples",
    ),
    axis("order", "order of the accesses"),
    axis("placement", "how threads are placed: spread or compact"),
    axis("cores", "physical cores in use, if fewer than threads"),
    axis("per_cpu", "threads on each CPU, if several"),
    axis("kind", "kind of core, if there are several"),
    axis("mix", "loads to stores of the traffic"),
    axis("pause_cycles", "core cycles between bursts of the traffic"),
    axis(
        "aggressor",
        "CPU of the traffic, if the CPUs are measured one by one",
    ),
    axis("from", "CPU that starts a hand-off"),
    axis("to", "CPU that answers it"),
    axis("relation", "what both CPUs share"),
    also("one_way_ns", "half a round trip, in ns"),
    axis("cpu_node", "NUMA node of the threads"),
    axis(
        "memory_node",
        "NUMA node of the memory, or its interleaving",
    ),
    axis(
        "distance",
        "distance of both nodes as the system reports it",
    ),
    axis("entries", "pages or lines that the chain touches"),
    axis("pass", "0 to discover, 1 to confirm"),
    axis("nodes", "nodes of the chain that share a set"),
    axis(
        "distance_bytes",
        "distance of two nodes, or of two accesses of storage",
    ),
    axis("cache_bytes", "size of the cache that a probe is about"),
    axis("partner", "CPU that reads at the same time"),
    axis("group", "group of the instruction"),
    axis("timing", "latency or throughput of the instruction"),
    axis("assembly", "the instruction as it is written"),
    axis("lines", "whether locks share a line"),
    axis("inside", "work while the lock is held"),
    axis("between", "work between two operations"),
    axis("pattern", "order of the offsets in storage"),
    axis("block_bytes", "size of an operation on storage"),
    axis("depth", "operations on storage in flight"),
    axis("engine", "I/O engine"),
    axis("access", "access to storage: direct or buffered"),
    axis("compute", "work between operations on storage"),
    axis(
        "rate_per_second",
        "requested operations on storage per second",
    ),
    also("bytes_per_second", "bytes of the operations on storage"),
    also(
        "cpu_ns_per_operation",
        "CPU time of an operation on storage, in ns",
    ),
    also(
        "latency_mean",
        "mean time of an operation on storage, in ns",
    ),
    also(
        "latency_p50",
        "median time of an operation on storage, in ns",
    ),
    also("latency_p90", "90th percentile of it"),
    also("latency_p99", "99th percentile of it"),
    also("latency_p99_9", "99.9th percentile of it"),
    also("latency_p99_99", "99.99th percentile of it"),
    also("latency_max", "longest operation, in ns"),
    also("operations", "number of operations on storage"),
    also("errors", "operations on storage that failed"),
    also(
        "short",
        "operations on storage that moved fewer bytes than requested",
    ),
    also(
        "behind",
        "operations on storage that were due but never started",
    ),
    figure(
        "mean",
        |m| m.summary.mean,
        |m, v| m.summary.mean = Some(v),
        "mean of the undisturbed samples",
    ),
    figure(
        "coefficient_of_variation",
        |m| m.summary.coefficient_of_variation,
        |m, v| m.summary.coefficient_of_variation = Some(v),
        "`standard_deviation` divided by the magnitude of `mean`",
    ),
    axis(
        "region",
        "whether several threads have a chain each or share one",
    ),
    axis(
        "percentile",
        "percentile over short windows that `value` is",
    ),
    also(
        "undisturbed",
        "value on which the quietest moments of the rounds agree",
    ),
    also(
        "undisturbed_share",
        "share of the samples with a moment that reached `undisturbed`",
    ),
    axis("device", "number of the GPU, as in `memgauge list gpus`"),
    axis("peer", "number of the GPU that is copied to"),
    axis("groups", "work-groups that a kernel on a GPU has"),
    axis(
        "host_memory",
        "main memory of a transfer from or to a GPU: pinned or pageable",
    ),
    also(
        "ns_per_transfer",
        "time of a transfer from or to a GPU, in ns",
    ),
    also(
        "device_share",
        "time of a sample by the GPU's clock as a share of the host's time, median",
    ),
    also(
        "device_core_hz",
        "clock rate of the GPU's compute units, median, in Hz",
    ),
    also(
        "device_memory_hz",
        "clock rate of the GPU's memory, median, in Hz",
    ),
    also(
        "device_celsius",
        "temperature of the GPU, median, in degrees Celsius",
    ),
    also("device_watts", "power of the GPU, median, in W"),
    also(
        "power_limited_share",
        "share of the samples in which the GPU was at its limit of power",
    ),
];

/// Finds a column by its heading; `None` if unknown.
pub fn csv_column(name: &str) -> Option<&'static CsvColumn> {
    CSV_COLUMNS.iter().find(|column| column.name == name)
}
