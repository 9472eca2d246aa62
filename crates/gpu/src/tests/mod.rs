//! Works on a simulated device, and on the first real device of this machine if there is one.

mod fake_device;
mod findings;

use crate::layout::{Groups, Layout, width};
use crate::pattern::{ChainTable, after};
use crate::runner::Device;
use crate::work::{Atomics, Chase, Copies, GpuWindow, GpuWork, Local, Peer, Task};
use crate::{GpuRunner, Settings, chosen_devices};
use clap::Parser;
use engine::{ExternalFigures, ExternalRunner, ExternalWindow, ExternalWork};
use fake_device::{FakeDevice, Fault, facts};
use host::gpu::{
    Direction, Drivers, DriversHere, GpuConditions, GpuDevice, HostMemory, Slowdown,
    StreamOperation, filled, is_filled, open_over, serve,
};
use report::{Cause, Fact, GpuFacts};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use units::error::{Error, Kind};
use units::{Bytes, Nanos};

const OPERATIONS: [StreamOperation; 5] = [
    StreamOperation::Read,
    StreamOperation::Write,
    StreamOperation::Copy,
    StreamOperation::Update,
    StreamOperation::Triad,
];

/// Small works of every kind for the device with these facts.
fn tasks(facts: &GpuFacts) -> Vec<Task> {
    let mut tasks: Vec<Task> = OPERATIONS
        .iter()
        .flat_map(|&operation| {
            [Bytes(8 << 10), Bytes(100_000)]
                .into_iter()
                .filter_map(move |bytes| Layout::new(facts, operation, bytes, None))
        })
        .map(Task::Stream)
        .collect();
    tasks.push(Task::Chase(Chase {
        bytes: Bytes(64 << 10),
        spacing: Bytes(128),
        seed: 7,
    }));
    tasks.extend(Local::new(facts, Bytes::kib(16)).map(Task::Local));
    let Groups { groups, group_size } = Groups::usual(facts);
    tasks.extend([true, false].map(|shared| {
        Task::Atomics(Atomics {
            shared,
            stride: 32,
            groups,
            group_size,
        })
    }));
    for direction in [Direction::ToDevice, Direction::ToHost, Direction::Both] {
        for memory in [HostMemory::Pinned, HostMemory::Pageable] {
            tasks.push(Task::Copies(Copies {
                direction,
                memory,
                bytes: Bytes(4096),
            }));
        }
    }
    tasks.push(Task::Peer(Peer {
        number: 1,
        bytes: Bytes(4096),
    }));
    tasks
}

/// Prepares and samples a work. The error is the reason why this failed.
fn sample(device: &mut Device, task: &Task) -> Result<(), String> {
    device.prepare(task).map_err(|why| why.to_string())?;
    let seen = device
        .sample(task, Nanos(0.3e6))
        .map_err(|why| why.to_string())?;
    assert!(seen.amount > 0 && seen.elapsed.0 > 0.0, "{task:?}");
    Ok(())
}

#[test]
fn every_work_is_verified_on_every_kind_of_device() {
    for (kind, units) in [("gpu", 1), ("gpu", 3), ("cpu", 2)] {
        let fake = FakeDevice::new(kind, units, Fault::None);
        let mut device = Device::new(Box::new(fake));
        for task in tasks(&facts(kind, units)) {
            assert_eq!(
                sample(&mut device, &task),
                Ok(()),
                "{kind} {units}: {task:?}"
            );
        }
    }
}

/// Uses a driver of this machine, for example pocl, which `.ci/run` installs. Without a driver, the
/// test passes.
#[test]
fn every_work_is_verified_on_the_first_real_device() {
    let Ok(devices) = DriversHere.devices() else {
        return;
    };
    let Some(first) = devices.first() else { return };
    // Each device runs both kinds of kernels: kernels for GPUs and kernels for CPUs.
    for kind in ["gpu", "cpu"] {
        let facts = GpuFacts {
            kind: kind.to_owned(),
            ..first.clone()
        };
        let opened = DriversHere
            .open(first.number, width(&facts))
            .expect("the device is listed");
        let code = opened.facts().code.get();
        assert!(code.is_some_and(|digest| digest.len() == 16), "{code:?}");
        let mut device = Device::new(opened);
        let alone = |task: &Task| !matches!(task, Task::Peer(_));
        for task in tasks(&facts).into_iter().filter(alone) {
            assert_eq!(sample(&mut device, &task), Ok(()), "{kind}: {task:?}");
        }
    }
}

/// Drivers with one simulated device.
#[derive(Debug, Clone, Copy)]
struct FakeDrivers(&'static str);

impl Drivers for FakeDrivers {
    fn devices(&self) -> units::error::Result<Vec<GpuFacts>> {
        Ok(vec![facts(self.0, 2)])
    }

    fn open(&self, number: u32, width: u32) -> units::error::Result<Box<dyn GpuDevice>> {
        let device = FakeDevice::new(self.0, 2, Fault::None);
        assert_eq!((number, width), (0, device.width()));
        Ok(Box::new(device))
    }

    fn open_pair(
        &self,
        number: u32,
        peer: u32,
        width: u32,
    ) -> units::error::Result<Box<dyn GpuDevice>> {
        assert_eq!(peer, 1);
        self.open(number, width)
    }
}

#[test]
fn every_work_is_verified_on_a_device_of_another_process() {
    for (kind, width) in [("gpu", 2), ("cpu", 8)] {
        let (input, requests) = std::io::pipe().expect("a pipe");
        let (replies, output) = std::io::pipe().expect("a pipe");
        let process = std::thread::spawn(move || serve(&FakeDrivers(kind), input, output));
        let opened =
            open_over(replies, requests, (0, Some(1)), width).expect("the device is there");
        assert_eq!(opened.facts(), &facts(kind, 2));
        let mut device = Device::new(opened);
        for task in tasks(&facts(kind, 2)) {
            assert_eq!(sample(&mut device, &task), Ok(()), "{kind}: {task:?}");
        }
        // Closing the device ends the thread that stands for the process.
        drop(device);
        process.join().expect("no panic").expect("a regular end");
    }
}

/// Drivers whose device counts the programs that use it. Each opened device is one of these
/// programs.
#[derive(Debug, Default)]
struct CountingDrivers {
    programs: Rc<Cell<u32>>,
}

impl Drivers for CountingDrivers {
    fn devices(&self) -> units::error::Result<Vec<GpuFacts>> {
        Ok(vec![facts("gpu", 2)])
    }

    fn open(&self, _number: u32, _width: u32) -> units::error::Result<Box<dyn GpuDevice>> {
        self.programs.set(self.programs.get() + 1);
        let mut device = FakeDevice::new("gpu", 2, Fault::None);
        device.programs = Some(Rc::clone(&self.programs));
        Ok(Box::new(device))
    }

    fn open_pair(
        &self,
        number: u32,
        _peer: u32,
        width: u32,
    ) -> units::error::Result<Box<dyn GpuDevice>> {
        self.open(number, width)
    }
}

#[test]
fn processes_of_the_session_are_no_other_programs() {
    let drivers = CountingDrivers::default();
    let programs = Rc::clone(&drivers.programs);
    let devices = drivers.devices().expect("devices");
    let mut runner = GpuRunner::new(&devices, Box::new(drivers));
    let task = tasks(&devices[0]).remove(0);
    let mut others = |numbers| {
        let seen = runner.with(numbers, |device| {
            device.prepare(&task)?;
            device.sample(&task, Nanos(1e6))
        });
        let seen = seen.expect("a sample").external.expect("figures");
        let window = seen.get::<GpuWindow>().expect("a window");
        window.conditions.other_programs
    };
    for numbers in [(0, None), (0, Some(1)), (0, None)] {
        assert_eq!(others(numbers), Some(0), "{numbers:?}");
    }
    assert_eq!(programs.get(), 2);
    // Another program begins to use the device.
    programs.set(3);
    assert_eq!(others((0, Some(1))), Some(1));
}

/// Drivers whose device is lost at its first kernel, or cannot be opened.
#[derive(Debug, Default)]
struct LosingDrivers {
    opened: Rc<Cell<u32>>,
    cannot_open: bool,
}

impl Drivers for LosingDrivers {
    fn devices(&self) -> units::error::Result<Vec<GpuFacts>> {
        Ok(vec![facts("gpu", 2)])
    }

    fn open(&self, _number: u32, _width: u32) -> units::error::Result<Box<dyn GpuDevice>> {
        self.opened.set(self.opened.get() + 1);
        if self.cannot_open {
            return Err(Error::failure("the driver did not return"));
        }
        Ok(Box::new(FakeDevice::new("gpu", 2, Fault::Lost)))
    }

    fn open_pair(
        &self,
        number: u32,
        _peer: u32,
        width: u32,
    ) -> units::error::Result<Box<dyn GpuDevice>> {
        self.open(number, width)
    }
}

#[test]
fn a_lost_device_is_opened_once_more_and_then_given_up() {
    let drivers = LosingDrivers::default();
    let opened = Rc::clone(&drivers.opened);
    let devices = drivers.devices().expect("devices");
    let mut runner = GpuRunner::new(&devices, Box::new(drivers));
    let task = tasks(&devices[0]).remove(0);
    for (attempt, expected) in [1, 2, 2, 2].into_iter().enumerate() {
        let why = runner.with((0, None), |device| device.prepare(&task));
        let why = why.expect_err("a lost device").to_string();
        assert!(why.contains("the process of the driver ended"), "{why}");
        assert_eq!(opened.get(), expected, "attempt {attempt}");
        // The CPU time of lost devices is still counted.
        assert_eq!(runner.cpu_time(), Nanos(f64::from(expected) * 1e6));
    }
}

#[test]
fn a_device_that_cannot_be_opened_is_given_up_after_two_attempts() {
    let drivers = LosingDrivers {
        cannot_open: true,
        ..LosingDrivers::default()
    };
    let opened = Rc::clone(&drivers.opened);
    let devices = drivers.devices().expect("devices");
    let mut runner = GpuRunner::new(&devices, Box::new(drivers));
    for expected in [1, 2, 2] {
        let why = runner.with((0, None), |_| Ok(()));
        let why = why.expect_err("no device").to_string();
        assert!(why.contains("did not return"), "{why}");
        assert_eq!(opened.get(), expected);
    }
}

#[test]
fn faults_of_a_device_are_failures_with_their_reason() {
    const STREAM: &str = "stream";
    const CHASE: &str = "chase";
    const TRANSFER: &str = "transfer";
    const LOCAL: &str = "local";
    const ATOMICS: &str = "atomics";
    let kind_of = |task: &Task| match task {
        Task::Stream(_) => STREAM,
        Task::Chase(_) => CHASE,
        Task::Copies(_) | Task::Peer(_) => TRANSFER,
        Task::Local(_) => LOCAL,
        Task::Atomics(_) => ATOMICS,
    };
    // `Fault::Vanishes` concerns transfers too, because a kernel fills memory before a transfer.
    let rows: [(Fault, &[&str]); 6] = [
        (Fault::LosesAnAccess, &[STREAM, LOCAL, ATOMICS]),
        (Fault::ChangesAByte, &[TRANSFER]),
        (Fault::LosesAHop, &[CHASE]),
        (Fault::NoMemory, &[STREAM, TRANSFER, LOCAL, ATOMICS]),
        (Fault::Vanishes, &[STREAM, CHASE, TRANSFER, LOCAL, ATOMICS]),
        (Fault::WrongClock, &[STREAM, CHASE, LOCAL, ATOMICS]),
    ];
    for (fault, concerned) in rows {
        for kind in ["gpu", "cpu"] {
            for task in tasks(&facts(kind, 2)) {
                let fake = FakeDevice::new(kind, 2, fault);
                let mut device = Device::new(Box::new(fake));
                let failed = sample(&mut device, &task).is_err();
                let expected = concerned.contains(&kind_of(&task));
                assert_eq!(failed, expected, "{fault:?} {kind} {task:?}");
            }
        }
    }
}

#[test]
fn layouts_fit_their_size_and_visit_every_word_equally() {
    for (kind, units) in [("gpu", 132), ("gpu", 1), ("cpu", 2), ("cpu", 64)] {
        let facts = facts(kind, units);
        for operation in OPERATIONS {
            for bytes in [4096, 10_000, 1 << 20, (1 << 20) + 4096, 100 << 20] {
                let Some(layout) = Layout::new(&facts, operation, Bytes(bytes), None) else {
                    assert!(bytes < 16 << 10, "{kind} {operation:?} {bytes}");
                    continue;
                };
                assert!(layout.bytes().0 <= bytes, "{layout:?}");
                assert!(layout.bytes().0 * 4 > bytes, "{layout:?} wastes {bytes}");
                assert_eq!(layout.items() * layout.pass, layout.words, "{layout:?}");
                assert_eq!(layout.pass % 4, 0);
            }
        }
    }
    let gpu = facts("gpu", 132);
    let groups =
        |wanted| Layout::new(&gpu, StreamOperation::Read, Bytes(1 << 30), wanted).map(|l| l.groups);
    assert_eq!(groups(None), Some(132 * 8));
    assert_eq!(groups(Some(1)), Some(1));
    assert_eq!(groups(Some(7)), Some(7));
}

#[test]
fn sizes_that_cannot_be_divided_have_no_layout() {
    let facts = facts("gpu", 8);
    for bytes in [0, 1, 63, 1 << 40, u64::MAX] {
        let layout = Layout::new(&facts, StreamOperation::Triad, Bytes(bytes), None);
        assert_eq!(layout, None, "{bytes}");
    }
}

#[test]
fn a_chain_is_one_cycle_in_an_order_of_its_seed() {
    let table = ChainTable::new(1000, 32, 3);
    let mut seen = BTreeSet::new();
    let mut at = 0u32;
    for hop in 0..1000u64 {
        assert_eq!(at, after(&table.order, hop));
        assert!(seen.insert(at), "node {at} twice");
        assert_eq!(at % 32, 0);
        at = table.next[at as usize];
    }
    assert_eq!(at, 0);
    assert_ne!(ChainTable::new(1000, 32, 4).order, table.order);
    assert_eq!(ChainTable::new(1000, 32, 3).order, table.order);
}

#[test]
fn a_changed_byte_is_seen() {
    let mut data = filled(200, 2, 5);
    assert!(is_filled(&data, 2, 5));
    assert!(!is_filled(&data, 2, 6) && !is_filled(&data, 8, 5));
    data[199] ^= 0x80;
    assert!(!is_filled(&data, 2, 5));
}

#[test]
fn devices_are_chosen_once_each_and_gpus_by_default() {
    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        settings: Settings,
    }
    let chosen = |line: &str, kinds: &[&str]| {
        let words = format!("gpu {line}");
        let line = Line::try_parse_from(words.split_whitespace()).expect("options");
        let all: Vec<GpuFacts> = (0..)
            .zip(kinds)
            .map(|(number, kind)| GpuFacts {
                number,
                ..facts(kind, 1)
            })
            .collect();
        let chosen = chosen_devices(&line.settings, &all);
        chosen.map(|devices| {
            devices
                .iter()
                .map(|device| device.number)
                .collect::<Vec<u32>>()
        })
    };
    let kinds = ["cpu", "gpu", "gpu"];
    assert_eq!(chosen("", &kinds).ok(), Some(vec![1, 2]));
    assert_eq!(chosen("--devices 2,0,2", &kinds).ok(), Some(vec![0, 2]));
    for refused in ["--devices 3", "--groups 0", "--model-size 1"] {
        let why = chosen(refused, &kinds).unwrap_err();
        assert_eq!(why.kind(), Kind::Usage, "{refused}: {why}");
    }
    for without in [&["cpu"][..], &[]] {
        assert_eq!(chosen("", without).unwrap_err().kind(), Kind::Failure);
    }
}

#[test]
fn a_window_is_disturbed_if_the_host_waits_much_longer_than_the_device_works() {
    let layout = Layout::new(
        &facts("gpu", 1),
        StreamOperation::Read,
        Bytes(8 << 10),
        None,
    );
    let work = GpuWork {
        device: 0,
        cpu: 0,
        uses_host_memory: false,
        limit: None,
        task: Task::Stream(layout.expect("a layout")),
    };
    let at = |device: Option<f64>, host: f64, conditions| {
        let figures = ExternalFigures::new(GpuWindow {
            device: device.map(Nanos::from_millis),
            host: Nanos::from_millis(host),
            conditions,
        });
        let window = ExternalWindow {
            figures: &figures,
            round: 0,
            noise: None,
            found_on: None,
        };
        work.disturbance(&window).map(|(cause, _)| cause)
    };
    let disturbed = |device, host| at(device, host, GpuConditions::default());
    assert_eq!(disturbed(Some(5.0), 5.1), None);
    assert_eq!(disturbed(Some(5.0), 9.0), Some(Cause::Others));
    // Without a clock of the device, no disturbance is reported.
    assert_eq!(disturbed(None, 9.0), None);
    // Conditions of the device are a cause even without a clock of the device.
    let slowed = |slowdown| GpuConditions {
        slowdown: Some(slowdown),
        ..GpuConditions::default()
    };
    let shared = |other_programs| GpuConditions {
        other_programs: Some(other_programs),
        ..GpuConditions::default()
    };
    let rows = [
        (slowed(Slowdown::Heat), Some(Cause::Heat)),
        (slowed(Slowdown::PowerSupply), Some(Cause::CoreClock)),
        (slowed(Slowdown::HeatOrPower), Some(Cause::CoreClock)),
        (slowed(Slowdown::PowerLimit), None),
        (shared(0), None),
        (shared(2), Some(Cause::Others)),
    ];
    for (conditions, expected) in rows {
        assert_eq!(at(None, 5.0, conditions), expected, "{conditions:?}");
    }
}

#[test]
fn chains_stay_on_the_device_between_rounds_if_memory_suffices() {
    // Chains may take an eighth of the memory. The two chains have 64 KiB each.
    for (memory, expected) in [(Bytes::mib(1), 2), (Bytes::kib(512), 6)] {
        let mut fake = FakeDevice::new("gpu", 1, Fault::None);
        fake.facts.memory = Fact::known(memory, "test");
        let made = fake.chains_made.clone();
        let mut device = Device::new(Box::new(fake));
        for round in 0..3 {
            for seed in [1, 2] {
                let chase = Task::Chase(Chase {
                    bytes: Bytes::kib(64),
                    spacing: Bytes(128),
                    seed,
                });
                assert_eq!(sample(&mut device, &chase), Ok(()), "{memory} {round}");
            }
        }
        assert_eq!(made.get(), expected, "{memory}");
    }
}

#[test]
fn the_expected_proof_grows_with_the_memory_to_verify() {
    let device = facts("gpu", 1);
    let proof = |bytes, uses_host_memory| {
        let layout = Layout::new(&device, StreamOperation::Write, bytes, None);
        let work = GpuWork {
            device: 0,
            cpu: 0,
            uses_host_memory,
            limit: None,
            task: Task::Stream(layout.expect("a layout")),
        };
        work.expected_proof()
    };
    let [small, large] = [Bytes::mib(64), Bytes::mib(128)].map(|bytes| proof(bytes, true));
    assert!(large.0 > 1.9 * small.0, "{large:?} {small:?}");
    assert!(proof(Bytes::mib(128), false) < large);
}
