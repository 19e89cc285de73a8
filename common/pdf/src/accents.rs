//! Accents drawn as glyphs of their own: TeX and some converters set "á" as an acute accent over an "a".

use std::borrow::Cow;
use std::rc::Rc;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::page::Glyph;

/// Spacing accents and the combining marks that do the same.
const ACCENTS: &[(char, char)] = &[
    ('`', '\u{300}'),
    ('\u{b4}', '\u{301}'),
    ('\u{2c6}', '\u{302}'),
    ('\u{2dc}', '\u{303}'),
    ('\u{af}', '\u{304}'),
    ('\u{2d8}', '\u{306}'),
    ('\u{2d9}', '\u{307}'),
    ('\u{a8}', '\u{308}'),
    ('\u{2da}', '\u{30a}'),
    ('\u{2dd}', '\u{30b}'),
    ('\u{2c7}', '\u{30c}'),
    ('\u{b8}', '\u{327}'),
    ('\u{2db}', '\u{328}'),
];

/// The glyphs of a page with each accent joined to the letter it stands over. A combining mark over a blank is the accent
/// as a sign of its own, which is how a quotation mark or a grave often comes out of old encodings.
pub(crate) fn composed(glyphs: &[Glyph]) -> Cow<'_, [Glyph]> {
    if !glyphs.iter().any(|glyph| mark_of(glyph).is_some()) {
        return Cow::Borrowed(glyphs);
    }
    let mut out: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    let mut pending: Option<(Glyph, char)> = None;
    for glyph in glyphs {
        if let Some((accent, mark)) = pending.take() {
            match over(&accent, glyph, mark) {
                Some(text) => {
                    out.push(Glyph { text, ..glyph.clone() });
                    continue;
                }
                None => out.push(alone(accent, mark)),
            }
        }
        let Some(mark) = mark_of(glyph) else {
            out.push(glyph.clone());
            continue;
        };
        match out.last_mut() {
            Some(base) if glyph.text.starts_with(mark) && base.text.trim().is_empty() => base.text = alone(glyph.clone(), mark).text,
            Some(base) => match over(glyph, base, mark) {
                Some(text) => base.text = text,
                None => pending = Some((glyph.clone(), mark)),
            },
            None => pending = Some((glyph.clone(), mark)),
        }
    }
    out.extend(pending.map(|(accent, mark)| alone(accent, mark)));
    Cow::Owned(out)
}

/// The combining mark that a glyph is, when it is an accent and nothing else.
fn mark_of(glyph: &Glyph) -> Option<char> {
    let mut chars = glyph.text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return None };
    if is_combining_mark(c) && ('\u{300}'..='\u{36f}').contains(&c) {
        return Some(c);
    }
    ACCENTS.iter().find(|(accent, _)| *accent == c).map(|(_, mark)| *mark)
}

/// The one character of an accent and the letter it stands over; `None` when it stands over none, or there is no such
/// character.
fn over(accent: &Glyph, base: &Glyph, mark: char) -> Option<Rc<str>> {
    let letter = base.text.chars().next_back().filter(|c| c.is_alphabetic())?;
    // A dotless letter is set under an accent; with it, it is the ordinary one.
    let letter = match letter {
        'ı' => 'i',
        'ȷ' => 'j',
        c => c,
    };
    let size = base.size.max(accent.size);
    let middle = f32::midpoint(accent.origin.0, accent.end.0);
    let within = middle >= base.origin.0 - 0.1 * size && middle <= base.end.0 + 0.1 * size;
    let level = (accent.origin.1 - base.origin.1).abs() <= 0.6 * size && accent.angle == base.angle && accent.angle == 0;
    if !within || !level {
        return None;
    }
    let whole: String = [letter, mark].iter().collect::<String>().nfc().collect();
    let mut chars = whole.chars();
    let (Some(one), None) = (chars.next(), chars.next()) else { return None };
    let before: String = base.text.chars().take(base.text.chars().count().saturating_sub(1)).collect();
    Some(Rc::from(format!("{before}{one}").as_str()))
}

/// An accent over nothing, as a character that takes a place of its own.
fn alone(mut accent: Glyph, mark: char) -> Glyph {
    if let Some((spacing, _)) = ACCENTS.iter().find(|(_, combining)| *combining == mark) {
        accent.text = Rc::from(spacing.to_string().as_str());
    }
    accent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glyph(text: &str, x: f32, end: f32) -> Glyph {
        Glyph {
            text: Rc::from(text),
            rect: crate::geometry::Rect { x0: x, y0: 90.0, x1: end, y1: 100.0 },
            origin: (x, 98.0),
            end: (end, 98.0),
            size: 10.0,
            font: 0,
            angle: 0,
            color: [0; 3],
            hidden: false,
        }
    }

    fn text(glyphs: &[Glyph]) -> String {
        composed(glyphs).iter().map(|g| g.text.to_string()).collect()
    }

    #[test]
    fn an_accent_before_or_after_its_letter_is_one_character() {
        assert_eq!(text(&[glyph("d", 0.0, 5.0), glyph("´", 5.2, 9.8), glyph("a", 5.0, 10.0), glyph("n", 10.0, 15.0)]), "dán");
        assert_eq!(text(&[glyph("o", 0.0, 5.0), glyph("\u{a8}", 0.1, 4.9), glyph("n", 5.0, 10.0)]), "ön");
        assert_eq!(text(&[glyph("´", 0.0, 4.0), glyph("ı", 0.5, 3.5)]), "í");
    }

    #[test]
    fn an_accent_over_nothing_is_a_sign() {
        assert_eq!(text(&[glyph("\u{a0}", 0.0, 3.0), glyph("\u{300}", 4.2, 4.2), glyph("f", 3.0, 6.0)]), "`f");
        assert_eq!(text(&[glyph("`", 0.0, 3.0), glyph("x", 3.5, 8.0)]), "`x");
        assert_eq!(text(&[glyph("5", 0.0, 5.0), glyph("´", 1.0, 4.0)]), "5´", "a digit takes no accent");
    }
}
