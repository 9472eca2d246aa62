//! Facts about the processor: from CPUID if it exists, else from `/proc/cpuinfo`.

use super::files::{SystemFiles, field};
use crate::microarchitectures::{self, Microarchitecture};
use crate::processor::{self, Signature};
use report::{CpuFacts, Fact};
use units::Hertz;

const CPUINFO: &str = "/proc/cpuinfo";

/// All facts about the processor itself.
pub fn discover(files: &SystemFiles) -> CpuFacts {
    let cpuinfo = files.read(CPUINFO).unwrap_or_default();
    let vendor = own_or(
        processor::vendor(),
        &cpuinfo,
        &["vendor_id", "CPU implementer", "mvendorid"],
    );
    // Not from /proc/cpuinfo: the file has the signature on x86 only, and describes the host's
    // processor to an emulated program.
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
    let design = match (vendor.get(), signature) {
        (Some(vendor), Some(signature)) => microarchitectures::find(vendor, signature, avx512),
        _ => None,
    };
    CpuFacts {
        architecture: std::env::consts::ARCH.to_owned(),
        model_name: own_or(
            processor::brand(),
            &cpuinfo,
            &["model name", "cpu model", "uarch", "Model", "Hardware"],
        ),
        microarchitecture: name_of(design.as_ref(), signature),
        l1_ports: match design.as_ref().map(|design| design.ports) {
            Some(Ok(ports)) => Fact::known(
                ports,
                "table of core designs, from the vendors' optimization manuals",
            ),
            Some(Err(why)) => Fact::unknown(why),
            None => Fact::unknown("the core design is unknown"),
        },
        integer_width: match design.and_then(|design| design.integer_width) {
            Some(width) => Fact::known(
                width,
                "table of core designs, from the vendors' optimization manuals",
            ),
            None => Fact::unknown("the table of core designs has no figure for this model"),
        },
        vendor,
        signature: match signature {
            Some(signature) => Fact::known(signature.to_string(), "CPUID leaf 1"),
            None => Fact::unknown("the processor has no CPUID that tells family and model"),
        },
        features,
        counter: counter(files),
        counter_invariant: match processor::counter_invariant() {
            Some((invariant, source)) => Fact::known(invariant, source),
            None => Fact::unknown("the processor does not report"),
        },
    }
}

/// Answer of the processor itself, else the value of the first of `keys` in /proc/cpuinfo.
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

fn name_of(design: Option<&Microarchitecture>, signature: Option<Signature>) -> Fact<String> {
    match (design, signature) {
        (Some(design), _) => Fact::known(
            design.name.to_owned(),
            "table of core designs, by vendor, family and model",
        ),
        (None, Some(signature)) => {
            Fact::unknown(format!("{signature} is not in the table of core designs"))
        }
        (None, None) => Fact::unknown("family and model are unknown"),
    }
}

/// Nominal rate of the raw counter.
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
