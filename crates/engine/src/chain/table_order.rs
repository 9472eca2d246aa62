//! The order in which an index table lists the pieces of a stream.

use super::permutation::Cycle;
use crate::work::TableOrder;
use kernels::{AccessOrder, BLOCK_BYTES, LINE_BYTES};

impl TableOrder {
    /// Returns a function that maps a position in the index table to a piece of the stream. Pieces
    /// are numbered from 0, by rising address. The stream has `stream` bytes, and `visits`
    /// determines the size of a piece. Call the function with positions 0, 1, 2, ... in this order.
    pub fn pieces(&self, visits: AccessOrder, stream: u64) -> Box<dyn FnMut(u64) -> u64> {
        let piece = if visits == AccessOrder::Lines {
            LINE_BYTES
        } else {
            BLOCK_BYTES
        };
        match *self {
            TableOrder::Forward => Box::new(|i| i),
            TableOrder::Strided(stride) => {
                let step = (stride.0 / piece).max(1);
                let pieces = stream / piece;
                let mut phase = 0;
                let mut next = 0;
                Box::new(move |_| {
                    let this = next;
                    next += step;
                    if next >= pieces {
                        phase += 1;
                        next = phase;
                    }
                    this
                })
            }
            TableOrder::Random(block, seed) => {
                let in_block = (block.0 / piece).max(1);
                let mut order = Cycle::new(stream / piece / in_block, seed).order();
                let mut start = 0;
                Box::new(move |i| {
                    if i.is_multiple_of(in_block) {
                        start = order.next() * in_block;
                    }
                    start + i % in_block
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    fn pieces(order: &TableOrder, visits: AccessOrder, stream: u64) -> Vec<u64> {
        let count = stream
            / if visits == AccessOrder::Lines {
                64
            } else {
                512
            };
        let mut at = order.pieces(visits, stream);
        (0..count).map(&mut at).collect()
    }

    #[test]
    fn every_order_visits_every_piece_once() {
        let orders = [
            TableOrder::Forward,
            TableOrder::Strided(Bytes(64)),
            TableOrder::Strided(Bytes(192)),
            TableOrder::Strided(Bytes(4096)),
            TableOrder::Strided(Bytes(1 << 20)),
            TableOrder::Random(Bytes(64), 1),
            TableOrder::Random(Bytes(256), 2),
        ];
        for (order, stream) in orders
            .iter()
            .flat_map(|o| [512, 4096, 12 * 512, 65536].map(|s| (o, s)))
        {
            let mut all = pieces(order, AccessOrder::Lines, stream);
            all.sort_unstable();
            assert_eq!(
                all,
                (0..stream / 64).collect::<Vec<u64>>(),
                "{order:?} in {stream} B"
            );
        }
        for block in [512, 1024, 4096] {
            let mut all = pieces(
                &TableOrder::Random(Bytes(block), 3),
                AccessOrder::Chunks,
                16384,
            );
            all.sort_unstable();
            assert_eq!(all, (0..32).collect::<Vec<u64>>(), "blocks of {block} B");
        }
    }

    #[test]
    fn a_strided_pass_is_followed_by_one_that_starts_a_line_later() {
        let order = pieces(&TableOrder::Strided(Bytes(256)), AccessOrder::Lines, 1024);
        assert_eq!(
            order,
            [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15]
        );
    }

    #[test]
    fn the_pieces_of_a_random_block_follow_each_other() {
        for (order, whole) in [
            (
                pieces(
                    &TableOrder::Random(Bytes(256), 7),
                    AccessOrder::Lines,
                    65536,
                ),
                4,
            ),
            (
                pieces(
                    &TableOrder::Random(Bytes(4096), 7),
                    AccessOrder::Chunks,
                    65536,
                ),
                8,
            ),
        ] {
            for block in order.chunks(whole) {
                assert!(
                    block.windows(2).all(|pair| pair[1] == pair[0] + 1)
                        && block[0].is_multiple_of(whole as u64)
                );
            }
            let forward: Vec<u64> = (0..order.len() as u64).collect();
            assert_ne!(order, forward);
        }
    }
}
