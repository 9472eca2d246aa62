//! The data model of a report, which other crates write, read back, compare and draw. The functions
//! here read, write and convert reports.
//!
//! Units are base units (bytes, ns, bytes/s), and numbers are JSON numbers. A missing value is
//! `null` with a reason next to it, never 0.

#![forbid(unsafe_code)]

mod columns;
mod csv_table;
mod dataset;
mod documented;
mod evidence;
mod fact;
mod gpu;
mod health;
mod host;
mod journal;
mod launch;
mod node_report;
mod outcome;
mod reading;
mod relation;
mod report;
mod report_verdict;
mod sc_membench;
mod shared;
mod storage;
mod store;
mod trace;
mod vcpu_placement;

pub use columns::{CSV_COLUMNS, CsvCell, CsvColumn, CsvFigure, csv_column};
pub use dataset::{
    Axis, CHOSEN_PROFILE, Coordinate, Coordinates, Dataset, Point, Quantity, REQUESTED_THREADS,
    add_derived, headline, printed_unit, requested_coordinates, retain_requested, without,
};
pub use documented::{DocumentedFigure, DocumentedQuantity};
pub use evidence::{
    Cause, CauseCount, Evidence, NodePages, PageEvidence, Reason, ReportVerdict, SmtInterference,
    SystemActivity, Verdict, VerdictGrade,
};
pub use fact::Fact;
pub use gpu::{GpuFacts, PciLink, PciRate};
pub use health::{Health, HealthFigure, HealthState};
pub use host::{
    Cache, CacheKind, Cpu, CpuFacts, Environment, HostFacts, HugePool, MemoryBus, MemoryFacts,
    Node, PageFacts, PortWidth, Swap, SystemFacts, Topology,
};
pub use journal::{
    ChangedSample, EarlierSamples, Journal, JournalLine, JournalPhase, JournalPoint, PointLines,
    RunEnd, read_journal, unmeasured,
};
pub use launch::Launch;
pub use node_report::{NodeHardware, NodeReport, NodeValue, node_report, read_node_reports};
pub use outcome::{Candidate, Choice, Limit, Load, Measured, Outcome, Sample, Summary};
pub use reading::LARGEST_REPORT;
pub use relation::{CacheGroup, CacheId, Places, Relation};
pub use report::{
    ClockFacts, DraftedPhase, Finding, KernelUsed, PhaseId, PhaseRoom, PlanSummary, Provenance,
    Report, RunStatus, SCHEMA_VERSION, Tool, Withheld,
};
pub use sc_membench::{
    SC_MEMBENCH_HEADER, SC_MEMBENCH_OPERATIONS, ScMembenchForm, ScMembenchLeftOut, ScMembenchRow,
    Threads, sc_membench_form, sc_membench_report,
};
pub use shared::shared;
pub use storage::{Latencies, SeekLatencies, SeekWindow, Storage, StorageSecond};
pub use store::{Saved, is_replaceable, parse_saved, read_saved, write_atomically};
pub use trace::{TraceFormat, TraceRecord, TraceWriter, read_trace};
pub use vcpu_placement::{PlacementStratum, VcpuPlacement, VcpuPlacementEvidence};
