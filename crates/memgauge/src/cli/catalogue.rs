//! The list of all experiments of this program, from which commands, options and tables are made.

use experiments::{EXPERIMENTS, ExperimentCommand, ExperimentRow};

/// Every experiment, in the order of profiles and lists.
pub fn experiments() -> impl Iterator<Item = &'static ExperimentRow> {
    #[cfg(feature = "storage")]
    let storage = [&storage::STORAGE_EXPERIMENT];
    #[cfg(not(feature = "storage"))]
    let storage = [];
    #[cfg(feature = "gpu")]
    let gpu = &gpu::GPU_EXPERIMENTS;
    #[cfg(not(feature = "gpu"))]
    let gpu = &[];
    EXPERIMENTS.iter().chain(storage).chain(gpu)
}

/// True if `name` is a storage engine. Storage engines have no kernels.
pub fn is_storage_engine(name: &str) -> bool {
    storage_engines().contains(&name)
}

/// Names of the storage engines.
fn storage_engines() -> Vec<&'static str> {
    #[cfg(feature = "storage")]
    let engines = host::storage::IO_ENGINES.iter().map(|row| row.name);
    #[cfg(not(feature = "storage"))]
    let engines = [].into_iter();
    engines.collect()
}

/// The experiment called `name`; `None` if there is none.
pub fn experiment_named(name: &str) -> Option<&'static ExperimentRow> {
    experiments().find(|row| row.name == name)
}

/// Experiments with a command of their own, each with its command, in the order of the help.
pub fn experiment_commands() -> Vec<(&'static ExperimentRow, &'static ExperimentCommand)> {
    experiments()
        .filter_map(|row| Some((row, row.command.as_ref()?)))
        .collect()
}
