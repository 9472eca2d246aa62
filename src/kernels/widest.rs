//! Plain Rust compiled for the widest vectors of this machine: for work beside the measurements, never for timed code.

/// Work that gains from vector instructions.
pub trait Vectorizable {
    /// What comes out of it.
    type Output;

    /// Does it. This and all that it calls have to be `#[inline(always)]`: what is a function of its own is compiled
    /// for the instructions that all machines have.
    fn run(self) -> Self::Output;
}

/// Does `work` with the widest vector instructions that there are.
#[inline]
pub fn with_widest_vectors<W: Vectorizable>(work: W) -> W::Output {
    #[cfg(target_arch = "x86_64")]
    {
        let avx512 = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq");
        if avx512 && is_x86_feature_detected!("avx512vl") {
            // SAFETY: the processor and the system have all that it is compiled for.
            return unsafe { with_avx512(work) };
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor and the system have AVX2.
            return unsafe { with_avx2(work) };
        }
    }
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn with_avx512<W: Vectorizable>(work: W) -> W::Output {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<W: Vectorizable>(work: W) -> W::Output {
    work.run()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Sum<'a>(&'a [u64]);

    impl Vectorizable for Sum<'_> {
        type Output = u64;

        #[inline(always)]
        fn run(self) -> u64 {
            self.0.iter().sum()
        }
    }

    #[test]
    fn every_width_gives_the_same() {
        let words: Vec<u64> = (0..1001).collect();
        assert_eq!(with_widest_vectors(Sum(&words)), Sum(&words).run());
    }
}
