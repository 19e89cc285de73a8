//! What a value is, where the file does not say.

/// Whether a text is a number as people write them: a sign, digits with points, commas, apostrophes or spaces between
/// them, a currency or a percent sign around them.
pub(crate) fn is_number(text: &str) -> bool {
    let text = text.trim();
    let text = text.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).unwrap_or(text);
    let text = text.trim_start_matches(['+', '-', '−', '~', '<', '>', '$', '€', '£', '¥', '₹', ' ']);
    let text = text.trim_end_matches(['%', '‰', '$', '€', '£', '¥', '₹', ' ']);
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let mut digits = 0_usize;
    for c in mantissa.chars() {
        match c {
            '0'..='9' => digits = digits.saturating_add(1),
            '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}' => {}
            _ => return false,
        }
    }
    let exponent = exponent.trim_start_matches(['+', '-']);
    (1..=24).contains(&digits) && !exponent.is_empty() && exponent.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::is_number;

    #[test]
    fn numbers_as_people_write_them() {
        for number in ["1", "-1.5", "1,234.50", "1.234,50 €", "$ 12", "(300)", "45%", "1e-5", "1 000", "+7"] {
            assert!(is_number(number), "{number}");
        }
        for text in ["", "-", "N/A", "1a", "12-34", "e5", "3 pumps", "$", "2024-01-15", "1.2.x", "%"] {
            assert!(!is_number(text), "{text}");
        }
    }
}
