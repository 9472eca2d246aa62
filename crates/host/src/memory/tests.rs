use super::*;

/// A mapping of at least `bytes` in base pages.
fn base(bytes: u64) -> Arc<Mapping> {
    Mapping::new(Bytes(bytes), PageMode::Base, Bytes(0)).unwrap()
}

fn threads_may_share<T: Send + Sync>(_: &T) {}

#[test]
fn names_of_modes_are_read_back() {
    let pools = [Bytes::kib(64), Bytes::mib(2), Bytes::gib(1), Bytes::gib(16)].map(PageMode::Pool);
    for mode in PageMode::ALL.into_iter().chain(pools) {
        assert_eq!(mode.to_string().parse(), Ok(mode));
    }
    assert_eq!("THP".parse(), Ok(PageMode::Transparent));
    assert_eq!("Huge-1gib".parse(), Ok(PageMode::Pool(Bytes::gib(1))));
    assert_eq!(PageMode::Pool(Bytes::gib(1)).to_string(), "huge-1GiB");
    for text in [
        "",
        "2M",
        "base",
        "4 k",
        "huge-",
        "huge-3MiB",
        "huge-4KiB",
        "huge-0",
        "huge-2MiB..1GiB",
        "huge1GiB",
    ] {
        assert!(text.parse::<PageMode>().is_err(), "{text}");
    }
}

#[test]
fn overlapping_windows_are_refused_until_the_first_is_given_back() {
    let mapping = base(1 << 16);
    let first = mapping.take(4096..8192).unwrap();
    threads_may_share(&first);
    threads_may_share(&mapping);
    for overlap in [4096..8192, 0..4160, 8128..65536, 4160..4224, 0..65536] {
        let message = mapping.take(overlap.clone()).unwrap_err().to_string();
        assert!(
            message.contains("bytes 4096..8192 are taken"),
            "{overlap:?}: {message}"
        );
    }
    let before = mapping.take(0..4096).unwrap();
    let after = mapping.take(8192..65536).unwrap();
    assert_eq!(before.address() + 4096, first.address());
    drop(first);
    assert_eq!(
        mapping.take(4096..8192).unwrap().address() + 4096,
        after.address()
    );
}

#[test]
#[allow(clippy::reversed_empty_ranges)]
fn windows_are_inside_and_whole_lines() {
    let mapping = base(8192);
    for odd in [
        0..0,
        64..64,
        128..64,
        0..8256,
        8192..8256,
        1..65,
        0..63,
        8..72,
        0..usize::MAX,
    ] {
        assert!(mapping.take(odd.clone()).is_err(), "{odd:?}");
    }
    assert_eq!(mapping.take(8128..8192).unwrap().words().len(), 8);
}

/// Access rights of an address of this process (`rw-p`), with the range that has them.
fn rights(address: usize) -> Option<(Range<usize>, String)> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    maps.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        range
            .contains(&address)
            .then(|| Some((range, words.next()?.to_owned())))?
    })
}

#[test]
fn guards_fence_every_mapping_on_both_sides() {
    for mode in [PageMode::Base, PageMode::Transparent] {
        // The test uses several mappings, because the kernel would merge them without guards.
        let mappings = [1, 2, 3].map(|_| Mapping::new(Bytes::mib(2), mode, Bytes::mib(2)).unwrap());
        for mapping in &mappings {
            let window = mapping.take(0..mapping.len()).unwrap();
            let start = window.address();
            let end = window.address() + window.len();
            assert_eq!(rights(start), Some((start..end, "rw-p".to_owned())));
            assert_eq!(rights(end - 1), Some((start..end, "rw-p".to_owned())));
            assert!(mapping.guard() >= os::page_size());
            for guard in [
                start - 1,
                start - mapping.guard(),
                end,
                end + mapping.guard() - 1,
            ] {
                assert_eq!(rights(guard).unwrap().1, "---p", "{mode} {guard:#x}");
            }
        }
    }
}

/// Not a test of its own. The next test starts it as a child process, in which no other thread maps
/// memory into the hole.
#[test]
#[ignore = "needs a process of its own"]
fn child_that_gives_memory_back() {
    let mapping = base(1 << 26);
    let window = mapping.take(0..64).unwrap();
    let address = window.address();
    let guard = mapping.guard();
    let length = mapping.len();
    drop(mapping);
    assert_eq!(
        rights(address).unwrap().1,
        "rw-p",
        "the window keeps the mapping alive"
    );
    drop(window);
    for place in [
        address - guard,
        address,
        address + length - 1,
        address + length + guard - 1,
    ] {
        assert_eq!(
            rights(place),
            None,
            "{:#x} bytes from the start",
            place.wrapping_sub(address)
        );
    }
}

#[test]
fn dropping_the_last_window_gives_the_memory_and_both_guards_back() {
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--ignored",
            "--exact",
            &crate::tests::name_of(module_path!(), "child_that_gives_memory_back"),
        ])
        .stdout(std::process::Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
}

#[test]
fn touching_makes_a_part_resident_and_not_zero() {
    let mapping = base(1 << 20);
    let window = mapping.take(0..mapping.len()).unwrap();
    let untouched = window.inspect(4);
    assert_eq!(untouched.resident_share, Some(0.0));
    assert_eq!((untouched.granted_share, untouched.nodes), (None, None));
    window.touch(0..1 << 19);
    assert_eq!(window.inspect(4).resident_share, Some(0.5));
    window.touch(1 << 19..usize::MAX);
    let reading = window.inspect(4);
    assert_eq!(reading.resident_share, Some(1.0), "{reading:?}");
    let values: std::collections::BTreeSet<u64> = window
        .words()
        .iter()
        .map(|w| w.load(Ordering::Relaxed))
        .collect();
    assert!(!values.contains(&0));
    assert_eq!(values.len(), window.words().len(), "no two words alike");
}

#[test]
fn touching_stays_inside_the_range_named() {
    let mapping = base(8192);
    let window = mapping.take(4096..8192).unwrap();
    window.touch(64..128);
    window.touch(usize::MAX - 1..usize::MAX);
    window.touch(129..135); // no whole word
    let set = |w: &AtomicU64| w.load(Ordering::Relaxed) != 0;
    let filled: Vec<usize> = (0..window.words().len())
        .filter(|&i| set(&window.words()[i]))
        .collect();
    assert_eq!(filled, (8..16).collect::<Vec<_>>());
    assert_eq!(
        mapping
            .take(0..4096)
            .unwrap()
            .words()
            .iter()
            .filter(|w| set(w))
            .count(),
        0
    );
}

#[test]
fn base_pages_are_read_back_as_such() {
    let mapping = base(4 << 20);
    let window = mapping.take(0..mapping.len()).unwrap();
    window.touch(0..window.len());
    let reading = window.inspect(16);
    assert_eq!(
        reading.granted_bytes,
        Some(Bytes(os::page_size() as u64)),
        "{reading:?}"
    );
    assert_eq!(reading.granted_share, Some(1.0));
    if let Some(nodes) = reading.nodes {
        assert!(!nodes.is_empty());
    }
}

#[test]
fn transparent_pages_are_aligned_and_their_share_is_read_back() {
    let mapping = Mapping::new(Bytes::mib(7), PageMode::Transparent, Bytes::mib(2)).unwrap();
    assert_eq!(
        mapping.len(),
        8 << 20,
        "rounded up, so that all of it can be huge"
    );
    let window = mapping.take(0..mapping.len()).unwrap();
    assert_eq!(window.address() % (2 << 20), 0);
    window.touch(0..window.len());
    let reading = window.inspect(16);
    let share = reading.granted_share.unwrap();
    assert!((0.0..=1.0).contains(&share), "{reading:?}");
    let expected = if share > 0.5 {
        Bytes::mib(2)
    } else {
        Bytes(os::page_size() as u64)
    };
    assert_eq!(reading.granted_bytes, Some(expected));
}

#[test]
fn the_fallbacks_say_the_same_as_the_page_tables() {
    let mapping = Mapping::new(Bytes::mib(8), PageMode::Transparent, Bytes::mib(2)).unwrap();
    let window = mapping.take(0..mapping.len()).unwrap();
    window.touch(0..window.len() / 2);
    let range = window.address()..window.address() + window.len();
    let question = reading::ReadingRequest {
        window: range.clone(),
        mapping: range,
        mode: PageMode::Transparent,
        huge: 2 << 20,
    };
    let exact = window.inspect(8);
    let mut unchecked = Vec::new();
    assert_eq!(
        reading::resident_share(&question, &mut unchecked),
        exact.resident_share
    );
    assert_eq!(
        reading::huge_share_of_smaps(&question, &SystemFiles::real(), &mut unchecked),
        exact.granted_share,
        "{exact:?}"
    );
    assert_eq!(unchecked, Vec::<String>::new());
}

#[test]
fn a_page_that_was_only_read_is_not_resident() {
    let mapping = base(1 << 16);
    let window = mapping.take(0..mapping.len()).unwrap();
    assert!(
        window
            .words()
            .iter()
            .all(|word| word.load(Ordering::Relaxed) == 0)
    );
    // Only the page tables distinguish the shared page of zeros from memory.
    if os::page_counts(&(window.address()..window.address() + window.len())).is_ok() {
        let reading = window.inspect(4);
        assert_eq!(reading.resident_share, Some(0.0), "{reading:?}");
        assert!(
            reading
                .unchecked
                .iter()
                .any(|line| line.contains("shared page of zeros")),
            "{reading:?}"
        );
    }
}

#[test]
fn pages_of_the_pool_are_read_back_as_such() {
    let page = Bytes::mib(2);
    // The test needs reserved pages. Another test covers a machine without them.
    let Ok(mapping) = Mapping::new(Bytes::mib(3), PageMode::Huge, page) else {
        return;
    };
    let window = mapping.take(0..mapping.len()).unwrap();
    assert_eq!((mapping.len(), window.address() % (2 << 20)), (4 << 20, 0));
    window.touch(0..window.len());
    let reading = window.inspect(4);
    assert_eq!(
        (reading.granted_share, reading.granted_bytes),
        (Some(1.0), Some(page)),
        "{reading:?}"
    );
    assert_eq!(reading.resident_share, Some(1.0));
    assert_eq!(rights(window.address() - 1).unwrap().1, "---p");
    assert_eq!(rights(window.address() + window.len()).unwrap().1, "---p");
}

#[test]
fn a_pool_without_pages_is_refused_with_the_way_to_fill_it() {
    // No machine has reserved this much memory.
    let message = Mapping::new(Bytes::gib(1 << 16), PageMode::Huge, Bytes::mib(2))
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("cannot map 64 TiB in pages of 2 MiB: "),
        "{message}"
    );
    let there = std::path::Path::new("/sys/kernel/mm/hugepages/hugepages-2048kB").exists();
    let advice = if there {
        "33554432 are needed and "
    } else {
        "pools "
    };
    assert!(message.contains(advice), "{message}");
    let message = Mapping::new(Bytes::mib(8), PageMode::Huge, Bytes::kib(8))
        .unwrap_err()
        .to_string();
    let listed = std::path::Path::new(POOLS).exists();
    let advice = if listed {
        "the pools of this system are: "
    } else {
        "no pools are listed in "
    };
    assert!(message.contains(advice), "{message}");
}

#[test]
fn pools_that_a_container_hides_are_not_said_to_be_missing() {
    let folder = tempfile::tempdir().unwrap();
    let error = io::Error::from(io::ErrorKind::OutOfMemory);
    let message =
        |files: &SystemFiles| pool_error(files, Bytes::mib(8), Bytes::mib(2), &error).to_string();
    let files = SystemFiles::under(folder.path());
    assert!(message(&files).contains("no pools are listed in "));
    let pool = folder
        .path()
        .join("sys/kernel/mm/hugepages/hugepages-1048576kB");
    std::fs::create_dir_all(pool).unwrap();
    assert!(message(&files).contains("are: hugepages-1048576kB"));
}

#[test]
fn lengths_and_page_sizes_that_cannot_be_are_refused() {
    for (bytes, huge) in [
        (0, 1 << 21),
        (1 << 20, 0),
        (1 << 20, 3 << 20),
        (1 << 20, 64),
        (u64::MAX, 1 << 21),
    ] {
        let result = Mapping::new(Bytes(bytes), PageMode::Transparent, Bytes(huge));
        assert!(result.is_err(), "{bytes} {huge}");
    }
    assert!(Mapping::new(Bytes(u64::MAX), PageMode::Base, Bytes(0)).is_err());
    assert!(
        Mapping::new(Bytes(1 << 62), PageMode::Base, Bytes(0)).is_err(),
        "more than the address space"
    );
    assert_eq!(base(1).len(), os::page_size());
}

#[test]
fn binding_to_a_node_that_is_not_there_is_refused() {
    let mapping = base(8192);
    for node in [1000, 5000, u32::MAX] {
        let message = mapping.place(&Place::Node(node)).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("cannot bind memory to node {node}: ")),
            "{message}"
        );
    }
}

#[test]
fn binding_to_the_node_it_runs_on_works_where_it_is_allowed() {
    let mapping = base(1 << 20);
    let window = mapping.take(0..mapping.len()).unwrap();
    window.touch(0..4096);
    let Some(nodes) = window.inspect(1).nodes else {
        return;
    };
    if mapping.place(&Place::Node(nodes[0])).is_ok() {
        window.touch(0..window.len());
        assert_eq!(window.inspect(64).nodes, Some(nodes));
    }
}

#[test]
fn interleaved_memory_is_counted_page_by_page() {
    let mapping = base(1 << 20);
    let window = mapping.take(0..mapping.len()).unwrap();
    window.touch(0..4096);
    let Some(nodes) = window.inspect(1).nodes else {
        return;
    };
    for place in [
        Place::Interleaved(nodes.clone()),
        Place::Weighted(nodes.clone()),
    ] {
        if mapping.place(&place).is_ok() {
            window.touch(0..window.len());
            let pages = window
                .inspect(usize::MAX)
                .pages_by_node
                .expect("the system told a moment ago");
            assert_eq!(
                pages.values().sum::<u64>(),
                (window.len() / os::page_size()) as u64,
                "{place}"
            );
            assert_eq!(pages.into_keys().collect::<Vec<u32>>(), nodes, "{place}");
        }
    }
    for place in [
        Place::Interleaved(vec![0, 5000]),
        Place::Weighted(vec![1000]),
    ] {
        let message = mapping.place(&place).unwrap_err().to_string();
        assert!(
            message.starts_with(&format!("cannot bind memory to {place}: ")),
            "{message}"
        );
    }
}

#[test]
fn many_threads_take_and_give_back_without_ever_sharing() {
    let mapping = base(64 * 64);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let mapping = &mapping;
            scope.spawn(move || {
                for turn in 0..500usize {
                    let at = (turn * 7 + thread as usize * 13) % 64 * 64;
                    let Ok(window) = mapping.take(at..at + 64) else {
                        continue;
                    };
                    for word in window.words() {
                        word.store(thread, Ordering::Relaxed);
                    }
                    assert!(
                        window
                            .words()
                            .iter()
                            .all(|word| word.load(Ordering::Relaxed) == thread)
                    );
                }
            });
        }
    });
    assert!(mapping.take(0..mapping.len()).is_ok());
}
