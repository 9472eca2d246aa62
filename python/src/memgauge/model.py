"""The classes of a report, one for each type of its JSON schema.

Generated: python3 python/tools/generate_model.py

Amounts of memory are in bytes and lengths of time in ns, unless a name says otherwise. `None`
means unknown or not applicable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Generic, Literal, Optional, TypeVar, Union

from ._views import DatasetView, PointView, ReportView

T = TypeVar("T")

SCHEMA_VERSION = 3


@dataclass(frozen=True)
class Fact(Generic[T]):
    """A fact about the machine, with its source or the reason why it is unknown."""

    source: str
    """Source of the value, or the reason why there is none."""
    value: Optional[T] = None
    """The value; `None` if unknown."""


@dataclass(frozen=True)
class Missing:
    """A point without a number."""

    status: Literal["skipped", "unsupported", "interrupted", "failed"]
    """The way in which the number is missing."""
    reason: str
    """Reason, in words."""


@dataclass(frozen=True)
class Axis:
    """A direction along which points of a dataset differ."""

    name: str
    """Key of the axis in the coordinates of points."""
    unit: Optional[str] = None
    """Base unit of numeric coordinates (`B`); `None` for counts and names."""


Coordinate = Union[int, str]
"""Position of a point on one axis."""


@dataclass(frozen=True)
class Candidate:
    """A candidate of a selection: a kernel, or a kernel with a number of threads."""

    kernel: str
    """Name of the kernel in `memgauge list kernels`."""
    median: float
    """Median of a few short samples, in the dataset's unit. Only the selection uses it."""
    samples: int
    """Number of these short samples."""
    prefetch_distance_bytes: Optional[int] = None
    """Prefetch distance in bytes; `None` for a kernel without prefetching."""
    size_bytes: Optional[int] = None
    """Working set of each thread, in bytes; left out unless the selection was among numbers of
    threads.
    """
    threads: Optional[int] = None
    """Number of threads; left out unless the selection was among numbers of threads."""


@dataclass(frozen=True)
class Choice:
    """Result of a selection among kernels, or numbers of threads, that do the same work."""

    candidates: list[Candidate]
    """All candidates, the fastest first."""
    kernel: str
    """Name of the selected kernel, with which the samples were taken."""


@dataclass(frozen=True)
class NodePages:
    """Number of base pages on a NUMA node."""

    node: int
    """Number of the node."""
    pages: int
    """Number of pages."""


@dataclass(frozen=True)
class PageEvidence:
    """Evidence about the memory of a point, read back from the system; `None` means unknown."""

    expected_nodes: Optional[list[int]] = None
    """Nodes on which the memory should lie: the requested nodes, or else the nodes of the CPUs that
    use the memory.
    """
    granted_bytes: Optional[int] = None
    """Size of the pages that most of the memory lies in, in bytes."""
    granted_share: Optional[float] = None
    """Share (0 to 1) of the memory that lies in pages of the requested size."""
    nodes: Optional[list[int]] = None
    """NUMA nodes on which checked pages lie, in rising order."""
    non_zero: Optional[bool] = None
    """True if every checked piece of memory contains data that is not zero.

    Reads of memory that was never written would go to one shared page of zeros.
    """
    pages_by_node: Optional[list[NodePages]] = None
    """Number of checked base pages on each node.

    All pages are checked if a placement was requested, otherwise a sample of the pages.
    """
    pages_on_other_nodes: Optional[int] = None
    """Number of checked base pages that lie on none of the expected nodes."""
    requested_bytes: Optional[int] = None
    """Requested page size, in bytes."""
    requested_placement: Optional[str] = None
    """Requested placement (`node 1`, `nodes 0-3 interleaved`); `None` if none was requested.

    The system then places a page on the node of the thread that writes it first.
    """
    resident_share: Optional[float] = None
    """Share (0 to 1) of the memory's pages that are resident."""


@dataclass(frozen=True)
class SmtInterference:
    """Evidence of SMT interference: another hardware thread, even one of another virtual machine,
    used the core. Independent instructions are timed for some microseconds before and after each
    sample. Their number per cycle falls if the core is shared.
    """

    baseline_ipc: float
    """Baseline: instructions per cycle while no other hardware thread uses the cores, from all
    samples of the session on these CPUs. The baseline is at least 90% of the documented number
    of instructions per cycle, if that number is known.
    """
    lowest_ipc: float
    """Lowest reading before or after a sample of the point."""
    shared_samples: int
    """Number of samples with a reading below 97% of the baseline. The summary leaves them out."""


@dataclass(frozen=True)
class SystemActivity:
    """System activity during the rounds of a point.

    Each figure except `highest_celsius` is the difference between readings before and after a
    round, summed over all rounds. `None` means unknown.
    """

    cpu_pressure_ns: Optional[float] = None
    """Time in which at least one task of the system waited for a CPU (pressure stall information).
    """
    elapsed_ns: float = 0.0
    """Time between the readings, in ns."""
    highest_celsius: Optional[float] = None
    """Highest temperature of any sensor of the processor, in degrees Celsius."""
    interrupts: Optional[int] = None
    """Number of interrupts on the CPUs of the point, timer ticks included."""
    memory_pressure_ns: Optional[float] = None
    """Time in which at least one task of the system waited for memory (pressure stall information).
    """
    others_ns: Optional[float] = None
    """CPU time of other programs on all CPUs of the system together.

    The system counts in steps of 10 ms. For short rounds, the result can therefore be below zero.
    """
    stolen_ns: Optional[float] = None
    """Time that the hypervisor gave to other guests while the CPUs of the point had work, in ns.

    All CPUs are added, and the system counts in steps of 10 ms.
    """
    thermal_throttles: Optional[int] = None
    """Number of times that the CPUs of the point slowed down because of heat."""
    throttled_ns: Optional[float] = None
    """Time for which the control group's quota kept threads from running, all CPUs together."""


VcpuPlacement = Literal[
    "same-core",
    "shared-cache",
    "same-package",
    "other-package",
]
"""Nearest resource that two vCPUs shared, concluded from the time of a cache line's round trip
between them. Variants are in order, the nearest resource first.
"""


@dataclass(frozen=True)
class PlacementStratum:
    """The rounds of a point in which the vCPUs had one placement."""

    placement: VcpuPlacement
    """The placement."""
    round_trip_ns: float
    """Median round trip of a cache line between the two CPUs in these rounds, in ns."""
    rounds: int
    """Number of rounds with this placement."""
    samples: int
    """Number of undisturbed samples in these rounds."""
    share: float
    """Rounds with this placement as a share of the rounds whose placement is known."""
    ci_high: Optional[float] = None
    """Upper end of the 95% confidence interval of that median."""
    ci_low: Optional[float] = None
    """Lower end of the 95% confidence interval of that median."""
    confidence: Optional[float] = None
    """Probability that the interval contains the true median; below 0.95 with fewer than six
    rounds.
    """
    median: Optional[float] = None
    """Median of these samples, in the dataset's unit; `None` if there are none."""


@dataclass(frozen=True)
class VcpuPlacementEvidence:
    """Placement of the vCPUs in each round of a point.

    It is concluded from the round trip of a cache line between vCPUs, which is timed before and
    after the round. A hypervisor that does not pin its vCPUs moves them between cores.
    """

    cpus: list[int] = field(default_factory=lambda: [0, 0])
    """The two CPUs of the point with the shortest round trip between them."""
    moved_rounds: int = 0
    """Number of rounds whose placement changed between begin and end.

    The summary leaves their samples out.
    """
    rounds: int = 0
    """Number of rounds in which round trips were timed."""
    strata: list[PlacementStratum] = field(default_factory=list)
    """Figures of the point for each placement.

    The first placement is the one that the summary of the point uses. The others follow, the most
    frequent first.
    """


@dataclass(frozen=True)
class Evidence:
    """Checks around and during the samples of a point; `None` means unknown."""

    affinity_held: Optional[bool] = None
    """True if every thread was on its CPU at the start and the end of every sample."""
    allocations: int = 0
    """Number of fresh allocations of memory that the samples are spread over."""
    clock_drift: Optional[float] = None
    """Relative difference between the counter's rate over the session so far and its calibration.
    """
    clock_error: Optional[float] = None
    """Relative error of the counter's calibration against the monotonic clock."""
    core_hz_after: Optional[float] = None
    """Core clock in Hz after the last sample of a round, on the first CPU: median over the later
    half of the rounds.
    """
    core_hz_base: Optional[float] = None
    """Base clock in Hz: the lowest core clock that the processor guarantees, unless heat or a power
    limit slows it. Known only if it follows from the rate of the counter.
    """
    core_hz_baseline: Optional[float] = None
    """Core clock in Hz that the CPUs of the point reach in the session; `None` if there are too few
    samples.
    """
    core_hz_before: Optional[float] = None
    """Core clock in Hz before the first sample of a round, on the first CPU: median over the
    earlier half of the rounds.
    """
    core_hz_least: Optional[float] = None
    """Lowest core clock around an undisturbed sample, in Hz."""
    core_hz_median: Optional[float] = None
    """Median of the core clocks around all samples, in Hz."""
    core_hz_most: Optional[float] = None
    """Highest core clock around an undisturbed sample, in Hz."""
    cpus: list[int] = field(default_factory=list)
    """CPU that each thread was pinned to."""
    disturbed_by: dict[str, int] = field(default_factory=dict)
    """Number of disturbed samples by cause.

    A sample with several causes is counted under the first cause.
    """
    disturbed_samples: int = 0
    """Number of disturbed samples. The summary leaves them out."""
    gaps_ns: Optional[float] = None
    """Time in gaps inside the samples, all threads together, in ns.

    A gap is a chunk of work that took more than three times the median chunk of its sample. The
    time beyond one median chunk counts.
    """
    involuntary_switches: Optional[int] = None
    """Number of involuntary context switches of the measuring threads during the samples."""
    last_level_cache_bytes: Optional[int] = None
    """Size of all last-level caches of these CPUs together, in bytes."""
    longest_gap_ns: Optional[float] = None
    """Longest gap, in ns."""
    major_faults: Optional[int] = None
    """Number of major page faults of the measuring threads during the samples.

    A major page fault waits for storage.
    """
    measured_last_level_bytes: Optional[int] = None
    """Effective capacity of the last-level caches of these CPUs, in bytes; `None` if the session
    did not measure it.
    """
    migrations: Optional[int] = None
    """Number of times that a thread was found on another CPU than its own."""
    minor_faults: Optional[int] = None
    """Number of minor page faults of the measuring threads during the samples.

    A minor page fault needs no reading from storage.
    """
    pages: PageEvidence = field(default_factory=PageEvidence)
    """Evidence about the memory."""
    relative_spread: Optional[float] = None
    """Half the width of the confidence interval relative to the median."""
    smt_interference: Optional[SmtInterference] = None
    """Use of the cores by other hardware threads; `None` if it cannot be measured."""
    system_activity: SystemActivity = field(default_factory=SystemActivity)
    """System activity during the rounds."""
    unchecked: list[str] = field(default_factory=list)
    """Names of facts that could not be checked, each with the reason."""
    vcpu_placement: Optional[VcpuPlacementEvidence] = None
    """Placement of the vCPUs round by round; `None` outside of a virtual machine and for a single
    thread.
    """
    voluntary_switches: Optional[int] = None
    """Number of times that a measuring thread gave up its CPU during the samples, because it waited
    or was stopped.
    """
    working_set_bytes: Optional[int] = None
    """Working sets of all threads of the point together, in bytes."""


@dataclass(frozen=True)
class Limit:
    """Bound that the point cannot exceed (bandwidth) or fall below (latency)."""

    source: str
    """Source of the limit, in words."""
    value: float
    """Value of the bound, in the dataset's unit."""
    tolerance: float = 1.0
    """Factor by which a value may pass the bound without being rejected.

    The factor covers the error of the bound and the part of the memory that caches may contain.
    """


@dataclass(frozen=True)
class Load:
    """Background traffic during the samples of the summary, in B/s."""

    bus_estimate: float
    """Median of the estimated traffic on the memory bus.

    The estimate assumes that no data stays in a cache and that ordinary stores read their lines
    first.
    """
    ci_high: float
    """Upper end of the 95% confidence interval of that median."""
    ci_low: float
    """Lower end of the 95% confidence interval of that median."""
    confidence: float
    """Probability that the interval contains the true median; below 0.95 with fewer than six
    rounds.
    """
    median: float
    """Median of the payload that the traffic's loads and stores requested, all threads together."""


@dataclass(frozen=True)
class Sample:
    """One timed sample."""

    elapsed_ns: float
    """Length of the common window, in which all threads worked, in ns."""
    round: int
    """Number of the sample's round, from 0."""
    value: float
    """Value of the quantity, in the dataset's unit."""
    work: int
    """Amount of work in the window; its unit depends on the experiment.

    Bandwidth: payload bytes of all threads, or of the measured thread. Latency: steps of the chain.
    Other experiments: instructions, operations on locks, or round trips.
    """
    allocation: int = 0
    """Number of the allocation of the sample's memory, from 0."""
    core_hz: Optional[float] = None
    """Core clock of the first CPU in Hz, from readings right before and after the sample; `None` if
    unknown.
    """
    cpus: list[int] = field(default_factory=list)
    """CPU that each thread was found on.

    Left out if each thread was on its own CPU, or if the system does not report the CPU.
    """
    disturbance: Optional[str] = None
    """Reason why the sample is left out of the summary; `None` for an undisturbed sample."""
    gaps_ns: Optional[float] = None
    """Time in gaps inside the sample, all threads together, in ns.

    A gap is a chunk of work that took more than three times its thread's median chunk. The time
    beyond one median chunk counts. Left out if there was no gap.
    """
    placement: Optional[VcpuPlacement] = None
    """Placement of the vCPUs in the sample's round; left out if it was not measured."""
    quietest: Optional[float] = None
    """Value of the quantity in the quietest (fastest) of about sixteen parts of the sample; left
    out if unknown.
    """
    traffic: Optional[float] = None
    """Payload of background traffic in the window, in B/s; left out if there was none."""


@dataclass(frozen=True)
class Latencies:
    """Distribution of the latencies of operations of one kind, or of reads and writes together, in
    ns.
    """

    least_ns: float
    """Shortest latency, exact."""
    mean_ns: float
    """Mean latency, exact."""
    most_ns: float
    """Longest latency, exact."""
    operations: int
    """Number of complete operations in all windows. A window is the timed period of a sample."""
    p50_ns: float
    """Half of the operations took at most this time. Percentiles are accurate to 0.8%."""
    p90_ns: float
    """90% of the operations took at most this time."""
    p99_99_ns: float
    """99.99% of the operations took at most this time."""
    p99_9_ns: float
    """99.9% of the operations took at most this time."""
    p99_ns: float
    """99% of the operations took at most this time."""


@dataclass(frozen=True)
class StorageSecond:
    """Figures of about one second: consecutive windows of a point whose lengths add up to at least
    a second. The last windows need to last only half a second.
    """

    begin_ns: float
    """Begin of the second, in ns since the begin of the point's first window.

    Rounds of other points may lie between two windows.
    """
    bytes: int
    """Bytes moved by these operations."""
    elapsed_ns: float
    """Sum of the lengths of the windows, in ns."""
    errors: int
    """Number of failed operations in the windows."""
    operations: int
    """Number of operations that ended inside the windows."""
    p50_ns: Optional[float] = None
    """Half of these operations took at most this time, in ns; `None` if there are none."""
    p99_ns: Optional[float] = None
    """99% of these operations took at most this time, in ns; `None` if there are none."""


@dataclass(frozen=True)
class SeekWindow:
    """Figures of the operations of one window that belong to one group of seek distances
    ([`SeekLatencies`]).
    """

    elapsed_ns: float
    """Length of the window, in ns."""
    operations: int
    """Number of operations of the group in the window."""
    p50_ns: float
    """Half of the operations took at most this time, in ns, accurate to 0.8%."""
    round: int
    """Number of the window's round, from 0."""


@dataclass(frozen=True)
class SeekLatencies:
    """Figures of a group of operations whose seek distances differ by less than a factor of two."""

    distance_bytes: int
    """Smallest seek distance of the group, in bytes: 0 or a power of two.

    All distances of a group are below twice this power of two. A seek distance is the distance
    between the beginnings of two consecutive operations of a thread in the same file.
    """
    operations: int
    """Number of complete operations in all windows.

    The first operation of a window does not count, because it has no distance.
    """
    p50_ns: float
    """Half of the operations took at most this time, in ns. Percentiles are accurate to 0.8%."""
    p99_ns: float
    """99% of the operations took at most this time, in ns."""
    windows: list[SeekWindow]
    """Figures of each window that has operations of this group."""


@dataclass(frozen=True)
class Storage:
    """Figures of operations on files and devices."""

    all: Optional[Latencies] = None
    """Latencies of reads and writes together; `None` if there are none."""
    behind: int = 0
    """Number of operations that were due and were never begun."""
    bytes: int = 0
    """Bytes moved by these operations."""
    direct: bool = False
    """True if requests bypassed the page cache."""
    due: int = 0
    """Number of operations that were due according to a rate limit, a requested number of
    operations or a recording.
    """
    engine: str = ""
    """Engine that handed requests to the system: `sync`, `io_uring`."""
    errors: dict[str, int] = field(default_factory=dict)
    """Number of failed operations for each error."""
    files: list[str] = field(default_factory=list)
    """Files, in the order in which the user named them."""
    memory_bytes: Optional[int] = None
    """Memory that could cache the range, in bytes; `None` if unknown."""
    operations: int = 0
    """Number of complete operations of all windows, including operations that ended after their
    window.
    """
    range_bytes: int = 0
    """Size of the range that operations go to, in bytes: the part of each file that is used, summed
    over all files.
    """
    reads: Optional[Latencies] = None
    """Latencies of reads; `None` if there are none."""
    remarks: list[str] = field(default_factory=list)
    """Differences from the user's request, one sentence each.

    Examples are missing direct I/O and missing polling.
    """
    seconds: list[StorageSecond] = field(default_factory=list)
    """Figures of each second, in order."""
    seeks: list[SeekLatencies] = field(default_factory=list)
    """Latencies by seek distance; left out unless the requested order of blocks is about seek
    distances.
    """
    short: int = 0
    """Number of transfers of fewer bytes than requested."""
    syncs: Optional[Latencies] = None
    """Latencies of flushes (fsync, fdatasync); `None` if there are none."""
    threads: list[int] = field(default_factory=list)
    """Number of complete operations of each thread."""
    writes: Optional[Latencies] = None
    """Latencies of writes; `None` if there are none."""
    wrong: int = 0
    """Number of blocks that had other data when they were read than when they were written."""


@dataclass(frozen=True)
class Summary:
    """Summary of the undisturbed samples of a point, in the dataset's unit."""

    best: float
    """Best sample: highest bandwidth, lowest latency."""
    ci_high: float
    """Upper end of the 95% confidence interval of the median."""
    ci_low: float
    """Lower end of the 95% confidence interval of the median."""
    median: float
    """Median of the point, its main figure."""
    undisturbed_samples: int
    """Number of undisturbed samples that these figures rest on."""
    coefficient_of_variation: Optional[float] = None
    """Coefficient of variation: standard deviation divided by the magnitude of the mean.

    `None` if the mean is 0 or the standard deviation is `None`.
    """
    confidence: float = 0.95
    """Probability that the interval contains the true median: below 0.95 with fewer than six
    rounds. 0 means that the spread is unknown and both ends are the median.
    """
    mad: Optional[float] = None
    """Median absolute deviation from the median, unscaled; `None` if another tool's report lacks
    it.
    """
    mean: Optional[float] = None
    """Mean of the undisturbed samples; `None` if the report is of an older version, or of another
    tool that lacks it.
    """
    standard_deviation: Optional[float] = None
    """Standard deviation of the undisturbed samples (n - 1); `None` for one sample, or if the mean
    is `None`.
    """


VerdictGrade = Literal[
    "solid",
    "doubtful",
    "rejected",
]
"""How far a number can be trusted."""


Cause = Literal[
    "above-limit",
    "below-faster-level",
    "interrupted",
    "moved",
    "page-size",
    "not-resident",
    "node",
    "disturbed",
    "few-samples",
    "stolen",
    "host-moved",
    "core-shared",
    "throttled",
    "others",
    "memory-pressure",
    "stopped",
    "core-clock",
    "heat",
    "counter",
    "drift",
    "bimodal",
    "placement",
    "spread",
    "non-stationary",
    "cache-size",
    "page-cache",
    "io-errors",
    "wrong-data",
    "behind",
]
"""Cause of a doubt about a number. Programs may rely on the serialised names."""


@dataclass(frozen=True)
class Reason:
    """One reason why a number is not solid."""

    advice: str
    """Advice on how to get a solid number; empty if there is none."""
    cause: Cause
    """Kind of reason."""
    text: str
    """The reason in plain words with its numbers, short enough for a table."""


@dataclass(frozen=True)
class Verdict:
    """Grade of a point with its reasons."""

    grade: VerdictGrade
    """How far the number can be trusted."""
    reasons: list[Reason]
    """Reasons for a grade below solid, worst first; empty for a solid point."""


@dataclass(frozen=True)
class Measured:
    """A measured point."""

    status: ClassVar[Literal["measured"]] = "measured"
    also: dict[str, float]
    """Further figures by name, in base units.

    - Bandwidth: `single_count` (each copied byte counted once) and `bus_estimate` (with the lines
    that stores read first), in B/s. With several threads, `fairness`: the value of the slowest
    thread divided by that of the fastest. - Latency: `core_cycles`, the latency in cycles of the
    core clock. - Instructions: `core_cycles` of one instruction; instructions `per_cycle` and
    `per_second`. - Locks: `ns_per_operation` (of one thread). - Core to core: `one_way_ns` (half
    the round trip), `core_cycles`. - Short windows: `p50`, `p90`, `p95`, `p99`, `p99_9` are
    percentiles of the quantity over all windows. `max` is the slowest window, `windows` the number
    of windows, `window_ns` the length of one. - `undisturbed`: the value on which the quietest
    moments of the rounds agree within 1%. `undisturbed_share`: the share of samples with such a
    moment. Both are left out if the rounds do not agree. - Storage: `bytes_per_second`,
    `cpu_ns_per_operation`. Latencies of reads and writes together, in ns: `latency_mean`,
    `latency_p50`, `_p90`, `_p99`, `_p99_9`, `_p99_99`, `latency_max`. With several threads,
    `fairness`. Numbers of operations, left out if 0: `errors` (failed), `short` (fewer bytes than
    requested), `behind` (due but never begun). - GPUs: `device_share`, the time of a sample by the
    device's clock divided by its time by the host's clock, median. `ns_per_transfer`. Medians of
    conditions after each sample: `device_core_hz`, `device_memory_hz`, `device_celsius`,
    `device_watts`. `power_limited_share`: the share of samples that ended at the power limit.
    """
    evidence: Evidence
    """Checks around and during the samples."""
    samples: list[Sample]
    """Every sample, disturbed ones included, in the order taken."""
    summary: Summary
    """Summary of the undisturbed samples, in the dataset's unit."""
    verdict: Verdict
    """Verdict that follows from the evidence."""
    choice: Optional[Choice] = None
    """Result of the selection that chose the kernel, or the number of threads, before the samples
    were taken. `None` if there was no selection.
    """
    limit: Optional[Limit] = None
    """Upper bound on bandwidth or lower bound on latency, with its source; `None` if unknown."""
    load: Optional[Load] = None
    """Background traffic; left out if there was none."""
    storage: Optional[Storage] = None
    """Figures of operations on files and devices; left out for other kinds of work."""


Outcome = Union[Measured, Missing]
"""Outcome of a point.

Only [`Outcome::Measured`] has a number. The other variants have the reason why there is no number.
"""


@dataclass(frozen=True)
class Point(PointView):
    """One point: its coordinates and its outcome."""

    coordinates: dict[str, Coordinate]
    """Position of the point on the axes of its dataset."""
    id: int
    """Number of the point in the plan of its session, unique within a report."""
    outcome: Outcome
    """Measured value, or the reason why there is none."""


@dataclass(frozen=True)
class Quantity:
    """Quantity of a dataset's values."""

    higher_is_better: bool
    """True if a higher value is better (bandwidth), false if a lower value is better (latency)."""
    name: str
    """Name in the field's terms: `bandwidth`, `latency`."""
    unit: str
    """Base unit: `B/s`, `ns`."""


@dataclass(frozen=True)
class Dataset(DatasetView):
    """All points of one experiment that share a quantity."""

    axes: list[Axis]
    """The axes along which points differ."""
    experiment: str
    """Name of the experiment: `bandwidth`, `latency`."""
    points: list[Point]
    """Points in the order of the plan. Follow-up points stand between their neighbours."""
    quantity: Quantity
    """Quantity of the values."""
    auxiliary: bool = False
    """True if the points serve findings only.

    Such a finding rests on many points together, so a single point may be inaccurate. Auxiliary
    points do not count in the report's verdict if other datasets exist.
    """
    derived: bool = False
    """True if the points were computed from the points of other datasets.

    A derived point has the verdict of the points that it was computed from. It does not count in
    the report's verdict.
    """


@dataclass(frozen=True)
class Finding:
    """A sentence about the results, as trustworthy as the points that it rests on.

    The last two fields are private, so that each finding is made together with its points.
    """

    kind: str
    """Stable name of the kind of finding: `page-walk-cost`."""
    text: str
    """The text, a sentence."""
    values: dict[str, float]
    """Numbers in the text by name, in base units."""
    points: list[int] = field(default_factory=list)
    """Numbers of these points, in rising order."""
    trust: Optional[VerdictGrade] = None
    """Grade of the points that the finding rests on; left out if it rests on none."""


@dataclass(frozen=True)
class HealthFigure:
    """A figure that was slower than its threshold."""

    expected: float
    """The expected value."""
    is_slow: bool
    """True if the figure was slower than its threshold in both measurements."""
    measured: float
    """The value of the first measurement."""
    quantity: str
    """Name of the quantity: `bandwidth DRAM read threads 2`."""
    unit: str
    """Base unit of the three values: `B/s`, `ns`."""
    again: Optional[float] = None
    """The value of the second measurement, in fresh memory; left out if there is none."""


HealthState = Literal[
    "healthy",
    "unusual",
    "slow",
    "inconclusive",
    "not-judged",
]
"""State of a machine."""


@dataclass(frozen=True)
class Health:
    """Health of a machine: its figures compared with expectations of its hardware."""

    digest: str
    """Digest of the requested points and of the kernels' machine code.

    Reports with equal digests measured the same points with the same instructions.
    """
    judged: int
    """Number of figures that were compared with an expectation."""
    method: str
    """Name of the method: `health-1`. Another name means other points or settings."""
    reason: str
    """Reason for the state, in words; empty for a healthy machine."""
    state: HealthState
    """State of the machine."""
    slower: list[HealthFigure] = field(default_factory=list)
    """Figures that were slower than their threshold in the first measurement.

    Figures that were slow in the second measurement too come first. Among these and among the
    others, the figure farthest from its expected value comes first.
    """


Nanos = float
"""A length of time in nanoseconds. Differences may be negative."""


Bytes = int
"""An amount of memory in bytes."""


@dataclass(frozen=True)
class PhaseId:
    """Identity of a phase.

    Phases that size memory come before all others; a follow-up comes after the points that it
    follows.
    """

    sizes_memory: bool
    """True if the results of this phase determine the memory sizes of the other phases."""
    follow_up: Optional[int] = None
    """Number of the follow-up that drafts the phase, from 0; left out of a phase that is drafted
    when the session is planned.
    """


@dataclass(frozen=True)
class PhaseRoom:
    """Limit on the number of points of an experiment in a follow-up."""

    experiment: str
    """Name of the experiment."""
    points: int
    """Largest number of points."""
    repeat: Optional[Coordinate] = None
    """The repetition whose points are limited; left out if there is only one."""


@dataclass(frozen=True)
class DraftedPhase:
    """A phase whose points were drafted from the results of earlier phases.

    A continued session drafts the same points again (docs/method/phases.md).
    """

    phase: PhaseId
    """The phase."""
    points: list[int]
    """Numbers of the points that are new, or whose coordinates changed since the plan."""
    finding: Optional[str] = None
    """Text of the finding about that capacity; left out if there is none."""
    last_level: Optional[Bytes] = None
    """Effective capacity of all last-level caches together.

    From this phase on, the sizes of working sets in memory depend on this capacity. Left out if
    they depend on the cache sizes that the system reports.
    """
    rooms: list[PhaseRoom] = field(default_factory=list)
    """Largest number of points of each experiment in the phase; left out if the phase is no follow-
    up.
    """


@dataclass(frozen=True)
class PlanSummary:
    """The plan, and the time that it really took."""

    budget: Nanos
    """Time that the user allows."""
    memory: Bytes
    """Memory that the plan maps."""
    planned: Nanos
    """Time that the plan was expected to take."""
    points: int
    """Number of planned points."""
    profile: str
    """Name of the profile, or of the single experiment."""
    shortened: list[str]
    """Parts that were shortened or left out to fit budget and memory, in words."""
    phases: list[DraftedPhase] = field(default_factory=list)
    """Phases that were drafted from measured points, in the order of the session."""
    real: Optional[Nanos] = None
    """Time that the session took; `None` while it is under way."""


Hertz = float
"""Events per second."""


@dataclass(frozen=True)
class ClockFacts:
    """The clock that timed every figure."""

    counter: str
    """The counter: `tsc`, `cntvct`, `monotonic`, `simulated`."""
    core: Optional[Hertz] = None
    """Core clock at the start, measured with dependent additions; `None` if unknown."""
    error: Optional[float] = None
    """Relative difference between two independent calibrations; `None` if the rate is `None`."""
    overhead: Optional[Nanos] = None
    """Time that one reading takes; `None` if the rate is `None`."""
    rate: Optional[Hertz] = None
    """Rate of the counter, calibrated against the monotonic clock; `None` if another tool's report
    lacks it.
    """
    resolution: Optional[Nanos] = None
    """Smallest step seen between two readings; `None` if the rate is `None`."""


DocumentedQuantity = Literal[
    "l1d_bytes",
    "l1d_ways",
    "l1d_line_bytes",
    "l1d_latency_cycles",
    "l2_bytes",
    "l2_ways",
    "l2_latency_cycles",
    "l3_latency_cycles",
    "l1_dtlb_entries_4k",
    "l1_dtlb_entries_2m",
    "l1_dtlb_entries_1g",
    "l2_tlb_entries_4k",
    "l2_tlb_entries_16k",
    "l2_tlb_entries_2m",
    "l2_tlb_entries_1g",
    "load_bytes_per_cycle",
    "store_bytes_per_cycle",
    "load_bytes_per_cycle_without_avx512",
    "store_bytes_per_cycle_without_avx512",
    "loads_per_cycle",
    "stores_per_cycle",
    "l2_to_l1_bytes_per_cycle",
    "integer_width",
    "rename_width",
    "memory_channels",
]
"""Quantity of a documented figure."""


@dataclass(frozen=True)
class DocumentedFigure:
    """A published figure of a core design."""

    design: str
    """Core design: `Zen 5`. A processor with two kinds of core has figures of both."""
    high: int
    """Largest published value; equal to `low` if one value is published."""
    low: int
    """Smallest published value."""
    quantity: DocumentedQuantity
    """Quantity that `low` and `high` are values of."""
    source: str
    """Titles of the documents that have the figure."""


@dataclass(frozen=True)
class PortWidth:
    """Bytes that one core's L1 data cache can deliver and accept per core clock cycle."""

    load_bytes: int
    """Loaded bytes per cycle."""
    store_bytes: int
    """Stored bytes per cycle."""


@dataclass(frozen=True)
class CpuFacts:
    """The processor."""

    architecture: str
    """Instruction set architecture: `x86_64`, `aarch64`."""
    counter: Fact[Hertz]
    """Nominal rate of the raw counter, if the system reports one."""
    counter_invariant: Fact[bool]
    """True if the counter runs at one rate in all power states."""
    features: Fact[list[str]]
    """Instruction set extensions that both the processor and the operating system support."""
    l1_ports: Fact[PortWidth]
    """Width of the paths to the L1 data cache, from the vendor's documentation."""
    microarchitecture: Fact[str]
    """Design of the core: `Zen 5`, `Golden Cove`."""
    model_name: Fact[str]
    """Model name as the processor reports it."""
    signature: Fact[str]
    """Family, model and stepping in the vendor's numbering: `family 26 model 2 stepping 1`."""
    vendor: Fact[str]
    """Vendor."""
    documented: list[DocumentedFigure] = field(default_factory=list)
    """Published figures of the core design; empty if the design is unknown."""
    integer_width: Fact[int] = Fact("the report was written without it")
    """Number of independent simple integer instructions that a core executes per cycle, from the
    vendor's documentation.
    """
    microcode: Fact[str] = Fact("the report was written without it")
    """Revision of the microcode."""


@dataclass(frozen=True)
class Environment:
    """Settings and conditions that affect results."""

    governor: Fact[str]
    """Frequency governor of the CPUs, which chooses the core clock."""
    load: Fact[float]
    """Load average over one minute at the start."""
    mitigations: Fact[list[str]]
    """Mitigations of hardware vulnerabilities that are in force, each as `name: state`."""
    numa_balancing: Fact[bool]
    """True if automatic NUMA balancing is on."""
    smt: Fact[bool]
    """True if simultaneous multithreading is on."""
    turbo: Fact[bool]
    """True if the core clock may rise above its nominal rate."""
    memory_pressure: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Scarcity of memory at the start in the system's own words; `normal` if memory is not scarce.
    """
    power_saving: Fact[bool] = Fact("not in the reports of the version that wrote this one")
    """True if the system saves power at the cost of speed (low-power mode, battery saver)."""
    power_source: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Source of electric power at the start: `mains`, `battery`."""
    thermal_state: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Thermal state at the start in the system's own words; `nominal` if heat limits nothing."""


@dataclass(frozen=True)
class PciRate:
    """Rate of a PCI Express link."""

    gigatransfers: float
    """Transfers per second of each lane, in GT/s."""
    lanes: int
    """Number of lanes."""


@dataclass(frozen=True)
class PciLink:
    """A PCI Express link."""

    current: PciRate
    """Rate on which both ends of the link agreed.

    Many devices lower this rate while they are idle.
    """
    highest: PciRate
    """Highest rate that the device supports."""


@dataclass(frozen=True)
class GpuFacts:
    """A device that a driver offers for computations: a GPU, an accelerator, or the CPUs
    themselves.
    """

    cache: Fact[Bytes]
    """Size of the cache that all compute units share."""
    clock: Fact[Hertz]
    """Highest clock rate of the compute units."""
    code: Fact[str]
    """Digest of the code that the driver compiled from the kernels: the first 16 digits of its
    SHA-256.
    """
    compute_units: Fact[int]
    """Number of streaming multiprocessors, compute units or CPUs, depending on the device."""
    driver: Fact[str]
    """Name and version of the driver."""
    ecc: Fact[bool]
    """True if errors in the memory are corrected (ECC)."""
    interface: str
    """Programming interface that reaches the device: `opencl`."""
    kind: str
    """`gpu`, `cpu`, `accelerator` or `other`."""
    largest_allocation: Fact[Bytes]
    """Size of the largest allocation that the driver allows."""
    line: Fact[Bytes]
    """Size of a line of that cache."""
    local_memory: Fact[Bytes]
    """Size of the local memory of each compute unit.

    The work-items of a work-group share this memory.
    """
    memory: Fact[Bytes]
    """Size of the device's memory.

    If the device is a CPU, this memory is a part of the main memory.
    """
    name: str
    """Name of the device, from its driver."""
    number: int
    """Number of the device, in the order in which its driver lists devices."""
    shares_host_memory: Fact[bool]
    """True if the device uses the main memory of the machine."""
    vendor: str
    """Vendor of the device, from its driver."""
    bus_width: Fact[int] = Fact("not in the reports of the version that wrote this one")
    """Width of the bus between the device and its memory, in bits."""
    link: Fact[PciLink] = Fact("not in the reports of the version that wrote this one")
    """Link between the device and the machine."""
    memory_clock: Fact[Hertz] = Fact("not in the reports of the version that wrote this one")
    """Highest clock rate of the memory."""
    numa_node: Fact[int] = Fact("not in the reports of the version that wrote this one")
    """NUMA node that the device is attached to."""
    partitioned: Fact[bool] = Fact("not in the reports of the version that wrote this one")
    """True if the device is one part of a divided GPU (MIG)."""
    pci_address: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Address of the device on the PCI bus: `0000:65:00.0`."""
    power_limit: Fact[float] = Fact("not in the reports of the version that wrote this one")
    """Limit of the device's power, in W."""


BytesPerSecond = float
"""Data moved per second, in bytes."""


@dataclass(frozen=True)
class MemoryBus:
    """Transfer rate of the memory modules of all sockets together, from the firmware."""

    channels: int
    """Number of channels with memory."""
    modules: int
    """Number of modules in these channels."""
    peak: BytesPerSecond
    """Sum over the channels of data width times configured transfers per second.

    No program can exceed this rate.
    """


@dataclass(frozen=True)
class Swap:
    """Swap space."""

    total: Bytes
    """Total size; 0 without swap."""
    used: Bytes
    """Size of the swap space in use."""


@dataclass(frozen=True)
class MemoryFacts:
    """Memory and its limits."""

    available: Fact[Bytes]
    """Memory that is available now without evicting other programs."""
    cgroup: Fact[Bytes]
    """Memory that the limits of control groups leave to this process.

    The value is the smallest difference between limit and use over the process's control group and
    the group's ancestors.
    """
    rlimit: Fact[Bytes]
    """Memory that the limits of address space and data (RLIMIT_AS, RLIMIT_DATA) leave to this
    process.
    """
    total: Fact[Bytes]
    """Memory of the whole machine."""
    usable: Fact[Bytes]
    """Memory that a session may map: the smallest of `available`, `cgroup` and `rlimit`, minus a
    reserve.
    """
    bus: Fact[MemoryBus] = Fact("not in the reports of the version that wrote this one")
    """Channels to the memory modules."""
    lock_limit: Fact[Bytes] = Fact("not in the reports of the version that wrote this one")
    """Soft limit on locked memory (RLIMIT_MEMLOCK)."""
    overcommit: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """The system's policy for requests of more memory than it has: `heuristic`, `always`, `strict`.
    """
    swap: Fact[Swap] = Fact("not in the reports of the version that wrote this one")
    """Swap space."""


@dataclass(frozen=True)
class HugePool:
    """A pool of reserved huge pages."""

    free: int
    """Number of reserved pages that are free."""
    size: Bytes
    """Page size."""
    total: int
    """Number of reserved pages."""


@dataclass(frozen=True)
class PageFacts:
    """Page sizes."""

    base: Bytes
    """Size of a base page."""
    huge_pools: Fact[list[HugePool]]
    """Pools of explicit huge pages."""
    thp_mode: Fact[str]
    """Mode of transparent huge pages: `always`, `madvise`, `never`; `none` if the system has none.
    """
    thp_size: Fact[Bytes]
    """Size of a transparent huge page."""
    thp_defrag: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Policy of the system for the case that no transparent huge page is free: `always`, `defer`,
    `defer+madvise`, `madvise`, `never`.
    """


@dataclass(frozen=True)
class SystemFacts:
    """The operating system, and the layers around it such as a hypervisor or a container."""

    container: Fact[str]
    """Kind of container that this process runs in; unknown if nothing indicates a container."""
    cpu_quota: Fact[float]
    """Quota of the control groups, in CPUs: the CPU time that they allow, divided by the elapsed
    time. Unknown without a quota.
    """
    emulation: Fact[str]
    """Emulator that executes the program's instructions, or `none`: `qemu-user`, `Rosetta 2`."""
    hostname: Fact[str]
    """Name of the machine."""
    kernel: Fact[str]
    """Release of the kernel."""
    os: str
    """Operating system: `linux`, `macos`, `windows`."""
    pinning: Fact[bool]
    """True if a program may choose the CPU of a thread."""
    virtualization: Fact[str]
    """Hypervisor; `none` if the processor reports none."""
    elevated: Fact[bool] = Fact("not in the reports of the version that wrote this one")
    """True if the program ran with rights that its caller lacks (set-user-ID, set-group-ID, file
    capabilities).
    """
    firmware: Fact[str] = Fact("the report was written without it")
    """Vendor, version and date of the firmware."""
    thread_request: Fact[str] = Fact("not in the reports of the version that wrote this one")
    """Request about each measuring thread that the system accepted, such as a quality-of-service
    class. The system need not act on the request. Unknown if the program made no request.
    """


CpuList = list[int]
"""CPU numbers in the notation of Linux: `0-3,8`."""


CacheKind = Literal[
    "data",
    "instruction",
    "unified",
]
"""Kind of contents of a cache."""


@dataclass(frozen=True)
class Cache:
    """One cache of the machine.

    If each core has its own cache, each of these caches has an entry.
    """

    cpus: CpuList
    """CPUs that share the cache."""
    kind: CacheKind
    """Kind of contents."""
    level: int
    """Level; 1 is nearest to the core."""
    size: Bytes
    """Size."""
    line: Optional[Bytes] = None
    """Size of a cache line."""
    ways: Optional[int] = None
    """Number of ways (associativity)."""


@dataclass(frozen=True)
class Cpu:
    """One logical CPU."""

    allowed: bool
    """True if this process may run on the CPU."""
    id: int
    """Number of the CPU in the system."""
    siblings: list[int]
    """All CPUs of the same physical core, this CPU included."""
    core: Optional[int] = None
    """Number of the physical core within its package, from the system."""
    kind: Optional[str] = None
    """Kind of the core in the system's own words: `performance`, `efficiency class 1`, `capacity
    1024`. `None` if all cores are of one kind, or the system does not report kinds.
    """
    node: Optional[int] = None
    """Number of the NUMA node."""
    package: Optional[int] = None
    """Number of the package (socket)."""


@dataclass(frozen=True)
class Node:
    """A NUMA node. A node without CPUs is memory only (CXL, HBM)."""

    cpus: CpuList
    """CPUs of the node."""
    distances: list[int]
    """Distance to each node, in the order of node numbers.

    The distance of a node to itself is 10. Empty if the system reports no distances.
    """
    id: int
    """Number of the node in the system."""
    allowed: Optional[bool] = None
    """True if this process may use the node's memory; `None` if the system does not report it."""
    available: Optional[Bytes] = None
    """Memory of the node that is free, or that the system can free at once.

    `None` if the system does not report it.
    """
    memory: Optional[Bytes] = None
    """Size of the node's memory, if the system reports it."""
    weight: Optional[int] = None
    """Number of consecutive pages that weighted interleaving takes from the node.

    `None` if the system has no such weights.
    """


@dataclass(frozen=True)
class Topology:
    """CPUs, caches and nodes."""

    caches: list[Cache]
    """All caches of the online CPUs."""
    caches_source: str
    """Source of the caches, or the reason why none are known."""
    cpus: list[Cpu]
    """Online CPUs in rising order."""
    cpus_source: str
    """Source of the list of CPUs and of the facts about each CPU."""
    nodes: list[Node]
    """NUMA nodes. A machine without NUMA has a single node."""
    nodes_source: str
    """Source of the nodes."""


@dataclass(frozen=True)
class HostFacts:
    """All facts about the machine."""

    cpu: CpuFacts
    """The processor."""
    environment: Environment
    """Settings and conditions."""
    memory: MemoryFacts
    """Memory and its limits."""
    pages: PageFacts
    """Page sizes."""
    system: SystemFacts
    """The operating system."""
    topology: Topology
    """CPUs, caches and NUMA nodes."""
    gpus: list[GpuFacts] = field(default_factory=list)
    """Devices with memory of their own that the session measured; left out if there were none."""


@dataclass(frozen=True)
class KernelUsed:
    """A kernel that was used. Kernels with equal digests have the same instructions."""

    name: str
    """Name in `memgauge list kernels`."""
    c_library: Optional[str] = None
    """The C library whose functions the kernel calls; `None` for all other kernels."""
    digest: Optional[str] = None
    """Digest of its machine code; `None` if this program does not know that code."""


@dataclass(frozen=True)
class Launch:
    """Launcher of this process, and position of the process in its job.

    A job is all processes that a launcher started together. Facts that the launcher does not report
    are left out.
    """

    all_ranks: bool = False
    """True if all processes of the job on this node measured at the same time."""
    job: Optional[str] = None
    """Id of the job from the launcher: a number or a name."""
    launcher: str = ""
    """The launcher: `slurm`, `openmpi`, `mpich`, `pmix`, `kubernetes`."""
    local_rank: Optional[int] = None
    """Rank of this process among the processes of the job on its node, from 0."""
    local_ranks: Optional[int] = None
    """Number of processes of the job on this node."""
    node: Optional[str] = None
    """Name of the node as the launcher knows it."""
    rank: Optional[int] = None
    """Rank of this process among all processes of the job, from 0."""
    ranks: Optional[int] = None
    """Size of the job, in processes."""


@dataclass(frozen=True)
class Tool:
    """The program."""

    machine: str
    """Whether instructions ran natively or emulated, or the session was simulated."""
    name: str
    """`memgauge`."""
    version: str
    """Version of the program."""


@dataclass(frozen=True)
class Withheld:
    """A part that a shared report does not have."""

    part: str
    """The part: `host name`."""
    reason: str
    """The reason, in a few words: `private`."""


@dataclass(frozen=True)
class Provenance:
    """How to repeat a session, and the machine that it ran on."""

    clock: ClockFacts
    """The clock that timed every figure."""
    command_line: list[str]
    """Arguments as typed, the program's name first."""
    finished: str
    """End of the session, RFC 3339, UTC."""
    host: HostFacts
    """The machine."""
    kernels: list[KernelUsed]
    """Kernels that were used."""
    seed: str
    """Seed of every random choice, in decimal digits.

    The seed is a text, because not every JSON reader has numbers of 64 bits.
    """
    started: str
    """Start of the session, RFC 3339, UTC."""
    tool: Tool
    """The program that measured."""
    launch: Optional[Launch] = None
    """Launcher of the process, and position of the process in its job; left out if there was no
    launcher.
    """
    resumed: list[str] = field(default_factory=list)
    """Times of continuations with `--resume`, RFC 3339, UTC; left out if the session was never
    continued.
    """
    withheld: list[Withheld] = field(default_factory=list)
    """Parts that `report --share` left out; present in shared reports only."""


RunStatus = Literal[
    "complete",
    "partial",
    "interrupted",
]
"""How a session ended."""


@dataclass(frozen=True)
class CauseCount:
    """Number of points that a cause concerns."""

    advice: str
    """Advice from the verdict on the first of these points."""
    cause: Cause
    """The cause."""
    points: int
    """Number of points."""


@dataclass(frozen=True)
class ReportVerdict:
    """Verdict on a whole report."""

    causes: list[CauseCount]
    """Every cause with the number of its points, the most frequent first."""
    grade: VerdictGrade
    """Grade of the worst point; rejected if no point was measured."""
    points: dict[str, int]
    """Number of measured points by grade."""


@dataclass(frozen=True)
class Report(ReportView):
    """A session and its results."""

    datasets: list[Dataset]
    """Points, by experiment and quantity."""
    findings: list[Finding]
    """Sentences about the results."""
    plan: PlanSummary
    """The plan, and the time that it really took."""
    provenance: Provenance
    """How to repeat the session, and the machine that it ran on."""
    schema_version: int
    """Version of this schema."""
    status: RunStatus
    """Whether everything planned was measured."""
    verdict: ReportVerdict
    """Verdict on the whole report."""
    health: Optional[Health] = None
    """Health of the machine; left out unless `memgauge health` made the report."""
