//! Facts about the processor, from CPUID on x86, else from `/proc/cpuinfo`.

use super::core_designs::{self, Known};
use super::files::{SystemFiles, field};
use crate::documented::{self, CoreDesign};
use crate::processor;
use crate::reported::{Reported, Told};
use report::{CpuFacts, DocumentedFigure, DocumentedQuantity, Fact};
use units::Hertz;

const CPUINFO: &str = "/proc/cpuinfo";

/// All facts about the processor.
pub fn discover(files: &SystemFiles, reported: &Reported) -> CpuFacts {
    let cpuinfo = files.read(CPUINFO).unwrap_or_default();
    let vendor = own_or(
        processor::vendor(),
        &cpuinfo,
        &["vendor_id", "CPU implementer", "mvendorid"],
    );
    // /proc/cpuinfo is not a source of the signature. Only x86 has a signature there, and an
    // emulated program reads the signature of its host's processor.
    let signature = processor::signature();
    let features = match processor::features() {
        Some(features) => Fact::known(
            features,
            "processor flags that the operating system supports too",
        ),
        None => Fact::unknown("no way to ask this architecture here"),
    };
    let avx512 = features
        .get()
        .is_some_and(|names| names.iter().any(|name| name == "avx512f"));
    let model_name = own_or(
        processor::brand(),
        &cpuinfo,
        &["model name", "cpu model", "uarch", "Model", "Hardware"],
    );
    let model_name = or_reported(model_name, reported.model_name.as_ref());
    let found = core_designs::find(&Known {
        architecture: std::env::consts::ARCH,
        vendor: vendor.get().map(String::as_str),
        signature,
        brand: model_name.get().map(String::as_str),
        cpuinfo: &cpuinfo,
    });
    let designs = match &found {
        Ok((names, _)) => documented::named(names),
        Err(_) => Vec::new(),
    };
    CpuFacts {
        architecture: std::env::consts::ARCH.to_owned(),
        model_name,
        microarchitecture: match found {
            Ok((names, source)) => Fact::known(names.join(", "), source),
            Err(why) => Fact::unknown(why),
        },
        l1_ports: match documented::port_width(&designs, avx512) {
            Ok(ports) => Fact::known(
                ports,
                "table of core designs, from the vendors' optimization manuals",
            ),
            Err(why) => Fact::unknown(why),
        },
        integer_width: match documented::integer_width(&designs) {
            Some(width) => Fact::known(
                width,
                "table of core designs, from the vendors' optimization manuals",
            ),
            None => Fact::unknown("the table of core designs has no figure for this model"),
        },
        documented: applying(&designs, avx512),
        vendor,
        signature: match signature {
            Some(signature) => Fact::known(signature.to_string(), "CPUID leaf 1"),
            None => Fact::unknown("the processor has no CPUID that tells family and model"),
        },
        microcode: or_reported(microcode(files, &cpuinfo), reported.microcode.as_ref()),
        features,
        counter: counter(files),
        counter_invariant: match processor::counter_invariant() {
            Some((invariant, source)) => Fact::known(invariant, source),
            None => Fact::unknown("the processor does not report"),
        },
    }
}

/// Revision of the microcode on the first CPU. The system keeps all CPUs at the same revision.
fn microcode(files: &SystemFiles, cpuinfo: &str) -> Fact<String> {
    const VERSION: &str = "/sys/devices/system/cpu/cpu0/microcode/version";
    if let Some(version) = files.read(VERSION) {
        return Fact::known(version, VERSION);
    }
    match field(cpuinfo, "microcode") {
        Some(version) => Fact::known(version.to_owned(), CPUINFO),
        None => Fact::unknown(format!("neither {VERSION} nor {CPUINFO} tells")),
    }
}

/// `found`, or `reported` if `found` is unknown.
pub(super) fn or_reported<T: Clone>(found: Fact<T>, reported: Option<&Told<T>>) -> Fact<T> {
    match reported {
        Some((value, source)) if found.value.is_none() => {
            Fact::known(value.clone(), source.clone())
        }
        _ => found,
    }
}

/// The processor's answer `own`. Without an answer, the value of the first of `keys` that `cpuinfo`
/// has, the text of /proc/cpuinfo.
fn own_or(own: Option<String>, cpuinfo: &str, keys: &[&str]) -> Fact<String> {
    if let Some(text) = own {
        return Fact::known(text, "CPUID");
    }
    match keys
        .iter()
        .find_map(|key| field(cpuinfo, key).filter(|value| !value.is_empty()))
    {
        Some(value) => Fact::known(value.to_owned(), CPUINFO),
        None => Fact::unknown(format!("neither CPUID nor {CPUINFO} tells")),
    }
}

/// Figures of `designs` that apply to this processor. `avx512` is true if programs may use AVX-512.
/// Figures for cores without AVX-512 are then left out.
fn applying(designs: &[CoreDesign], avx512: bool) -> Vec<DocumentedFigure> {
    let without_avx512 = [
        DocumentedQuantity::LoadBytesPerCycleWithoutAvx512,
        DocumentedQuantity::StoreBytesPerCycleWithoutAvx512,
    ];
    designs
        .iter()
        .flat_map(|design| &design.figures)
        .filter(|figure| !avx512 || !without_avx512.contains(&figure.quantity))
        .cloned()
        .collect()
}

/// Nominal frequency of the raw counter.
fn counter(files: &SystemFiles) -> Fact<Hertz> {
    const TSC: &str = "/sys/devices/system/cpu/cpu0/tsc_freq_khz";
    if let Some((rate, source)) = processor::counter_rate() {
        return Fact::known(rate, source);
    }
    match files.read_as::<u32>(TSC).filter(|&khz| khz > 0) {
        Some(kilohertz) => Fact::known(Hertz(f64::from(kilohertz) * 1e3), TSC),
        None => Fact::unknown(
            "not reported by the processor, the hypervisor or the system; calibrated instead",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DocumentedQuantity::{LoadBytesPerCycle, LoadBytesPerCycleWithoutAvx512};

    #[test]
    fn figures_without_avx512_apply_only_without_it() {
        let has = |name, quantity, avx512| {
            let figures = applying(&documented::named(&[name]), avx512);
            assert!(!figures.is_empty());
            figures.iter().any(|figure| figure.quantity == quantity)
        };
        let client = "Golden Cove (client)";
        assert!(has(client, LoadBytesPerCycleWithoutAvx512, false));
        assert!(!has(client, LoadBytesPerCycleWithoutAvx512, true));
        for avx512 in [false, true] {
            assert!(has("Golden Cove (server)", LoadBytesPerCycle, avx512));
        }
    }

    #[test]
    fn documented_figures_are_those_of_the_named_designs() {
        let cpu = discover(&SystemFiles::real(), &Reported::default());
        let names = cpu.microarchitecture.value.unwrap_or_default();
        assert_eq!(cpu.documented.is_empty(), names.is_empty());
        for figure in &cpu.documented {
            assert!(names.split(", ").any(|name| name == figure.design));
        }
    }
}
