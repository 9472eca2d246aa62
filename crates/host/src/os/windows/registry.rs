//! Reads values about the hardware from the registry.

use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_BINARY, RRF_RT_REG_SZ, RegGetValueW,
};

/// Registry key of the first CPU.
pub const FIRST_CPU: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

/// Registry key of the firmware.
pub const FIRMWARE: &str = r"HARDWARE\DESCRIPTION\System\BIOS";

/// Longest value that is read, in bytes.
const LONGEST: usize = 512;

/// `text` in UTF-16 with a zero at the end, as Windows takes it.
pub fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// The UTF-16 text in `units` before a zero, without surrounding space. `None` if it is empty.
pub fn text_of(units: &[u16]) -> Option<String> {
    let end = units.iter().position(|&unit| unit == 0);
    let text = String::from_utf16_lossy(&units[..end.unwrap_or(units.len())]);
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// The bytes of the value `name` of the key `key` below `HKEY_LOCAL_MACHINE`. `None` if the value
/// is missing or its type is not in `kinds`.
fn bytes(key: &str, name: &str, kinds: u32) -> Option<Vec<u8>> {
    let key = wide(key);
    let name = wide(name);
    let mut value = vec![0u8; LONGEST];
    let mut length = LONGEST as u32;
    // SAFETY: both names end with a zero; the call writes at most `length` bytes to the value, and
    // its length.
    let result = unsafe {
        RegGetValueW(
            HKEY_LOCAL_MACHINE,
            key.as_ptr(),
            name.as_ptr(),
            kinds,
            std::ptr::null_mut(),
            value.as_mut_ptr().cast(),
            &mut length,
        )
    };
    value.truncate(length as usize);
    (result == 0).then_some(value)
}

/// The text `name` of the key `key` below `HKEY_LOCAL_MACHINE`. `None` if it is missing or empty.
pub fn text(key: &str, name: &str) -> Option<String> {
    let bytes = bytes(key, name, RRF_RT_REG_SZ)?;
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    text_of(&units)
}

/// Revision of the microcode on the first CPU: the upper half of the register IA32_BIOS_SIGN_ID,
/// which Windows recorded.
pub fn microcode() -> Option<String> {
    let bytes = bytes(FIRST_CPU, "Update Revision", RRF_RT_REG_BINARY)?;
    let register: [u8; 8] = bytes.try_into().ok()?;
    let revision = u64::from_le_bytes(register) >> 32;
    (revision > 0).then(|| format!("{revision:#x}"))
}
