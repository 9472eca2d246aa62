//! Names of quantities that are short but distinct.

use super::collection::FleetQuantity;
use report::Coordinate;
use std::collections::{BTreeMap, BTreeSet};
use units::Bytes;

/// Axes that come first in a name and are always part of it.
const FIRST: [&str; 2] = ["level", "operation"];

/// Makes a name for each quantity: its experiment, level and operation, and the coordinates in
/// which it differs from other quantities of the experiment.
pub(super) fn labels(quantities: &[FleetQuantity]) -> Vec<String> {
    let mut seen: BTreeMap<&str, BTreeMap<&str, BTreeSet<Option<&Coordinate>>>> = BTreeMap::new();
    for quantity in quantities {
        let axes = seen.entry(&quantity.experiment).or_default();
        for axis in quantity.coordinates.keys() {
            axes.entry(axis).or_default();
        }
    }
    for quantity in quantities {
        if let Some(axes) = seen.get_mut(quantity.experiment.as_str()) {
            for (axis, values) in axes.iter_mut() {
                values.insert(quantity.coordinates.get(*axis));
            }
        }
    }
    let varies = |quantity: &FleetQuantity, axis: &str| {
        let axes = seen.get(quantity.experiment.as_str());
        axes.and_then(|axes| axes.get(axis))
            .is_some_and(|values| values.len() > 1)
    };
    quantities
        .iter()
        .map(|quantity| {
            let mut words = vec![quantity.experiment.clone()];
            let at = |axis: &str| Some(words_for(axis, quantity.coordinates.get(axis)?));
            words.extend(FIRST.iter().filter_map(|axis| at(axis)));
            let rest = quantity
                .coordinates
                .keys()
                .filter(|axis| !FIRST.contains(&axis.as_str()) && varies(quantity, axis.as_str()));
            words.extend(rest.filter_map(|axis| at(axis)));
            words.join(" ")
        })
        .collect()
}

/// A coordinate in words. A number comes after the name of its axis.
fn words_for(axis: &str, coordinate: &Coordinate) -> String {
    match (axis.strip_suffix("_bytes"), coordinate) {
        (Some(axis), Coordinate::Number(n)) => format!("{axis} {}", Bytes(*n)),
        (None, Coordinate::Number(n)) => format!("{} {n}", axis.replace('_', " ")),
        (_, Coordinate::Name(name)) => name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::Coordinates;

    #[test]
    fn names_have_what_distinguishes_a_quantity() {
        let quantity = |level: &str, threads: u64| FleetQuantity {
            experiment: "bandwidth".to_owned(),
            quantity: "bandwidth".to_owned(),
            unit: "B/s".to_owned(),
            higher_is_better: true,
            coordinates: Coordinates::from([
                ("level".to_owned(), Coordinate::Name(level.to_owned())),
                ("threads".to_owned(), Coordinate::Number(threads)),
                ("pages".to_owned(), Coordinate::Name("thp".to_owned())),
            ]),
        };
        let both = [quantity("L1", 1), quantity("DRAM", 2)];
        assert_eq!(
            labels(&both),
            ["bandwidth L1 threads 1", "bandwidth DRAM threads 2"]
        );
        assert_eq!(labels(&both[..1]), ["bandwidth L1"]);
    }
}
