//! Looks of series: colours, marks and dashes, which pictures, pages and legends share.

use std::collections::BTreeSet;

/// Colours that people with any kind of colour vision distinguish (Okabe and Ito, "Color universal
/// design", 2008). Their yellow is left out, because it is too pale on white.
pub(crate) const COLORS: [(u8, u8, u8); 8] = [
    (0, 114, 178),
    (213, 94, 0),
    (0, 158, 115),
    (204, 121, 167),
    (86, 180, 233),
    (230, 159, 0),
    (127, 127, 127),
    (148, 103, 189),
];

/// Outlines of marks, as corners in pixels relative to the point. An empty outline stands for a
/// circle. No mark is a cross, because a cross marks rejected points.
pub(crate) const MARKS: [&[(i32, i32)]; 8] = [
    &[],
    &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
    &[(0, -6), (6, 4), (-6, 4)],
    &[(0, -6), (6, 0), (0, 6), (-6, 0)],
    &[(0, 6), (-6, -4), (6, -4)],
    &[
        (-2, -6),
        (2, -6),
        (2, -2),
        (6, -2),
        (6, 2),
        (2, 2),
        (2, 6),
        (-2, 6),
        (-2, 2),
        (-6, 2),
        (-6, -2),
        (-2, -2),
    ],
    &[(-5, -5), (5, -5), (-5, 5), (5, 5)],
    &[
        (0, -7),
        (2, -2),
        (7, 0),
        (2, 2),
        (0, 7),
        (-2, 2),
        (-7, 0),
        (-2, -2),
    ],
];

/// Radius of the circle mark, in pixels.
pub(crate) const RADIUS: u32 = 4;

/// Lengths of strokes and gaps of dashed lines in pixels, alternating. An empty list stands for a
/// solid line.
pub(crate) const DASHES: [&[u32]; 7] = [
    &[],
    &[9, 4],
    &[2, 4],
    &[9, 3, 2, 3],
    &[18, 5],
    &[18, 3, 2, 3],
    &[9, 3, 2, 3, 2, 3],
];

/// Look of a series: its colour, mark and dashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct SeriesStyle {
    /// Index in [`COLORS`].
    pub(crate) color: usize,
    /// Index in [`MARKS`].
    pub(crate) mark: usize,
    /// Index in [`DASHES`].
    pub(crate) dash: usize,
}

/// Position of a series among all series, which determines its look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SeriesPosition {
    /// Index of the first coordinate among the first coordinates of all series.
    pub group: usize,
    /// Index of the series' other coordinates within its group.
    pub member: usize,
    /// Index of the report of the series.
    pub report: usize,
}

/// Chooses a look for each series. The series of a group share a colour. If there are several
/// reports, the series of a report share dashes. If two series would get the same look, looks are
/// assigned in order instead. There are 448 looks if lines are `joined`, and 64 otherwise.
pub(super) fn looks(positions: &[SeriesPosition], joined: bool) -> Vec<SeriesStyle> {
    let several = positions.iter().any(|s| s.report != positions[0].report);
    let meaning = |s: &SeriesPosition| SeriesStyle {
        color: s.group % COLORS.len(),
        mark: s.member % MARKS.len(),
        dash: if several { s.report } else { s.member } % DASHES.len(),
    };
    let by_meaning: Vec<SeriesStyle> = positions.iter().map(meaning).collect();
    let seen = |look: &SeriesStyle| SeriesStyle {
        dash: if joined { look.dash } else { 0 },
        ..*look
    };
    let different: BTreeSet<SeriesStyle> = by_meaning.iter().map(seen).collect();
    if different.len() == positions.len() {
        return by_meaning;
    }
    // The numbers of marks (8) and dashes (7) have no common divisor. Their pairs therefore repeat
    // only after 56 series of one colour.
    let in_order = |i: usize| SeriesStyle {
        color: i % COLORS.len(),
        mark: i / COLORS.len() % MARKS.len(),
        dash: i / COLORS.len() % DASHES.len(),
    };
    (0..positions.len()).map(in_order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(groups: usize, members: usize, reports: usize) -> Vec<SeriesPosition> {
        let one = |i: usize| SeriesPosition {
            group: i / members / reports,
            member: i / reports % members,
            report: i % reports,
        };
        (0..groups * members * reports).map(one).collect()
    }

    #[test]
    fn no_two_series_look_alike() {
        for (groups, members, reports) in [
            (3, 2, 1),
            (1, 7, 1),
            (1, 56, 1),
            (1, 200, 1),
            (200, 1, 1),
            (9, 3, 2),
            (2, 2, 20),
        ] {
            let positions = positions(groups, members, reports);
            let looks = looks(&positions, true);
            let different: BTreeSet<&SeriesStyle> = looks.iter().collect();
            assert_eq!(
                different.len(),
                positions.len(),
                "{groups} {members} {reports}"
            );
        }
        for count in [8, 9, 64] {
            let looks = looks(&positions(count, 1, 1), false);
            let different: BTreeSet<(usize, usize)> =
                looks.iter().map(|l| (l.color, l.mark)).collect();
            assert_eq!(different.len(), count);
        }
    }

    #[test]
    fn colours_are_groups_and_dashes_reports_where_there_is_room() {
        let one = looks(&positions(3, 2, 1), true);
        assert_eq!((one[0].color, one[1].color, one[2].color), (0, 0, 1));
        assert!(one[0].dash == 0 && one[1].dash != 0 && one[1].mark != one[0].mark);
        let two = looks(&positions(3, 2, 2), true);
        assert!(
            two.iter().step_by(2).all(|l| l.dash == 0)
                && two.iter().skip(1).step_by(2).all(|l| l.dash == 1)
        );
        assert_eq!((two[0].mark, two[1].mark, two[2].mark), (0, 0, 1));
    }
}
