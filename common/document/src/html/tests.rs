use quarry_model::{DocumentCode, Evidence, Limits, Parsed, RowKind};

use super::*;
use crate::grid::to_html;

fn parsed(html: &str) -> Parsed {
    let limits = Limits::default();
    let mut out = Collector::new(&limits);
    read_document(html, &mut out).unwrap();
    out.finish()
}

/// Rows as lines: `h<level> title`, text, `table …`, `image …`, `~` before what is hidden, `.` before no section.
fn told(html: &str) -> Vec<String> {
    let parsed = parsed(html);
    let mut lines = Vec::new();
    let mut open = 0;
    for row in &parsed.rows {
        while row.section.is_some_and(|section| section >= open) {
            lines.push(format!("h{} {}", parsed.headings[open].level, parsed.headings[open].title));
            open += 1;
        }
        let mark = if row.hidden { "~" } else { "" };
        let outside = if row.section.is_none() && open > 0 { "." } else { "" };
        lines.push(match row.kind {
            RowKind::Text => format!("{outside}{mark}{}", row.content),
            RowKind::Table => format!("{outside}{mark}{}", to_html(row.table.as_ref().unwrap()).replace('\n', "")),
            RowKind::Image => format!("{outside}{mark}image {}", row.content),
        });
    }
    lines.extend(parsed.headings[open..].iter().map(|h| format!("h{} {}", h.level, h.title)));
    lines
}

#[test]
fn blocks_breaks_and_white_space() {
    assert_eq!(
        told("<body>a  b<p> c\n <b>d</b><i>e</i> </p>f<br>g<br><br>h&nbsp;&amp;&lt;i&gt;<div><div>j</div>k</div>"),
        ["a b", "c de", "f\ng", "h\u{a0}&<i>", "j", "k"]
    );
}

#[test]
fn controls_side_by_side_are_words_of_their_own() {
    assert_eq!(
        told("<div><a>Docs</a><a><span>Blog</span></a>s <b>bo</b>ld<button>Go</button><kbd>ctrl</kbd><kbd>K</kbd></div>"),
        ["Docs Blogs boldGo ctrl K"]
    );
}

#[test]
fn headings_by_element_and_by_role() {
    let html = "<h1>One <small>two</small><br>three <a class=x href='#a'>#</a><a href='#b'>\u{200b}</a></h1>a\
        <h3><div>Deep</div></h3><p role=heading aria-level=4>Role</p><div role=heading>Two</div><h2> </h2>b<blockquote><h2>Said</h2>c</blockquote>d";
    assert_eq!(told(html), ["h1 One two three", "a", "h3 Deep", "h4 Role", "h2 Two", "b", "> Said", "> c", "d"]);
    assert!(parsed(html).headings.iter().all(|heading| heading.evidence == Evidence::Markup));
}

#[test]
fn lists_keep_numbers_and_nesting() {
    let html = "<ul><li>a<ul><li>b</ul>c<li><p>d</p><p>e</p></ul><ol start=9><li>i<li value=20>j<li>k</ol>\
        <ol type=a reversed><li>x<li>y</ol><p>z";
    assert_eq!(told(html), ["- a", "  - b", "  c", "- d", "  e", "9. i", "20. j", "21. k", "b. x", "a. y", "z"]);
    let tight: Vec<bool> = parsed(html).rows.iter().map(|row| row.tight).collect();
    assert_eq!(tight, [false, true, true, true, true, false, true, true, false, true, false]);
}

#[test]
fn definitions_quotes_and_code() {
    assert_eq!(
        told(
            "<dl><dt>Term<dd>Meaning<dd>Another</dl><blockquote>q<br>r</blockquote><pre>\n  if x:\n\ty <b>z</b>\n</pre><p>a <code>b  c</code>"
        ),
        ["Term", "  Meaning", "  Another", "> q\n> r", "```\n  if x:\n\ty z\n```", "a b c"]
    );
    assert_eq!(told("<pre>a ``` b\n```\n</pre>"), ["````\na ``` b\n```\n````"]);
}

#[test]
fn nothing_that_runs_is_text_and_words_of_a_drawing_are() {
    let html = "<head><title>t</title><style>s</style></head><script>x</script><noscript>n</noscript><template>t</template>\
        <svg><text>d</text></svg><iframe src=x>f</iframe><p onclick=\"evil()\">a<a href=\"javascript:evil()\">b</a><!-- c -->";
    assert_eq!(told(html), ["d", "ab"]);
}

#[test]
fn what_the_page_hides_is_marked() {
    assert_eq!(
        told(
            "<p>a <span hidden>b</span>c</p><div style='color:red; display : none'><p>d</p>e</div><p aria-hidden=true>f</p><p style='display:block'>g"
        ),
        ["a c", "~b", "~d", "~e", "~f", "g"]
    );
}

#[test]
fn forms_ruby_and_formulas() {
    assert_eq!(
        told(
            "<label>Name <input value=Ada></label><input type=hidden value=x><input type=checkbox checked> yes<select><option>a<option>b</select>\
            <textarea>t  u</textarea><button>Send</button>"
        ),
        ["Name Ada [x] yes", "a\nb", "```\nt  u\n```", "Send"]
    );
    assert_eq!(told("<ruby>漢字<rt>かんじ</rt></ruby>と<ruby>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>"), ["漢字(かんじ)と字(じ)"]);
    assert_eq!(
        told(
            "<p>so <math><semantics><mi>x</mi><annotation encoding='application/x-tex'>x^2</annotation></semantics></math> and <math><mi>y</mi></math>"
        ),
        ["so $x^2$ and y"]
    );
}

#[test]
fn pictures_and_figures() {
    let html = "<p>a <img src='x.png' alt='An x'> b</p><figure><img src='//h/y.png'><img src='z.png' alt='Zed'><figcaption>Both</figcaption></figure>\
        <img><img src='data:image/gif;base64,R0lGODlh' data-src='late.png'><p>c <img alt=in src='data:image/gif;base64,R0lGODlh'></p>";
    assert_eq!(
        told(html),
        ["a b", "image An x (x.png)", "image Both (//h/y.png)", "image Both (Zed) (z.png)", "Both", "image late.png", "c", "image in"]
    );
    let parsed = parsed(html);
    assert_eq!(parsed.assets.len(), 1);
    let host = parsed.rows.iter().find(|row| row.content == "c").unwrap();
    assert_eq!((host.refs[0].row, host.refs[0].at), (7, 1));
}

#[test]
fn tables_with_spans_heads_and_nested_tables() {
    let html = "<table><caption>Cap <b>tion</b></caption><tfoot><tr><td colspan=2>foot<td>x</table>\
        <table><thead><tr><th rowspan=2>R<th colspan=2>S<tr><th>T<th>U</thead><tbody><tr><th scope=row>a<td>b<br>c<td><ul><li>d<li>e</ul>\
        <tr><th>f<td colspan=2>g<table><tr><td>h<td>i</table></table>";
    assert_eq!(
        told(html),
        [
            "<table><caption>Cap tion</caption><tr><td colspan=\"2\">foot</td><td>x</td></tr></table>",
            "<table><thead><tr><th rowspan=\"2\">R</th><th colspan=\"2\">S</th></tr><tr><th>T</th><th>U</th></tr></thead>\
            <tbody><tr><th>a</th><td>b<br>c</td><td>d<br>e</td></tr><tr><th>f</th><td colspan=\"2\">g<table><tr><td>h</td><td>i</td></tr></table></td></tr></tbody></table>",
        ]
    );
}

#[test]
fn layout_tables_are_unwrapped() {
    assert_eq!(told("<table role=presentation><tr><td>a<td>b</table>"), ["a", "b"]);
    assert_eq!(told("<table><tr><td><p>a<p>b</table>"), ["a", "b"]);
    assert_eq!(told("<table><tr><td>menu<td><h1>Head</h1>text</table>"), ["menu", "h1 Head", "text"]);
    assert!(told("<table><tr><th><h4>Plan</h4><th>Price<tr><td>Basic<td>9</table>")[0].starts_with("<table>"));
}

#[test]
fn what_surrounds_the_content_is_kept_apart() {
    let html = "<header><nav><ul><li>Home</ul></nav><h1>Title</h1></header><main>a<aside>note</aside><nav><h2>Contents</h2>toc</nav><h2>S</h2>b\
        <footer>by me</footer></main><aside><h3>Related</h3>r</aside><footer>imprint</footer>";
    assert_eq!(told(html), ["- Home", "h1 Title", "a", "note", ".Contents", ".toc", "h2 S", "b", "by me", ".Related", ".r", ".imprint"]);
}

#[test]
fn hostile_spans_and_depths_are_bounded() {
    let wide = parsed("<table><tr><td colspan=2147483648 rowspan=99999999999999999999>a<td rowspan=0>b<tr><td>c</table>");
    let table = wide.rows[0].table.as_ref().unwrap();
    assert!(table.rows.iter().flatten().all(|cell| cell.colspan <= 1000 && cell.rowspan <= 2));

    let nested = format!("{}x{}", "<table><tr><td>a<td>".repeat(60), "</table>".repeat(60));
    let text: String = told(&nested).concat();
    assert_eq!((text.matches('x').count(), text.matches('a').count() >= 60), (1, true));

    let limits = Limits::default();
    let code = |html: &str| read_document(html, &mut Collector::new(&limits)).map_err(|failure| failure.code);
    assert_eq!(code(&"<div>".repeat(100_000)), Err(DocumentCode::TooDeep));
    assert_eq!(code(&"<b a=1>".repeat(100_000)), Err(DocumentCode::TooDeep));
    assert!(code(&"<div>".repeat(600)).is_ok());
    let attributes: String = (0..1_000_000).map(|n| format!(" a{n}=1")).collect();
    assert_eq!(code(&format!("<p{attributes}>x")), Err(DocumentCode::TooLarge));
    let multiplying: String = (0..20_000).map(|n| format!("<p><b a={n}>x</p>")).collect();
    assert!(matches!(code(&multiplying), Err(DocumentCode::TooDeep | DocumentCode::TooLarge)));
}

#[test]
fn a_fragment_stands_where_it_is_put() {
    let limits = Limits::default();
    let mut out = Collector::new(&limits);
    let mut holders = Holders::default();
    holders.quote();
    let surroundings = Surroundings { holders, source_span: Some((3, 9)), headings: true, ..Surroundings::default() };
    read_fragment("<ul><li>a</ul><h2>b</h2><tr><td>c", &mut out, &surroundings).unwrap();
    let parsed = out.finish();
    assert!(parsed.headings.is_empty());
    let rows: Vec<(&str, Option<(u64, u64)>)> = parsed.rows.iter().map(|row| (row.content.as_str(), row.source_span)).collect();
    assert_eq!(rows, [("> - a", Some((3, 9))), ("> b", Some((3, 9))), ("> c", Some((3, 9)))]);
    assert_eq!(picture_of("<IMG SRC=a alt='b'/>", &limits).unwrap().description, "b");
    assert_eq!(whole_table("x <table>\n\n</table> y", 2), Some(2..19));
}

#[test]
fn notes_carry_the_mark_that_refers_to_them() {
    let mark = |id: u32| format!("<a role=\"doc-noteref\" href=\"#n{id}\"><sup>[{id}]</sup></a>");
    let text = format!("<p>a{} b{} c{} d{}.", mark(1), mark(2), mark(3), mark(4));
    assert_eq!(
        told(&format!(
            "{text}<section><ol><li id=n1><p>One. <a role=doc-backlink href=#r>↩︎</a></p><p>More.</p><li id=n2>Two</ol></section>\
             <aside id=n3><span>[<a role=doc-backlink href=#r>3</a>]</span><p>Three.</p></aside><p>between\
             <dl><dt id=n4><a href=#r>4</a></dt><dd>Four.</dd></dl><p>end"
        )),
        ["a[^1] b[^2] c[^3] d[^4].", "[^1]: One.", "      More.", "[^2]: Two", "[^3]: Three.", "between", "[^4]: Four.", "end"]
    );
    let github = "x<sup><a href=\"#fn-1\" data-footnote-ref>1</a></sup><ol><li id=\"fn-1\"><p>y <a href=\"#r\" data-footnote-backref>↩</a></li></ol>";
    assert_eq!(told(github), ["x[^1]", "[^1]: y"]);
}
