//! The language of a text.

use whatlang::Lang;

use crate::fold::fold_surface;
use crate::script::Script;
use crate::segment::parts;
use crate::stop;
use crate::surface::{normalize, runs};

/// How much of a text is looked at, in bytes.
const SAMPLE: usize = 4_096;
/// Fewer letters than this say nothing about statistics of letters.
const MIN_LETTERS: usize = 24;
/// Below this the statistical guess is as good as chance on short text (measured: nonsense at 0.02 to 0.11).
const MIN_CONFIDENCE: f64 = 0.2;

/// The language of `text` as an ISO 639-1 code, or `und` when there is too little to say.
///
/// The script decides where it can (Kana, Hangul, Thai, Greek, …). Otherwise the stop words of each language are
/// counted: they are what differs first between languages, and two of them suffice for a question of eight words.
/// Only where they do not decide, letter statistics are asked, and believed above a confidence of 0.2.
pub fn detect(text: &str) -> &'static str {
    let sample = &text[..text.floor_char_boundary(SAMPLE)];
    let scripts = count_scripts(sample);
    let letters: usize = scripts.iter().map(|(_, n)| n).sum();
    let Some(&(script, _)) = scripts.iter().max_by_key(|(script, n)| (weight(*script) * n, std::cmp::Reverse(*script))) else {
        return "und";
    };
    match script {
        Script::Han | Script::Kana => {
            let kana = scripts.iter().find(|(s, _)| *s == Script::Kana).map_or(0, |(_, n)| *n);
            let han = scripts.iter().find(|(s, _)| *s == Script::Han).map_or(0, |(_, n)| *n);
            if kana * 12 >= han.max(1) { "ja" } else { "zh" }
        }
        Script::Hangul => "ko",
        Script::Thai => "th",
        Script::Lao => "lo",
        Script::Khmer => "km",
        Script::Myanmar => "my",
        Script::Greek => "el",
        Script::Armenian => "hy",
        Script::Georgian => "ka",
        Script::Hebrew => "he",
        Script::Tamil => "ta",
        _ => by_words(sample, script, letters),
    }
}

/// One ideograph says as much as several letters.
fn weight(script: Script) -> usize {
    if matches!(script, Script::Han | Script::Kana | Script::Hangul) { 3 } else { 1 }
}

fn count_scripts(text: &str) -> Vec<(Script, usize)> {
    let mut counts: Vec<(Script, usize)> = Vec::new();
    for script in text.chars().filter_map(Script::of) {
        match counts.iter_mut().find(|(known, _)| *known == script) {
            Some((_, n)) => *n += 1,
            None => counts.push((script, 1)),
        }
    }
    counts
}

fn by_words(text: &str, script: Script, letters: usize) -> &'static str {
    let normalized = normalize(text);
    let words: Vec<String> = runs(&normalized).flat_map(parts).map(fold_surface).collect();
    let mut votes: Vec<(usize, &'static str)> = stop::languages()
        .map(|lang| (words.iter().filter(|word| stop::is_stop(word, lang)).count(), lang))
        .filter(|(n, _)| *n > 0)
        .collect();
    votes.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let first = votes.first().copied().unwrap_or((0, "und"));
    let second = votes.get(1).map_or(0, |(n, _)| *n);
    let statistics =
        whatlang::detect(text).filter(|info| letters >= MIN_LETTERS && info.confidence() >= MIN_CONFIDENCE).map(|info| code(info.lang()));
    let is_clear = first.0 >= 2 && first.0 * 10 >= second * 13;
    match statistics {
        // Statistics know more languages than there are lists: they win when the best list explains little.
        Some(lang) if lang != "und" && letters >= 200 && (!is_clear || first.0 * 10 < words.len()) => lang,
        _ if is_clear => first.1,
        Some(lang) if votes.iter().any(|(n, known)| *known == lang && *n > 0) || letters >= 80 => lang,
        _ if first.0 > second && script == Script::Latin && words.len() <= 12 => first.1,
        _ => "und",
    }
}

fn code(lang: Lang) -> &'static str {
    match lang {
        Lang::Eng => "en",
        Lang::Rus => "ru",
        Lang::Cmn => "zh",
        Lang::Spa => "es",
        Lang::Por => "pt",
        Lang::Ita => "it",
        Lang::Ben => "bn",
        Lang::Fra => "fr",
        Lang::Deu => "de",
        Lang::Ukr => "uk",
        Lang::Kat => "ka",
        Lang::Ara => "ar",
        Lang::Hin => "hi",
        Lang::Jpn => "ja",
        Lang::Heb => "he",
        Lang::Yid => "yi",
        Lang::Pol => "pl",
        Lang::Amh => "am",
        Lang::Kor => "ko",
        Lang::Nob => "no",
        Lang::Dan => "da",
        Lang::Swe => "sv",
        Lang::Fin => "fi",
        Lang::Tur => "tr",
        Lang::Nld => "nl",
        Lang::Hun => "hu",
        Lang::Ces => "cs",
        Lang::Ell => "el",
        Lang::Bul => "bg",
        Lang::Bel => "be",
        Lang::Mar => "mr",
        Lang::Kan => "kn",
        Lang::Ron => "ro",
        Lang::Slv => "sl",
        Lang::Hrv => "hr",
        Lang::Srp => "sr",
        Lang::Mkd => "mk",
        Lang::Lit => "lt",
        Lang::Lav => "lv",
        Lang::Est => "et",
        Lang::Tam => "ta",
        Lang::Vie => "vi",
        Lang::Urd => "ur",
        Lang::Tha => "th",
        Lang::Guj => "gu",
        Lang::Uzb => "uz",
        Lang::Pan => "pa",
        Lang::Aze => "az",
        Lang::Ind => "id",
        Lang::Tel => "te",
        Lang::Pes => "fa",
        Lang::Mal => "ml",
        Lang::Mya => "my",
        Lang::Nep => "ne",
        Lang::Khm => "km",
        Lang::Cat => "ca",
        Lang::Slk => "sk",
        Lang::Afr => "af",
        _ => "und",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_many_languages() {
        for (lang, text) in [
            ("en", "Who was the first person that walked on the moon?"),
            ("es", "¿Cuántos balones interceptó el jugador de la defensa?"),
            ("de", "Die Pumpe darf nicht gestartet werden, bevor die Ventile offen sind."),
            ("fr", "La pompe ne doit pas être mise en marche avant que les vannes soient ouvertes."),
            ("it", "La pompa non deve essere avviata prima che le valvole siano aperte."),
            ("pt", "A bomba não deve ser ligada antes que as válvulas estejam abertas."),
            ("nl", "De pomp mag niet worden gestart voordat de kleppen open zijn."),
            ("ru", "Насос нельзя запускать, пока клапаны не открыты, и это важно для всех."),
            ("zh", "本赛季哪个球员拦截次数最多？"),
            ("ja", "ポンプを始動する前に弁を開けてください。"),
            ("ko", "밸브를 열기 전에 펌프를 시동하지 마십시오."),
            ("ar", "يجب عدم تشغيل المضخة قبل فتح الصمامات في هذا النظام"),
            ("he", "אין להפעיל את המשאבה לפני פתיחת השסתומים"),
            ("hi", "वाल्व खुलने से पहले पंप को चालू नहीं किया जाना चाहिए और यह सभी के लिए है"),
            ("th", "ห้ามสตาร์ทปั๊มก่อนเปิดวาล์ว"),
            ("el", "Η αντλία δεν πρέπει να ξεκινήσει πριν ανοίξουν οι βαλβίδες."),
            ("sv", "Pumpen får inte startas innan ventilerna är öppna och det är viktigt."),
        ] {
            assert_eq!(detect(text), lang, "{text}");
        }
    }

    #[test]
    fn too_little_is_undetermined() {
        for text in ["", "4711", "ok", "Invoice 2024-001", "— … !"] {
            assert_eq!(detect(text), "und", "{text}");
        }
    }
}
