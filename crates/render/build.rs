//! Packs the font of pictures. Only letters of European languages and signs of mathematics are
//! kept, which take 0.1 MB of the font's 0.8 MB.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;
use ttf_parser::{Face, GlyphId};

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = std::env::var_os("OUT_DIR").ok_or("no folder to write to")?;
    let packed = miniz_oxide::deflate::compress_to_vec_zlib(&font(dejavu::sans::regular())?, 9);
    Ok(std::fs::write(
        Path::new(&folder).join("font.ttf.zlib"),
        packed,
    )?)
}

/// Ranges of code points that are kept: Latin, Greek, Cyrillic, Armenian, Georgian, punctuation,
/// currencies, arrows, mathematics, shapes, and the replacement character.
const LETTERS: [(u32, u32); 9] = [
    (0x20, 0x24f),
    (0x2b0, 0x58f),
    (0x10a0, 0x10ff),
    (0x1e00, 0x1eff),
    (0x2000, 0x218f),
    (0x2190, 0x22ff),
    (0x2500, 0x259f),
    (0x25a0, 0x25ff),
    (0xfffd, 0xfffd),
];

/// Font tables that are needed to measure and draw letters. The other tables have hints for coarse
/// screens, names, and rules for scripts that are left out.
const TABLES: [&[u8; 4]; 8] = [
    b"cmap", b"glyf", b"head", b"hhea", b"hmtx", b"kern", b"loca", b"maxp",
];

/// Reduces the font `whole` to [`LETTERS`] and [`TABLES`]. Glyphs keep their numbers, so only the
/// outlines change. Source: the OpenType specification, chapters "Organization of an OpenType
/// font", "glyf", "loca".
fn font(whole: &[u8]) -> Result<Vec<u8>, Box<dyn Error>> {
    let face = Face::parse(whole, 0)?;
    let table = |name: &[u8; 4]| {
        let table = face.raw_face().table(ttf_parser::Tag::from_bytes(name));
        table.ok_or_else(|| format!("the font has no table {name:?}"))
    };
    let head = table(b"head")?;
    let loca = table(b"loca")?;
    let glyf = table(b"glyf")?;
    if head.get(50..52) != Some(&[0, 1]) {
        return Err("the font has short offsets".into());
    }
    let offset = |glyph: u16| {
        let at = 4 * usize::from(glyph);
        Some(u32::from_be_bytes(loca.get(at..at + 4)?.try_into().ok()?) as usize)
    };
    let outline = |glyph: u16| glyf.get(offset(glyph)?..offset(glyph.checked_add(1)?)?);
    let letters = LETTERS
        .iter()
        .flat_map(|&(from, to)| (from..=to).filter_map(char::from_u32));
    let mut open: Vec<u16> = letters
        .filter_map(|c| face.glyph_index(c))
        .map(|GlyphId(id)| id)
        .chain([0])
        .collect();
    let mut kept = BTreeSet::new();
    while let Some(glyph) = open.pop() {
        if kept.insert(glyph) {
            open.extend(parts(outline(glyph).unwrap_or_default()));
        }
    }
    let mut outlines = Vec::new();
    let mut offsets = Vec::new();
    for glyph in 0..=face.number_of_glyphs() {
        offsets.extend(u32::try_from(outlines.len())?.to_be_bytes());
        if kept.contains(&glyph) {
            outlines.extend(outline(glyph).ok_or("a letter lies outside of the font")?);
            outlines.resize(outlines.len().next_multiple_of(4), 0);
        }
    }
    let mut parts = Vec::new();
    for name in TABLES {
        let content = match name {
            b"glyf" => outlines.as_slice(),
            b"loca" => offsets.as_slice(),
            name => table(name)?,
        };
        parts.push((name, content));
    }
    let font = whole_font(&parts)?;
    let again = Face::parse(&font, 0)?;
    if again
        .glyph_index('a')
        .and_then(|a| again.glyph_bounding_box(a))
        .is_none()
    {
        return Err("the smaller font has no letters".into());
    }
    Ok(font)
}

/// Glyphs that a compound outline is composed of; empty for a simple outline.
fn parts(outline: &[u8]) -> Vec<u16> {
    let word = |at: usize| {
        Some(u16::from_be_bytes(
            outline.get(at..at + 2)?.try_into().ok()?,
        ))
    };
    let mut found = Vec::new();
    let mut at = 10;
    // A negative number of contours marks a compound outline.
    if word(0).is_none_or(|contours| contours < 0x8000) {
        return found;
    }
    while let (Some(flags), Some(glyph)) = (word(at), word(at + 2)) {
        found.push(glyph);
        let place = if flags & 0x1 > 0 { 4 } else { 2 };
        let scale = if flags & 0x8 > 0 {
            2
        } else if flags & 0x40 > 0 {
            4
        } else if flags & 0x80 > 0 {
            8
        } else {
            0
        };
        at += 4 + place + scale;
        if flags & 0x20 == 0 {
            break;
        }
    }
    found
}

/// Joins tables to a font file. Checksums are left out, because the program that reads the file
/// ignores them.
fn whole_font(tables: &[(&[u8; 4], &[u8])]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut font = vec![0, 1, 0, 0];
    font.extend(u16::try_from(tables.len())?.to_be_bytes());
    font.extend([0; 6]);
    let mut start = 12 + 16 * tables.len();
    for (name, content) in tables {
        font.extend(*name);
        font.extend([0; 4]);
        font.extend(u32::try_from(start)?.to_be_bytes());
        font.extend(u32::try_from(content.len())?.to_be_bytes());
        start += content.len().next_multiple_of(4);
    }
    for (_, content) in tables {
        font.extend(*content);
        font.resize(font.len().next_multiple_of(4), 0);
    }
    Ok(font)
}
