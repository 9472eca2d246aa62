//! Points of a curve: a chain, its memory, and the background traffic.

use super::cpus::beyond_quota;
use super::mix::TrafficShape;
use super::settings::Settings;
use crate::chains::{chain_seed, line_of};
use crate::coordinates::{coordinates, name, number};
use crate::experiment::{Bound, Draft, Scope};
use crate::hierarchy::Levels;
use crate::nodes::requested_nodes;
use engine::{ChainShape, ChaseWork, LoadedWork, Probe, Traffic, Work};
use host::memory::PageMode;
use kernels::{BLOCK_BYTES, chase_name};
use report::{Coordinates, Outcome};
use units::Bytes;
use units::error::{Error, Result};

/// The measured chain and its memory, without the traffic.
#[derive(Debug, Clone)]
pub struct MeasuredChase {
    pub cpu: u32,
    pub pages: PageMode,
    /// Value of the axis `node`. `None` if the user requests no node and the machine has only one.
    pub node: Option<u32>,
    /// NUMA node of the memory.
    pub memory: u32,
    pub size: Bytes,
    pub line: Bytes,
    pub level: String,
}

/// A curve to measure.
#[derive(Debug, Clone)]
pub struct CurvePlan {
    pub place: MeasuredChase,
    pub shape: TrafficShape,
    /// CPUs of the threads of the traffic.
    pub cpus: Vec<u32>,
    /// Working set of each thread of the traffic.
    pub bytes: Bytes,
    pub drop_priority: u8,
}

/// Working set of each thread of the traffic. The working sets of all threads together exceed the
/// caches, even if a mix divides each into a loaded and a stored half.
pub fn traffic_bytes(scope: &Scope<'_>, cpus: &[u32]) -> Bytes {
    Levels::new(scope.facts(), cpus, scope.last_level())
        .memory
        .round_up(2 * BLOCK_BYTES)
}

/// Chains to measure on `cpu`, one for each memory node and kind of pages. The flag before a chain
/// is true if the node is not the CPU's own. If `remote` is true, the most distant node is added.
/// Fails if a size or a node is not possible.
pub fn places(
    settings: &Settings,
    scope: &Scope<'_>,
    cpu: u32,
    remote: bool,
) -> Result<Vec<(bool, MeasuredChase)>> {
    let line = line_of(scope, cpu);
    let levels = Levels::new(scope.facts(), &[cpu], scope.last_level());
    let size = settings.sizes.unwrap_or(levels.memory);
    if size < line || settings.sizes.is_some_and(|size| size > scope.usable()) {
        return Err(Error::usage(format!(
            "size not possible: {size}; a chain takes {line} to {}; type --sizes 256MiB",
            scope.usable()
        )));
    }
    let nodes = &scope.facts().topology.nodes;
    let own = scope.facts().topology.node_of(cpu);
    let requested = requested_nodes(settings.memory_nodes.as_ref(), scope)?;
    let mut on: Vec<Option<u32>> = requested
        .into_iter()
        .map(|node| node.or(own.filter(|_| nodes.len() > 1)))
        .collect();
    if remote {
        on.extend(most_distant(scope, own).map(Some));
    }
    let level = levels.name(size.round_down(line.0));
    let place = |pages: PageMode, node: Option<u32>| {
        let far = node.is_some() && node != own;
        let memory = node.or(own).unwrap_or(0);
        (
            far,
            MeasuredChase {
                cpu,
                pages,
                node,
                memory,
                size: size.round_down(line.0),
                line,
                level: level.clone(),
            },
        )
    };
    let pages = &settings.pages.0;
    Ok(on
        .into_iter()
        .flat_map(|node| {
            pages
                .iter()
                .map(move |&pages| place(pages, node))
                .collect::<Vec<_>>()
        })
        .collect())
}

/// The node with memory that is most distant from `own`, or the first of several such nodes. `None`
/// if there is no other node.
fn most_distant(scope: &Scope<'_>, own: Option<u32>) -> Option<u32> {
    let nodes = &scope.facts().topology.nodes;
    let from = nodes.iter().find(|node| Some(node.id) == own)?;
    let with_memory = |node: &&report::Node| Some(node.id) != own && node.memory != Some(Bytes(0));
    let distance = |id: u32| {
        nodes
            .iter()
            .position(|n| n.id == id)
            .and_then(|at| from.distances.get(at))
            .copied()
    };
    let others = nodes.iter().filter(with_memory).map(|node| node.id);
    others.min_by_key(|&id| std::cmp::Reverse(distance(id)))
}

impl MeasuredChase {
    /// The work of the chain. In memory of the CPU's own node, the work is the same as in `memgauge
    /// latency`.
    pub fn chase(&self, scope: &Scope<'_>) -> ChaseWork {
        let far = self
            .node
            .filter(|_| self.node != scope.facts().topology.node_of(self.cpu));
        ChaseWork {
            pages: self.pages,
            cpus: vec![self.cpu],
            shared: false,
            node: far,
            bytes: self.size,
            stride: self.line,
            shape: ChainShape::GlobalRandom,
            seed: chain_seed(scope, self.size, self.line),
            walkers: 1,
            payload: false,
        }
    }

    pub fn coordinates(&self, operation: &str, kernel: &str) -> Coordinates {
        let mut coordinates = coordinates([
            ("operation", name(operation)),
            ("kernel", name(kernel)),
            ("cpu", number(self.cpu)),
            ("level", name(&self.level)),
            ("size_bytes", number(self.size.0)),
            ("pages", name(self.pages)),
        ]);
        coordinates.extend(self.node.map(|node| ("node".to_owned(), number(node))));
        coordinates
    }
}

impl CurvePlan {
    /// Traffic of all threads with `pause` core cycles between bursts.
    pub fn traffic(&self, pause: u64) -> Vec<Traffic> {
        let thread = |(index, &cpu): (usize, &u32)| {
            let plain = Traffic {
                node: Some(self.place.memory),
                pause,
                ..Traffic::reading(cpu, self.place.pages, self.bytes)
            };
            self.shape.mix(index).apply(plain)
        };
        self.cpus.iter().enumerate().map(thread).collect()
    }

    /// The point with `pause` core cycles between bursts.
    pub fn point(&self, scope: &Scope<'_>, pause: u64) -> Draft {
        let traffic = if self.cpus.is_empty() {
            None
        } else {
            Some(self.traffic(pause))
        };
        let mut draft = draft_point(scope, &self.place, traffic, self.drop_priority);
        draft.coordinates.insert("mix".to_owned(), name(self.shape));
        draft
            .coordinates
            .insert("pause_cycles".to_owned(), number(pause));
        draft
    }
}

/// The point of `place` under `traffic`, which is an empty list for the idle point. If `traffic` is
/// `None`, the session has no CPU for traffic, and the point is [`Outcome::Unsupported`].
pub fn draft_point(
    scope: &Scope<'_>,
    place: &MeasuredChase,
    traffic: Option<Vec<Traffic>>,
    drop_priority: u8,
) -> Draft {
    let threads = traffic.as_ref().map_or(0, Vec::len);
    let mut coordinates = place.coordinates("chase", &chase_name(1, false));
    coordinates.insert("threads".to_owned(), number(threads as u64));
    let refused = beyond_quota(scope, threads + 1).filter(|_| threads > 0);
    let work = match traffic {
        Some(_) if let Some(reason) = refused => Err(Outcome::Unsupported { reason }),
        Some(traffic) => scope.runnable(Work::Loaded(LoadedWork::new(
            Probe::Chase(place.chase(scope)),
            traffic,
        ))),
        None => {
            let reason = format!(
                "traffic needs a cpu besides the measured one, and this session may use cpu {} \
                 only",
                place.cpu
            );
            Err(Outcome::Unsupported { reason })
        }
    };
    Draft {
        coordinates,
        work,
        bound: Bound::Unknown,
        drop_priority,
    }
}
