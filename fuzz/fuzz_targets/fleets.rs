//! Reports of many machines: read or left out with a reason, judged, and shown in every format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use render::{FLEET_FORMATS, Options, fleet_summary};
use report::read_node_reports;
use verdict::{Expectations, FleetCollection, FleetSettings, LeftOut, judge_fleet};

fuzz_target!(|data: &[u8]| {
    let settings = FleetSettings {
        least_nodes: 3,
        ..FleetSettings::default()
    };
    // The first line may be expectations.
    let line = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let expected: Option<Expectations> = serde_json::from_slice(line).ok();
    let expected = expected.filter(|expected| expected.fault().is_none());
    let mut collection = FleetCollection::default();
    let mut left_out = Vec::new();
    read_node_reports(data, &mut |line, report| {
        let source = format!("input:{line}");
        let added = report.and_then(|report| collection.add(report, source.clone()));
        if let Err(reason) = added {
            assert!(!reason.is_empty() && reason.chars().count() <= 400, "{reason}");
            left_out.push(LeftOut { source, reason });
        }
    });
    let (fleet, twice) = collection.finish();
    left_out.extend(twice);
    let judged = judge_fleet(&fleet, left_out, &settings, expected.as_ref());
    assert_eq!(judged.nodes.len(), judged.tally().iter().sum::<usize>());
    assert!(!fleet_summary(&judged).is_empty());
    for format in FLEET_FORMATS.iter() {
        let _ = format.render(&judged, &Options::default());
    }
});
