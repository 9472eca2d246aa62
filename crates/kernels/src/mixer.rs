//! A bijection of words, applied to batches with the widest vectors of this machine. It serves the
//! building of chains and is never timed.
//!
//! The vector code uses intrinsics, because the program is compiled for small size and the compiler
//! then does not vectorise loops. Without vectors, chains of gigabytes could not be built at the
//! speed of memory.

/// Mask of the lower 32 bits of a word.
const SHORT: u64 = u32::MAX as u64;

/// A bijection on states of at most 64 bits, made of rounds. A round squares the upper half of the
/// state and folds the upper half of the square into the lower half of the state by exclusive-or.
/// Then the round multiplies the state by an odd factor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixer {
    /// Mask of all bits of a state.
    pub mask: u64,
    /// Number of bits in the lower half of a state.
    pub low_bits: u32,
    /// Number of bits in the upper half of a state: `low_bits` or one less, so that the folded
    /// upper half fits into the lower half.
    pub high_bits: u32,
    /// Odd factors of the rounds, in the order of the rounds.
    pub factors: Vec<u64>,
    /// Inverses of the factors modulo 2^64, from the last round to the first.
    pub inverses: Vec<u64>,
}

impl Mixer {
    /// Replaces each of `words` by its image under the bijection. Every word must be a state: it
    /// has no bits outside `mask`.
    pub fn mix(&self, words: &mut [u64]) {
        self.each(words, &self.factors, true);
    }

    /// Applies the inverse of [`Mixer::mix`] to each of `words`.
    pub fn unmix(&self, words: &mut [u64]) {
        self.each(words, &self.inverses, false);
    }

    /// Applies a round for each of `factors` to each of `words`. With `fold_first`, a round folds
    /// before the multiplication, otherwise after it.
    fn each(&self, words: &mut [u64], factors: &[u64], fold_first: bool) {
        // The vector multiplications only take the lower 32 bits of words. For a few words,
        // detecting the vector extensions costs more than it saves.
        let done = if self.mask <= SHORT && words.len() >= 8 {
            self.by_vectors(words, factors, fold_first)
        } else {
            0
        };
        for word in words.iter_mut().skip(done) {
            for &factor in factors {
                let x = if fold_first { self.fold(*word) } else { *word };
                let x = x.wrapping_mul(factor) & self.mask;
                *word = if fold_first { x } else { self.fold(x) };
            }
        }
    }

    /// Squares the upper half of `x`, and folds the upper half of the square into the lower half of
    /// `x` by exclusive-or. Folding the result again gives `x`.
    fn fold(&self, x: u64) -> u64 {
        let high = x >> self.low_bits;
        // The upper half has at most 32 bits, so the square fits into 64 bits.
        x ^ (((high & SHORT) * (high & SHORT)) >> self.high_bits)
    }

    /// Processes `words` from the first on, in whole vectors. Returns the number of processed
    /// words.
    #[cfg(target_arch = "x86_64")]
    fn by_vectors(&self, words: &mut [u64], factors: &[u64], fold_first: bool) -> usize {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor and the system have AVX-512F.
            unsafe { self.by_avx512(words, factors, fold_first) }
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor and the system have AVX2.
            unsafe { self.by_avx2(words, factors, fold_first) }
        } else {
            0
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn by_vectors(&self, _words: &mut [u64], _factors: &[u64], _fold_first: bool) -> usize {
        0
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn by_avx512(&self, words: &mut [u64], factors: &[u64], fold_first: bool) -> usize {
        use std::arch::x86_64::*;
        let mask = _mm512_set1_epi64(self.mask as i64);
        let low = _mm_cvtsi64_si128(i64::from(self.low_bits));
        let high = _mm_cvtsi64_si128(i64::from(self.high_bits));
        let fold = |x| {
            let upper = _mm512_srl_epi64(x, low);
            _mm512_xor_si512(x, _mm512_srl_epi64(_mm512_mul_epu32(upper, upper), high))
        };
        let vectors = words.as_chunks_mut::<8>().0;
        for vector in vectors.iter_mut() {
            // SAFETY: the eight words of an array are as long as the vector.
            let mut x = unsafe { _mm512_loadu_si512(vector.as_ptr().cast()) };
            for &factor in factors {
                x = if fold_first { fold(x) } else { x };
                x = _mm512_and_si512(_mm512_mul_epu32(x, _mm512_set1_epi64(factor as i64)), mask);
                x = if fold_first { x } else { fold(x) };
            }
            // SAFETY: the array is as long as the vector.
            unsafe { _mm512_storeu_si512(vector.as_mut_ptr().cast(), x) };
        }
        vectors.len() * 8
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn by_avx2(&self, words: &mut [u64], factors: &[u64], fold_first: bool) -> usize {
        use std::arch::x86_64::*;
        let mask = _mm256_set1_epi64x(self.mask as i64);
        let low = _mm_cvtsi64_si128(i64::from(self.low_bits));
        let high = _mm_cvtsi64_si128(i64::from(self.high_bits));
        let fold = |x| {
            let upper = _mm256_srl_epi64(x, low);
            _mm256_xor_si256(x, _mm256_srl_epi64(_mm256_mul_epu32(upper, upper), high))
        };
        let vectors = words.as_chunks_mut::<4>().0;
        for vector in vectors.iter_mut() {
            // SAFETY: the four words of an array are as long as the vector.
            let mut x = unsafe { _mm256_loadu_si256(vector.as_ptr().cast()) };
            for &factor in factors {
                x = if fold_first { fold(x) } else { x };
                x = _mm256_and_si256(_mm256_mul_epu32(x, _mm256_set1_epi64x(factor as i64)), mask);
                x = if fold_first { x } else { fold(x) };
            }
            // SAFETY: the array is as long as the vector.
            unsafe { _mm256_storeu_si256(vector.as_mut_ptr().cast(), x) };
        }
        vectors.len() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mixer of `bits` bits with fixed factors.
    fn mixer(bits: u32, rounds: usize) -> Mixer {
        let factors: Vec<u64> = (0..rounds)
            .map(|i| 0x9E37_79B9_7F4A_7C15 ^ ((i as u64) << 7))
            .collect();
        let inverse = |f: &u64| {
            (0..6).fold(*f, |x: u64, _| {
                x.wrapping_mul(2u64.wrapping_sub(f.wrapping_mul(x)))
            })
        };
        let inverses = factors.iter().rev().map(inverse).collect();
        let mask = u64::MAX.checked_shr(64 - bits).unwrap_or(0);
        Mixer {
            mask,
            low_bits: bits.div_ceil(2),
            high_bits: bits / 2,
            factors,
            inverses,
        }
    }

    #[test]
    fn what_is_mixed_comes_back_and_vectors_do_as_single_words_do() {
        for bits in [1, 2, 5, 17, 31, 32, 33, 48, 63, 64] {
            for rounds in [1, 3, 6] {
                let mixer = mixer(bits, rounds);
                let words: Vec<u64> = (0..1001u64)
                    .map(|i| i.wrapping_mul(0xD134_2543_DE82_EF95) & mixer.mask)
                    .collect();
                let mut many = words.clone();
                mixer.mix(&mut many);
                let one = |&word: &u64| {
                    let mut one = [word];
                    mixer.mix(&mut one);
                    one[0]
                };
                assert_eq!(
                    many,
                    words.iter().map(one).collect::<Vec<u64>>(),
                    "{bits} bits, {rounds} rounds"
                );
                mixer.unmix(&mut many);
                assert_eq!(many, words, "{bits} bits, {rounds} rounds");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn both_widths_of_vectors_agree() {
        if !(is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx2")) {
            println!("skipped: this processor has one of them only");
            return;
        }
        let mixer = mixer(29, 3);
        for (factors, first) in [(&mixer.factors, true), (&mixer.inverses, false)] {
            let words: Vec<u64> = (0..1003).map(|i| (i * 0x1357) & mixer.mask).collect();
            let mut wide = words.clone();
            let mut narrow = words;
            // SAFETY: both features were detected above.
            let (a, b) = unsafe {
                (
                    mixer.by_avx512(&mut wide, factors, first),
                    mixer.by_avx2(&mut narrow, factors, first),
                )
            };
            assert_eq!((a, b), (1000, 1000));
            assert_eq!(wide, narrow);
        }
    }
}
