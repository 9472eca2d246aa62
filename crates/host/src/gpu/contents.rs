//! Contents of the memory of device and host, as the kernel `fill` writes them. Every 64-bit lane
//! of word `i` is `i + value`.

/// Returns `bytes` bytes of these contents, in words of `width` lanes.
pub fn filled(bytes: usize, width: u32, value: u64) -> Vec<u8> {
    let mut data = Vec::with_capacity(bytes);
    let mut word = 0u64;
    while data.len() < bytes {
        let lane = word.wrapping_add(value).to_ne_bytes();
        for _ in 0..width {
            data.extend_from_slice(&lane);
        }
        word += 1;
    }
    data.truncate(bytes);
    data
}

/// True if `data` is equal to the result of [`filled`].
pub fn is_filled(data: &[u8], width: u32, value: u64) -> bool {
    let word = width as usize * 8;
    data.chunks(word).enumerate().all(|(index, chunk)| {
        let lane = (index as u64).wrapping_add(value).to_ne_bytes();
        chunk.chunks(8).all(|have| have == &lane[..have.len()])
    })
}
