//! `/proc` and `/sys` of machines that nobody has: facts are found out or unknown, and nothing
//! falls over.
//!
//! The input is text: a line `=== /proc/stat` begins a file, the lines below are what is in it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use host::facts::{SystemFiles, discover};
use host::noise::Watch;
use std::path::Path;

const MOST_FILES: usize = 64;

fuzz_target!(|data: &[u8]| {
    // In memory where there is such a place: a tree is made anew for every input.
    let shared = Path::new("/dev/shm");
    let tree = if shared.is_dir() { tempfile::tempdir_in(shared) } else { tempfile::tempdir() };
    let Ok(tree) = tree else { return };
    write(data, tree.path());
    let files = SystemFiles::under(tree.path());
    let facts = discover(&files);
    let cpus = facts.topology.allowed();
    let _ = facts.topology.last_level_total(&cpus);
    let watch = Watch::new(files);
    let first = watch.read(&cpus);
    let again = watch.read(&[0, 1, u32::MAX]);
    for share in [first.stolen_ns, first.throttled_ns, first.others_ns, again.stolen_ns].into_iter().flatten() {
        assert!(share.is_finite() && share >= 0.0, "{share}");
    }
});

fn write(data: &[u8], root: &Path) {
    let text = String::from_utf8_lossy(data);
    for file in text.split("=== /").skip(1).take(MOST_FILES) {
        let (path, content) = file.split_once('\n').unwrap_or((file, ""));
        let known = ["proc/", "sys/", "."].iter().any(|start| path.starts_with(start));
        let inside = path.len() < 200 && !path.contains('\0') && !path.split('/').any(|part| part == "..");
        if known && inside {
            let path = root.join(path);
            // Two paths of which one is a folder of the other: the first wins.
            let _ = path.parent().map(std::fs::create_dir_all);
            let _ = std::fs::write(path, content);
        }
    }
}
