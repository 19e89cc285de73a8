//! The content-stream loop: every glyph with its font, every drawn line, every placed picture.
#![allow(clippy::arithmetic_side_effects, reason = "transforms are products of floating-point matrices: nothing here can overflow")]

use std::rc::Rc;
use std::time::{Duration, Instant};

use hayro_font::UNITS_PER_EM;
use hayro_font::kurbo::{Affine, Point};
use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::dict::keys::{BBOX, HEIGHT, MATRIX, RESOURCES, SUBTYPE, WIDTH};
use hayro_syntax::object::{Array, Dict, Name, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::{Page as RawPage, Resources};

use crate::font::{Fonts, LoadedFont};
use crate::geometry::{Rect, Rule};
use crate::page::{Fill, Glyph, Page, Picture};
use crate::path::{Path, bounding};
use crate::state::{State, Text, channel, set_components};

/// Deepest nesting of form objects.
const MAX_FORM_DEPTH: u32 = 16;
/// Most glyphs, rules and fills that one page may hold; what comes after is not read and the page is cut.
const MAX_GLYPHS: usize = 300_000;
const MAX_RULES: usize = 60_000;
/// Most form objects drawn on one page, for a form can draw another many times over.
const MAX_FORMS: u32 = 20_000;
/// The clock is looked at once in this many operations and strings, for asking it costs more than most of them.
const CLOCK_STEPS: u32 = 128;
/// A filled rectangle this thin is a ruling line.
const RULE_THICKNESS: f32 = 3.0;

struct Reader<'a, 'f> {
    fonts: &'f mut Fonts<'a>,
    page: Page,
    bounds: Rect,
    forms: u32,
    started: Instant,
    allowed: Duration,
    steps: u32,
}

/// Reads one page. Nothing in it can fail: what cannot be understood is passed over, and what comes after `allowed` is left
/// out.
pub(crate) fn read_page<'a>(raw: &RawPage<'a>, fonts: &mut Fonts<'a>, allowed: Duration) -> Page {
    let (width, height) = raw.render_dimensions();
    let bounds = Rect { x0: 0.0, y0: 0.0, x1: width, y1: height };
    let mut reader =
        Reader { fonts, page: Page { width, height, ..Page::default() }, bounds, forms: 0, started: Instant::now(), allowed, steps: 0 };
    let state = State { ctm: Affine::new(raw.initial_transform(true).as_coeffs()), text: Text::default(), color: [0; 3], line_width: 1.0 };
    reader.run(raw.typed_operations(), raw.resources(), state.clone(), 0);
    reader.annotations(raw, &state);
    reader.page
}

impl<'a> Reader<'a, '_> {
    fn run(&mut self, mut operations: TypedIter<'_>, resources: &Resources<'a>, initial: State<'a>, depth: u32) {
        let mut state = initial;
        let mut saved: Vec<State<'a>> = Vec::new();
        let mut path = Path::default();
        while let Some(operation) = operations.next() {
            if self.page.glyphs.len() >= MAX_GLYPHS {
                self.page.cut = true;
                return;
            }
            if self.is_late() {
                return;
            }
            match operation {
                TypedInstruction::SaveState(_) if saved.len() < 512 => saved.push(state.clone()),
                TypedInstruction::RestoreState(_) => {
                    if let Some(before) = saved.pop() {
                        state = before;
                    }
                }
                TypedInstruction::Transform(m) => {
                    state.ctm *= Affine::new([m.0.as_f64(), m.1.as_f64(), m.2.as_f64(), m.3.as_f64(), m.4.as_f64(), m.5.as_f64()]);
                }
                TypedInstruction::LineWidth(w) => state.line_width = w.0.as_f64(),
                TypedInstruction::NonStrokeColorDeviceGray(c) => state.color = [channel(c.0.as_f32()); 3],
                TypedInstruction::NonStrokeColorDeviceRgb(c) => {
                    state.color = [channel(c.0.as_f32()), channel(c.1.as_f32()), channel(c.2.as_f32())];
                }
                TypedInstruction::NonStrokeColorCmyk(c) => {
                    let ink = |v: f32| channel((1.0 - v) * (1.0 - c.3.as_f32()));
                    state.color = [ink(c.0.as_f32()), ink(c.1.as_f32()), ink(c.2.as_f32())];
                }
                TypedInstruction::NonStrokeColor(c) => {
                    set_components(&mut state.color, c.0.iter().map(hayro_syntax::object::Number::as_f32));
                }
                TypedInstruction::NonStrokeColorNamed(c) => {
                    set_components(&mut state.color, c.0.iter().map(hayro_syntax::object::Number::as_f32));
                }
                TypedInstruction::BeginText(_) => {
                    state.text.matrix = Affine::IDENTITY;
                    state.text.line = Affine::IDENTITY;
                }
                TypedInstruction::TextFont(font) => {
                    state.text.size = font.1.as_f64();
                    state.text.font = resources.get_font(font.0).and_then(|dict| self.fonts.get(&dict));
                }
                TypedInstruction::CharacterSpacing(v) => state.text.character_space = v.0.as_f64(),
                TypedInstruction::WordSpacing(v) => state.text.word_space = v.0.as_f64(),
                TypedInstruction::HorizontalScaling(v) => state.text.scale = v.0.as_f64() / 100.0,
                TypedInstruction::TextLeading(v) => state.text.leading = v.0.as_f64(),
                TypedInstruction::TextRise(v) => state.text.rise = v.0.as_f64(),
                TypedInstruction::TextRenderingMode(v) => state.text.hidden = matches!(v.0.as_i64(), 3 | 7),
                TypedInstruction::SetTextMatrix(m) => {
                    let matrix = Affine::new([m.0.as_f64(), m.1.as_f64(), m.2.as_f64(), m.3.as_f64(), m.4.as_f64(), m.5.as_f64()]);
                    state.text.matrix = matrix;
                    state.text.line = matrix;
                }
                TypedInstruction::NextLine(v) => state.text.next_line(v.0.as_f64(), v.1.as_f64()),
                TypedInstruction::NextLineAndSetLeading(v) => {
                    state.text.leading = -v.1.as_f64();
                    state.text.next_line(v.0.as_f64(), v.1.as_f64());
                }
                TypedInstruction::NextLineUsingLeading(_) => {
                    let down = -state.text.leading;
                    state.text.next_line(0.0, down);
                }
                TypedInstruction::ShowText(v) => self.show(&mut state, v.0.as_bytes()),
                TypedInstruction::NextLineAndShowText(v) => {
                    let down = -state.text.leading;
                    state.text.next_line(0.0, down);
                    self.show(&mut state, v.0.as_bytes());
                }
                TypedInstruction::ShowTextWithParameters(v) => {
                    state.text.word_space = v.0.as_f64();
                    state.text.character_space = v.1.as_f64();
                    let down = -state.text.leading;
                    state.text.next_line(0.0, down);
                    self.show(&mut state, v.2.as_bytes());
                }
                TypedInstruction::ShowTexts(v) => {
                    for item in v.0.iter::<Object<'_>>() {
                        match item {
                            Object::Number(back) => state.text.adjust(back.as_f64()),
                            Object::String(text) => self.show(&mut state, text.as_bytes()),
                            _ => {}
                        }
                    }
                }
                TypedInstruction::MoveTo(v) => path.move_to(state.ctm * Point::new(v.0.as_f64(), v.1.as_f64())),
                TypedInstruction::LineTo(v) => path.line_to(state.ctm * Point::new(v.0.as_f64(), v.1.as_f64())),
                TypedInstruction::CubicTo(v) => path.curve_to(state.ctm * Point::new(v.4.as_f64(), v.5.as_f64())),
                TypedInstruction::CubicStartTo(v) => path.curve_to(state.ctm * Point::new(v.2.as_f64(), v.3.as_f64())),
                TypedInstruction::CubicEndTo(v) => path.curve_to(state.ctm * Point::new(v.2.as_f64(), v.3.as_f64())),
                TypedInstruction::ClosePath(_) => path.close(),
                TypedInstruction::RectPath(v) => {
                    let (x, y, w, h) = (v.0.as_f64(), v.1.as_f64(), v.2.as_f64(), v.3.as_f64());
                    path.rectangle([(x, y), (x + w, y), (x + w, y + h), (x, y + h)].map(|(x, y)| state.ctm * Point::new(x, y)));
                }
                TypedInstruction::FillPathEvenOdd(_)
                | TypedInstruction::FillPathNonZero(_)
                | TypedInstruction::FillPathNonZeroCompatibility(_) => self.fill(&mut path, &state),
                TypedInstruction::StrokePath(_) => self.stroke(&mut path, &state),
                TypedInstruction::CloseAndStrokePath(_) => {
                    path.close();
                    self.stroke(&mut path, &state);
                }
                TypedInstruction::FillAndStrokeEvenOdd(_)
                | TypedInstruction::FillAndStrokeNonZero(_)
                | TypedInstruction::CloseFillAndStrokeEvenOdd(_)
                | TypedInstruction::CloseFillAndStrokeNonZero(_) => {
                    let mut copy = path.clone();
                    self.fill(&mut copy, &state);
                    path.close();
                    self.stroke(&mut path, &state);
                }
                TypedInstruction::EndPath(_) => path = Path::default(),
                TypedInstruction::Shading(_) => self.page.drawings = self.page.drawings.saturating_add(1),
                TypedInstruction::XObject(x) => {
                    if let Some(stream) = resources.get_x_object(x.0) {
                        self.object(&stream, resources, &state, depth);
                    }
                }
                TypedInstruction::InlineImage(image) => {
                    let dict = image.0.dict();
                    let pixels = |long, short: &str| dict.get::<u32>(long).or_else(|| dict.get::<u32>(short)).unwrap_or(0);
                    self.picture(&state, None, pixels(WIDTH, "W"), pixels(HEIGHT, "H"));
                }
                _ => {}
            }
        }
    }

    /// Whether the page has used up its time; asked again it stays so, in whatever depth.
    fn is_late(&mut self) -> bool {
        if !self.page.late && self.steps.is_multiple_of(CLOCK_STEPS) {
            self.page.late = self.started.elapsed() >= self.allowed;
        }
        self.steps = self.steps.wrapping_add(1);
        self.page.late
    }

    fn object(&mut self, stream: &Stream<'a>, resources: &Resources<'a>, state: &State<'a>, depth: u32) {
        let dict = stream.dict();
        let Some(kind) = dict.get::<Name<'_>>(SUBTYPE) else { return };
        if kind.as_str() == "Image" {
            let id = stream.obj_id();
            self.picture(state, Some(id), dict.get::<u32>(WIDTH).unwrap_or(0), dict.get::<u32>(HEIGHT).unwrap_or(0));
        } else if kind.as_str() == "Form" {
            self.form(stream, resources, state, depth);
        }
    }

    fn form(&mut self, stream: &Stream<'a>, resources: &Resources<'a>, state: &State<'a>, depth: u32) {
        self.forms = self.forms.saturating_add(1);
        if depth >= MAX_FORM_DEPTH || self.forms > MAX_FORMS {
            self.page.cut = true;
            return;
        }
        if self.page.late {
            return;
        }
        let Ok(data) = stream.decoded() else { return };
        let mut inner = state.clone();
        if let Some(matrix) = stream.dict().get::<[f64; 6]>(MATRIX) {
            inner.ctm *= Affine::new(matrix);
        }
        let own = stream.dict().get::<Dict<'a>>(RESOURCES).map(Resources::new);
        self.run(TypedIter::new(&data), own.as_ref().unwrap_or(resources), inner, depth.saturating_add(1));
    }

    /// Appearances of annotations and form fields: what a reader sees on the page is part of the page.
    fn annotations(&mut self, raw: &RawPage<'a>, state: &State<'a>) {
        let Some(annotations) = raw.raw().get::<Array<'_>>("Annots") else { return };
        for annotation in annotations.iter::<Dict<'a>>() {
            // Hidden and no-view annotations are not shown.
            if annotation.get::<u32>("F").unwrap_or(0) & 0b10_0010 != 0 {
                continue;
            }
            let Some(appearance) = normal_appearance(&annotation) else { continue };
            let Some([x0, y0, x1, y1]) = annotation.get::<[f64; 4]>("Rect") else { continue };
            let dict = appearance.dict();
            let matrix = dict.get::<[f64; 6]>(MATRIX).map_or(Affine::IDENTITY, Affine::new);
            let Some([bx0, by0, bx1, by1]) = dict.get::<[f64; 4]>(BBOX) else { continue };
            // ISO 32000-1, 12.5.5: the transformed bounding box is fitted onto the annotation's rectangle.
            let corners = [(bx0, by0), (bx1, by0), (bx1, by1), (bx0, by1)].map(|(x, y)| matrix * Point::new(x, y));
            let (left, right) = corners.iter().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p.x), b.max(p.x)));
            let (low, high) = corners.iter().fold((f64::MAX, f64::MIN), |(a, b), p| (a.min(p.y), b.max(p.y)));
            if right - left <= 0.0 || high - low <= 0.0 {
                continue;
            }
            let (sx, sy) = ((x1.max(x0) - x0.min(x1)) / (right - left), (y1.max(y0) - y0.min(y1)) / (high - low));
            let mut inner = state.clone();
            inner.ctm *= Affine::new([sx, 0.0, 0.0, sy, x0.min(x1) - left * sx, y0.min(y1) - low * sy]);
            self.form(&appearance, raw.resources(), &inner, 1);
        }
    }

    fn picture(&mut self, state: &State<'a>, object: Option<ObjectIdentifier>, width: u32, height: u32) {
        let corners = [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)].map(|(x, y)| state.ctm * Point::new(x, y));
        let rect = bounding(&corners).intersection(&self.bounds);
        if rect.width() > 0.5 && rect.height() > 0.5 {
            self.page.pictures.push(Picture { rect, object: object.map(|id| (id.obj_number, id.gen_number)), width, height });
        }
    }

    fn show(&mut self, state: &mut State<'a>, bytes: &[u8]) {
        let Some(font) = state.text.font.clone() else { return };
        let mut at = 0usize;
        while at < bytes.len() && self.page.glyphs.len() < MAX_GLYPHS && !self.is_late() {
            let (code, length) = font.font.read_code(bytes, at);
            let length = length.max(1);
            at = at.saturating_add(length);
            let text = &state.text;
            let place = state.ctm * text.matrix * Affine::new([text.size * text.scale, 0.0, 0.0, text.size, 0.0, text.rise]);
            let advance = font.font.code_advance(code) / f64::from(UNITS_PER_EM);
            self.glyph(state, &font, code, place, advance.x, advance.y);
            let text = &mut state.text;
            let space = text.character_space + if code == 32 && length == 1 { text.word_space } else { 0.0 };
            let (tx, ty) = if font.font.is_horizontal() {
                ((advance.x * text.size + space) * text.scale, 0.0)
            } else {
                (0.0, advance.y * text.size + space)
            };
            text.matrix *= Affine::translate((tx, ty));
        }
    }

    fn glyph(&mut self, state: &State<'a>, font: &LoadedFont<'a>, code: u32, place: Affine, ax: f64, ay: f64) {
        let horizontal = font.font.is_horizontal();
        let origin = place * Point::ORIGIN;
        let end = place * Point::new(ax, ay);
        let [a, b, c, d, _, _] = place.as_coeffs();
        let size = c.hypot(d) as f32;
        if !(size.is_finite() && origin.x.is_finite() && origin.y.is_finite()) || size < 0.2 {
            return;
        }
        let corners = if horizontal {
            [(0.0, -0.22), (ax, -0.22), (ax, 0.76), (0.0, 0.76)]
        } else {
            [(-0.5, ay), (0.5, ay), (0.5, 0.0), (-0.5, 0.0)]
        };
        let rect = bounding(&corners.map(|(x, y)| place * Point::new(x, y)));
        // Text drawn outside the page is not shown to anybody.
        if rect.x1 < self.bounds.x0 - 1.0
            || rect.x0 > self.bounds.x1 + 1.0
            || rect.y1 < self.bounds.y0 - 1.0
            || rect.y0 > self.bounds.y1 + 1.0
        {
            return;
        }
        let text = font.text(code).unwrap_or_else(|| {
            self.page.unmapped = self.page.unmapped.saturating_add(1);
            Rc::from("\u{fffd}")
        });
        let angle = if horizontal { b.atan2(a).to_degrees().round() as i16 } else { 0 };
        self.page.glyphs.push(Glyph {
            text,
            rect,
            origin: (origin.x as f32, origin.y as f32),
            end: (end.x as f32, end.y as f32),
            size,
            font: font.index,
            angle,
            color: state.color,
            hidden: state.text.hidden,
        });
    }

    fn fill(&mut self, path: &mut Path, state: &State<'a>) {
        for shape in path.take() {
            match shape.rectangle() {
                Some(rect) => self.filled(rect, state.color),
                None => self.page.drawings = self.page.drawings.saturating_add(1),
            }
        }
    }

    fn filled(&mut self, rect: Rect, color: [u8; 3]) {
        if self.page.rules.len().saturating_add(self.page.fills.len()) >= MAX_RULES {
            return;
        }
        let rect = rect.intersection(&self.bounds);
        let white = color.iter().all(|c| *c >= 250);
        let (thin, long) = (rect.width().min(rect.height()), rect.width().max(rect.height()));
        if thin <= RULE_THICKNESS && long > thin * 2.0 && !white {
            self.page.rules.push(Rule { rect, horizontal: rect.width() > rect.height() });
        } else if thin > RULE_THICKNESS {
            self.page.fills.push(Fill { rect, color });
        }
    }

    fn stroke(&mut self, path: &mut Path, state: &State<'a>) {
        let [a, b, _, _, _, _] = state.ctm.as_coeffs();
        let half = ((state.line_width * a.hypot(b)) as f32).clamp(0.2, 6.0) / 2.0;
        for shape in path.take() {
            let mut straight = false;
            for pair in shape.points.windows(2) {
                let [from, to] = pair else { continue };
                let (dx, dy) = ((to.x - from.x).abs() as f32, (to.y - from.y).abs() as f32);
                let horizontal = dy <= 0.6 && dx > 3.0;
                let vertical = dx <= 0.6 && dy > 3.0;
                if shape.curved || !(horizontal || vertical) {
                    continue;
                }
                straight = true;
                if self.page.rules.len() < MAX_RULES {
                    let rect = Rect::from_corners(from.x as f32, from.y as f32, to.x as f32, to.y as f32);
                    let rect = if horizontal {
                        Rect { y0: rect.y0 - half, y1: rect.y1 + half, ..rect }
                    } else {
                        Rect { x0: rect.x0 - half, x1: rect.x1 + half, ..rect }
                    };
                    self.page.rules.push(Rule { rect: rect.intersection(&self.bounds), horizontal });
                }
            }
            if !straight {
                self.page.drawings = self.page.drawings.saturating_add(1);
            }
        }
    }
}

/// The stream an annotation shows: its normal appearance, in its current state where there are several.
fn normal_appearance<'a>(annotation: &Dict<'a>) -> Option<Stream<'a>> {
    let normal = annotation.get::<Dict<'_>>("AP")?.get::<Object<'_>>("N")?;
    match normal {
        Object::Stream(stream) => Some(stream),
        Object::Dict(states) => {
            let state = annotation.get::<Name<'_>>("AS")?;
            states.get::<Stream<'_>>(state)
        }
        _ => None,
    }
}
