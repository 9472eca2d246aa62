//! Words for a point and its figure in findings about the machine.

use report::{Point, printed_unit};
use units::{Bytes, counted, significant};

/// A point in words: `read, DRAM, 2 threads`, or on a GPU `read, device 0, 64 KiB`
pub(super) fn place(point: &Point) -> String {
    let names = [point.name("operation"), point.name("level")];
    let mut parts: Vec<String> = names.into_iter().flatten().map(str::to_owned).collect();
    parts.extend(point.number("threads").map(|n| counted(n, "thread")));
    if let Some(device) = point.number("device") {
        let peer = point.number("peer");
        let peer = peer.map_or(String::new(), |peer| format!(" to {peer}"));
        parts.push(format!("device {device}{peer}"));
        let size = point.number("size_bytes");
        parts.extend(size.map(|size| Bytes(size).to_string()));
    }
    parts.join(", ")
}

/// Unit in which figures are printed, and the factor from the base unit to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale<'a> {
    factor: f64,
    unit: &'a str,
}

impl<'a> Scale<'a> {
    /// Scale for figures of a dataset in `unit`.
    pub fn for_unit(unit: &'a str) -> Self {
        let (factor, unit) = printed_unit(unit);
        Scale { factor, unit }
    }

    /// Formats `value`, given in base units, in this scale without the unit.
    pub fn number(self, value: f64) -> String {
        significant(value * self.factor)
    }

    /// Formats `value`, given in base units, in this scale with the unit.
    pub fn text(self, value: f64) -> String {
        format!("{} {}", self.number(value), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use report::{Coordinate, Outcome};

    /// A point with these coordinates, in words.
    fn words(coordinates: &[(&str, Coordinate)]) -> String {
        place(&Point {
            id: 0,
            coordinates: coordinates
                .iter()
                .map(|(axis, at)| ((*axis).to_owned(), at.clone()))
                .collect(),
            outcome: Outcome::Skipped {
                reason: "test".to_owned(),
            },
        })
    }

    #[test]
    fn points_of_processors_and_of_devices_have_words() {
        let name = |text: &str| Coordinate::Name(text.to_owned());
        let number = Coordinate::Number;
        let rows: [(&[(&str, Coordinate)], &str); 4] = [
            (
                &[
                    ("operation", name("read")),
                    ("level", name("DRAM")),
                    ("threads", number(2)),
                    ("size_bytes", number(64)),
                ],
                "read, DRAM, 2 threads",
            ),
            (
                &[
                    ("operation", name("read")),
                    ("device", number(0)),
                    ("size_bytes", number(65536)),
                ],
                "read, device 0, 64 KiB",
            ),
            (
                &[
                    ("device", number(0)),
                    ("peer", number(1)),
                    ("size_bytes", number(4096)),
                ],
                "device 0 to 1, 4 KiB",
            ),
            (
                &[("operation", name("add-shared")), ("device", number(3))],
                "add-shared, device 3",
            ),
        ];
        for (coordinates, expected) in rows {
            assert_eq!(words(coordinates), expected);
        }
    }

    #[test]
    fn rates_are_printed_in_large_units() {
        assert_eq!(Scale::for_unit("B/s").text(12.5e9), "12.5 GB/s");
        assert_eq!(Scale::for_unit("1/s").text(93.4e6), "93.4 million/s");
        assert_eq!(Scale::for_unit("ns").text(4.25), "4.25 ns");
    }
}
