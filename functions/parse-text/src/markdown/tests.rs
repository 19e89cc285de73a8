use quarry_document::encoding::{Declaration, decode};
use quarry_document::grid::to_html;
use quarry_model::{Evidence, Limits, Parsed, RowKind};

use super::read;

fn parsed(text: &str) -> Parsed {
    read(&decode(text.as_bytes(), Declaration::Never), &Limits::default())
}

/// Rows as lines: `h<level> title`, text, `table …`, `image …`.
fn told(text: &str) -> Vec<String> {
    let parsed = parsed(text);
    let mut lines = Vec::new();
    let mut open = 0;
    for row in &parsed.rows {
        while row.section.is_some_and(|section| section >= open) {
            lines.push(format!("h{} {}", parsed.headings[open].level, parsed.headings[open].title));
            open += 1;
        }
        lines.push(match row.kind {
            RowKind::Text => row.content.clone(),
            RowKind::Table => to_html(row.table.as_ref().unwrap()).replace('\n', ""),
            RowKind::Image => format!("image {}", row.content),
        });
    }
    lines.extend(parsed.headings[open..].iter().map(|h| format!("h{} {}", h.level, h.title)));
    lines
}

#[test]
fn headings_of_every_form() {
    assert_eq!(
        told(
            "# One *two* `three`\ntext\n\nFour\nfive\n===\n\nSix\n---\n### Seven ![logo](l.png) [eight](u) {#id}\n#### \n\n<h1 align=center>Nine</h1>\n\n\\# ten\n#eleven"
        ),
        ["h1 One two three", "text", "h1 Four five", "h2 Six", "h3 Seven eight", "image logo (l.png)", "h1 Nine", "# ten #eleven"]
    );
    assert!(parsed("# A\n").headings.iter().all(|heading| heading.evidence == Evidence::Markup));
    assert_eq!(told("> # Said\n> text\n\n- ## In a list\n  more"), ["> Said", "> text", "h2 In a list", "- more"]);
}

#[test]
fn fences_are_never_headings_or_tables() {
    assert_eq!(
        told("```sh title=x\n# comment\n| a | b |\n|---|---|\n\n    indented\n```\n\n    # code\n\n~~~\n```\n~~~\n"),
        ["```sh\n# comment\n| a | b |\n|---|---|\n\n    indented\n```", "```\n# code\n```", "````\n```\n````"]
    );
}

#[test]
fn tables_with_escaped_pipes_and_markup() {
    assert_eq!(
        told("a | b\n:-|-:\n`x\\|y` \\| *z* | [l](u) ![p](i.png)<br>w\nonly\n1|2|3\n\nafter"),
        [
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>x|y | z</td><td>l<br>w</td></tr><tr><td>only</td><td></td></tr><tr><td>1</td><td>2</td><td>3</td></tr></tbody></table>",
            "image p (i.png)",
            "after"
        ]
    );
}

#[test]
fn lists_and_quotations_keep_their_shape() {
    assert_eq!(
        told("- a\n  - b\n\n    c\n- [x] d\n- [ ] e\n\n3. f\n4. g\n   > h\n   > i\n\n> j\n>\n> > k"),
        ["- a", "  - b", "    c", "- [x] d", "- [ ] e", "3. f", "4. g", "   > h i", "> j", "> > k"]
    );
    let tight: Vec<bool> = parsed("- a\n  - b\n- c\n\ntext\n\n1. d\n2. e").rows.iter().map(|row| row.tight).collect();
    assert_eq!(tight, [false, true, true, false, false, true]);
    assert_eq!(told("> [!WARNING]\n> Hot"), ["> [!WARNING]", "> Hot"]);
    assert_eq!(told("Term\n: Meaning\n: Another"), ["Term", "  Meaning", "  Another"]);
}

#[test]
fn notes_stand_where_they_are_called() {
    assert_eq!(
        told("# A\none[^1] two[^b]\n\nthree[^1]\n\n# B\nfour\n\n[^1]: First *note*\n\n    goes on\n[^B]: Second\n[^c]: Uncalled"),
        ["h1 A", "one[^1] two[^b]", "[^1]: First note", "      goes on", "[^B]: Second", "three[^1]", "h1 B", "four", "[^c]: Uncalled"]
    );
    // A call in a table, in a heading, in another note, and one without a note.
    assert_eq!(
        told("|a|\n|-|\n|x[^t]|\n\n## H[^h]\ntext\n\n[^t]: T[^n]\n[^h]: H\n[^n]: N\n\nlost[^0]"),
        [
            "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>x[^t]</td></tr></tbody></table>",
            "[^t]: T[^n]",
            "h2 H[^h]",
            "[^h]: H",
            "text",
            "[^n]: N",
            "lost[^0]"
        ]
    );
}

#[test]
fn formulas_links_and_marks_lose_no_word() {
    assert_eq!(
        told(
            "$x^2$ and\n\n$$\\sum_i y_i$$\n\n~~old~~ **new** _it_ a  b\\\nc <https://e.org/x> [](only-address) [text](addr \"title\") [ref]\n\n[ref]: target"
        ),
        ["$x^2$ and", "$$\\sum_i y_i$$", "~~old~~ new it a b\nc https://e.org/x only-address text ref"]
    );
}

#[test]
fn pictures_are_rows_and_the_text_beside_them_stays() {
    let text = "before ![An *alt*](http://169.254.169.254/a.png \"t\") after\n\n![](file:///etc/passwd)\n\n[![badge](b.svg)](https://ci)\n\n\
        inline <img src=\"c.png\" alt='see'> html ![in](data:image/gif;base64,R0lGODlh)";
    assert_eq!(
        told(text),
        [
            "before after",
            "image An alt (http://169.254.169.254/a.png)",
            "image file:///etc/passwd",
            "image badge (b.svg)",
            "inline html",
            "image see (c.png)",
            "image in"
        ]
    );
    let parsed = parsed(text);
    assert_eq!((parsed.assets.len(), parsed.rows[4].refs[0].row), (1, 6));
}

#[test]
fn raw_html_is_read_as_html() {
    assert_eq!(
        told(
            "<p align=center>\n  <img src=a.png>\n</p>\n\n<details><summary>More</summary>\n\n**inside**\n\n</details>\n\n\
            a <sup>b</sup> <!-- c --> <script>evil()</script>d<br>e\n\n<script>\nx\n\ny</script>\n\n<ul>\n<li>f<ul><li>g</ul></ul>"
        ),
        ["image a.png", "More", "inside", "a b d\ne", "- f", "  - g"]
    );
    // Blank lines and indentation inside a table would end CommonMark's HTML block.
    assert_eq!(
        told(
            "x\n\n<table>\n<tr><td rowspan=2>a</td>\n\n    <td>b</td></tr>\n\n<tr><td>c <table><tr><td>d</td><td>e</td></tr></table></td></tr>\n\n</table> tail\n\n# H\ny"
        ),
        [
            "x",
            "<table><tr><td rowspan=\"2\">a</td><td>b</td></tr><tr><td>c<table><tr><td>d</td><td>e</td></tr></table></td></tr></table>",
            "tail",
            "h1 H",
            "y"
        ]
    );
    assert_eq!(told("<table><tr><td>never</td><td>closed\n\n# H\ny").len(), 3);
}

#[test]
fn front_matter_is_text_and_title() {
    let text = "---\ntitle: 'A title'\nauthor: B\n---\n\nBody";
    let parsed = parsed(text);
    assert_eq!(parsed.title.as_deref(), Some("A title"));
    assert_eq!(told(text), ["title: 'A title'\nauthor: B", "Body"]);
    assert_eq!(told("---\n\n# A\n\n---\n"), ["h1 A"]);
}

#[test]
fn spans_point_into_the_source() {
    let text = "\u{feff}---\ntitle: x\n---\n# Ü\n\nfirst *para*\ngraph\n\n- item\n\n| a |\n|---|\n| b |\n\n<b>html</b>\n<p>x</p>";
    let parsed = parsed(text);
    let pieces: Vec<&str> = parsed
        .rows
        .iter()
        .map(|row| {
            let (start, end) = row.source_span.unwrap();
            text[start as usize..end as usize].trim()
        })
        .collect();
    assert_eq!(pieces, ["---\ntitle: x\n---", "first *para*\ngraph", "- item", "| a |\n|---|\n| b |", "<b>html</b>", "<p>x</p>"]);
}

#[test]
fn deep_nesting_and_storms_take_linear_time() {
    let started = std::time::Instant::now();
    for text in [
        ">".repeat(1_000_000) + " a",
        "> ".repeat(200_000) + "a",
        "[".repeat(1_000_000) + "a",
        "![".repeat(500_000) + "a",
        "*a _b ".repeat(200_000),
        "- ".repeat(100_000) + "a",
        "`".repeat(1_000_001) + "a`",
        (0..100_000).fold(String::new(), |text, n| text + &format!("[a{n}]: u\n")) + &"[a1] ".repeat(100_000),
        "[^1]".repeat(200_000) + "\n\n[^1]: a[^1]",
        "<table>a\n\n".repeat(20_000),
        "<table><tr><td>a\n\n".repeat(20_000),
        "<div>\n".repeat(100_000),
        "a\n\n".repeat(100_000),
        "# a\n".repeat(100_000),
        "| a ".repeat(20_000) + "\n" + &"|-".repeat(20_000) + "\n" + &"| b ".repeat(20_000),
    ] {
        let before = started.elapsed();
        let parsed = parsed(&text);
        assert!(parsed.rows.len() + parsed.headings.len() > 0, "{}", &text[..20.min(text.len())]);
        let took = started.elapsed().checked_sub(before).unwrap();
        assert!(took.as_secs() < 20, "{:?}: {took:?}", &text[..20.min(text.len())]);
    }
}

#[test]
fn cells_beyond_the_columns_of_a_table_and_titles_of_pictures_are_kept() {
    let wide = parsed("| a | b |\n|---|---|\n| 1 | `x|y` |\n| 2 | 3 |\n");
    let rows = &wide.rows[0].table.as_ref().unwrap().rows;
    let texts: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(|cell| cell.text.as_str()).collect()).collect();
    assert_eq!(texts, [vec!["a", "b"], vec!["1", "`x", "y`"], vec!["2", "3"]]);
    let pictured = parsed("![A pier](p.png \"At low tide\")");
    assert!(pictured.rows.iter().any(|row| row.content.contains("A pier") && row.content.contains("At low tide")));
}
