//! Assembly text that several kinds of kernels share.

/// A loop of `body` at `label`, which starts on a line of the instruction cache. Each iteration
/// decrements `counter`, and the loop ends when `counter` is 0.
pub(super) fn counted_loop(label: u32, counter: &str, body: &str) -> String {
    let end = format!("subs {counter}, {counter}, 1\nb.ne {label}b");
    format!(".p2align 6, 0xcc\n{label}:\n{body}\n{end}")
}

/// `text` with the instructions of an extension enabled. They are disabled again after `text`, so
/// that no other text uses them by mistake.
pub(super) fn extended(extension: &str, text: &str) -> String {
    format!(".arch_extension {extension}\n{text}\n.arch_extension no{extension}")
}

/// `template` with each `%` replaced by the next of `numbers`, which repeat cyclically.
pub(super) fn fill(template: &str, numbers: &[u32]) -> String {
    let mut numbers = numbers.iter().cycle();
    let mut text = String::new();
    for part in template.split_inclusive('%') {
        match (part.strip_suffix('%'), numbers.next()) {
            (Some(before), Some(number)) => text += &format!("{before}{number}"),
            _ => text += part,
        }
    }
    text
}
