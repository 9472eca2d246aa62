//! Counts of the running thread.

use super::*;
use crate::memory::{Mapping, PageMode};
use units::Bytes;

#[test]
fn a_first_touch_is_counted() {
    let before = ThreadNoise::of_this_thread().unwrap();
    // The test maps memory itself, because the allocator could return memory that was touched
    // before.
    let memory = Mapping::new(Bytes::mib(8), PageMode::Base, Bytes(0)).unwrap();
    memory.take(0..memory.len()).unwrap().touch(0..memory.len());
    let added = ThreadNoise::of_this_thread().unwrap().since(before);
    assert!(
        added.minor_faults + added.major_faults > 0,
        "{} bytes, {added:?}",
        memory.len()
    );
    assert_eq!(
        before
            .since(ThreadNoise {
                minor_faults: u64::MAX,
                ..before
            })
            .minor_faults,
        0
    );
}
