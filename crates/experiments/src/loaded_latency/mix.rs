//! Composition of traffic: mixes of loads and stores, or threads that only load or only store.

use engine::Traffic;
use kernels::Operation;
use std::fmt;
use std::str::FromStr;
use units::{ParseError, parse_list};

/// Ratio of loads to stores in every thread: `67:33`; `0:100nt` has non-temporal stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mix {
    /// Loads in the ratio: 67 in `67:33`.
    pub reads: u32,
    /// Stores in the ratio: 33 in `67:33`.
    pub writes: u32,
    /// True if stores are non-temporal.
    pub non_temporal: bool,
}

/// Several mixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixes(pub Vec<Mix>);

/// Largest number of loads, and of stores, in a ratio. A larger number is probably a typing error.
const MAX_PARTS: u32 = 1000;

impl Mix {
    /// A mix with ordinary stores.
    pub const fn new(reads: u32, writes: u32) -> Self {
        Self {
            reads,
            writes,
            non_temporal: false,
        }
    }

    /// `traffic` with this mix, in the shortest series of bursts that can repeat. A mix of `75:25`
    /// has three bursts of loads and one of stores.
    pub fn apply(self, traffic: Traffic) -> Traffic {
        let common = greatest_common_divisor(self.reads, self.writes).max(1);
        let store = if self.non_temporal {
            Operation::WriteNt
        } else {
            Operation::Write
        };
        Traffic {
            reads: self.reads / common,
            writes: self.writes / common,
            store,
            ..traffic
        }
    }
}

fn greatest_common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}{}",
            self.reads,
            self.writes,
            if self.non_temporal { "nt" } else { "" }
        )
    }
}

impl FromStr for Mix {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let allowed = format!(
            "a mix is loads to stores, 0 to {MAX_PARTS} each and not both 0: 100:0 or 67:33; \
             0:100nt has non-temporal stores"
        );
        let (ratio, non_temporal) = text
            .strip_suffix("nt")
            .map_or((text, false), |ratio| (ratio, true));
        let part = |text: &str| text.trim().parse().ok().filter(|n| *n <= MAX_PARTS);
        let parts = ratio
            .split_once(':')
            .and_then(|(reads, writes)| part(reads).zip(part(writes)));
        let mix = parts.map(|(reads, writes)| Self {
            reads,
            writes,
            non_temporal,
        });
        let possible =
            |mix: &Self| mix.reads + mix.writes > 0 && (mix.writes > 0 || !mix.non_temporal);
        mix.filter(possible)
            .ok_or_else(|| ParseError::new(text, allowed).with_example("67:33"))
    }
}

impl FromStr for Mixes {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse_list(text, str::parse).map(Self)
    }
}

/// Mixes of loads and stores in the threads of one curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrafficShape {
    /// All threads have this mix.
    Mixed(Mix),
    /// A number of threads that only load, then a number of threads that only store.
    Apart(u32, u32),
}

impl TrafficShape {
    /// Mix of thread `index`.
    pub fn mix(self, index: usize) -> Mix {
        match self {
            TrafficShape::Mixed(mix) => mix,
            TrafficShape::Apart(readers, _) if index < readers as usize => Mix::new(1, 0),
            TrafficShape::Apart(..) => Mix::new(0, 1),
        }
    }
}

impl fmt::Display for TrafficShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrafficShape::Mixed(mix) => mix.fmt(f),
            TrafficShape::Apart(readers, writers) => {
                write!(f, "{readers}-readers-{writers}-writers")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use host::memory::PageMode;
    use units::Bytes;

    #[test]
    fn mixes_are_read_as_they_are_printed() {
        for text in ["100:0", "67:33", "0:100", "0:100nt", "50:50nt", "3:1"] {
            assert_eq!(
                text.parse::<Mix>().map(|mix| mix.to_string()),
                Ok(text.to_owned())
            );
        }
        for no in [
            "", ":", "100", "0:0", "1:-1", "100:0nt", "1001:1", "1:1:1", "1:1xt", "nt", "a:b",
        ] {
            assert!(no.parse::<Mix>().is_err(), "{no}");
        }
        assert!("100:0,".parse::<Mixes>().is_err());
    }

    #[test]
    fn a_mix_is_made_of_the_fewest_bursts() {
        let traffic = |text: &str| {
            let traffic = text.parse::<Mix>().unwrap().apply(Traffic::reading(
                1,
                PageMode::Base,
                Bytes(4096),
            ));
            (traffic.reads, traffic.writes, traffic.store)
        };
        assert_eq!(traffic("100:0"), (1, 0, Operation::Write));
        assert_eq!(traffic("75:25"), (3, 1, Operation::Write));
        assert_eq!(traffic("67:33"), (67, 33, Operation::Write));
        assert_eq!(traffic("0:100nt"), (0, 1, Operation::WriteNt));
    }

    #[test]
    fn readers_come_first() {
        let shape = TrafficShape::Apart(2, 1);
        assert_eq!([0, 1, 2].map(|i| shape.mix(i).writes), [0, 0, 1]);
        assert_eq!(shape.to_string(), "2-readers-1-writers");
    }
}
