//! Values of the registry about the hardware.

use windows_sys::Win32::System::Registry::{
    HKEY_LOCAL_MACHINE, RRF_RT_REG_BINARY, RRF_RT_REG_SZ, RegGetValueW,
};

/// Key of the first CPU.
pub const FIRST_CPU: &str = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0";

/// Key of the firmware.
pub const FIRMWARE: &str = r"HARDWARE\DESCRIPTION\System\BIOS";

/// Longest value that is read, in bytes.
const LONGEST: usize = 512;

/// Characters for Windows, ended by a zero.
pub fn wide(text: &str) -> Vec<u16> {
    text.encode_utf16().chain([0]).collect()
}

/// Text of `units` up to a zero, without surrounding space; `None` if it is empty.
pub fn text_of(units: &[u16]) -> Option<String> {
    let end = units.iter().position(|&unit| unit == 0);
    let text = String::from_utf16_lossy(&units[..end.unwrap_or(units.len())]);
    let text = text.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Bytes of a value below `HKEY_LOCAL_MACHINE` if it has one of the types in `kinds`.
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

/// A text below `HKEY_LOCAL_MACHINE`; `None` if it is missing or empty.
pub fn text(key: &str, name: &str) -> Option<String> {
    let bytes = bytes(key, name, RRF_RT_REG_SZ)?;
    let units: Vec<u16> = bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    text_of(&units)
}

/// Revision of the microcode of the first CPU: the upper half of the register that Windows
/// recorded (IA32_BIOS_SIGN_ID).
pub fn microcode() -> Option<String> {
    let bytes = bytes(FIRST_CPU, "Update Revision", RRF_RT_REG_BINARY)?;
    let register: [u8; 8] = bytes.try_into().ok()?;
    let revision = u64::from_le_bytes(register) >> 32;
    (revision > 0).then(|| format!("{revision:#x}"))
}
