//! Sizes, times, lists, thread counts, CPU lists: what is read can be printed and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgauge::units::{Bytes, CpuList, Nanos, SizeList, ThreadCount, ThreadList, parse_list};
use std::str::FromStr;

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    printed::<Nanos>(text);
    if let Some(bytes) = printed::<Bytes>(text) {
        assert_eq!(bytes.to_string().parse::<Bytes>().map(|again| again.to_string()), Ok(bytes.to_string()));
    }
    if let Ok(list) = text.parse::<CpuList>() {
        assert_eq!(list.to_string().parse(), Ok(list));
    }
    printed::<CpuList>(text);
    if let Ok(list) = text.parse::<SizeList>() {
        assert!(!list.0.is_empty());
    }
    let counts = text.parse::<ThreadList>().map(|list| list.0).unwrap_or_default();
    assert!(counts.into_iter().all(|count: ThreadCount| count.resolve(4) > 0));
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
