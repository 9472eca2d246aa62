//! Computes the order of blocks. The sequence of each thread depends only on the work and the
//! number of the thread.

use super::work::{IoWork, Order, Step};
use stats::{SplitMix64, derive};

/// Iterator over the operations of one thread. It ends only if the operations come from a
/// recording.
#[derive(Debug, Clone)]
pub struct Walk {
    work: IoWork,
    thread: usize,
    /// Number of operations so far.
    count: u64,
    /// Position in each file.
    places: Vec<FilePosition>,
    offsets: SplitMix64,
    directions: SplitMix64,
}

/// Progress of a thread in one file.
#[derive(Debug, Clone, Copy, Default)]
struct FilePosition {
    block: u64,
    /// Number of jumps in the current pass, for orders that vary the distance of seeks.
    jump: u64,
    /// Number of finished passes over the file, for growing seeks.
    pass: u64,
}

impl Walk {
    /// The operations of thread number `thread` of `work`.
    pub fn new(work: &IoWork, thread: usize) -> Self {
        let threads = work.cpus.len().max(1) as u128;
        let start = |blocks: u64| (u128::from(blocks) * thread as u128 / threads) as u64;
        let places = work
            .files
            .iter()
            .map(|file| FilePosition {
                block: start(file.blocks),
                ..FilePosition::default()
            })
            .collect();
        let offsets = SplitMix64::new(derive(work.seed, "io-offsets", thread as u64));
        let directions = SplitMix64::new(derive(work.seed, "io-directions", thread as u64));
        Self {
            work: work.clone(),
            thread,
            count: 0,
            places,
            offsets,
            directions,
        }
    }

    /// Index of the next file, and of the next block in it.
    fn block(&mut self) -> (usize, u64) {
        let files = self.work.files.len().max(1) as u64;
        let file = match self.work.order {
            Order::Random => self.offsets.below(files) as usize,
            _ => (self.count % files) as usize,
        };
        let blocks = self.work.files.get(file).map_or(1, |f| f.blocks).max(1);
        let Some(place) = self.places.get_mut(file) else {
            return (file, 0);
        };
        let block = match self.work.order {
            Order::Sequential | Order::Recorded(_) => {
                let block = place.block % blocks;
                place.block = (block + 1) % blocks;
                block
            }
            Order::Random => self.offsets.below(blocks),
            Order::SeekDistance(stride) => {
                let stride = stride.clamp(1, blocks);
                place.jump += 1;
                let within = self.offsets.below(stride);
                if place.jump % 2 == 1 {
                    blocks - 1 - within
                } else {
                    within
                }
            }
            Order::SeekGrowing(stride) => growing(place, blocks, stride.max(1)),
        };
        (file, block)
    }
}

/// Next block of [`Order::SeekGrowing`]. Each jump leads across the middle of the file. Jump number
/// k of a pass is about k strides long.
fn growing(place: &mut FilePosition, blocks: u64, stride: u64) -> u64 {
    let middle = |pass: u64| (blocks / 2 + pass % stride) % blocks;
    let at = |jump: u64, middle: u64| {
        let away = (jump.div_ceil(2)).checked_mul(stride)?;
        let block = if jump % 2 == 1 {
            middle.checked_add(away)?
        } else {
            middle.checked_sub(away)?
        };
        (block < blocks).then_some(block)
    };
    let next = at(place.jump, middle(place.pass)).unwrap_or_else(|| {
        place.pass += 1;
        place.jump = 0;
        middle(place.pass)
    });
    place.jump += 1;
    next
}

impl Iterator for Walk {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let count = self.count;
        self.count += 1;
        if let Order::Recorded(recording) = &self.work.order {
            let threads = self.work.cpus.len().max(1) as u64;
            let index = count
                .checked_mul(threads)?
                .checked_add(self.thread as u64)?;
            return recording.steps().get(usize::try_from(index).ok()?).copied();
        }
        self.count -= 1;
        let (file, block) = self.block();
        self.count += 1;
        let write = match self.work.writes_per_million {
            0 => false,
            1_000_000.. => true,
            share => self.directions.below(1_000_000) < u64::from(share),
        };
        let bytes = self.work.block;
        let first = self.work.files.get(file).map_or(0, |f| f.first);
        Some(Step {
            file,
            offset: first + block * bytes.0,
            bytes: bytes.to_usize(),
            write,
            recorded: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::work::{IoFile, Recording};
    use super::*;
    use std::collections::BTreeMap;
    use units::Bytes;

    fn work(order: Order, threads: usize, blocks: &[u64]) -> IoWork {
        let file = |(i, &blocks): (usize, &u64)| IoFile {
            first: 512,
            blocks,
            ..IoFile::named(format!("f{i}"))
        };
        let files = blocks.iter().enumerate().map(file).collect();
        IoWork {
            order,
            cpus: vec![0; threads],
            files,
            block: Bytes(4096),
            ..IoWork::default()
        }
    }

    fn blocks(walk: &mut Walk, count: usize) -> Vec<u64> {
        walk.take(count)
            .map(|step| (step.offset - 512) / 4096)
            .collect()
    }

    #[test]
    fn a_sequential_pass_has_every_block_once() {
        for (threads, size) in [(1, 7), (2, 10), (3, 10), (4, 3), (7, 1)] {
            let work = work(Order::Sequential, threads, &[size]);
            let mut together = vec![0; size as usize];
            for thread in 0..threads {
                let start = size * thread as u64 / threads as u64;
                let next = size * (thread as u64 + 1) / threads as u64;
                let mut walk = Walk::new(&work, thread);
                let pass = blocks(&mut walk, size as usize);
                assert_eq!(pass, (start..size).chain(0..start).collect::<Vec<_>>());
                assert_eq!(
                    blocks(&mut walk, size as usize),
                    pass,
                    "the second pass is like the first"
                );
                for block in &pass[..(next - start) as usize] {
                    together[*block as usize] += 1;
                }
            }
            assert!(
                together.iter().all(|&n| n == 1),
                "{threads} threads, {size} blocks"
            );
        }
    }

    #[test]
    fn several_files_have_their_turn_with_a_position_of_their_own() {
        let mut walk = Walk::new(&work(Order::Sequential, 1, &[2, 3]), 0);
        let steps: Vec<(usize, u64)> = (0..6).map(|_| walk.block_and_count()).collect();
        assert_eq!(steps, [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0), (1, 2)]);
    }

    #[test]
    fn random_blocks_are_as_likely_as_each_other() {
        let size = 100;
        let mut walk = Walk::new(&work(Order::Random, 2, &[size, size]), 1);
        let mut counts: BTreeMap<(usize, u64), f64> = BTreeMap::new();
        for step in walk.by_ref().take(200_000) {
            *counts
                .entry((step.file, (step.offset - 512) / 4096))
                .or_default() += 1.0;
        }
        assert_eq!(counts.len(), 200);
        let chi2: f64 = counts.values().map(|n| (n - 1000.0).powi(2) / 1000.0).sum();
        // With 199 degrees of freedom, one draw in a thousand exceeds this limit.
        assert!(chi2 < 267.5, "{chi2}");
        let mut again = Walk::new(&work(Order::Random, 2, &[size, size]), 1);
        let mut other = Walk::new(&work(Order::Random, 2, &[size, size]), 0);
        let mut first = Walk::new(&work(Order::Random, 2, &[size, size]), 1);
        let a = blocks(&mut again, 50);
        let b = blocks(&mut first, 50);
        let c = blocks(&mut other, 50);
        assert!(a == b && a != c, "seeded, and each thread has its own");
    }

    #[test]
    fn seeks_of_a_distance_alternate_between_the_ends() {
        let mut walk = Walk::new(&work(Order::SeekDistance(10), 1, &[1000]), 0);
        let all = blocks(&mut walk, 2000);
        assert!(
            all.iter().step_by(2).all(|&b| b >= 990)
                && all.iter().skip(1).step_by(2).all(|&b| b < 10)
        );
        let seen: std::collections::BTreeSet<_> = all.into_iter().collect();
        assert_eq!(seen.len(), 20);
        let mut small = Walk::new(&work(Order::SeekDistance(100), 1, &[3]), 0);
        assert!(blocks(&mut small, 100).iter().all(|&b| b < 3));
    }

    #[test]
    fn growing_seeks_grow_by_a_stride_each_and_reach_all_blocks() {
        let mut walk = Walk::new(&work(Order::SeekGrowing(10), 1, &[100]), 0);
        let all = blocks(&mut walk, 1000);
        assert_eq!(all[..10], [50, 60, 40, 70, 30, 80, 20, 90, 10, 51]);
        assert_eq!(all[10..13], [61, 41, 71]);
        let seen: std::collections::BTreeSet<_> = all.into_iter().collect();
        // Near the ends, a jump of whole strides may miss some blocks.
        assert!(
            (10..90).all(|b| seen.contains(&b)) && seen.iter().all(|&b| b < 100),
            "{seen:?}"
        );
        for (size, stride) in [(1, 1), (2, 5), (3, 1), (1000, 999), (5, u64::MAX)] {
            let mut walk = Walk::new(&work(Order::SeekGrowing(stride), 1, &[size]), 0);
            assert!(
                blocks(&mut walk, 100).iter().all(|&b| b < size),
                "{size} by {stride}"
            );
        }
    }

    #[test]
    fn a_mix_writes_its_share_at_the_offsets_of_reads() {
        let reads = work(Order::Random, 1, &[1000]);
        let mixed = IoWork {
            writes_per_million: 300_000,
            ..reads.clone()
        };
        let all: Vec<Step> = Walk::new(&mixed, 0).take(20_000).collect();
        let writes = all.iter().filter(|s| s.write).count() as f64;
        // Five standard deviations: sqrt(20000 * 0.3 * 0.7) = 65.
        assert!((writes - 6000.0).abs() < 325.0, "{writes}");
        let offsets = |work: &IoWork| {
            Walk::new(work, 0)
                .take(1000)
                .map(|s| s.offset)
                .collect::<Vec<_>>()
        };
        assert_eq!(offsets(&reads), offsets(&mixed));
        let all_writes = IoWork {
            writes_per_million: 1_000_000,
            ..reads
        };
        assert!(Walk::new(&all_writes, 0).take(100).all(|s| s.write));
    }

    #[test]
    fn recorded_operations_come_once_each_in_order() {
        let step = |i: u64| Step {
            file: 0,
            offset: i * 512,
            bytes: 512,
            write: i == 2,
            recorded: Some(i * 1000),
        };
        let recording = Recording::new((0..5).map(step).collect());
        let work = work(Order::Recorded(recording), 2, &[100]);
        let blocks = |thread| {
            Walk::new(&work, thread)
                .map(|s| s.offset / 512)
                .collect::<Vec<_>>()
        };
        assert_eq!((blocks(0), blocks(1)), (vec![0, 2, 4], vec![1, 3]));
    }

    impl Walk {
        fn block_and_count(&mut self) -> (usize, u64) {
            let step = self.next().unwrap();
            (step.file, (step.offset - 512) / 4096)
        }
    }
}
