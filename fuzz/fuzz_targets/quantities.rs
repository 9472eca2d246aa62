//! Sizes, times, lists, thread counts, CPU lists: what is read can be printed and, where nothing is
//! rounded, read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use units::{Bytes, CpuList, Nanos, SizeList, ThreadCount, ThreadList, parse_list};
use std::str::FromStr;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    printed::<Nanos>(text);
    if let Some(bytes) = printed::<Bytes>(text).filter(|bytes| bytes.0 < 1 << 63) {
        // Printed with one decimal, of a number from 1.0.
        let again: Bytes = bytes.to_string().parse().expect("what is printed can be read");
        assert!(again.0.abs_diff(bytes.0) as f64 <= 0.051 * bytes.0 as f64, "{bytes} {again}");
    }
    if let Ok(list) = text.parse::<CpuList>() {
        assert_eq!(list.to_string().parse(), Ok(list));
    }
    printed::<CpuList>(text);
    if let Ok(list) = text.parse::<SizeList>() {
        assert!(!list.0.is_empty());
    }
    let counts = text.parse::<ThreadList>().map(|list| list.0).unwrap_or_default();
    assert!(counts.into_iter().all(|count: ThreadCount| count.resolve(4) != Some(0)));
    let _ = parse_list(text, str::parse::<Bytes>);
});

/// Reads and prints; what is refused is refused with words.
fn printed<T: FromStr<Err: std::fmt::Display> + std::fmt::Display>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(value) => {
            assert!(!value.to_string().is_empty());
            Some(value)
        }
        Err(why) => {
            assert!(!why.to_string().is_empty());
            None
        }
    }
}
