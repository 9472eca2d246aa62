//! The experiments that this program knows: the one list that its commands, options and tables go
//! by.

use experiments::{EXPERIMENTS, ExperimentCommand, ExperimentRow};

/// Every experiment, in the order of profiles and lists.
pub fn experiments() -> impl Iterator<Item = &'static ExperimentRow> {
    #[cfg(feature = "storage")]
    let storage = [&storage::STORAGE_EXPERIMENT];
    #[cfg(not(feature = "storage"))]
    let storage = [];
    EXPERIMENTS.iter().chain(storage)
}

/// Whether `name` is an engine of storage, which has no instructions of this program.
pub fn is_storage_engine(name: &str) -> bool {
    storage_engines().contains(&name)
}

/// The names of the engines of storage.
fn storage_engines() -> Vec<&'static str> {
    #[cfg(feature = "storage")]
    let engines = host::storage::IO_ENGINES.iter().map(|row| row.name);
    #[cfg(not(feature = "storage"))]
    let engines = [].into_iter();
    engines.collect()
}

/// The experiment called `name`.
pub fn experiment_named(name: &str) -> Option<&'static ExperimentRow> {
    experiments().find(|row| row.name == name)
}

/// The experiments that have a command made from the table, in the order of help.
pub fn experiment_commands() -> Vec<(&'static ExperimentRow, &'static ExperimentCommand)> {
    experiments()
        .filter_map(|row| Some((row, row.command.as_ref()?)))
        .collect()
}
