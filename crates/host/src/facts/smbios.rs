//! Decodes the memory devices in the firmware's tables. Source: DMTF DSP0134 (System Management
//! BIOS reference specification), 6.1 structures and 7.18 Memory Device (type 17). All offsets are
//! relative to the start of a structure.

/// A slot for memory, populated or empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryDevice {
    /// Handle of the memory array to which the slot belongs.
    pub array: u16,
    /// Data bits per transfer, without error-correction bits; `None` if unknown.
    pub data_bits: Option<u16>,
    /// True if the slot has a module; `None` if the table does not say.
    pub populated: Option<bool>,
    /// True for ordinary memory; false for flash or persistent memory.
    pub volatile: bool,
    /// Name of the slot.
    pub locator: String,
    /// Bank locator of SMBIOS; firmware may put any text there.
    pub bank: String,
    /// Configured rate, in millions of transfers per second; `None` if unknown.
    pub mega_transfers: Option<u32>,
}

/// Length in bytes of the shortest memory device that is decoded: it has all fields of SMBIOS 2.1.
const LEAST_DEVICE: usize = 0x15;

/// The memory devices of `table`, in the table's order. `None` if the table ends inside a
/// structure, since devices may then be missing.
pub fn memory_devices(table: &[u8]) -> Option<Vec<MemoryDevice>> {
    const MEMORY_DEVICE: u8 = 17;
    const END: u8 = 127;
    let mut devices = Vec::new();
    let mut rest = table;
    while let [kind, length, ..] = *rest {
        let length = usize::from(length);
        if length < 4 {
            return None;
        }
        let body = rest.get(..length)?;
        if kind == END {
            return Some(devices);
        }
        // The strings of a structure follow it and end with two zero bytes, even if there are none.
        let strings = &rest[length..];
        let end = strings.windows(2).position(|pair| pair == [0, 0])?;
        if kind == MEMORY_DEVICE && length >= LEAST_DEVICE {
            devices.push(memory_device(body, &strings[..end]));
        }
        rest = &strings[end + 2..];
    }
    rest.is_empty().then_some(devices)
}

/// Decodes a memory device. `body` is its structure, of at least [`LEAST_DEVICE`] bytes. `strings`
/// are its texts, separated by zero bytes.
fn memory_device(body: &[u8], strings: &[u8]) -> MemoryDevice {
    const FLASH: u8 = 0x09;
    const LOGICAL_NON_VOLATILE: u8 = 0x1F;
    let word = |at: usize| Some(u16::from_le_bytes([*body.get(at)?, *body.get(at + 1)?]));
    let long = |at: usize| Some(u32::from(word(at)?) | u32::from(word(at + 2)?) << 16);
    let known = |value: Option<u16>| value.filter(|&value| value != 0xFFFF);
    let text = |at: usize| {
        let number = usize::from(body.get(at).copied().unwrap_or(0));
        let bytes = number
            .checked_sub(1)
            .and_then(|index| strings.split(|&byte| byte == 0).nth(index));
        String::from_utf8_lossy(bytes.unwrap_or_default())
            .trim()
            .to_owned()
    };
    let kind = body.get(0x12).copied().unwrap_or(0);
    // Technologies 4 to 7 are non-volatile modules; 0 means that an older table lacks the field.
    let technology = body.get(0x28).copied().unwrap_or(0);
    let configured = match word(0x20) {
        Some(0xFFFF) => long(0x58).map(|speed| speed & 0x7FFF_FFFF),
        short => short.map(u32::from),
    };
    MemoryDevice {
        array: word(0x04).unwrap_or(0),
        data_bits: known(word(0x0A)),
        populated: known(word(0x0C)).map(|size| size != 0),
        volatile: kind != FLASH && kind != LOGICAL_NON_VOLATILE && !(4..=7).contains(&technology),
        locator: text(0x10),
        bank: text(0x11),
        mega_transfers: configured.filter(|&speed| speed != 0),
    }
}
