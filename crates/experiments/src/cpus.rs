//! Selection of CPUs by options.

use crate::experiment::Scope;
use units::CpuList;
use units::error::{Error, Result};

/// CPUs requested with `option`, or the first CPU of the session. Fails if the session may not use
/// one of the requested CPUs.
pub fn chosen_cpus(
    requested: Option<&CpuList>,
    option: &str,
    scope: &Scope<'_>,
) -> Result<Vec<u32>> {
    let first = scope.cpus.first().copied().unwrap_or(0);
    let requested = requested.map_or_else(|| vec![first], |list| list.0.clone());
    match requested.iter().find(|cpu| !scope.cpus.contains(cpu)) {
        Some(cpu) => {
            let allowed = CpuList(scope.cpus.to_vec());
            Err(Error::usage(format!(
                "cpu not available: {cpu}; this session may use {allowed}; type {option} {first}"
            )))
        }
        None => Ok(requested),
    }
}

/// The CPU requested with `option`, or the first CPU of the session. Fails if several CPUs were
/// requested.
pub fn one_cpu(requested: Option<&CpuList>, option: &str, scope: &Scope<'_>) -> Result<u32> {
    match chosen_cpus(requested, option, scope)?[..] {
        [cpu] => Ok(cpu),
        _ => Err(Error::usage(format!(
            "too many cpus: {}; one of them is measured at a time; type {option} {}",
            requested.cloned().unwrap_or_default(),
            requested
                .and_then(|list| list.0.first())
                .or(scope.cpus.first())
                .copied()
                .unwrap_or(0)
        ))),
    }
}
