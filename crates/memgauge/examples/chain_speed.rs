//! Prints the time to build and verify a pointer chain, relative to the time to map and first touch
//! the same memory.
//!
//! `cargo run --release --example chain_speed -- 2GiB 5` prints one line per round.
//! docs/performance.md quotes the output.

use engine::{ChainShape, ChaseWork, Machine, MemoryPlan, RealMachine, Work};
use host::facts::{SystemFiles, discover};
use host::interrupt::StopFlag;
use host::memory::PageMode;
use std::io::Write;
use units::{Bytes, Nanos};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let bytes: Bytes = words
        .next()
        .unwrap_or_else(|| "256MiB".to_owned())
        .parse()?;
    let rounds: u64 = words.next().unwrap_or_else(|| "5".to_owned()).parse()?;
    let files = SystemFiles::real();
    let facts = discover(&files);
    let cpus = facts.topology.allowed();
    let mut machine = RealMachine::new(facts, files, &cpus, StopFlag::never())?;
    for seed in 0..rounds {
        let work = Work::Chase(ChaseWork {
            pages: PageMode::Transparent,
            cpus: vec![cpus[0]],
            shared: false,
            node: None,
            bytes,
            stride: Bytes(64),
            shape: ChainShape::GlobalRandom,
            seed,
            walkers: 1,
            payload: false,
        });
        let plan = MemoryPlan::for_works([&work], machine.facts(), false);
        let start = machine.now();
        machine
            .map(&plan, false, Nanos(f64::INFINITY))
            .map_err(|failure| format!("{failure:?}"))?;
        let touched = machine.now();
        machine
            .prepare(&work)
            .map_err(|failure| format!("{failure:?}"))?;
        let built = machine.now();
        let touch = (touched - start).secs();
        let build = (built - touched).secs();
        let ratio = build / touch;
        writeln!(
            std::io::stdout(),
            "{bytes}: first touch {touch:.3} s, chain {build:.3} s, ratio {ratio:.2}"
        )?;
    }
    Ok(())
}
