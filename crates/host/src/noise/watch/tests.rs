//! Recorded and malformed counts, and a reading of this machine.

use super::*;

/// A tree with these files.
fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
    let tree = tempfile::tempdir().unwrap();
    put(&tree, files);
    tree
}

fn put(tree: &tempfile::TempDir, files: &[(&str, &str)]) {
    for (path, text) in files {
        let path = tree.path().join(path.trim_start_matches('/'));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn watch(tree: &tempfile::TempDir) -> Watch {
    Watch::new(SystemFiles::under(tree.path()))
}

fn jiffy() -> f64 {
    1e9 / os::jiffies_per_second().unwrap()
}

#[test]
fn stolen_time_is_summed_over_the_cpus_named() {
    let stat = "cpu  9 9 9 9 9 9 9 999 0 0\ncpu0 1 1 1 1 1 1 1 200 0 0\ncpu1 1 1 1 1 1 1 1 100 0 \
         0\ncpu10 1\nintr 1\n";
    let tree = tree(&[("/proc/stat", stat)]);
    let watch = watch(&tree);
    let stolen = |cpus: &[u32]| watch.read(cpus).stolen_ns;
    assert_eq!(stolen(&[0, 1]), Some(300.0 * jiffy()));
    assert_eq!(stolen(&[1]), Some(100.0 * jiffy()));
    assert_eq!(
        stolen(&[1, 1]),
        Some(100.0 * jiffy()),
        "named twice, counted once"
    );
    assert_eq!(stolen(&[]), Some(0.0));
    assert_eq!(stolen(&[0, 2]), None, "a CPU that is not listed");
    assert_eq!(stolen(&[10]), None, "a line that is cut short");
}

#[test]
fn others_are_all_busy_time_but_ones_own() {
    let line = "cpu  100000000 20000000 3000000 7 7 400000 50000 9 9 9\n";
    assert_eq!(
        busy_jiffies(line),
        Some(123_450_000),
        "no idle, iowait, steal; guests are in user"
    );
    for odd in [
        "",
        "cpu",
        "cpu 1 2 3",
        "cpu0 1 2 3 4 5 6 7",
        "cpu 1 2 3 4 5 6 x",
        "cpu -1 2 3 4 5 6 7",
    ] {
        assert_eq!(busy_jiffies(odd), None, "{odd}");
    }
    let most = u64::MAX;
    assert_eq!(
        busy_jiffies(&format!("cpu {most} {most} 1 1 1 1 1")),
        Some(u64::MAX)
    );
    let tree = tree(&[("/proc/stat", line)]);
    let others = watch(&tree).read(&[]).others_ns.unwrap();
    let all = 123_450_000.0 * jiffy();
    assert!(others < all && others > all - 3600e9, "{others} of {all}");
    put(&tree, &[("/proc/stat", "cpu 0 0 0 0 0 0 0 0 0 0\n")]);
    assert_eq!(
        watch(&tree).read(&[]).others_ns,
        None,
        "less than this process alone has used"
    );
}

#[test]
fn quotas_of_all_groups_add_up() {
    let stat = |time: &str| format!("nr_periods 5\nnr_throttled 2\n{time}\n");
    let v2 = "0::/a/b\n";
    let tree = tree(&[
        ("/proc/self/cgroup", v2),
        (
            "/sys/fs/cgroup/cpu.stat",
            "usage_usec 1\nuser_usec 1\nsystem_usec 1\n",
        ),
        ("/sys/fs/cgroup/a/cpu.stat", &stat("throttled_usec 9000")),
        ("/sys/fs/cgroup/a/b/cpu.stat", &stat("throttled_usec 1")),
    ]);
    let watch2 = watch(&tree);
    assert_eq!(watch2.read(&[]).throttled_ns, Some(9_001_000.0));
    put(
        &tree,
        &[("/sys/fs/cgroup/a/b/cpu.stat", &stat("throttled_usec 3"))],
    );
    assert_eq!(
        watch2.read(&[]).throttled_ns,
        Some(9_003_000.0),
        "the smaller count grows"
    );
    put(&tree, &[("/sys/fs/cgroup/a/b/cpu.stat", "")]);
    assert_eq!(watch2.read(&[]).throttled_ns, None, "one of them went away");
    put(
        &tree,
        &[
            ("/proc/self/cgroup", "2:cpu,cpuacct:/x\n"),
            ("/sys/fs/cgroup/cpu/x/cpu.stat", &stat("throttled_time 77")),
        ],
    );
    assert_eq!(
        watch(&tree).read(&[]).throttled_ns,
        Some(77.0),
        "version one counts nanoseconds"
    );
    put(&tree, &[("/proc/self/cgroup", "0::/\n")]);
    assert_eq!(
        watch(&tree).read(&[]).throttled_ns,
        None,
        "the root has no quota"
    );
}

#[test]
fn pressure_is_the_total_of_some() {
    let text = "some avg10=98.27 avg60=92.93 avg300=45.19 total=5596241359\nfull avg10=0.00 \
         avg60=0.00 avg300=0.00 total=1\n";
    let tree = tree(&[
        ("/proc/pressure/cpu", text),
        ("/proc/pressure/memory", "full avg10=0 total=3\n"),
    ]);
    let read = watch(&tree).read(&[]);
    assert_eq!(
        (read.cpu_pressure_ns, read.memory_pressure_ns),
        (Some(5_596_241_359_000.0), None)
    );
    put(
        &tree,
        &[
            ("/proc/pressure/memory", "some total=12\n"),
            ("/proc/pressure/cpu", "some total=-1\n"),
        ],
    );
    let read = watch(&tree).read(&[]);
    assert_eq!(
        (read.cpu_pressure_ns, read.memory_pressure_ns),
        (None, Some(12_000.0))
    );
}

/// Text of `/proc/interrupts` on a machine whose CPU 1 is offline.
const INTERRUPTS_TEXT: &str = "\
           CPU0       CPU2       CPU3       \n  24:          1        200      30000  IO-APIC   5-edge  7 ACPI:Ged
 NMI:          4          5          6   Non-maskable interrupts
 ERR:          9\n MIS:          9\n";

#[test]
fn interrupts_are_those_in_the_columns_of_the_cpus() {
    let interrupts = |cpus: &[u32]| super::interrupts(INTERRUPTS_TEXT, cpus);
    assert_eq!(interrupts(&[0]), Some(5));
    assert_eq!(interrupts(&[2, 3, 2]), Some(30211));
    assert_eq!(interrupts(&[]), Some(0));
    assert_eq!(interrupts(&[0, 1]), None, "a CPU without a column");
    for odd in [
        "",
        "CPU0\n1: x y",
        "CPU0 CPUx\n",
        "CPU0\nno colon",
        "CPU0 CPU1\n1: 7",
    ] {
        assert_eq!(
            super::interrupts(odd, &[0]).filter(|&sum| sum > 0),
            None,
            "{odd}"
        );
    }
    let most = u64::MAX;
    assert_eq!(
        super::interrupts(&format!("CPU0\n 1: {most}\n 2: {most}\n"), &[0]),
        Some(most)
    );
    let one = "           CPU0\n  1:   5  XT-PIC\nERR:          9\nMIS:          9\n";
    assert_eq!(
        super::interrupts(one, &[0]),
        Some(5),
        "counts of the machine are not those of its only CPU"
    );
}

#[test]
fn interrupts_of_large_machines_are_not_read() {
    let tree = tree(&[("/proc/interrupts", INTERRUPTS_TEXT)]);
    assert_eq!(
        watch(&tree).read(&[0]).interrupts,
        None,
        "no word on how many CPUs there are"
    );
    put(
        &tree,
        &[("/proc/stat", "cpu 1\ncpu0 1\ncpu2 1\ncpu3 1\nintr 1\n")],
    );
    assert_eq!(watch(&tree).read(&[0]).interrupts, Some(5));
    put(&tree, &[("/sys/devices/system/cpu/online", "0-256\n")]);
    assert_eq!(watch(&tree).read(&[0]).interrupts, None);
    put(&tree, &[("/sys/devices/system/cpu/online", "0-255\n")]);
    assert_eq!(watch(&tree).read(&[0]).interrupts, Some(5));
    let long = format!("{INTERRUPTS_TEXT}{}", " 99: 0 0 0 x\n".repeat(30_000));
    put(&tree, &[("/proc/interrupts", &long)]);
    assert_eq!(watch(&tree).read(&[0]).interrupts, None, "a long file");
}

#[test]
fn a_package_counts_its_throttles_once() {
    let tree = tree(&[]);
    for (cpu, package, core, whole) in [(0, 0, 1, 10), (1, 0, 2, 10), (2, 1, 4, 30)] {
        let folder = format!("/sys/devices/system/cpu/cpu{cpu}");
        put(
            &tree,
            &[
                (
                    &format!("{folder}/thermal_throttle/core_throttle_count"),
                    &format!("{core}\n"),
                ),
                (
                    &format!("{folder}/thermal_throttle/package_throttle_count"),
                    &format!("{whole}\n"),
                ),
                (
                    &format!("{folder}/topology/physical_package_id"),
                    &format!("{package}\n"),
                ),
            ],
        );
    }
    let watch = watch(&tree);
    assert_eq!(watch.read(&[0, 1]).thermal_throttles, Some(13));
    assert_eq!(watch.read(&[0, 1, 2]).thermal_throttles, Some(47));
    assert_eq!(
        watch.read(&[0, 7]).thermal_throttles,
        None,
        "a CPU that does not count"
    );
    put(
        &tree,
        &[(
            "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
            "x",
        )],
    );
    assert_eq!(watch.read(&[0, 1]).thermal_throttles, None);
}

#[test]
fn the_processors_own_sensor_comes_first() {
    let zones = [
        ("/sys/class/thermal/thermal_zone0/type", "acpitz\n"),
        ("/sys/class/thermal/thermal_zone0/temp", "99000\n"),
        ("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
        ("/sys/class/thermal/thermal_zone1/temp", "51000\n"),
        ("/sys/class/thermal/thermal_zone2/type", "cpu0-thermal\n"),
        ("/sys/class/thermal/thermal_zone2/temp", "52500\n"),
        ("/sys/class/thermal/cooling_device0/type", "cpu\n"),
    ];
    let tree = tree(&zones);
    let highest = || watch(&tree).read(&[]).highest_celsius;
    assert_eq!(highest(), Some(52.5));
    put(
        &tree,
        &[
            ("/sys/class/hwmon/hwmon0/name", "nvme\n"),
            ("/sys/class/hwmon/hwmon0/temp1_input", "80000\n"),
        ],
    );
    assert_eq!(highest(), Some(52.5), "a drive is no processor");
    put(
        &tree,
        &[
            ("/sys/class/hwmon/hwmon1/name", "coretemp\n"),
            ("/sys/class/hwmon/hwmon1/temp1_input", "61000\n"),
            ("/sys/class/hwmon/hwmon1/temp2_input", "62000\n"),
        ],
    );
    assert_eq!(highest(), Some(62.0));
    put(
        &tree,
        &[("/sys/class/hwmon/hwmon1/temp1_label", "Package id 0\n")],
    );
    assert_eq!(highest(), Some(61.0), "the package speaks for its cores");
    for odd in ["0", "-40000", "9999999999999999999", "x", "", "150000"] {
        put(&tree, &[("/sys/class/hwmon/hwmon1/temp1_input", odd)]);
        assert!(
            highest().is_none_or(|celsius| (celsius - 52.5).abs() < 0.1),
            "{odd}: {:?}",
            highest()
        );
    }
}

#[test]
fn nothing_is_told_where_there_are_no_files() {
    let read = watch(&tree(&[])).read(&[0, 1]);
    assert!(read.elapsed_ns >= 0.0);
    assert_eq!(
        read,
        SystemActivity {
            elapsed_ns: read.elapsed_ns,
            ..SystemActivity::default()
        }
    );
}

#[test]
fn counts_of_this_machine_never_fall() {
    let watch = Watch::new(SystemFiles::real());
    let cpus = os::allowed_cpus().unwrap_or_default();
    let before = watch.read(&cpus);
    let after = watch.read(&cpus);
    assert!(after.elapsed_ns >= before.elapsed_ns);
    for (before, after) in [
        (before.stolen_ns, after.stolen_ns),
        (before.throttled_ns, after.throttled_ns),
        (before.cpu_pressure_ns, after.cpu_pressure_ns),
        (
            before.interrupts.map(|n| n as f64),
            after.interrupts.map(|n| n as f64),
        ),
    ] {
        assert_eq!(before.is_some(), after.is_some());
        assert!(before <= after, "{before:?} {after:?}");
    }
}
