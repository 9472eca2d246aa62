//! Transfer rate of the memory modules, from the firmware's tables.

use super::files::SystemFiles;
use super::smbios::{self, MemoryDevice};
use crate::reported::Told;
use report::{Fact, MemoryBus};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use units::{BytesPerSecond, counted};

const TABLE: &str = "/sys/firmware/dmi/tables/DMI";

/// Number of the memory channels, and their peak transfer rate. Unknown if the firmware's tables
/// are ambiguous. The peak is a limit for measurements, and a limit that is too low would reject
/// valid ones.
///
/// `reported` contains the firmware's tables on systems that return them from a call and not in a
/// file.
pub fn bus(files: &SystemFiles, reported: Option<&Told<Vec<u8>>>) -> Fact<MemoryBus> {
    let of_table = |table: &[u8]| match smbios::memory_devices(table) {
        Some(devices) => sum(&devices),
        None => Err("is cut short".to_owned()),
    };
    if let Some((table, call)) = reported {
        return match of_table(table) {
            Ok(fact) => Fact {
                source: fact.source.replace(TABLE, call),
                ..fact
            },
            Err(why) => Fact::unknown(format!("{call} {why}")),
        };
    }
    let told = match files.read_bytes(TABLE) {
        Ok(table) => of_table(&table),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            Err("is readable by root only".to_owned())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Err("is missing: no SMBIOS firmware, or it is hidden".to_owned())
        }
        Err(error) => Err(format!("cannot be read: {error}")),
    };
    told.unwrap_or_else(|why| {
        let edac = files.exists("/sys/devices/system/edac/mc/mc0");
        let edac = if edac {
            "; EDAC knows the modules, but not their speed"
        } else {
            ""
        };
        Fact::unknown(format!("{TABLE} {why}{edac}"))
    })
}

/// A memory channel: the largest data width of its modules in bits, their largest rate in millions
/// of transfers per second, and their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Channel {
    bits: u16,
    mega_transfers: u32,
    devices: u32,
}

/// Number of the channels and modules, and the peak rate of all channels together. The error is the
/// reason why the list `devices` does not tell.
fn sum(devices: &[MemoryDevice]) -> Result<Fact<MemoryBus>, String> {
    const MAX_PER_CHANNEL: u32 = 3;
    let memory: Vec<&MemoryDevice> = devices
        .iter()
        .filter(|d| d.volatile && d.populated != Some(false))
        .collect();
    if memory.is_empty() {
        return Err("lists no memory".to_owned());
    }
    let mut channels: BTreeMap<String, Channel> = BTreeMap::new();
    let mut names = BTreeSet::new();
    for device in &memory {
        let named = || {
            format!(
                "'{}' ('{}')",
                printable(&device.locator),
                printable(&device.bank)
            )
        };
        if device.populated.is_none() {
            return Err(format!(
                "does not report whether there is memory in {}",
                named()
            ));
        }
        let Some(speed) = device
            .mega_transfers
            .filter(|speed| (50..200_000).contains(speed))
        else {
            return Err(format!(
                "reports no speed of {}, as usual in a virtual machine",
                named()
            ));
        };
        let Some(bits) = device
            .data_bits
            .filter(|bits| bits.is_power_of_two() && (8..=2048).contains(bits))
        else {
            return Err(format!("reports no data width of {}", named()));
        };
        let key = match (channel(device), memory.len()) {
            (_, 1) => String::new(),
            (Some(key), _) if names.insert((device.array, &device.locator, &device.bank)) => key,
            _ => return Err(format!("does not report the channel of {}", named())),
        };
        let channel = channels.entry(key).or_default();
        channel.bits = channel.bits.max(bits);
        channel.mega_transfers = channel.mega_transfers.max(speed);
        channel.devices += 1;
        if channel.devices > MAX_PER_CHANNEL {
            return Err(format!(
                "names more modules of a channel than it can have: {}",
                named()
            ));
        }
    }
    Ok(fact(&channels.into_values().collect::<Vec<_>>()))
}

fn fact(channels: &[Channel]) -> Fact<MemoryBus> {
    let rate = |c: &Channel| f64::from(c.bits) / 8.0 * f64::from(c.mega_transfers) * 1e6;
    let mut kinds: BTreeMap<(u16, u32), u32> = BTreeMap::new();
    for channel in channels {
        *kinds
            .entry((channel.bits, channel.mega_transfers))
            .or_default() += 1;
    }
    let kinds: Vec<String> = kinds
        .iter()
        .map(|((bits, speed), count)| {
            format!("{} x {bits} bit x {speed} MT/s", counted(count, "channel"))
        })
        .collect();
    let bus = MemoryBus {
        channels: channels.len() as u32,
        modules: channels.iter().map(|c| c.devices).sum(),
        peak: BytesPerSecond(channels.iter().map(rate).sum()),
    };
    Fact::known(bus, format!("{TABLE}: {}", kinds.join(", ")))
}

/// Name of the channel that a memory device is on, derived from the names in the firmware. `None`
/// if these names do not contain the channel.
///
/// Three forms of names are known:
/// - the word channel with a letter or number: `P0 CHANNEL A`, `Controller0-ChannelA-DIMM0`,
///   `P0_Node0_Channel0_Dimm0`
/// - a letter and a slot number after the word DIMM: `DIMM_A1`, `P1-DIMMA1`
/// - the letters C and D with the numbers of channel and slot: `CPU0_C0D0`
///
/// A name such as `A1` alone is not enough, because the letter is the socket for some vendors.
fn channel(device: &MemoryDevice) -> Option<String> {
    let bank = device.bank.to_ascii_uppercase();
    let locator = device.locator.to_ascii_uppercase();
    // If one name contains the channel, the other one may contain the socket.
    let before_dimm = |text: &str| {
        text.find("DIMM")
            .map_or_else(String::new, |at| text[..at].to_owned())
    };
    let named = by_word(&bank)
        .map(|key| (key, before_dimm(&locator)))
        .or_else(|| by_word(&locator).map(|key| (key, String::new())))
        .or_else(|| {
            by_letter(&locator)
                .or_else(|| by_letter(&bank))
                .map(|key| (key, String::new()))
        })
        .or_else(|| by_initials(&locator).map(|key| (key, String::new())));
    named.map(|(key, socket)| format!("{} {socket} {key}", device.array))
}

/// The channel after the word CHANNEL: `P0 CHANNEL A` from `P0 CHANNEL A DIMM 1`.
fn by_word(text: &str) -> Option<String> {
    const WORD: &str = "CHANNEL";
    let end = text.find(WORD)? + WORD.len();
    let rest = text[end..].trim_start_matches([' ', '_', '-', '#', ':']);
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let letter = || {
        rest.chars()
            .next()
            .filter(char::is_ascii_uppercase)
            .map(String::from)
    };
    let name = Some(digits)
        .filter(|digits| !digits.is_empty())
        .or_else(letter)?;
    Some(format!("{} {name}", &text[..end]))
}

/// The channel as a letter after the word DIMM: `P1-A` from `P1-DIMMA2`.
fn by_letter(text: &str) -> Option<String> {
    let (before, rest) = text.rsplit_once("DIMM")?;
    let mut rest = rest.trim_start_matches([' ', '_', '-']).chars();
    let letter = rest.next().filter(char::is_ascii_uppercase)?;
    // A number above 3 is not a slot, because no channel has more than four slots.
    matches!(rest.as_str(), "0" | "1" | "2" | "3").then(|| format!("{before}{letter}"))
}

/// The channel as a number after the letter C: `CPU0_C1` from `CPU0_C1D0`.
fn by_initials(text: &str) -> Option<String> {
    let (key, slot) = text.rsplit_once('D')?;
    let before = key.trim_end_matches(|c: char| c.is_ascii_digit());
    let free = before
        .strip_suffix('C')?
        .chars()
        .next_back()
        .is_none_or(|c| !c.is_ascii_alphanumeric());
    let number = before.len() < key.len() && matches!(slot, "0" | "1" | "2");
    (free && number).then(|| key.to_owned())
}

/// The first 40 characters of a name from the firmware, with `?` in place of control characters.
fn printable(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .take(40)
        .collect()
}
