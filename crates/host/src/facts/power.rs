//! Power source and power-saving mode, as Linux and Android report them in files.

use super::files::SystemFiles;
use crate::reported::Conditions;
use report::Fact;

/// Folder of the power supplies (Documentation/ABI/testing/sysfs-class-power).
const SUPPLIES: &str = "/sys/class/power_supply";

/// File with the platform profile, which prefers speed or low power
/// (Documentation/ABI/testing/sysfs-platform_profile).
const PROFILE: &str = "/sys/firmware/acpi/platform_profile";

/// Power source and power-saving mode, and the reasons why other conditions are unknown.
pub fn conditions(files: &SystemFiles) -> Conditions {
    Conditions {
        power_source: power_source(files),
        power_saving: match files.read(PROFILE) {
            Some(name) => Fact::known(
                matches!(name.as_str(), "low-power" | "quiet" | "cool"),
                format!("{PROFILE}: {name}"),
            ),
            None => Fact::unknown(format!("no {PROFILE}")),
        },
        thermal_state: Fact::unknown(
            "no such state here; temperatures are read around each round instead",
        ),
        memory_pressure: Fact::unknown(
            "no such level here; pressure is read around each round instead",
        ),
    }
}

/// `mains` if a supply that is not a battery is online. Otherwise `battery` if a battery
/// discharges, or `mains` if a battery is charging, full or idle. Unknown if no supply reports any
/// of these states.
fn power_source(files: &SystemFiles) -> Fact<String> {
    let mut discharging = None;
    let mut idle = None;
    for name in files.names(SUPPLIES) {
        let folder = format!("{SUPPLIES}/{name}");
        // Batteries of mice and keyboards, which have the scope `Device`, do not count.
        if files.read(&format!("{folder}/scope")).as_deref() == Some("Device") {
            continue;
        }
        if files.read(&format!("{folder}/type")).as_deref() != Some("Battery") {
            let online = format!("{folder}/online");
            if files.read_as::<u32>(&online).is_some_and(|state| state > 0) {
                return Fact::known("mains".to_owned(), online);
            }
            continue;
        }
        let status = format!("{folder}/status");
        match files.read(&status).as_deref() {
            Some("Discharging") => discharging = Some(status),
            Some("Charging" | "Full" | "Not charging") => idle = Some(status),
            _ => {}
        }
    }
    match (discharging, idle) {
        (Some(status), _) => Fact::known("battery".to_owned(), status),
        (None, Some(status)) => Fact::known("mains".to_owned(), status),
        (None, None) => Fact::unknown(format!("no supply in {SUPPLIES} tells")),
    }
}
