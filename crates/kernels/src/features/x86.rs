//! Features of x86 that kernels need. `is_x86_feature_detected!` also checks the operating system's
//! support (XGETBV). So code whose features are present raises no illegal-instruction exception.

/// Always true: the target requires the baseline.
pub(crate) fn baseline() -> bool {
    true
}

/// True if programs may use SSE2.
pub(crate) fn sse2() -> bool {
    is_x86_feature_detected!("sse2")
}

/// True if programs may use SSE4.1.
pub(crate) fn sse41() -> bool {
    is_x86_feature_detected!("sse4.1")
}

/// True if programs may use AVX.
pub(crate) fn avx() -> bool {
    is_x86_feature_detected!("avx")
}

/// True if programs may use AVX2.
pub(crate) fn avx2() -> bool {
    is_x86_feature_detected!("avx2")
}

/// True if programs may use AVX-512F.
pub(crate) fn avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

/// True if the processor has `clzero` (AMD APM vol. 3, CPUID 8000_0008 EBX bit 0).
pub(crate) fn clzero() -> bool {
    raw_cpuid::CpuId::new()
        .get_processor_capacity_feature_info()
        .is_some_and(|info| info.has_cl_zero())
}

/// True if the processor has `movdir64b` (Intel SDM vol. 2, CPUID 7 ECX bit 28).
pub(crate) fn movdir64b() -> bool {
    // The crate `raw_cpuid` has no name for this bit. Leaf 7 exists if the crate finds the features
    // of this leaf.
    let exists = raw_cpuid::CpuId::new()
        .get_extended_feature_info()
        .is_some();
    exists && raw_cpuid::native_cpuid::cpuid_count(7, 0).ecx >> 28 & 1 == 1
}
