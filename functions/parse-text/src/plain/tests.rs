use quarry_document::encoding::{Declaration, decode};
use quarry_model::Parsed;

use super::read;

fn parsed(text: &str) -> Parsed {
    read(&decode(text.as_bytes(), Declaration::Never))
}

fn headings(text: &str) -> Vec<String> {
    parsed(text).headings.iter().map(|heading| format!("{} {}", heading.level, heading.title)).collect()
}

fn rows(text: &str) -> Vec<String> {
    parsed(text).rows.into_iter().map(|row| row.content).collect()
}

const NONE: [&str; 0] = [];

#[test]
fn white_space_is_kept_and_empty_lines_part() {
    assert_eq!(
        rows("The quick  brown\tfox\r\n  indented\r\n\r\n    code();\r\n \r\n\r\nlast   "),
        ["The quick  brown\tfox\n  indented", "    code();", "last"]
    );
    let text = "Ein Äpfel\n\nzwei";
    let spans: Vec<&str> =
        parsed(text).rows.iter().map(|r| &text[r.source_span.unwrap().0 as usize..r.source_span.unwrap().1 as usize]).collect();
    assert_eq!(spans, ["Ein Äpfel", "zwei"]);
}

#[test]
fn underlined_headings() {
    let text = "=====\nTitle\n=====\n\nIntro\n\nFirst\n-----\nText one\n\nSecond\n------\n\nText two\n\n-----\n\nBest\n---------------------------------\nme";
    assert_eq!(headings(text), ["1 Title", "2 First", "2 Second"]);
    assert_eq!(rows(text), ["Intro", "Text one", "Text two", "-----", "Best\n---------------------------------\nme"]);
}

#[test]
fn chapters_in_many_languages() {
    for (text, expected) in [
        ("Chapter 1\n\nIt was a dark night.\n\nChapter 2\n\nIt went on.", vec!["1 Chapter 1", "1 Chapter 2"]),
        (
            "Part I: Away\n\nChapter One\n\nText.\n\nChapter Two\n\nText.\n\nPart II: Home\n\nChapter Three\n\nText.",
            vec!["1 Part I: Away", "2 Chapter One", "2 Chapter Two", "1 Part II: Home", "2 Chapter Three"],
        ),
        (
            "第一章 总则\n\n为了规范管理。\n\n第一节 范围\n\n本节说明。\n\n第二章 附则\n\n自发布之日起施行。",
            vec!["1 第一章 总则", "2 第一节 范围", "1 第二章 附则"],
        ),
        ("Kapitel 1: Anfang\n\nEs war Nacht.\n\nAnhang A Tabellen\n\nSiehe unten.", vec!["1 Kapitel 1: Anfang", "1 Anhang A Tabellen"]),
        (
            "Artículo 1. Objeto\nEsta ley regula el uso.\n\nArtículo 2. Ámbito\nSe aplica a todos.",
            vec!["1 Artículo 1. Objeto", "1 Artículo 2. Ámbito"],
        ),
        ("제1장 총칙\n\n이 법은 목적을 정한다.\n\n제2장 보칙\n\n이 장은 보충한다.", vec!["1 제1장 총칙", "1 제2장 보칙"]),
        ("Глава 1. Начало\n\nБыла ночь.\n\nГлава 2. Конец\n\nНастало утро.", vec!["1 Глава 1. Начало", "1 Глава 2. Конец"]),
    ] {
        assert_eq!(headings(text), expected, "{text}");
    }
}

#[test]
fn numbers_head_sections_only_where_text_follows_them() {
    assert_eq!(
        headings(
            "1. Scope\n\nThis document says much.\n\n1.1 Terms\n\nA term is a word.\n\n1.2 Signs\n\nA sign is a mark.\n\n2. Methods\n\nWe measured twice."
        ),
        ["1 1. Scope", "2 1.1 Terms", "2 1.2 Signs", "1 2. Methods"]
    );
    // A list, tight or loose, is no list of chapters.
    assert_eq!(headings("Buy:\n\n1. Apples\n2. Pears\n3. Plums\n\nThen go home."), NONE);
    assert_eq!(headings("Buy:\n\n1. Apples\n\n2. Pears\n\n3. Plums\n\nThen go home."), NONE);
    assert_eq!(headings("Text.\n\n1. Stir the sauce until it thickens.\n\nMore text.\n\n2. Serve it at once with bread.\n\nMore."), NONE);
    // One number alone says nothing.
    assert_eq!(headings("Hello.\n\n1. Something\n\nBye."), NONE);
    // Chapter words in running text.
    assert_eq!(
        headings("Section 3 describes the method that was used\nfor all samples.\n\nArticle 5 of the law applies.\n\nPart of it is lost."),
        NONE
    );
    assert_eq!(headings("Contents\n\nChapter 1 Away ..... 3\nChapter 2 Home ..... 9"), NONE);
}

#[test]
fn capitals_need_strong_evidence() {
    let body = "the quick brown fox jumps over the lazy dog, and so on and so forth, many times in a row";
    assert_eq!(headings(&format!("INTRODUCTION\n\n{body}\n\nRESULTS\n\n{body}")), ["1 INTRODUCTION", "1 RESULTS"]);
    assert_eq!(headings(&format!("WARNING HOT\n\n{body}")), NONE);
    assert_eq!(
        headings("ALL IN CAPS\n\nTHIS TEXT IS WRITTEN BY ONE WHO SHOUTS, AND SO ON.\n\nMORE SHOUTS\n\nIT NEVER ENDS, REALLY."),
        NONE
    );
}

#[test]
fn form_feeds_are_pages() {
    let parsed = parsed("Chapter 1\n\none\x0ctwo\n\x0c\n\x0cChapter 2\n\nfour");
    let pages: Vec<(&str, &[u32])> = parsed.rows.iter().map(|row| (row.content.as_str(), row.pages.as_slice())).collect();
    assert_eq!(pages, [("one", &[1][..]), ("two", &[2]), ("four", &[4])]);
    assert_eq!((parsed.page_count, parsed.headings[1].page), (Some(4), Some(4)));
}

#[test]
fn long_lines_and_many_paragraphs_are_bounded() {
    let started = std::time::Instant::now();
    let line = "word ".repeat(4_000_000);
    assert_eq!(rows(&line), [line.trim_end()]);
    assert_eq!(rows(&"Chapter 1\n\nx\n\n".repeat(400_000)).concat().matches('x').count(), 400_000);
    assert_eq!(headings(&"Chapter 1\n\nx\n\n".repeat(100_000)).len(), 100_000);
    assert!(started.elapsed().as_secs() < 60, "{:?}", started.elapsed());
}
