//! Facts from CPUID on x86 (Intel SDM vol. 2A, CPUID; AMD APM vol. 3, appendix E).

use super::{Hypervisor, OwnCache, Signature};
use raw_cpuid::{CacheType, CpuId, cpuid};
use report::CacheKind;
use units::{Bytes, Hertz};

/// CPUID leaf that [`signature`] and [`hypervisor`] read.
const FEATURES_LEAF: u32 = 1;

/// Vendor of the processor: `GenuineIntel`, `AuthenticAMD`.
pub fn vendor() -> Option<String> {
    CpuId::new()
        .get_vendor_info()
        .map(|info| info.as_str().to_owned())
}

/// Model name as the processor reports it.
pub fn brand() -> Option<String> {
    let brand = CpuId::new()
        .get_processor_brand_string()?
        .as_str()
        .trim()
        .to_owned();
    (!brand.is_empty()).then_some(brand)
}

/// Family, model and stepping of the processor.
pub fn signature() -> Option<Signature> {
    (cpuid!(0).eax >= FEATURES_LEAF).then(|| decode_signature(cpuid!(FEATURES_LEAF).eax))
}

/// Combines the base and extended parts of family and model, as Intel and AMD specify.
fn decode_signature(eax: u32) -> Signature {
    let part = |shift: u32, bits: u32| eax >> shift & ((1 << bits) - 1);
    let base_family = part(8, 4);
    let base_model = part(4, 4);
    Signature {
        family: base_family + if base_family == 15 { part(20, 8) } else { 0 },
        model: base_model
            + if matches!(base_family, 6 | 15) {
                part(16, 4) << 4
            } else {
                0
            },
        stepping: part(0, 4),
    }
}

/// Instruction-set extensions of the processor whose registers the operating system saves.
pub fn features() -> Option<Vec<String>> {
    macro_rules! present {
        ($($name:tt)*) => {
            [$(($name, std::arch::is_x86_feature_detected!($name))),*]
        };
    }
    let all = present! {
        "sse2" "sse3" "ssse3" "sse4.1" "sse4.2" "popcnt" "avx" "f16c" "fma" "bmi1" "bmi2" "avx2" "gfni" "vaes"
        "vpclmulqdq" "avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl" "avx512ifma" "avx512vbmi" "avx512vbmi2"
        "avx512vnni" "avx512bitalg" "avx512vpopcntdq" "avx512bf16" "cmpxchg16b" "rtm" "ermsb" "rdseed"
    };
    Some(
        all.iter()
            .filter(|(_, there)| *there)
            .map(|(name, _)| (*name).to_owned())
            .collect(),
    )
}

/// Nominal frequency of the time-stamp counter, and the source.
pub fn counter_rate() -> Option<(Hertz, &'static str)> {
    let id = CpuId::new();
    let own = id.get_tsc_info().and_then(|info| info.tsc_frequency());
    if let Some(hertz) = own {
        return Some((Hertz(hertz as f64), "CPUID leaf 15h"));
    }
    let kilohertz = id
        .get_hypervisor_info()
        .and_then(|info| info.tsc_frequency())
        .filter(|&khz| khz > 0)?;
    Some((
        Hertz(f64::from(kilohertz) * 1e3),
        "CPUID leaf 40000010h (hypervisor)",
    ))
}

/// True if the time-stamp counter runs at one rate in all power states, and the source.
pub fn counter_invariant() -> Option<(bool, &'static str)> {
    let invariant = CpuId::new()
        .get_advanced_power_mgmt_info()?
        .has_invariant_tsc();
    Some((invariant, "CPUID leaf 80000007h"))
}

/// The hypervisor, detected by a CPUID bit that processors never set themselves. `None` if CPUID
/// has no such bit.
pub fn hypervisor() -> Option<Hypervisor> {
    if cpuid!(0).eax < FEATURES_LEAF {
        return None;
    }
    if cpuid!(FEATURES_LEAF).ecx >> 31 == 0 {
        return Some(Hypervisor::Absent);
    }
    let leaf = cpuid!(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx]
        .iter()
        .flat_map(|word| word.to_le_bytes())
        .collect();
    Some(Hypervisor::Present(hypervisor_name(&bytes)))
}

/// Common name of the hypervisor with the given CPUID signature of twelve characters.
fn hypervisor_name(signed: &[u8]) -> String {
    const NAMES: [(&str, &str); 9] = [
        ("KVMKVMKVM", "KVM"),
        ("VMwareVMware", "VMware"),
        ("Microsoft Hv", "Hyper-V"),
        ("XenVMMXenVMM", "Xen"),
        ("TCGTCGTCGTCG", "QEMU"),
        ("bhyve bhyve ", "bhyve"),
        ("BHyVE BHyVE ", "bhyve"),
        ("ACRNACRNACRN", "ACRN"),
        ("prl hyperv  ", "Parallels"),
    ];
    let letters = signed
        .iter()
        .map(|&byte| char::from(byte))
        .filter(|c| c.is_ascii_graphic() || *c == ' ');
    let text: String = letters.collect();
    match NAMES.iter().find(|(signature, _)| *signature == text) {
        Some((_, name)) => (*name).to_owned(),
        None if text.trim().is_empty() => "unnamed hypervisor".to_owned(),
        None => text.trim().to_owned(),
    }
}

/// Caches of the current core, from CPUID leaf 4, or leaf 8000001Dh on AMD.
pub fn caches() -> Vec<OwnCache> {
    const MOST: usize = 16; // a hypervisor that ignores the index would answer for ever
    let mut all = Vec::new();
    for cache in CpuId::new()
        .get_cache_parameters()
        .into_iter()
        .flatten()
        .take(MOST)
    {
        let kind = match cache.cache_type() {
            CacheType::Data => CacheKind::Data,
            CacheType::Instruction => CacheKind::Instruction,
            CacheType::Unified => CacheKind::Unified,
            CacheType::Null | CacheType::Reserved => continue,
        };
        let sizes = [
            cache.associativity(),
            cache.physical_line_partitions(),
            cache.coherency_line_size(),
            cache.sets(),
        ];
        let bytes = sizes
            .iter()
            .try_fold(1u64, |product, &n| product.checked_mul(n as u64));
        let Some(bytes) = bytes.filter(|&bytes| bytes > 0) else {
            continue;
        };
        let found = OwnCache {
            level: u32::from(cache.level()),
            kind,
            size: Bytes(bytes),
            line: Bytes(cache.coherency_line_size() as u64),
            ways: u32::try_from(cache.associativity()).unwrap_or(0),
            sharers: u32::try_from(cache.max_cores_for_cache())
                .unwrap_or(1)
                .max(1),
        };
        if !all.contains(&found) {
            all.push(found);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_of_known_processors() {
        for (eax, family, model, stepping) in [
            (0x00b0_0f21, 26, 2, 1),   // EPYC Turin
            (0x00a1_0f11, 25, 17, 1),  // EPYC Genoa
            (0x000c_06f2, 6, 0xcf, 2), // Emerald Rapids
            (0x0000_0f4a, 15, 4, 10),  // Pentium 4
            (0x0000_0543, 5, 4, 3),    // Pentium MMX: no extended model
            (0xffff_ffff, 270, 255, 15),
        ] {
            assert_eq!(
                decode_signature(eax),
                Signature {
                    family,
                    model,
                    stepping
                },
                "{eax:#x}"
            );
        }
    }

    #[test]
    fn hypervisors_are_named_even_if_unknown() {
        assert_eq!(hypervisor_name(b"KVMKVMKVM\0\0\0"), "KVM");
        assert_eq!(hypervisor_name(b"Microsoft Hv"), "Hyper-V");
        assert_eq!(hypervisor_name(b" Brand New! "), "Brand New!");
        assert_eq!(hypervisor_name(&[0; 12]), "unnamed hypervisor");
        assert_eq!(hypervisor_name(&[255, 7, 27]), "unnamed hypervisor");
    }

    #[test]
    fn this_processor_is_described() {
        assert!(
            features().unwrap().contains(&"sse2".to_owned()),
            "every x86-64 has it"
        );
        assert!(signature().is_some() && vendor().is_some());
        for cache in caches() {
            assert!(
                cache.size.0 > 0 && cache.level > 0 && cache.sharers > 0,
                "{cache:?}"
            );
        }
    }
}
