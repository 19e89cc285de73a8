//! Lines that begin with a number and are no headings for it.

use super::Numbering;
use super::number::NumberKind;
use super::shape::{Shape, is_cjk};

/// Units and words of quantity or time that follow a number; compared in lower case.
#[rustfmt::skip]
const UNITS: &[&str] = &[
    "%", "‰", "°", "°c", "°f", "mm", "cm", "dm", "m", "km", "m²", "km²", "m³", "mg", "g", "kg", "t", "ml", "cl", "l", "s", "ms", "min",
    "h", "hrs", "w", "kw", "mw", "kwh", "v", "a", "ma", "hz", "khz", "mhz", "ghz", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "px",
    "pt", "dpi", "in", "ft", "lb", "lbs", "oz", "mph", "km/h", "am", "pm", "a.m.", "p.m.", "a.m", "p.m", "uhr", "o'clock", "heures",
    "horas", "million", "millions", "billion", "billions", "thousand", "hundred", "percent", "per", "mio", "mio.", "mrd", "mrd.",
    "millionen", "milliarden", "millones", "milhões", "milioni", "миллионов", "млн", "млрд", "тыс", "тыс.", "руб", "руб.", "eur", "usd",
    "gbp", "€", "$", "£", "¥", "元", "年", "月", "日", "号", "時", "时", "分", "秒", "个", "人", "次", "万", "亿", "円", "년", "월", "일", "시", "원", "명",
];

/// Months, in the languages of the table; compared in lower case.
#[rustfmt::skip]
const MONTHS: &[&str] = &[
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "jan",
    "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "januar", "februar", "märz", "mai", "juni", "juli",
    "oktober", "dezember", "janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre",
    "diciembre", "janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro", "outubro", "novembro", "dezembro", "gennaio",
    "febbraio", "aprile", "maggio", "giugno", "luglio", "settembre", "ottobre", "dicembre", "января", "февраля", "марта", "апреля", "мая",
    "июня", "июля", "августа", "сентября", "октября", "ноября", "декабря",
];

/// Words between a day and a month: `3 de mayo`.
const OF: &[&str] = &["de", "of", "di", "d'"];

const SENTENCE_ENDS: [char; 12] = ['.', ';', ',', '!', '?', '…', '。', '；', '，', '！', '？', '、'];

/// Addresses, links, postscripts: the line as a whole is something else.
pub(super) fn is_other_line(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    first.contains("://") || first.starts_with("www.") || first.contains('@')
}

/// What the shape of the number cannot tell: what follows it makes it a date, a quantity, a sentence.
pub(super) fn is_no_heading(found: &Numbering<'_>) -> bool {
    let weak = is_weak(found.pattern.shape);
    is_date(found)
        || is_quantity(found)
        || is_initial(found)
        || is_address_or_formula(found)
        || (weak && continues_a_sentence(found))
        || is_sentence(found.rest, if weak { 4 } else { 12 })
}

/// Whether the shape is as common in prose and lists as in headings.
fn is_weak(shape: Shape) -> bool {
    matches!(shape, Shape::Bare | Shape::Marked { .. })
}

fn is_plain_number(found: &Numbering<'_>) -> bool {
    let marked_digits = matches!(found.pattern.shape, Shape::Marked { kind: NumberKind::Digits, open: [], .. });
    marked_digits || matches!(found.pattern.shape, Shape::Bare | Shape::Dotted)
}

fn is_date(found: &Numbering<'_>) -> bool {
    if !is_plain_number(found) {
        return false;
    }
    let mut words = found.rest.split_whitespace().map(|w| w.trim_matches(['.', ',']).to_lowercase());
    let first = words.next().unwrap_or_default();
    let second = words.next();
    let month = |w: &str| MONTHS.contains(&w);
    let year = |w: &str| w.chars().count() == 4 && w.chars().all(|c| c.is_ascii_digit());
    (OF.contains(&first.as_str()) && second.as_deref().is_some_and(month)) || (month(&first) && second.as_deref().is_none_or(year))
}

fn is_quantity(found: &Numbering<'_>) -> bool {
    if !matches!(found.pattern.shape, Shape::Bare | Shape::Dotted) {
        return false;
    }
    let first = found.rest.split_whitespace().next().unwrap_or_default();
    let first = first.trim_end_matches([',', ';', ':', ')']);
    // `1 A title` and `2.1 V-shaped` keep their capitals: one-letter units count only as written, in small letters or
    // standing alone.
    let lower = first.to_lowercase();
    let unit =
        UNITS.contains(&lower.as_str()) && (first.chars().count() > 1 || !first.starts_with(char::is_uppercase) || first == found.rest);
    let counted = first.starts_with(['%', '°', '€', '$', '£']) || (found.rest.starts_with(is_cjk) && starts_with_cjk_unit(found));
    let decimal = found.pattern.shape == Shape::Dotted
        && found.depth == Some(2)
        && first.starts_with(char::is_lowercase)
        && !first.chars().any(char::is_uppercase);
    unit || counted || decimal
}

/// `2024年`, `3个`: the unit follows at once, and what was read as a title is a date or a quantity.
fn starts_with_cjk_unit(found: &Numbering<'_>) -> bool {
    let tight = !found.number_text.is_empty() && found.rest.chars().next().is_some_and(is_cjk);
    tight && UNITS.iter().any(|unit| unit.starts_with(is_cjk) && found.rest.starts_with(unit))
}

/// `A. B. Smith`, `(c) 2024`.
fn is_initial(found: &Numbering<'_>) -> bool {
    let mut rest = found.rest.chars();
    let another = rest.next().is_some_and(char::is_uppercase) && rest.next() == Some('.');
    let copyright = found.number_text.eq_ignore_ascii_case("(c)") && found.rest.starts_with(|c: char| c.is_ascii_digit());
    (found.kind == NumberKind::Letter && another) || copyright
}

/// `192.168.0.1`, `3 + 4 = 7`, `2 × 3`, `5-7`, and lines of figures.
fn is_address_or_formula(found: &Numbering<'_>) -> bool {
    if !is_plain_number(found) && !matches!(found.pattern.shape, Shape::Marked { kind: NumberKind::Digits, .. }) {
        return false;
    }
    let words = found.rest.chars().any(char::is_alphabetic);
    let operator = found.rest.starts_with(['+', '×', '*', '=', '<', '>', '/', '≤', '≥', '±', '|', '&', '~', '^']);
    operator || (!words && !found.rest.is_empty()) || (found.rest.is_empty() && found.depth.is_none_or(|d| d < 3))
}

/// A title begins with a capital, a figure or a letter without case; running text after a number does not.
fn continues_a_sentence(found: &Numbering<'_>) -> bool {
    let first = found.rest.split_whitespace().next().unwrap_or_default();
    let small = first.starts_with(char::is_lowercase) && !first.chars().any(char::is_uppercase);
    let plain = found.pattern.shape == Shape::Bare && !found.rest.starts_with(char::is_alphabetic);
    small || plain
}

/// `limit` words or more that end like a sentence, or a sentence end inside; in Chinese and Japanese, where titles take no
/// full stop, a clause is enough.
fn is_sentence(rest: &str, limit: usize) -> bool {
    let cjk = rest.chars().filter(|c| is_cjk(*c)).count();
    if cjk >= 8 && rest.ends_with(['。', '；', '！', '？']) {
        return true;
    }
    let words = rest.split_whitespace().filter(|w| w.contains(char::is_alphanumeric)).count().saturating_add(cjk / 3);
    let ends = rest.ends_with(SENTENCE_ENDS) && !rest.ends_with("...");
    words >= limit && (ends || holds_a_sentence_end(rest))
}

fn holds_a_sentence_end(rest: &str) -> bool {
    if rest.trim_end_matches('。').contains('。') {
        return true;
    }
    let mut words = rest.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let Some(next) = words.peek() else { return false };
        let body = word.trim_end_matches(['.', '!', '?', ';']);
        let ended = body.len() < word.len() && body.chars().filter(|c| c.is_lowercase()).count() >= 3;
        if ended && next.starts_with(char::is_uppercase) {
            return true;
        }
    }
    false
}
