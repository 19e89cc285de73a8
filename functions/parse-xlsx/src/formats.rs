//! Values as they are shown: number formats, the two date systems, what "General" makes of a number.

use ssfmt::{FormatOptions, NumberFormat};

use crate::cells::Kind;

/// No program writes a longer code; a longer one is damage.
const MAX_CODE: usize = 255;
/// Days of year 9999; no calendar of a spreadsheet goes further.
const MAX_SERIAL: f64 = 2_958_466.0;
/// Days from the last of 1899, where most workbooks count from, to the first of 1904, where the others do.
const DAYS_TO_1904: f64 = 1_462.0;

/// How the cells of one style are shown.
#[derive(Debug, Clone)]
enum Shown {
    General,
    /// A fixed number of decimals, with a comma between thousands or without.
    Fixed {
        decimals: usize,
        grouped: bool,
    },
    Code {
        format: Box<NumberFormat>,
        /// Whether it shows a day or a time.
        date: bool,
        /// Whether it shows how much time has gone by, which no calendar changes.
        elapsed: bool,
        /// Whether it adds words to a text.
        text: bool,
    },
}

/// The styles of a workbook.
#[derive(Debug, Default)]
pub(crate) struct Formats {
    styles: Vec<(Shown, bool)>,
    date1904: bool,
    options: FormatOptions,
}

impl Formats {
    /// `date1904` for a workbook that counts days from 1904.
    pub(crate) fn new(date1904: bool) -> Self {
        Self { styles: Vec::new(), date1904, options: FormatOptions::default() }
    }

    /// Adds the next style: its format code, and whether it is bold.
    pub(crate) fn add(&mut self, code: &str, bold: bool) {
        self.styles.push((shown(code), bold));
    }

    /// Whether a style is bold.
    pub(crate) fn bold(&self, style: usize) -> bool {
        self.styles.get(style).is_some_and(|(_, bold)| *bold)
    }

    /// Writes a number as its style shows it.
    #[allow(clippy::arithmetic_side_effects, reason = "floating point cannot overflow into a panic")]
    pub(crate) fn number(&self, style: usize, value: f64, out: &mut String) -> Kind {
        match self.styles.get(style).map(|(shown, _)| shown) {
            Some(Shown::Fixed { decimals, grouped }) if value.abs() < 1e15 => fixed(value, *decimals, *grouped, out),
            Some(Shown::Code { format, date, elapsed, .. }) => {
                let value = if self.date1904 && *date && !*elapsed { value + DAYS_TO_1904 } else { value };
                if *date && !(0.0..MAX_SERIAL).contains(&value) {
                    general(value, out);
                    return Kind::Number;
                }
                let from = out.len();
                push_folded(&format.format(value, &self.options), out);
                if out.len() == from {
                    // A format that shows nothing (`;;;`) hides the value from view, not from the reader.
                    general(value, out);
                }
                return if *date { Kind::Date } else { Kind::Number };
            }
            _ => general(value, out),
        }
        Kind::Number
    }

    /// Writes a text as its style shows it.
    pub(crate) fn text(&self, style: usize, text: &str, out: &mut String) {
        match self.styles.get(style).map(|(shown, _)| shown) {
            Some(Shown::Code { format, text: true, .. }) => {
                let shown = format.format_text(text, &self.options);
                out.push_str(if shown.contains(text) { &shown } else { text });
            }
            _ => out.push_str(text),
        }
    }
}

fn shown(code: &str) -> Shown {
    match code {
        "" | "General" | "GENERAL" | "general" | "@" | "Standard" => return Shown::General,
        "0" => return Shown::Fixed { decimals: 0, grouped: false },
        "0.0" => return Shown::Fixed { decimals: 1, grouped: false },
        "0.00" => return Shown::Fixed { decimals: 2, grouped: false },
        "#,##0" => return Shown::Fixed { decimals: 0, grouped: true },
        "#,##0.00" => return Shown::Fixed { decimals: 2, grouped: true },
        _ => {}
    }
    if code.len() > MAX_CODE {
        return Shown::General;
    }
    match NumberFormat::parse(code) {
        Ok(format) => {
            let date = format.is_date_format();
            let lower = code.to_ascii_lowercase();
            let elapsed = ["[h", "[m", "[s"].iter().any(|unit| lower.contains(unit));
            // More than a bare `@`: words around the text.
            let text = format.sections().get(3).or_else(|| format.sections().first().filter(|one| one.has_text_placeholder()));
            let text = text.is_some_and(|section| section.has_text_placeholder() && section.parts.len() > 1);
            Shown::Code { format: Box::new(format), date, elapsed, text }
        }
        Err(_) => Shown::General,
    }
}

/// The code of a built-in format. A day whose look depends on the reader's country is written year first, which nobody
/// misreads; days of East Asian calendars are plain dates, amounts are shown as in the United States.
pub(crate) fn builtin(id: u32) -> &'static str {
    match id {
        5 => "$#,##0;-$#,##0",
        6 => "$#,##0;[Red]-$#,##0",
        7 => "$#,##0.00;-$#,##0.00",
        8 => "$#,##0.00;[Red]-$#,##0.00",
        14 => "yyyy-mm-dd",
        22 => "yyyy-mm-dd h:mm",
        27..=31 | 34..=36 | 50..=58 => "yyyy/m/d",
        32 | 33 => "h:mm:ss",
        41 => "#,##0;-#,##0;\"-\"",
        42 => "$#,##0;-$#,##0;\"-\"",
        43 => "#,##0.00;-#,##0.00;\"-\"",
        44 => "$#,##0.00;-$#,##0.00;\"-\"",
        other => ssfmt::format_code_from_id(other).unwrap_or("General"),
    }
}

/// A number without a format. Whole numbers are shown in full as far as they are exact (an article number is no
/// measurement), others with the eleven characters a cell shows at most.
#[allow(clippy::arithmetic_side_effects, reason = "floating point cannot overflow into a panic")]
pub(crate) fn general(value: f64, out: &mut String) {
    use std::fmt::Write as _;
    let size = value.abs();
    // Writing into a string cannot fail.
    let _ = if !value.is_finite() {
        write!(out, "#NUM!")
    } else if size < 1e15 && value.fract() == 0.0 {
        write!(out, "{}", value as i64)
    } else if (1e-4..1e11).contains(&size) {
        let whole_digits = if size < 1.0 { 1 } else { size.log10().floor() as usize + 1 };
        let from = out.len();
        let written = write!(out, "{value:.*}", 10_usize.saturating_sub(whole_digits));
        trim_zeros(out, from);
        written
    } else {
        let shown = format!("{value:.5e}");
        let (mantissa, exponent) = shown.split_once('e').unwrap_or((&shown, "0"));
        let mantissa = if mantissa.contains('.') { mantissa.trim_end_matches('0').trim_end_matches('.') } else { mantissa };
        let exponent: i32 = exponent.parse().unwrap_or_default();
        write!(out, "{mantissa}E{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
    };
}

fn trim_zeros(out: &mut String, from: usize) {
    if out.get(from..).is_some_and(|written| written.contains('.')) {
        let kept = out.trim_end_matches('0').trim_end_matches('.').len();
        out.truncate(kept);
    }
}

fn fixed(value: f64, decimals: usize, grouped: bool, out: &mut String) {
    // Halves are rounded away from zero, as the decimal digits of the value say.
    let shown = format!("{:.*}", decimals, nudged(value, decimals));
    let (sign, digits) = shown.strip_prefix('-').map_or(("", shown.as_str()), |digits| ("-", digits));
    if digits.bytes().any(|byte| (b'1'..=b'9').contains(&byte)) {
        out.push_str(sign);
    }
    let (whole, fraction) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    for (index, digit) in whole.chars().enumerate() {
        if grouped && index > 0 && whole.len().saturating_sub(index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(fraction);
}

/// 1.005 is shown as 1.01 although the nearest binary number lies below it: fifteen digits count.
#[allow(clippy::arithmetic_side_effects, reason = "floating point cannot overflow into a panic")]
fn nudged(value: f64, decimals: usize) -> f64 {
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let scaled = value * scale;
    let half = (scaled.trunc() + 0.5_f64.copysign(value)) - scaled;
    if half.abs() <= scaled.abs() * 1e-15 { value + (half + 0.25_f64.copysign(value)) / scale } else { value }
}

/// A formatted value with the spaces that only pad it folded.
fn push_folded(shown: &str, out: &mut String) {
    for (index, word) in shown.split([' ', '\u{a0}', '\u{2007}', '\u{202f}']).filter(|word| !word.is_empty()).enumerate() {
        if index > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(code: &str, value: f64) -> String {
        let mut formats = Formats::new(false);
        formats.add(code, false);
        let mut out = String::new();
        formats.number(0, value, &mut out);
        out
    }

    #[test]
    fn general_numbers() {
        for (value, shown) in [
            (0.0, "0"),
            (-3.0, "-3"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.333333333"),
            (12_345.678_912_345, "12345.67891"),
            (4_006_381_333_931.0, "4006381333931"),
            (1.5e20, "1.5E+20"),
            (0.000_012_345, "1.2345E-05"),
            (0.0001, "0.0001"),
            (-99.5, "-99.5"),
            (f64::NAN, "#NUM!"),
        ] {
            let mut out = String::new();
            general(value, &mut out);
            assert_eq!(out, shown);
        }
    }

    #[test]
    fn codes() {
        for (code, value, shown) in [
            ("0.00", 1.005, "1.01"),
            ("0.00", -0.001, "0.00"),
            ("0", 2.5, "3"),
            ("#,##0", 1_234_567.4, "1,234,567"),
            ("#,##0.00", -1234.5, "-1,234.50"),
            ("0%", 0.256, "26%"),
            ("0.00%", 0.12345, "12.35%"),
            ("0.00E+00", 12345.0, "1.23E+04"),
            ("# ?/?", 1.5, "1 1/2"),
            ("[$€-407] #,##0.00", 1234.5, "€ 1,234.50"),
            ("#,##0.00 [$€-407]", 1234.5, "1,234.50 €"),
            ("[$$-409]#,##0.00", 9.0, "$9.00"),
            ("_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)", -12.0, "(12.00)"),
            ("_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)", 0.0, "-"),
            ("0 \"kg\"", 12.0, "12 kg"),
            ("0.0,,\"M\"", 12_345_678.0, "12.3M"),
            ("[>100]\"high\";\"low\"", 150.0, "high"),
            ("yyyy-mm-dd", 45_306.0, "2024-01-15"),
            ("dd.mm.yyyy hh:mm", 45_306.75, "15.01.2024 18:00"),
            ("d mmmm yyyy", 45_306.0, "15 January 2024"),
            ("[h]:mm", 1.5, "36:00"),
            ("mm:ss.0", 0.000_706_018_5, "01:01.0"),
            ("h:mm AM/PM", 0.75, "6:00 PM"),
            ("yyyy-mm-dd", -5.0, "-5"),
            (";;;", 7.0, "7"),
            ("00000", 42.0, "00042"),
            ("000-00-0000", 123_456_789.0, "123-45-6789"),
        ] {
            assert_eq!(show(code, value), shown, "{code}");
        }
    }

    #[test]
    fn two_date_systems_and_the_day_that_never_was() {
        assert_eq!(show("yyyy-mm-dd", 60.0), "1900-02-29");
        assert_eq!(show("yyyy-mm-dd", 61.0), "1900-03-01");
        let mut formats = Formats::new(true);
        formats.add("yyyy-mm-dd", false);
        let mut out = String::new();
        assert_eq!(formats.number(0, 0.0, &mut out), Kind::Date);
        assert_eq!(out, "1904-01-01");
    }

    #[test]
    fn texts_keep_their_words() {
        let mut formats = Formats::new(false);
        formats.add("0;-0;0;\"Name: \"@", false);
        formats.add("@", false);
        let mut out = String::new();
        formats.text(0, "Ann", &mut out);
        formats.text(1, "|Bob", &mut out);
        formats.text(9, "|Cy", &mut out);
        assert_eq!(out, "Name: Ann|Bob|Cy");
    }

    proptest::proptest! {
        #[test]
        fn no_code_and_no_value_panics(code in "[0#?.,%Ee+\\-/\\[\\]$€;@_*\\\\\" ymdhsAaPpM:GeneralRed0-9<>=b]{0,24}", value in proptest::num::f64::ANY, small in -100_000.0..3_000_000.0_f64) {
            for value in [value, small] {
                let _ = show(&code, value);
            }
            let mut formats = Formats::new(true);
            formats.add(&code, false);
            formats.text(0, "text", &mut String::new());
        }
    }
}
