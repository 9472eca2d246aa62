//! Compares whole outputs with the files in `golden/`, one for each format. `properties.rs`,
//! `safety.rs` and `told.rs` test properties of every report.

use super::super::{COMPARISON_FORMATS, Options, RENDERERS};
use super::reports;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// All compared outputs by file name, reduced to the form in which the files are kept.
fn outputs() -> Vec<(String, Vec<u8>)> {
    let terminal = Options {
        width: Some(100),
        ..Options::default()
    };
    let saved = Options {
        saved_to: Some(reports::saved("memgauge-report-1.json")),
        ..terminal.clone()
    };
    let report = reports::default_profile();
    let mut outputs = Vec::new();
    for renderer in RENDERERS {
        let bytes = renderer.render(&report, &saved).unwrap();
        outputs.push(match renderer.name() {
            "svg" => ("svg.txt".to_owned(), shapes(&bytes)),
            "png" => ("png.txt".to_owned(), coarse(&bytes)),
            "html" => ("html".to_owned(), skeleton(&bytes)),
            "gallery" => ("gallery".to_owned(), without_look(&bytes)),
            name => (name.to_owned(), bytes),
        });
    }
    for format in COMPARISON_FORMATS.iter() {
        let bytes = format
            .render(&[super::comparisons::slower()], &[], &terminal)
            .unwrap();
        let bytes = match format.name {
            "html" => without_look(&bytes),
            _ => bytes,
        };
        outputs.push((format!("comparison.{}", format.name), bytes));
    }
    outputs
}

/// First 8 bytes of a digest, in hexadecimal.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// An SVG whose outlines are replaced by their digests.
fn shapes(svg: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(svg).unwrap();
    let line = |line: &str| {
        let after = |start: &'static str| Some((line.find(start)? + start.len(), start));
        let Some((from, start)) = after("d=\"").or_else(|| after("base64,")) else {
            return format!("{line}\n");
        };
        let to = from + line[from..].find('"').unwrap();
        let outline = &line[from..to];
        let corner: String = outline
            .chars()
            .take_while(|c| !c.is_alphabetic() || *c == 'M')
            .take(20)
            .collect();
        let corner = if start == "d=\"" {
            corner
        } else {
            String::new()
        };
        format!(
            "{}{corner} {}{}\n",
            &line[..from],
            &digest(outline.as_bytes())[..8],
            &line[to..]
        )
    };
    text.lines().map(line).collect::<String>().into_bytes()
}

/// Brightness of a PNG in a grid of 120 by 45 parts, a digit from 0 to f for each part.
fn coarse(png: &[u8]) -> Vec<u8> {
    let pixels = tiny_skia::Pixmap::decode_png(png).unwrap();
    let wide = pixels.width() / 120;
    let high = pixels.height() / 45;
    let part = |row: u32, column: u32| {
        let inside =
            (0..high).flat_map(|y| (0..wide).map(move |x| (column * wide + x, row * high + y)));
        let light = |(x, y)| {
            pixels.pixel(x, y).map_or(0, |p| {
                u32::from(p.red()) + u32::from(p.green()) + u32::from(p.blue())
            })
        };
        let mean = f64::from(inside.map(light).sum::<u32>()) / f64::from(3 * wide * high);
        char::from_digit((mean / 16.0) as u32, 16).unwrap()
    };
    (0..45)
        .map(|row| {
            (0..120)
                .map(|column| part(row, column))
                .chain(['\n'])
                .collect::<String>()
        })
        .collect::<String>()
        .into_bytes()
}

/// A page without its style, its scripts and its packed data.
fn skeleton(html: &[u8]) -> Vec<u8> {
    let mut text = String::from_utf8(html.to_vec()).unwrap();
    let without = [
        "<style>",
        "<script type=\"text/plain\" id=\"report-0\">",
        "<script>",
    ];
    for start in without {
        let from = text.find(start).unwrap() + start.len();
        let to = from + text[from..].find("</s").unwrap();
        text.replace_range(from..to, "...");
    }
    let mut at = 0;
    while let Some(found) = text[at..].find("'sha256-") {
        at += found + 8;
        let to = at + text[at..].find('\'').unwrap();
        text.replace_range(at..to, "...");
    }
    // Drawing data gets line breaks, so that differences can be read.
    text.replace("{\"grades\"", "\n{\"grades\"")
        .replace("],\"", "],\n\"")
        .into_bytes()
}

/// The page of a comparison without style and script.
fn without_look(html: &[u8]) -> Vec<u8> {
    let mut lines = std::str::from_utf8(html).unwrap().to_owned();
    for (begin, end) in [("<style>", "</style>"), ("<script>", "</script>")] {
        let (before, rest) = lines.split_once(begin).unwrap();
        let (_, after) = rest.split_once(end).unwrap();
        lines = format!("{before}{begin}{end}{after}");
    }
    let lines = lines.lines().filter(|line| !line.contains("sha256-"));
    lines
        .map(|line| format!("{line}\n"))
        .collect::<String>()
        .into_bytes()
}

/// Folder of the compared files.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

#[test]
fn outputs_are_as_kept() {
    let outputs = outputs();
    nothing_else_is_kept(
        &outputs
            .iter()
            .map(|(name, _)| name.clone())
            .collect::<Vec<_>>(),
    );
    for (name, output) in outputs {
        let kept = std::fs::read(folder().join(&name)).unwrap_or_default();
        let output = String::from_utf8_lossy(&output);
        let kept = String::from_utf8_lossy(&kept);
        let first = output.lines().zip(kept.lines()).position(|(a, b)| a != b);
        let line = first.unwrap_or_else(|| output.lines().count().min(kept.lines().count()));
        assert!(
            output == kept,
            "{name} differs from line {} on\n now: {:?}\nkept: {:?}\nif that is meant, type\n  \
             cargo test -p memgauge-render --lib renew_golden_files -- --ignored",
            line + 1,
            output.lines().nth(line),
            kept.lines().nth(line)
        );
    }
}

/// Fails if the folder has a file for which there is no output.
fn nothing_else_is_kept(names: &[String]) {
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().to_string_lossy().into_owned();
        assert!(names.contains(&name), "{name}");
    }
}

#[test]
#[ignore = "writes the files that the other tests compare with"]
fn renew_golden_files() {
    std::fs::create_dir_all(folder()).unwrap();
    for kept in std::fs::read_dir(folder()).unwrap() {
        std::fs::remove_file(kept.unwrap().path()).unwrap();
    }
    for (name, output) in outputs() {
        std::fs::write(folder().join(name), output).unwrap();
    }
}
