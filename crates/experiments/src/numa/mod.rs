//! What is the bandwidth and latency between NUMA nodes?
//!
//! Bandwidth and latency are two experiments with the same options, because a dataset has one
//! quantity. Method and limits: docs/method/numa.md.

mod ends;
mod findings;
mod settings;

pub use settings::Settings;

use crate::chains::line_of;
use crate::command::CommandSettings;
use crate::coordinates::{coordinates, name, number};
use crate::experiment::{self, Bound, Detail, Draft, Experiment, Scope, axis};
use crate::hierarchy::Levels;
use crate::lists::{OperationSpec, Spread, Studied};
use crate::streams::{check_sizes, fitted};
use ends::{CpuNode, Ends};
use engine::{ChainShape, ChaseWork, StreamWork, Work};
use host::memory::{PageMode, Place};
use kernels::{Width, chase_name};
use report::{Axis, Coordinates, Dataset, Finding, HostFacts, Outcome, Quantity};
use stats::derive;
use units::Bytes;
use units::error::{Error, Result};

impl CommandSettings for Settings {
    fn experiments(self) -> Vec<Box<dyn Experiment>> {
        let wanted = |studied: Studied| self.measure.0.contains(&studied);
        let mut experiments: Vec<Box<dyn Experiment>> = Vec::new();
        if wanted(Studied::Bandwidth) {
            experiments.push(Box::new(NumaBandwidth {
                settings: self.clone(),
                detail: None,
            }));
        }
        if wanted(Studied::Latency) {
            experiments.push(Box::new(NumaLatency {
                settings: self.clone(),
                detail: None,
            }));
        }
        experiments
    }
}

/// The experiment `numa`: bandwidth between nodes.
#[derive(Debug, Clone)]
pub struct NumaBandwidth {
    settings: Settings,
    /// Detail of the profile that contains the experiment; `None` without a profile.
    detail: Option<Detail>,
}

/// The experiment `numa-latency`: latency between nodes.
#[derive(Debug, Clone)]
pub struct NumaLatency {
    settings: Settings,
    detail: Option<Detail>,
}

impl NumaBandwidth {
    /// The experiment as part of a profile with this detail.
    pub fn in_profile(detail: Detail) -> Self {
        Self {
            settings: Settings::in_profile(detail),
            detail: Some(detail),
        }
    }

    /// The draft of the point with threads on `cpus` and memory at `at.place`. Fails if the size is
    /// too small.
    fn point(
        &self,
        scope: &Scope<'_>,
        (requested, pages): (OperationSpec, PageMode),
        cpus: &[u32],
        at: &NodePoint<'_>,
    ) -> Result<Draft> {
        let nodes = at.cpus.map_or_else(Vec::new, |node| node.cpus.clone());
        let own = scope.last_level_of(if nodes.is_empty() { cpus } else { &nodes });
        let levels = Levels::new(scope.facts(), cpus, own);
        let fitted = fitted(requested, self.settings.sizes.unwrap_or(levels.memory))?;
        let bytes = fitted.bytes;
        let work = StreamWork {
            any_of_family: matches!(requested, OperationSpec::BestOf(_)),
            place: Some(at.place.clone()),
            ..StreamWork::new(fitted.operation, Width::Best, pages, cpus, bytes)
        };
        let kernel = scope.machine.kernel(&Work::Stream(work.clone()));
        let name = kernel
            .as_ref()
            .map_or_else(|_| requested.to_string(), |kernel| kernel.name.clone());
        let mut coordinates =
            at.coordinates(&requested.to_string(), &name, (bytes, &levels), pages);
        coordinates.insert("threads".to_owned(), number(cpus.len() as u64));
        let needed = Bytes(work.slot().0.saturating_mul(cpus.len() as u64));
        let work = match (kernel, ends::no_room(scope, &at.place, needed)) {
            (Err(reason), _) => Err(Outcome::Unsupported { reason }),
            (_, Some(outcome)) => Err(outcome),
            _ => Ok(Work::Stream(work)),
        };
        Ok(Draft {
            coordinates,
            work,
            bound: Bound::Memory,
            drop_priority: at.drop_priority,
        })
    }
}

/// CPUs and memory of a point.
struct NodePoint<'a> {
    /// The node whose CPUs have threads; `None` for all nodes.
    cpus: Option<&'a CpuNode>,
    place: Place,
    distance: Option<u32>,
    drop_priority: u8,
}

impl NodePoint<'_> {
    fn coordinates(
        &self,
        operation: &str,
        kernel: &str,
        (bytes, levels): (Bytes, &Levels),
        pages: PageMode,
    ) -> Coordinates {
        let memory = match self.place {
            Place::Node(id) => number(id),
            Place::Local => name(findings::LOCAL),
            Place::Interleaved(_) => name("interleaved"),
            Place::Weighted(_) => name("weighted"),
        };
        let mut coordinates = coordinates([
            ("operation", name(operation)),
            ("kernel", name(kernel)),
            (
                "cpu_node",
                self.cpus
                    .map_or_else(|| name(findings::ALL), |cpus| number(cpus.id)),
            ),
            ("memory_node", memory),
            ("level", name(levels.name(bytes))),
            ("size_bytes", number(bytes.0)),
            ("pages", name(pages)),
        ]);
        coordinates.extend(
            self.distance
                .map(|distance| ("distance".to_owned(), number(distance))),
        );
        coordinates
    }
}

/// CPUs and memory of all points for `ends`, in the order in which tables show them. `spreads` are
/// the ways to interleave memory. If `all` is true, points with threads on all nodes are added.
fn places<'a>(
    ends: &'a Ends,
    scope: &Scope<'_>,
    spreads: &[Spread],
    all: bool,
) -> Vec<NodePoint<'a>> {
    let topology = &scope.facts().topology;
    let mut places = Vec::new();
    let shared: Vec<Place> = spreads
        .iter()
        .filter_map(|spread| ends.interleaved(*spread))
        .collect();
    for (cpus, memory) in &ends.pairs {
        let cpus = &ends.cpu_nodes[*cpus];
        let drop_priority = if cpus.id == *memory {
            ends::DROP_PRIORITY
        } else {
            ends::DROP_PRIORITY + 1
        };
        let distance = topology.distance(cpus.id, *memory);
        places.push(NodePoint {
            cpus: Some(cpus),
            place: Place::Node(*memory),
            distance,
            drop_priority,
        });
        let last = ends
            .pairs
            .iter()
            .rfind(|pair| ends.cpu_nodes[pair.0].id == cpus.id);
        let spreads = ends
            .cpu_nodes
            .iter()
            .take(ends.spreading)
            .any(|node| node.id == cpus.id);
        if spreads && last.is_some_and(|pair| pair.1 == *memory) {
            let spread = |place: &Place| NodePoint {
                cpus: Some(cpus),
                place: place.clone(),
                distance: None,
                drop_priority: ends::DROP_PRIORITY + 2,
            };
            places.extend(shared.iter().map(spread));
        }
    }
    if all && ends.cpu_nodes.len() > 1 {
        let every = |place: Place| NodePoint {
            cpus: None,
            place,
            distance: None,
            drop_priority: ends::DROP_PRIORITY + 1,
        };
        places.extend(
            shared
                .into_iter()
                .chain(ends.all_local().then_some(Place::Local))
                .map(every),
        );
    }
    places
}

impl Experiment for NumaBandwidth {
    fn name(&self) -> &'static str {
        "numa"
    }

    fn quantity(&self) -> Quantity {
        experiment::bandwidth_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "cpu_node",
            "memory_node",
            "distance",
            "threads",
            "pages",
            "level",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let Some(ends) = Ends::new(&self.settings, self.detail, scope)? else {
            return Ok(Vec::new());
        };
        check_sizes(self.settings.sizes.as_slice(), &self.settings.ops)?;
        let mut drafts = Vec::new();
        for &requested in &self.settings.ops.0 {
            for &pages in &self.settings.pages.0 {
                for at in places(&ends, scope, &self.settings.interleave.0, true) {
                    scope.room_for(drafts.len() + 1)?;
                    let cpus = at
                        .cpus
                        .map_or_else(|| ends.all_threads(), |node| node.threads.clone());
                    drafts.push(self.point(scope, (requested, pages), &cpus, &at)?);
                }
            }
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        ends::adjustments(&self.settings, self.detail, scope)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::bandwidth(dataset)
    }

    fn findings_on(&self, facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        findings::one_node(facts, dataset)
            .into_iter()
            .chain(self.findings(dataset))
            .collect()
    }
}

impl NumaLatency {
    /// The experiment as part of a profile with this detail.
    pub fn in_profile(detail: Detail) -> Self {
        Self {
            settings: Settings::in_profile(detail),
            detail: Some(detail),
        }
    }

    fn point(
        &self,
        scope: &Scope<'_>,
        pages: PageMode,
        at: &NodePoint<'_>,
    ) -> Result<Option<Draft>> {
        let (Some(cpus), Place::Node(node)) = (at.cpus, &at.place) else {
            return Ok(None);
        };
        let Some(&cpu) = cpus.threads.first() else {
            return Ok(None);
        };
        let own = scope.last_level_of(&cpus.cpus);
        let stride = line_of(scope, cpu);
        let levels = Levels::new(scope.facts(), &[cpu], own);
        let size = self.settings.sizes.unwrap_or(levels.memory);
        let bytes = size.round_down(stride.0);
        if bytes.0 == 0 {
            return Err(Error::usage(format!(
                "too small a size: {size}; a chain needs room for one node of {stride}; type \
                 --sizes {} or more",
                stride.0
            )));
        }
        let seed = derive(scope.seed, "numa", bytes.0 ^ (u64::from(*node) << 48));
        let shape = ChainShape::GlobalRandom;
        let walkers = 1;
        let payload = false;
        let work = ChaseWork {
            pages,
            cpus: vec![cpu],
            shared: false,
            node: Some(*node),
            bytes,
            stride,
            shape,
            seed,
            walkers,
            payload,
        };
        let mut coordinates =
            at.coordinates("chase", &chase_name(1, false), (bytes, &levels), pages);
        coordinates.insert("cpu".to_owned(), number(cpu));
        let work = match ends::no_room(scope, &at.place, work.slot()) {
            Some(outcome) => Err(outcome),
            None => scope.runnable(Work::Chase(work)),
        };
        Ok(Some(Draft {
            coordinates,
            work,
            bound: Bound::Unknown,
            drop_priority: at.drop_priority,
        }))
    }
}

impl Experiment for NumaLatency {
    fn name(&self) -> &'static str {
        "numa-latency"
    }

    fn quantity(&self) -> Quantity {
        experiment::latency_quantity()
    }

    fn axes(&self) -> Vec<Axis> {
        [
            "operation",
            "cpu_node",
            "memory_node",
            "distance",
            "cpu",
            "pages",
            "level",
            "size_bytes",
        ]
        .map(axis)
        .to_vec()
    }

    fn draft(&self, scope: &Scope<'_>) -> Result<Vec<Draft>> {
        let Some(ends) = Ends::new(&self.settings, self.detail, scope)? else {
            return Ok(Vec::new());
        };
        let mut drafts = Vec::new();
        for &pages in &self.settings.pages.0 {
            for at in places(&ends, scope, &[], false) {
                scope.room_for(drafts.len() + 1)?;
                drafts.extend(self.point(scope, pages, &at)?);
            }
        }
        Ok(drafts)
    }

    fn adjustments(&self, scope: &Scope<'_>) -> Vec<String> {
        // The bandwidth experiment returns the same sentences. The plan prints each sentence once.
        ends::adjustments(&self.settings, self.detail, scope)
    }

    fn findings(&self, dataset: &Dataset) -> Vec<Finding> {
        findings::latency(dataset)
    }

    fn findings_on(&self, facts: &HostFacts, dataset: &Dataset) -> Vec<Finding> {
        findings::one_node(facts, dataset)
            .into_iter()
            .chain(self.findings(dataset))
            .collect()
    }
}
