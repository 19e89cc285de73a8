//! Reading one number in each way of writing it.

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// `12`, `１２`.
    Digits,
    /// `1.2.3`.
    Dotted,
    /// `IV`, `iv`.
    Roman,
    /// `B`, `b`, `Б`.
    Letter,
    /// `十二`.
    Chinese,
    /// `Seven`, `seventh`.
    Word,
    /// None: `Appendix`.
    Absent,
}

/// A number at the beginning of a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Number<'a> {
    pub(super) kind: NumberKind,
    pub(super) value: Option<u32>,
    /// Levels the number has.
    pub(super) components: u32,
    pub(super) rest: &'a str,
}

fn split_while(text: &str, keep: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !keep(c)).unwrap_or(text.len()))
}

fn digit(c: char) -> Option<u32> {
    match c {
        '０'..='９' => u32::from(c).checked_sub(u32::from('０')),
        c => c.to_digit(10),
    }
}

/// Up to three digits without a leading zero.
pub(super) fn digits(text: &str) -> Option<Number<'_>> {
    let (run, rest) = split_while(text, |c| digit(c).is_some());
    let value = run.chars().try_fold(0_u32, |value, c| value.checked_mul(10)?.checked_add(digit(c)?))?;
    let leading_zero = run.chars().next().and_then(digit) == Some(0);
    if run.is_empty() || leading_zero || run.chars().count() > 3 {
        return None;
    }
    Some(Number { kind: NumberKind::Digits, value: Some(value), components: 1, rest })
}

/// `1.2`, `1.2.3`, `1.2.3.`, also with full-width stops; at least two components.
pub(super) fn dotted(text: &str) -> Option<Number<'_>> {
    let mut number = digits(text)?;
    while let Some(next) = number.rest.strip_prefix(['.', '．']).and_then(digits) {
        number = Number { kind: NumberKind::Dotted, components: number.components.saturating_add(1), ..next };
    }
    number.rest = number.rest.strip_prefix(['.', '．']).unwrap_or(number.rest);
    (number.components > 1).then_some(number)
}

/// `A.1`, `B.2.3`: an appendix' own sections.
pub(super) fn letter_dotted(text: &str) -> Option<Number<'_>> {
    let rest = text.strip_prefix(|c: char| c.is_ascii_uppercase())?.strip_prefix('.')?;
    let number = dotted(rest).or_else(|| digits(rest).map(|n| Number { rest: n.rest.strip_prefix('.').unwrap_or(n.rest), ..n }))?;
    Some(Number { kind: NumberKind::Dotted, components: number.components.saturating_add(1), ..number })
}

/// One letter, Latin or Cyrillic, not followed by another.
pub(super) fn letter(text: &str) -> Option<Number<'_>> {
    let mut chars = text.chars();
    let first = chars.next().filter(|c| c.is_alphabetic() && (c.is_lowercase() || c.is_uppercase()))?;
    let rest = chars.as_str();
    if rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    let lower = first.to_lowercase().next()?;
    let value = match lower {
        'a'..='z' => u32::from(lower).checked_sub(u32::from('a')),
        'а'..='я' => u32::from(lower).checked_sub(u32::from('а')),
        _ => None,
    };
    Some(Number { kind: NumberKind::Letter, value: value.map(|v| v.saturating_add(1)), components: 1, rest })
}

/// A Roman number in its one correct form, all capitals or all small, up to 89.
pub(super) fn roman(text: &str) -> Option<Number<'_>> {
    let (run, rest) = split_while(text, |c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'i' | 'v' | 'x' | 'l'));
    let one_case = run.chars().all(char::is_uppercase) || run.chars().all(char::is_lowercase);
    if run.is_empty() || !one_case || rest.starts_with(char::is_alphanumeric) {
        return None;
    }
    let upper = run.to_ascii_uppercase();
    let (tens, ones) = upper.split_at(upper.find(['I', 'V']).unwrap_or(upper.len()));
    // `IX` holds an X after the first I.
    let tens = ["", "X", "XX", "XXX", "XL", "L", "LX", "LXX", "LXXX"].iter().position(|t| *t == tens)?;
    let ones = ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"].iter().position(|o| *o == ones)?;
    let value = u32::try_from(tens.saturating_mul(10).saturating_add(ones)).ok()?;
    Some(Number { kind: NumberKind::Roman, value: Some(value), components: 1, rest })
}

/// Chinese numerals up to the thousands, in both scripts.
pub(super) fn chinese(text: &str) -> Option<Number<'_>> {
    let (run, rest) = split_while(text, |c| chinese_digit(c).is_some() || chinese_unit(c).is_some());
    if run.is_empty() || run.chars().count() > 9 {
        return None;
    }
    let (mut total, mut pending) = (0_u32, None);
    for c in run.chars() {
        match (chinese_digit(c), chinese_unit(c)) {
            (Some(d), _) => pending = Some(pending.map_or(d, |p: u32| p.saturating_mul(10).saturating_add(d))),
            (None, Some(unit)) => total = total.saturating_add(pending.take().unwrap_or(1).saturating_mul(unit)),
            (None, None) => {}
        }
    }
    let value = total.saturating_add(pending.unwrap_or(0));
    Some(Number { kind: NumberKind::Chinese, value: Some(value), components: 1, rest })
}

fn chinese_digit(c: char) -> Option<u32> {
    "〇一二三四五六七八九".chars().zip(0..).find(|(d, _)| *d == c).map(|(_, v)| v).or(match c {
        '零' => Some(0),
        '壹' => Some(1),
        '贰' | '貳' | '两' | '兩' => Some(2),
        '叁' | '參' => Some(3),
        '肆' => Some(4),
        '伍' => Some(5),
        _ => None,
    })
}

fn chinese_unit(c: char) -> Option<u32> {
    match c {
        '十' | '拾' => Some(10),
        '百' => Some(100),
        '千' => Some(1000),
        _ => None,
    }
}

/// One of a language's words for numbers, a whole word; the value is its place in the list, from 1.
pub(super) fn word<'a>(text: &'a str, words: &[&str]) -> Option<Number<'a>> {
    let (first, rest) = split_while(text, |c| c.is_alphabetic() || c == '-' || c == '\'' || ('\u{300}'..'\u{370}').contains(&c));
    let first = first.to_lowercase();
    let place = words.iter().position(|forms| forms.split('/').any(|w| w == first))?;
    let value = u32::try_from(place).ok()?.checked_add(1);
    Some(Number { kind: NumberKind::Word, value, components: 1, rest })
}
