//! Selection of NUMA nodes by options.

use crate::experiment::Scope;
use units::error::{Error, Result};
use units::{Bytes, CpuList};

/// NUMA nodes with memory, in the order of the system; node 0 if the system reports none.
pub fn with_memory(scope: &Scope<'_>) -> Vec<u32> {
    let nodes = &scope.facts().topology.nodes;
    let ids: Vec<u32> = nodes
        .iter()
        .filter(|n| n.memory != Some(Bytes(0)))
        .map(|n| n.id)
        .collect();
    if ids.is_empty() { vec![0] } else { ids }
}

/// NUMA nodes that the user requests for the memory, to be measured one after another. A single
/// `None` if the user requests no node. Each experiment then chooses the node. Fails if a requested
/// node has no memory.
pub fn requested_nodes(requested: Option<&CpuList>, scope: &Scope<'_>) -> Result<Vec<Option<u32>>> {
    let Some(requested) = requested else {
        return Ok(vec![None]);
    };
    available(
        &requested.0,
        &with_memory(scope),
        "nodes with memory are",
        "--memory-nodes",
    )?;
    Ok(requested.0.iter().copied().map(Some).collect())
}

/// Fails if a requested node is not in `nodes`. In the message, the words `are` describe `nodes`,
/// and `option` is the option to type.
pub fn available(requested: &[u32], nodes: &[u32], are: &str, option: &str) -> Result<()> {
    match requested.iter().find(|node| !nodes.contains(node)) {
        None => Ok(()),
        Some(node) => {
            let all = CpuList(nodes.to_vec());
            let first = nodes.first().copied().unwrap_or(0);
            Err(Error::usage(format!(
                "node not available: {node}; {are} {all}; type {option} {first}"
            )))
        }
    }
}
