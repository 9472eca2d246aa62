//! Text of comparisons: a summary line, then tables of pairs by experiment.

use super::figures::{axis_title, coordinate, mark, printed_unit, varying_axes};
use super::grid::{Column, Grid};
use super::text::shorten;
use report::{Coordinates, Dataset, Outcome, Point};
use units::{counted, significant};
use verdict::{Change, Comparison, Pair, PairGroup, Unaligned};

/// Largest number of remarks that are listed without `--verbose`. The same limit holds for reasons
/// why points are not compared.
const MAX_REASONS: usize = 8;

/// The comparison in one line: counts of points by change, and the worst point.
pub fn comparison_summary(comparison: &Comparison) -> String {
    let tally = comparison.tally;
    let percent = |share: f64| (share * 1e4).round() / 1e2;
    let bare = percent(comparison.floor_without_samples.0);
    let floor = match comparison.without_samples() {
        0 => format!("{}%", percent(comparison.floor.0)),
        all if all == tally.all() => format!("{bare}%"),
        _ => format!("{}% ({bare}% without samples)", percent(comparison.floor.0)),
    };
    let mut text = format!(
        "{} compared: {} worse, {} better, {} the same within {floor}, {} cannot tell",
        counted(tally.all(), "point"),
        tally.worse,
        tally.better,
        tally.same,
        tally.cannot_tell,
    );
    let worse = comparison
        .pairs()
        .filter(|(_, pair)| pair.change == Change::Worse);
    if let Some((group, pair)) = worse.max_by(|(_, a), (_, b)| a.size().total_cmp(&b.size())) {
        let [change, low, high] = changes(pair);
        text.push_str(&format!(
            "; worst: {}, {change}%",
            place(group, &pair.coordinates)
        ));
        if !low.is_empty() {
            text.push_str(&format!(" ({low} to {high})"));
        }
    }
    if !comparison.unaligned.is_empty() {
        text.push_str(&format!(
            "; {} not compared",
            counted(comparison.unaligned.len(), "point")
        ));
    }
    text
}

/// Converts a group to a dataset without measurements, for functions that need a dataset.
fn as_dataset(group: &PairGroup) -> Dataset {
    let outcome = || Outcome::Skipped {
        reason: String::new(),
    };
    let point = |pair: &Pair| Point {
        id: 0,
        coordinates: pair.coordinates.clone(),
        outcome: outcome(),
    };
    Dataset {
        experiment: group.experiment.clone(),
        quantity: group.quantity.clone(),
        axes: group.axes.clone(),
        points: group.pairs.iter().map(point).collect(),
        auxiliary: false,
        derived: false,
    }
}

/// Axes that distinguish the pairs of points in a group. The kernel is among these axes only if the
/// other axes do not suffice.
fn axes(group: &PairGroup) -> Vec<String> {
    let all: Vec<String> = varying_axes(&as_dataset(group))
        .into_iter()
        .map(str::to_owned)
        .collect();
    let without: Vec<String> = all
        .iter()
        .filter(|axis| *axis != "kernel")
        .cloned()
        .collect();
    let places = |axes: &[String]| {
        let key = |pair: &Pair| {
            axes.iter()
                .map(|axis| pair.coordinates.get(axis).cloned())
                .collect::<Vec<_>>()
        };
        group
            .pairs
            .iter()
            .map(key)
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    };
    if places(&without) == group.pairs.len() {
        without
    } else {
        all
    }
}

/// Experiment and coordinates of a pair, in words.
fn place(group: &PairGroup, coordinates: &Coordinates) -> String {
    let at = |axis: &String| {
        Some(named(
            axis,
            coordinates.get(axis).map(|c| coordinate(axis, c))?,
        ))
    };
    let words: Vec<String> = axes(group).iter().filter_map(at).collect();
    format!("{} {}", group.experiment, words.join(" "))
        .trim_end()
        .to_owned()
}

/// A coordinate in words. A bare number has the name of its axis in front.
fn named(axis: &str, text: String) -> String {
    if text.chars().all(|c| c.is_ascii_digit()) {
        format!("{} {text}", axis_title(axis))
    } else {
        text
    }
}

/// Change in percent with its sign, and both ends of its confidence interval. A text is empty if
/// its number is unknown.
fn changes(pair: &Pair) -> [String; 3] {
    [pair.ratio, pair.ratio_low, pair.ratio_high].map(|ratio| {
        ratio
            .map(|ratio| signed((ratio - 1.0) * 100.0))
            .unwrap_or_default()
    })
}

/// A percentage with a sign and one decimal; zero has no sign.
fn signed(percent: f64) -> String {
    let text = format!("{percent:+.1}");
    if ["+0.0", "-0.0"].contains(&text.as_str()) {
        "0.0".to_owned()
    } else {
        text
    }
}

/// Table of the pairs of points in a group that the comparison shows.
pub(super) fn grid(group: &PairGroup, verbose: bool) -> Grid {
    let axes = axes(group);
    let (factor, unit) = printed_unit(&group.quantity.unit);
    let numbers = |axis: &String| {
        group.pairs.iter().all(|p| {
            p.coordinates
                .get(axis)
                .is_some_and(|c| matches!(c, report::Coordinate::Number(_)))
        })
    };
    let mut columns: Vec<Column> = axes
        .iter()
        .map(|axis| {
            if numbers(axis) {
                Column::right(axis_title(axis))
            } else {
                Column::left(axis_title(axis))
            }
        })
        .collect();
    columns.extend([
        Column::right(format!("before {unit}")),
        Column::right(format!("after {unit}")),
        Column::right("change %"),
        Column::right("from"),
        Column::right("to"),
        Column::left("verdict"),
    ]);
    let row = |pair: &Pair| -> Vec<String> {
        let at = axes.iter().map(|axis| {
            pair.coordinates
                .get(axis)
                .map(|c| coordinate(axis, c))
                .unwrap_or_default()
        });
        let value = |side: &verdict::ComparedPoint| {
            format!("{}{}", significant(side.median * factor), mark(side.grade))
        };
        let star = if pair.remark.is_some() { " *" } else { "" };
        let quiet = if pair.is_undisturbed { " u" } else { "" };
        at.chain([value(&pair.before), value(&pair.after)])
            .chain(changes(pair))
            .chain([format!("{}{quiet}{star}", pair.change.word())])
            .collect()
    };
    let shown = group
        .pairs
        .iter()
        .filter(|pair| verbose || pair.change != Change::Same);
    Grid {
        rows: shown.map(row).collect(),
        columns,
    }
}

/// Remarks about the shown pairs of points, each with the pairs that it is about. Tables mark these
/// pairs with `*`.
pub(super) fn remarks(comparison: &Comparison, verbose: bool) -> Vec<String> {
    let shown = comparison
        .pairs()
        .filter(|(_, pair)| verbose || pair.change != Change::Same);
    let told = shown
        .filter_map(|(group, pair)| Some((pair.remark.clone()?, place(group, &pair.coordinates))));
    gathered(told, verbose)
}

/// Heading of a group: quantity, and whether more or less is better.
pub(super) fn heading(group: &PairGroup) -> String {
    let better = if group.quantity.higher_is_better {
        "more"
    } else {
        "less"
    };
    let name = match group.experiment == group.quantity.name {
        true => group.experiment.clone(),
        false => format!("{}: {}", group.experiment, group.quantity.name),
    };
    format!("{name} ({better} is better)")
}

/// A point that the comparison does not show.
#[derive(Debug, Clone, Copy)]
pub(super) struct HiddenPoint<'a> {
    /// Name of the point's experiment.
    pub(super) experiment: &'a str,
    /// Coordinates of the point.
    pub(super) coordinates: &'a Coordinates,
    /// Reason, in words.
    pub(super) reason: &'a str,
}

impl<'a> From<&'a Unaligned> for HiddenPoint<'a> {
    fn from(one: &'a Unaligned) -> Self {
        HiddenPoint {
            experiment: &one.experiment,
            coordinates: &one.coordinates,
            reason: &one.reason,
        }
    }
}

/// Reasons why points are not shown, each with its points.
pub(super) fn reasons<'a>(
    unshown: impl Iterator<Item = impl Into<HiddenPoint<'a>>>,
    verbose: bool,
) -> Vec<String> {
    let words = |one: HiddenPoint<'a>| -> String {
        let told = ["operation", "level", "size_bytes", "threads", "from", "to"];
        let at = told.iter().filter_map(|axis| {
            Some(named(
                axis,
                one.coordinates.get(*axis).map(|c| coordinate(axis, c))?,
            ))
        });
        format!("{} {}", one.experiment, at.collect::<Vec<_>>().join(" "))
            .trim_end()
            .to_owned()
    };
    let told = unshown
        .map(Into::into)
        .map(|one| (one.reason.to_owned(), words(one)));
    gathered(told, verbose)
}

/// Merges equal texts to one line, which also lists the points that the text is about. Without
/// `verbose`, only the first few texts and points are listed.
fn gathered(told: impl Iterator<Item = (String, String)>, verbose: bool) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<String>)> = Vec::new();
    for (text, place) in told {
        match kinds.iter_mut().find(|(known, _)| *known == text) {
            Some((_, places)) => places.push(place),
            None => kinds.push((text, vec![place])),
        }
    }
    let line = |(text, places): &(String, Vec<String>)| {
        let shown = if verbose { places.len() } else { 2 };
        let first: Vec<String> = places
            .iter()
            .take(shown)
            .map(|place| shorten(place, 100))
            .collect();
        let more = if places.len() > shown {
            format!(" and {} more", places.len() - shown)
        } else {
            String::new()
        };
        format!("{}: {}{more}", shorten(text, 160), first.join(", "))
    };
    let most = if verbose { kinds.len() } else { MAX_REASONS };
    let mut lines: Vec<String> = kinds.iter().take(most).map(line).collect();
    if kinds.len() > most {
        lines.push(format!(
            "and {} like these; --verbose shows them",
            kinds.len() - most
        ));
    }
    lines
}

/// Legend of marks and columns, with the number of changes that chance alone would show.
pub(super) fn legend(comparison: &Comparison) -> String {
    let bare = comparison.without_samples();
    let judged = comparison.tally.all() - bare;
    let mut parts = vec!["before, after: medians of rounds, change: their ratio".to_owned()];
    if judged > 0 {
        let expected = significant((1.0 - comparison.confidence) * judged as f64);
        parts.push(format!(
            "from, to: {:.0}% interval of the change",
            comparison.confidence * 100.0
        ));
        parts.push(format!(
            "by chance at most {expected} of {} would come out better or worse",
            counted(judged, "point")
        ));
    }
    if bare > 0 {
        parts.push(format!(
            "without samples: {}, judged by the figures alone (--floor-without-samples)",
            counted(bare, "point")
        ));
    }
    if comparison.pairs().any(|(_, pair)| pair.is_undisturbed) {
        parts.push("u: values of the quietest moments".to_owned());
    }
    parts.push("? doubtful, ! rejected".to_owned());
    parts.join("; ")
}

/// Lines above the tables, each with its label and text.
pub(super) fn head(comparison: &Comparison) -> Vec<[String; 2]> {
    let mut rows = vec![
        [
            "compared".to_owned(),
            format!(
                "{} with {}",
                shorten(&comparison.after, 80),
                shorten(&comparison.before, 80)
            ),
        ],
        ["result".to_owned(), comparison_summary(comparison)],
    ];
    rows.extend(
        comparison
            .notes
            .iter()
            .map(|note| ["note".to_owned(), shorten(note, 300)]),
    );
    rows
}
