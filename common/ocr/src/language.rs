//! Languages as tesseract names its data.

/// ISO 639-1 → the names of tesseract's data, the usual one first.
const NAMES: &[(&str, &[&str])] = &[
    ("ar", &["ara"]),
    ("bg", &["bul"]),
    ("ca", &["cat"]),
    ("cs", &["ces"]),
    ("da", &["dan"]),
    ("de", &["deu"]),
    ("el", &["ell"]),
    ("en", &["eng"]),
    ("es", &["spa"]),
    ("et", &["est"]),
    ("fa", &["fas"]),
    ("fi", &["fin"]),
    ("fr", &["fra"]),
    ("he", &["heb"]),
    ("hi", &["hin"]),
    ("hr", &["hrv"]),
    ("hu", &["hun"]),
    ("id", &["ind"]),
    ("it", &["ita"]),
    ("ja", &["jpn"]),
    ("ko", &["kor"]),
    ("lt", &["lit"]),
    ("lv", &["lav"]),
    ("nl", &["nld"]),
    ("no", &["nor"]),
    ("nb", &["nor"]),
    ("pl", &["pol"]),
    ("pt", &["por"]),
    ("ro", &["ron"]),
    ("ru", &["rus"]),
    ("sk", &["slk"]),
    ("sl", &["slv"]),
    ("sr", &["srp"]),
    ("sv", &["swe"]),
    ("th", &["tha"]),
    ("tr", &["tur"]),
    ("uk", &["ukr"]),
    ("vi", &["vie"]),
    ("zh", &["chi_sim", "chi_tra"]),
];
/// Most languages that are tried at once when nothing tells which: each makes reading slower.
const MOST_AT_ONCE: usize = 4;

/// What to pass to tesseract for a language, of what is installed. English beside another language, for names and terms.
/// Without a language, or without its data: what is installed, English first. `None` when nothing is.
pub(crate) fn choose(language: Option<&str>, installed: &[String]) -> Option<String> {
    let has = |name: &str| installed.iter().any(|one| one == name);
    let names = language.and_then(|language| NAMES.iter().find(|(code, _)| *code == language)).map(|(_, names)| *names);
    let mut chosen: Vec<&str> = names.unwrap_or_default().iter().copied().filter(|name| has(name)).collect();
    if chosen.is_empty() {
        let of_text = installed.iter().map(String::as_str).filter(|name| !matches!(*name, "osd" | "equ" | "eng" | "snum"));
        chosen = has("eng").then_some("eng").into_iter().chain(of_text).take(MOST_AT_ONCE).collect();
    } else if has("eng") && !chosen.contains(&"eng") {
        chosen.push("eng");
    }
    (!chosen.is_empty()).then(|| chosen.join("+"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_taken_from_what_is_there() {
        let installed: Vec<String> = ["chi_sim", "deu", "eng", "osd", "rus"].map(str::to_owned).to_vec();
        let of = |language| choose(language, &installed);
        assert_eq!(of(Some("de")).as_deref(), Some("deu+eng"));
        assert_eq!(of(Some("en")).as_deref(), Some("eng"));
        assert_eq!(of(Some("zh")).as_deref(), Some("chi_sim+eng"));
        assert_eq!(of(Some("fr")).as_deref(), Some("eng+chi_sim+deu+rus"), "no data for it: all there is");
        assert_eq!(of(None).as_deref(), Some("eng+chi_sim+deu+rus"));
        assert_eq!(choose(None, &["osd".to_owned()]), None);
    }
}
