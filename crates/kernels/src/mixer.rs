//! A bijection of words in batches, with the widest vectors of this machine. It is for work next to
//! the measurements, never for timed code.
//!
//! The vector code is written by hand. The program is compiled for small size, and then the
//! compiler does not vectorise loops. Without vectors, chains of gigabytes could not be built at
//! the speed of memory.

/// The lower half of a word.
const SHORT: u64 = u32::MAX as u64;

/// Rounds on states of at most 64 bits. A round multiplies by an odd factor, squares the upper half
/// and combines the upper half of the square with the lower half by exclusive-or.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mixer {
    /// All bits of a state.
    pub mask: u64,
    /// Bits of its lower half.
    pub low_bits: u32,
    /// Bits of its upper half, as many as of the lower half or one less. The folded upper half must
    /// fit into the lower half.
    pub high_bits: u32,
    /// Factors of the rounds in their order, all odd.
    pub factors: Vec<u64>,
    /// Inverses of the factors modulo 2^64, in reverse order.
    pub inverses: Vec<u64>,
}

impl Mixer {
    /// Mixes each of `words`. All of them must be states.
    pub fn mix(&self, words: &mut [u64]) {
        self.each(words, &self.factors, true);
    }

    /// The inverse of [`Mixer::mix`].
    pub fn unmix(&self, words: &mut [u64]) {
        self.each(words, &self.inverses, false);
    }

    /// Applies all `factors` to each of `words`. Folds before each multiplication if `fold_first`,
    /// otherwise after it.
    fn each(&self, words: &mut [u64], factors: &[u64], fold_first: bool) {
        // Vectors only multiply the lower halves of words. For a few words, the detection of
        // vectors costs more than it saves.
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

    /// Combines the lower half with the upper half of the square of the upper half, by
    /// exclusive-or. Folding twice gives `x` again.
    fn fold(&self, x: u64) -> u64 {
        let high = x >> self.low_bits;
        // Half of a state of at most 64 bits has at most 32 bits, so the square fits.
        x ^ (((high & SHORT) * (high & SHORT)) >> self.high_bits)
    }

    /// Processes as many of the first `words` as fill whole vectors, and returns their number.
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
            // SAFETY: as above.
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
            // SAFETY: as above.
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
