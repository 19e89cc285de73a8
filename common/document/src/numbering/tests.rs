use std::collections::HashSet;

use super::*;

#[test]
fn every_row_takes_its_positive_and_refuses_its_negative() {
    let mut names = HashSet::new();
    for pattern in PATTERNS {
        assert!(names.insert(pattern.name), "{} stands twice", pattern.name);
        let own = shape::matches(pattern, pattern.positive).filter(|found| !negative::is_no_heading(found));
        let own = own.unwrap_or_else(|| panic!("{}: {:?} is not matched", pattern.name, pattern.positive));
        assert!(pattern.positive.starts_with(own.number_text) && pattern.positive.ends_with(own.rest), "{own:?}");
        assert!(detect(pattern.positive).is_some(), "{}", pattern.name);
        let wrong = shape::matches(pattern, pattern.negative).filter(|found| !negative::is_no_heading(found));
        assert!(wrong.is_none(), "{}: {:?} is matched", pattern.name, pattern.negative);
    }
    for language in ["en", "es", "pt", "fr", "de", "it", "ru", "zh", "ja", "ko"] {
        assert!(PATTERNS.iter().filter(|p| p.language == language).count() >= 4, "{language}");
    }
}

#[test]
fn depth_value_and_title() {
    for (line, depth, value, number_text, rest) in [
        ("1. Scope", Some(1), Some(1), "1.", "Scope"),
        ("1.2.3 Sampling", Some(3), Some(3), "1.2.3", "Sampling"),
        ("2.10. Costs", Some(2), Some(10), "2.10.", "Costs"),
        ("A.1.4 Raw data", Some(3), Some(4), "A.1.4", "Raw data"),
        ("Chapter IV: Storms", None, Some(4), "Chapter IV", "Storms"),
        ("CHAPTER SEVEN", None, Some(7), "CHAPTER SEVEN", ""),
        ("Section 2.3 Sampling", Some(2), Some(3), "Section 2.3", "Sampling"),
        ("2. Kapitel: Die Reise", None, Some(2), "2. Kapitel", "Die Reise"),
        ("第二十三章 附则", None, Some(23), "第二十三章", "附则"),
        ("第１０条　期間", None, Some(10), "第１０条", "期間"),
        ("제5조(계약 기간)", None, Some(5), "제5조", "(계약 기간)"),
        ("十二、结论", None, Some(12), "十二、", "结论"),
        ("(b) Costs", None, Some(2), "(b)", "Costs"),
        ("3 Methods", Some(1), Some(3), "3", "Methods"),
        ("1.1研究背景", Some(2), Some(1), "1.1", "研究背景"),
    ] {
        let found = detect(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((found.depth, found.value, found.number_text, found.rest), (depth, value, number_text, rest), "{line}");
    }
}

#[test]
fn other_lines_that_begin_with_a_number() {
    let mut wrong = Vec::new();
    for line in [
        "12 March 2024",
        "12. März 2024",
        "3 de mayo de 2021",
        "1 January",
        "2024-05-01 Meeting",
        "2024年5月1日",
        "5月1日",
        "2024 Results",
        "3.14",
        "0.5 mg",
        "3.5 million people",
        "5 kg of flour",
        "10 %",
        "25 °C",
        "100 m",
        "$5 each",
        "10:30 Start",
        "9 am",
        "9 a.m. Opening",
        "12.30 Uhr",
        "https://example.org/1",
        "www.example.org",
        "192.168.0.1",
        "1.2.3-beta",
        "555 1234 567",
        "1 + 1 = 2",
        "3D printing",
        "1990s Music",
        "2nd quarter",
        "1. Add the eggs and stir well.",
        "2. the buyer pays",
        "e.g. this",
        "i.e. that",
        "P.S. Thanks",
        "A. B. Smith",
        "(c) 2024 Example",
        "I have seen it",
        "A good day",
        "12 34 56",
        "1 | 2 | 3",
        "Part of the plan",
        "Section break",
        "Title page",
        "Book a table",
        "Schedule a meeting",
        "第三次会议",
        "第一条 为了规范采购，明确责任，制定本要求。",
        "第２条　この規則は、図書館の利用に適用する。",
        "三千元",
        "5人",
        "",
        "   ",
        "-",
        "1",
        "1.",
    ] {
        if let Some(found) = detect(line) {
            wrong.push(format!("{line:?} by {}", found.pattern.name));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn what_must_not_bar_a_heading() {
    // Long, ending in a full stop: still numbered headings where the number itself is strong.
    for line in [
        "2.1 Interpretation.",
        "Article 7. Scope of the obligations of the parties",
        "Chapter 12 In Which the Travellers Reach the Far Side of the River and Find Nobody There",
        "4.2 Procedures for the Selection of Independent Experts in Cross-Border Disputes",
        "1. Scope.",
    ] {
        assert!(detect(line).is_some(), "{line:?}");
    }
}

#[test]
fn long_and_strange_lines_are_bounded() {
    assert!(detect(&"1. ".repeat(1_000_000)).is_none());
    assert!(detect(&"第".repeat(300)).is_none());
    assert!(detect(&"九".repeat(300)).is_none());
    assert!(detect(&"9".repeat(300)).is_none());
    assert!(detect(&format!("{} Deep", ["1"; 40].join("."))).is_some());
    for c in ['\0', '\u{200b}', '\u{202e}', '\u{fffd}', '𠀀', 'İ', 'ß'] {
        for line in [format!("{c}"), format!("1{c}"), format!("1.{c}"), format!("Chapter {c}"), format!("第{c}章")] {
            detect(&line);
        }
    }
}
