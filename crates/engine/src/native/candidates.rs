//! Lists the kernels and numbers of threads among which kernel selection chooses for a work.

use crate::work::{StreamWork, Work};
use kernels::{self, CONTRACTS, CodeOrigin, Contract, Width};
use units::Bytes;

/// Prefetch distances that kernel selection tries, in bytes.
const DISTANCES: [u64; 3] = [512, 2048, 8192];

/// Candidates of `work`, widest registers first. Every possible kernel is combined with every
/// possible number of threads. If `work` fixes both, the only candidate is `work` itself.
pub fn candidates(work: &Work) -> Vec<Work> {
    let Work::Stream(stream) = work else {
        return vec![work.clone()];
    };
    stream.counts().iter().flat_map(kernels_of).collect()
}

fn kernels_of(stream: &StreamWork) -> Vec<Work> {
    let itself = || vec![Work::Stream(stream.clone())];
    if stream.width != Width::Best && !stream.any_of_family {
        return itself();
    }
    let contracts: Vec<&Contract> = if stream.any_of_family {
        family(stream)
    } else {
        vec![stream.contract()]
    };
    let all: Vec<Work> = contracts
        .into_iter()
        .flat_map(|c| of_contract(stream, c))
        .map(Work::Stream)
        .collect();
    if all.is_empty() { itself() } else { all }
}

/// Contracts of the same kernel family as `work`, which visit memory in the same order and use this
/// program's own instructions. A contract is left out if the working set is no multiple of the
/// bytes of its kernel's iteration.
fn family(work: &StreamWork) -> Vec<&'static Contract> {
    let requested = work.contract();
    let same = |c: &&Contract| {
        let step = c.iteration * u64::from(c.streams());
        let whole = work.bytes.0 >= step && work.bytes.0.is_multiple_of(step);
        c.family == requested.family
            && c.visits == requested.visits
            && c.origin == CodeOrigin::Own
            && !c.sums()
            && whole
    };
    CONTRACTS.iter().filter(same).collect()
}

fn of_contract(work: &StreamWork, contract: &Contract) -> Vec<StreamWork> {
    let distances: Vec<Bytes> = if contract.prefetches {
        DISTANCES.map(Bytes).to_vec()
    } else {
        vec![work.distance]
    };
    let sets = kernels::sets().iter().rev().filter(|set| match work.width {
        Width::Best | Width::Widest => true,
        Width::Bits(bits) => set.bits() == Some(bits),
        Width::Set(id) => set.id == id,
    });
    let runs = sets.filter(|set| kernels::select(contract.operation, Width::Set(set.id)).is_ok());
    let work = |(width, &distance): (Width, &Bytes)| StreamWork {
        operation: contract.operation,
        width,
        any_of_family: false,
        distance,
        ..work.clone()
    };
    let runs: Vec<Width> = runs.map(|set| Width::Set(set.id)).collect();
    runs.into_iter()
        .flat_map(|width| distances.iter().map(move |d| (width, d)))
        .map(work)
        .collect()
}
