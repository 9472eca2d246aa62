//! Whole outputs against the files in `golden/`.

use super::super::{Options, RENDERERS, host_table, list_table};
use super::{machine, reports};
use report::Report;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Longer ones are kept by their beginning and the digest of the whole.
const LONGEST: usize = 40_000;
/// So much of those.
const BEGINNING: usize = 8_000;

/// The reports whose renderings are kept, by what their files are called.
fn cases() -> Vec<(&'static str, Report)> {
    vec![
        ("default", reports::default_profile()),
        ("latency", reports::single_experiment()),
        ("empty", reports::empty()),
        ("one-point", reports::one_point()),
        ("interrupted", reports::interrupted()),
        ("rejected", reports::rejected()),
        ("matrix", reports::matrix(3)),
        ("matrix-large", reports::matrix(24)),
        ("eight-nodes", reports::eight_nodes()),
        ("cores-384", reports::large_machine(384)),
    ]
}

/// Whether the rendering of a case is kept: of large maps only what draws them, the others are long
/// lists of points.
fn is_kept(case: &str, format: &str) -> bool {
    let drawn = ["table", "markdown", "svg", "png"];
    match case {
        "cores-384" => ["table", "svg", "png"].contains(&format),
        "matrix-large" => drawn.contains(&format),
        "matrix" => drawn.contains(&format) || format == "html",
        _ => true,
    }
}

/// Every output that is kept, by file name, in the form in which it is kept.
fn outputs() -> Vec<(String, Vec<u8>)> {
    let terminal = Options {
        width: Some(100),
        ..Options::default()
    };
    let saved = Options {
        saved_to: Some("memgauge-report-1.json".into()),
        ..terminal.clone()
    };
    let cases = cases();
    let mut outputs = Vec::new();
    for (case, report) in &cases {
        for renderer in RENDERERS.iter().filter(|r| is_kept(case, r.name())) {
            let bytes = renderer.render(report, &saved).unwrap();
            outputs.push(match renderer.name() {
                "svg" => (format!("{case}.svg.txt"), shapes(&bytes)),
                "png" => (format!("{case}.png.txt"), coarse(&bytes)),
                "html" => (format!("{case}.html"), skeleton(&bytes)),
                name => (format!("{case}.{name}"), bytes),
            });
        }
    }
    let scores = Options {
        scores: true,
        ..Options::default()
    };
    let sc_membench = super::super::by_name("sc-membench").unwrap();
    outputs.push((
        "default.scores".into(),
        sc_membench
            .notes(&cases[0].1, &scores)
            .unwrap()
            .into_bytes(),
    ));
    let verbose = Options {
        verbose: true,
        width: Some(72),
        ..Options::default()
    };
    outputs.push((
        "default-verbose-72.table".into(),
        RENDERERS[0].render(&cases[0].1, &verbose).unwrap(),
    ));
    for (case, name) in [
        (0, "bandwidth"),
        (1, "latency"),
        (6, "core-to-core"),
        (8, "numa"),
    ] {
        let options = Options {
            charts: vec![name.into()],
            ..terminal.clone()
        };
        outputs.push((
            format!("{}.{name}.chart", cases[case].0),
            RENDERERS[0].render(&cases[case].1, &options).unwrap(),
        ));
    }
    for format in super::super::COMPARISON_FORMATS
        .iter()
        .filter(|f| !["json", "html"].contains(&f.name))
    {
        let bytes = format
            .render(&[super::comparisons::slower()], &[], &terminal)
            .unwrap();
        outputs.push((format!("slower.comparison.{}", format.name), bytes));
    }
    outputs.push((
        "host.txt".into(),
        host_table(&machine::host(), Some(120)).into_bytes(),
    ));
    let rows = [
        ["read-sse2", "16 B loads"],
        ["copy-avx512", "64 B loads and stores"],
    ];
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|r| r.iter().map(|c| (*c).to_owned()).collect())
        .collect();
    outputs.push((
        "list.txt".into(),
        list_table(&["kernel", "what it does"], &rows, Some(100)).into_bytes(),
    ));
    outputs.iter_mut().for_each(|(_, bytes)| shorten(bytes));
    outputs
}

/// The first half of a digest.
fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes)
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Cuts what is too long to be read.
fn shorten(bytes: &mut Vec<u8>) {
    if bytes.len() > LONGEST {
        let more = format!(
            "\n... {} bytes with the digest {}\n",
            bytes.len(),
            digest(bytes)
        );
        let start = (0..BEGINNING)
            .rev()
            .find(|at| bytes[*at] == b'\n')
            .unwrap_or(0);
        bytes.truncate(start);
        bytes.extend(more.into_bytes());
    }
}

/// An SVG with the digests of its outlines in their place.
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

/// How bright a PNG is in 120 x 45 parts of it, from 0 to f.
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

/// A page without its look, its scripts and what is packed in it.
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
    // What is drawn, a value to a line as far as that helps reading.
    text.replace("{\"grades\"", "\n{\"grades\"")
        .replace("],\"", "],\n\"")
        .into_bytes()
}

/// Where the files are.
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
            "{name} differs from line {} on\n now: {:?}\nkept: {:?}\nthe module's head says how \
             to renew it",
            line + 1,
            output.lines().nth(line),
            kept.lines().nth(line)
        );
    }
}

/// No file is kept without an output.
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
    for (name, output) in outputs() {
        std::fs::write(folder().join(name), output).unwrap();
    }
}
