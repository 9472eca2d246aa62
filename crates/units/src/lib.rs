//! Quantities with their units: types, parsing and display.
//!
//! Crates exchange these types, not bare floats. All values are in base units: bytes, nanoseconds,
//! bytes per second, hertz.

#![forbid(unsafe_code)]

mod bytes;
pub mod error;
mod lists;
mod nanos;
mod numbers;
mod parse_error;
mod rates;

pub use bytes::Bytes;
pub use lists::{CpuList, SizeList, ThreadCount, ThreadList, parse_list};
pub use nanos::{Nanos, short_time};
pub use numbers::{counted, fixed, significant};
pub use parse_error::{ParseError, nearest_name, read_like, whole_number};
pub use rates::{BytesPerSecond, Hertz};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_their_unit() {
        for (text, ns) in [
            ("90s", 90e9),
            ("1.5min", 90e9),
            ("250ms", 250e6),
            ("7", 7e9),
            ("1h", 3600e9),
            ("0s", 0.0),
        ] {
            assert_eq!(text.parse(), Ok(Nanos(ns)), "{text}");
        }
        for text in ["", "s", "-1s", "1 parsec", "1e9s", "nan", "inf", "1.2.3s"] {
            assert!(text.parse::<Nanos>().is_err(), "{text}");
        }
    }

    #[test]
    fn short_times_have_a_unit() {
        let read = |text: &str| short_time(text).map(|time| time.0);
        assert_eq!(
            [read("50us"), read("0"), read("0s")],
            [Ok(50e3), Ok(0.0), Ok(0.0)]
        );
        for text in ["50", "0.5", "", "ms", "50 parsecs"] {
            let error = short_time(text).unwrap_err();
            let example = error.example.unwrap();
            assert!(short_time(&example).is_ok(), "{text}: {example}");
        }
    }

    #[test]
    fn only_one_thing_is_named_in_the_singular() {
        assert_eq!(
            [0, 1, 2, 11].map(|n| counted(n, "point")),
            ["0 points", "1 point", "2 points", "11 points"]
        );
    }

    #[test]
    fn what_is_rounded_to_zero_has_no_sign() {
        let shown = [
            (-0.0, 0),
            (-0.4, 0),
            (-0.004, 2),
            (-0.006, 2),
            (-1.0, 1),
            (0.3, 0),
        ];
        assert_eq!(
            shown.map(|(value, decimals)| fixed(value, decimals)),
            ["0", "0", "0.00", "-0.01", "-1.0", "0"]
        );
        assert_eq!(
            (significant(-0.001), Hertz(-0.0).to_string()),
            ("0.00".to_owned(), "0 Hz".to_owned())
        );
    }

    #[test]
    fn quantities_keep_three_digits() {
        let shown: Vec<String> = [0.123, 1.0, 12.34, 99.99, 536.2].map(significant).to_vec();
        assert_eq!(shown, ["0.12", "1.00", "12.3", "100", "536"]);
        assert_eq!(Nanos(1234.0).to_string(), "1.23 us");
        assert_eq!(BytesPerSecond(17.2e9).to_string(), "17.2 GB/s");
        for (text, rate) in [
            ("25GB", 25e9),
            (" 204.8GB/s ", 204.8e9),
            ("1MiB/s", 1048576.0),
            ("204.8", 204.8e9),
        ] {
            assert_eq!(text.parse(), Ok(BytesPerSecond(rate)), "{text}");
        }
        for text in [
            "", "0", "0GB/s", "/s", "GB/s", "-1GB/s", "nan", "25 GB/h", "1KiB/s", "204800",
            "200TB/s",
        ] {
            assert!(text.parse::<BytesPerSecond>().is_err(), "{text}");
        }
        assert_eq!(Hertz(4.19e9).to_string(), "4.19 GHz");
    }
}
