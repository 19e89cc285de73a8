//! Folding: one form for words that differ by accents, ligatures or presentation only.

use unicode_normalization::UnicodeNormalization;

use crate::surface::normalize;

/// The folded form of a word: NFKC, lower case, without the accents of Latin, Greek, Cyrillic, Hebrew and Arabic.
/// Vowel signs that make a different word (Indic scripts, Thai, Kana voicing) stay; so does й.
pub fn fold(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    fold_surface(&normalize(word))
}

/// As [`fold`], of text that is already normalised and lower case.
pub(crate) fn fold_surface(word: &str) -> String {
    let mut bare = String::with_capacity(word.len());
    let mut previous = ' ';
    for c in word.nfd() {
        if !is_accent(c) || (c == '\u{306}' && previous == 'и') {
            letter(c, &mut bare);
        }
        previous = c;
    }
    bare.nfc().collect()
}

fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36F}' | '\u{591}'..='\u{5BD}' | '\u{5BF}'..='\u{5C7}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6ED}')
}

/// Letters that carry their difference inside.
fn letter(c: char, out: &mut String) {
    match c {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'þ' => out.push_str("th"),
        'ø' => out.push('o'),
        'ł' => out.push('l'),
        'đ' | 'ð' => out.push('d'),
        'ħ' => out.push('h'),
        'ı' => out.push('i'),
        'ŧ' => out.push('t'),
        'ς' => out.push('σ'),
        // Arabic: alef without its seat, final ya and ta marbuta as they are typed in a hurry.
        'أ' | 'إ' | 'آ' | 'ٱ' => out.push('ا'),
        'ى' | 'ی' => out.push('ي'),
        'ة' => out.push('ه'),
        'ک' => out.push('ك'),
        '’' | 'ʼ' => out.push('\''),
        _ => out.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accents_fold_and_vowel_signs_stay() {
        for (word, folded) in [
            ("Über", "uber"),
            ("STRASSE", "strasse"),
            ("Straße", "strasse"),
            ("Œuvre", "oeuvre"),
            ("Łódź", "lodz"),
            ("ёлка", "елка"),
            ("йод", "йод"),
            ("Ἀθῆναι", "αθηναι"),
            ("שָׁלוֹם", "שלום"),
            ("مُحَمَّد", "محمد"),
            ("أحمد", "احمد"),
            ("हिन्दी", "हिन्दी"),
            ("がぎ", "がぎ"),
            ("กำ", "กํา"),
            ("ﬁx", "fix"),
        ] {
            assert_eq!(fold(word), folded, "{word}");
        }
    }
}
