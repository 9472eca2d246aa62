//! Drawing backend for the crate `plotters`. It collects shapes, and writes them as SVG or as
//! pixels. Letters are drawn as outlines, so that a picture looks the same on every machine and in
//! both formats.

use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;
use std::fmt::{Display, Write};
use tiny_skia::{
    FillRule, Paint, Path, PathBuilder, PathSegment, Pixmap, Point, Rect, Stroke, Transform,
};
use ttf_parser::{Face, GlyphId, OutlineBuilder};
use units::error::{Error, Result};

type DrawResult = std::result::Result<(), DrawingErrorKind<Infallible>>;

/// Font DejaVu Sans, packed by build.rs. It has Greek letters and arrows.
const FONT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/font.ttf.zlib"));

/// Font size of plotters divided by the em in which the letters are drawn.
const SIZES_PER_EM: f64 = 1.24;

/// Distance from the anchor of a text down to its baseline, in em, for each vertical anchor.
const BELOW_TOP: f32 = 0.76;
const BELOW_MIDDLE: f32 = 0.27;
const BELOW_BOTTOM: f32 = -0.27;

/// A filled or stroked outline in one colour.
struct Shape {
    path: Path,
    color: BackendColor,
    /// Width of the stroke; `None` fills the outline.
    stroke: Option<f32>,
}

/// A picture: shapes in drawing order, and SVG elements in front of them.
pub(super) struct Picture {
    size: (u32, u32),
    shapes: Vec<Shape>,
    above: String,
}

impl Picture {
    /// An empty picture of `width` times `height` pixels.
    pub fn new(width: u32, height: u32) -> Self {
        Self {
            size: (width, height),
            shapes: Vec::new(),
            above: String::new(),
        }
    }

    /// Adds an SVG element in front of all shapes. Pixel output leaves it out.
    pub fn lay_over(&mut self, element: &str) {
        self.above.push_str(element);
    }

    /// Adds a filled rectangle.
    pub fn rectangle(&mut self, place: Rect, color: BackendColor) {
        self.shapes.push(Shape {
            path: PathBuilder::from_rect(place),
            color,
            stroke: None,
        });
    }

    /// The picture as an SVG file. Coordinates have two decimals at most.
    pub fn svg(&self) -> String {
        let (width, height) = self.size;
        let mut text = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\">\n"
        );
        for shape in &self.shapes {
            let (r, g, b) = shape.color.rgb;
            let (paint, none) = if shape.stroke.is_some() {
                ("stroke", "fill")
            } else {
                ("fill", "stroke")
            };
            let _ = write!(
                text,
                "<path d=\"{}\" {paint}=\"#{r:02x}{g:02x}{b:02x}\"",
                outline(&shape.path)
            );
            // SVG fills a path by default and does not stroke it, so only other settings are
            // written.
            if none == "fill" {
                let _ = write!(
                    text,
                    " fill=\"none\" stroke-width=\"{}\"",
                    shape.stroke.unwrap_or(1.0)
                );
            }
            if shape.color.alpha < 1.0 {
                let _ = write!(text, " {paint}-opacity=\"{:.2}\"", shape.color.alpha);
            }
            text.push_str("/>\n");
        }
        text + &self.above + "</svg>\n"
    }

    /// The picture as pixels: each pixel of the picture becomes `scale` by `scale` pixels.
    pub fn pixels(&self, scale: u32) -> Result<Pixmap> {
        let mut pixels = Pixmap::new(scale * self.size.0, scale * self.size.1)
            .ok_or_else(|| Error::failure("cannot draw the chart: no memory for its pixels"))?;
        let transform = Transform::from_scale(scale as f32, scale as f32);
        for shape in &self.shapes {
            let (r, g, b) = shape.color.rgb;
            let mut paint = Paint {
                anti_alias: true,
                ..Paint::default()
            };
            paint.set_color_rgba8(
                r,
                g,
                b,
                (shape.color.alpha.clamp(0.0, 1.0) * 255.0).round() as u8,
            );
            match shape.stroke {
                None => pixels.fill_path(&shape.path, &paint, FillRule::Winding, transform, None),
                Some(width) => {
                    let stroke = Stroke {
                        width,
                        ..Stroke::default()
                    };
                    pixels.stroke_path(&shape.path, &paint, &stroke, transform, None);
                }
            }
        }
        Ok(pixels)
    }
}

/// A coordinate with at most two decimals and no trailing zeros.
fn short(value: f32) -> impl Display {
    // Adding 0.0 turns -0 into 0.
    (f64::from(value) * 100.0).round() / 100.0 + 0.0
}

/// Writes `path` in the notation of SVG.
fn outline(path: &Path) -> String {
    let mut text = String::new();
    let mut put = |letter: &str, points: &[tiny_skia::Point]| {
        text.push_str(letter);
        for (i, p) in points.iter().enumerate() {
            let _ = write!(
                text,
                "{}{} {}",
                if i > 0 { " " } else { "" },
                short(p.x),
                short(p.y)
            );
        }
    };
    for segment in path.segments() {
        match segment {
            PathSegment::MoveTo(p) => put("M", &[p]),
            PathSegment::LineTo(p) => put("L", &[p]),
            PathSegment::QuadTo(a, p) => put("Q", &[a, p]),
            PathSegment::CubicTo(a, b, p) => put("C", &[a, b, p]),
            PathSegment::Close => put("Z", &[]),
        }
    }
    text
}

/// Unpacks the font file.
pub(super) fn font() -> Result<Vec<u8>> {
    miniz_oxide::inflate::decompress_to_vec_zlib(FONT).map_err(|_| damaged())
}

fn damaged() -> Error {
    Error::failure("cannot draw the chart: its font is damaged")
}

/// Drawing backend through which plotters draws on a picture.
pub(super) struct Canvas<'a> {
    picture: &'a mut Picture,
    font: Face<'a>,
}

impl<'a> Canvas<'a> {
    /// Makes a canvas on `picture` that draws all letters with `font`.
    pub fn on(picture: &'a mut Picture, font: &'a [u8]) -> Result<Self> {
        Ok(Self {
            picture,
            font: Face::parse(font, 0).map_err(|_| damaged())?,
        })
    }

    fn add(&mut self, path: Option<Path>, color: BackendColor, stroke: Option<u32>) {
        let stroke = stroke.map(|width| width.max(1) as f32);
        if color.alpha > 0.0
            && let Some(path) = path
        {
            self.picture.shapes.push(Shape {
                path,
                color,
                stroke,
            });
        }
    }

    /// Glyphs of `text`, each with its left end, and the width of the text; all lengths in em.
    fn letters(&self, text: &str) -> (Vec<(GlyphId, f32)>, f32) {
        let em = f32::from(self.font.units_per_em());
        let mut letters = Vec::new();
        let mut x = 0.0;
        let mut last = None;
        for glyph in text
            .chars()
            .map(|letter| self.font.glyph_index(letter).unwrap_or_default())
        {
            x += last.map_or(0.0, |last| self.kerning(last, glyph)) / em;
            letters.push((glyph, x));
            x += f32::from(self.font.glyph_hor_advance(glyph).unwrap_or(0)) / em;
            last = Some(glyph);
        }
        (letters, x)
    }

    /// Kerning of two letters, in units of the font.
    fn kerning(&self, left: GlyphId, right: GlyphId) -> f32 {
        let tables = self
            .font
            .tables()
            .kern
            .into_iter()
            .flat_map(|kern| kern.subtables);
        let mut pairs = tables
            .filter(|t| t.horizontal && !t.variable)
            .filter_map(|t| t.glyphs_kerning(left, right));
        pairs.next().map_or(0.0, f32::from)
    }

    /// Writes `text` with an em of `em` pixels, anchored at `at` and rotated around that point.
    pub fn write(&mut self, text: &str, em: f32, at: Point, look: TextStyle) {
        let (letters, width) = self.letters(text);
        let left = match look.h {
            HPos::Left => 0.0,
            HPos::Center => -width / 2.0,
            HPos::Right => -width,
        };
        let down = match look.v {
            VPos::Top => BELOW_TOP,
            VPos::Center => BELOW_MIDDLE,
            VPos::Bottom => BELOW_BOTTOM,
        };
        let place = |x: f32, y: f32| {
            let x = (x + left) * em;
            let y = (y + down) * em;
            let (x, y) = match look.turn {
                FontTransform::Rotate90 => (-y, x),
                FontTransform::Rotate180 => (-x, -y),
                FontTransform::Rotate270 => (y, -x),
                FontTransform::None => (x, y),
            };
            (at.x + x, at.y + y)
        };
        let unit = 1.0 / f32::from(self.font.units_per_em());
        let mut path = PathBuilder::new();
        for (glyph, start) in letters {
            let place = |x: f32, y: f32| place(start + x * unit, -y * unit);
            self.font.outline_glyph(
                glyph,
                &mut Outline {
                    path: &mut path,
                    place,
                },
            );
        }
        self.add(path.finish(), look.color, None);
    }
}

/// Colour, horizontal and vertical anchor, and rotation of a text.
pub(super) struct TextStyle {
    pub color: BackendColor,
    pub h: HPos,
    pub v: VPos,
    pub turn: FontTransform,
}

/// Adds the outline of a letter to a path, with each point transformed by `place`.
struct Outline<'p, F> {
    path: &'p mut PathBuilder,
    place: F,
}

impl<F: Fn(f32, f32) -> (f32, f32)> OutlineBuilder for Outline<'_, F> {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = (self.place)(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = (self.place)(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (x1, y1) = (self.place)(x1, y1);
        let (x, y) = (self.place)(x, y);
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (x1, y1) = (self.place)(x1, y1);
        let (x2, y2) = (self.place)(x2, y2);
        let (x, y) = (self.place)(x, y);
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Makes a path through `points`. Filled shapes need a `closed` path.
fn along(points: impl IntoIterator<Item = BackendCoord>, closed: bool) -> Option<Path> {
    let mut builder = PathBuilder::new();
    for (i, (x, y)) in points.into_iter().enumerate() {
        if i == 0 {
            builder.move_to(x as f32, y as f32)
        } else {
            builder.line_to(x as f32, y as f32)
        }
    }
    if closed {
        builder.close();
    }
    builder.finish()
}

impl DrawingBackend for Canvas<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.picture.size
    }

    fn ensure_prepared(&mut self) -> DrawResult {
        Ok(())
    }

    fn present(&mut self) -> DrawResult {
        Ok(())
    }

    fn draw_pixel(&mut self, (x, y): BackendCoord, color: BackendColor) -> DrawResult {
        let place = Rect::from_xywh(x as f32, y as f32, 1.0, 1.0);
        self.add(place.map(PathBuilder::from_rect), color, None);
        Ok(())
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> DrawResult {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        (left, top): BackendCoord,
        (right, bottom): BackendCoord,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        self.add(
            along(corners, true),
            style.color(),
            (!fill).then(|| style.stroke_width()),
        );
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> DrawResult {
        self.add(
            along(path, false),
            style.color(),
            Some(style.stroke_width()),
        );
        Ok(())
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        (x, y): BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> DrawResult {
        let circle = PathBuilder::from_circle(x as f32, y as f32, radius as f32);
        self.add(circle, style.color(), (!fill).then(|| style.stroke_width()));
        Ok(())
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        corners: I,
        style: &S,
    ) -> DrawResult {
        self.add(along(corners, true), style.color(), None);
        Ok(())
    }

    fn draw_text<S: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &S,
        (x, y): BackendCoord,
    ) -> DrawResult {
        let anchor = style.anchor();
        let look = TextStyle {
            color: style.color(),
            h: anchor.h_pos,
            v: anchor.v_pos,
            turn: style.transform(),
        };
        self.write(
            text,
            (style.size() / SIZES_PER_EM) as f32,
            Point::from_xy(x as f32, y as f32),
            look,
        );
        Ok(())
    }

    fn estimate_text_size<S: BackendTextStyle>(
        &self,
        text: &str,
        style: &S,
    ) -> std::result::Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let em = style.size() / SIZES_PER_EM;
        let (_, width) = self.letters(text);
        Ok((
            (f64::from(width) * em).ceil() as u32,
            (em * 1.2).ceil() as u32,
        ))
    }
}
