//! Stores of whole cache lines that the processor does not read first. They build chains larger
//! than the caches and are never timed.

use host::memory::Window;
use std::sync::atomic::AtomicU64;

/// Bytes of a cache line.
pub const LINE: usize = 64;

/// 64-bit words of a cache line.
const WORDS: usize = LINE / 8;

/// The cache lines of a window. Each line is written as a whole: the caller's word first, then the
/// words that [`Window::touch`](host::memory::Window::touch) had stored there. If only part of a
/// line were written, the processor would first read the line. The memory traffic would then be two
/// to three times as high.
///
/// Other threads are only certain to see the writes after `Lines` is dropped.
#[derive(Debug)]
pub struct Lines<'a> {
    words: &'a [[AtomicU64; WORDS]],
}

impl<'a> Lines<'a> {
    /// The lines of `window`.
    pub fn new(window: &'a Window) -> Self {
        Self {
            words: window.words().as_chunks().0,
        }
    }

    /// Writes the line with index `line`, with `word` as its first word.
    ///
    /// # Panics
    /// The window has no such line.
    #[inline(always)]
    pub fn write(&mut self, line: usize, word: u64) {
        store(&self.words[line], line, word);
    }
}

impl Drop for Lines<'_> {
    fn drop(&mut self) {
        fence();
    }
}

#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse2")
))]
#[inline(always)]
fn store(place: &[AtomicU64; WORDS], line: usize, word: u64) {
    use host::memory::initial_word;
    #[cfg(target_arch = "x86")]
    use std::arch::x86::*;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::*;
    let first = line * WORDS;
    // SAFETY: the processor has SSE2, which the target requires.
    let pair = |low: u64, high: u64| unsafe { _mm_set_epi64x(high as i64, low as i64) };
    let to = place.as_ptr().cast_mut().cast::<__m128i>();
    // SAFETY: the four vectors are the line. The line may be written at any time, because its words
    // are atomic, and is aligned, because windows are. `fence` comes before any other thread learns
    // of the writes.
    unsafe {
        _mm_stream_si128(to, pair(word, initial_word(first + 1)));
        for vector in 1..WORDS / 2 {
            let at = first + 2 * vector;
            _mm_stream_si128(to.add(vector), pair(initial_word(at), initial_word(at + 1)));
        }
    }
}

/// Orders the stores that bypassed the caches before later stores.
#[cfg(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse2")
))]
fn fence() {
    #[cfg(target_arch = "x86")]
    use std::arch::x86::_mm_sfence;
    #[cfg(target_arch = "x86_64")]
    use std::arch::x86_64::_mm_sfence;
    // SAFETY: the processor has SSE, which the target requires.
    unsafe { _mm_sfence() };
}

/// Stores `word` only. This version is for processors without SSE2. The processor may read the line
/// first.
#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse2")
)))]
#[inline(always)]
fn store(place: &[AtomicU64; WORDS], _line: usize, word: u64) {
    place[0].store(word, std::sync::atomic::Ordering::Relaxed);
}

#[cfg(not(any(
    target_arch = "x86_64",
    all(target_arch = "x86", target_feature = "sse2")
)))]
fn fence() {}
