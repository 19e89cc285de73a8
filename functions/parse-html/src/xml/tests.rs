use quarry_model::RowKind;

use super::*;

fn read(text: &str) -> Parsed {
    super::read(text.as_bytes(), &Limits::default()).unwrap()
}

fn told(parsed: &Parsed) -> Vec<(Option<&str>, String)> {
    let title = |row: &Row| row.section.map(|s| parsed.headings[s].title.as_str());
    let said = |row: &Row| match &row.table {
        None => row.content.clone(),
        Some(table) => {
            table.rows.iter().map(|r| r.iter().map(|c| c.text.as_str()).collect::<Vec<_>>().join("|")).collect::<Vec<_>>().join("/")
        }
    };
    parsed.rows.iter().map(|row| (title(row), said(row))).collect()
}

#[test]
fn a_document_has_sections_paragraphs_lists_and_tables() {
    let parsed = read(
        r#"<?xml version="1.0"?><article xmlns="http://docbook.org/ns/docbook" version="5.0"><info><title>Pumps</title></info>
        <para>A pump <emphasis>moves</emphasis> water, see <link href="x.html">there</link>.</para>
        <section><title>Care</title><para>Oil it.</para>
          <itemizedlist><listitem><para>daily</para></listitem><listitem><para>or weekly</para></listitem></itemizedlist>
          <informaltable><tgroup cols="2"><colspec colname="a"/><colspec colname="b"/><thead><row><entry>Part</entry><entry>Oil</entry></row></thead>
            <tbody><row><entry namest="a" nameend="b">all</entry></row></tbody></tgroup></informaltable>
          <programlisting>open
  valve</programlisting></section></article>"#,
    );
    assert_eq!(parsed.title.as_deref(), Some("Pumps"));
    assert_eq!(parsed.headings.iter().map(|h| (h.level, h.title.as_str())).collect::<Vec<_>>(), [(1, "Pumps"), (2, "Care")]);
    let told = told(&parsed);
    let said: Vec<&str> = told.iter().map(|(_, said)| said.as_str()).collect();
    assert!(said.contains(&"A pump moves water, see there (x.html)."), "{said:?}");
    assert!(said.contains(&"- daily") && said.contains(&"- or weekly"), "{said:?}");
    assert!(said.contains(&"Part|Oil/all") && said.contains(&"open\n  valve"), "{said:?}");
    let table = parsed.rows.iter().find_map(|row| row.table.as_ref()).unwrap();
    assert_eq!((table.header_rows, table.rows[1][0].colspan), (1, 2));
}

#[test]
fn what_inline_elements_say_stands_after_their_words() {
    let parsed = read(
        r#"<doc><p>See <i><a href="t.html">the tables</a></i>, or <a href="u.html">ask</a>us.</p><ul><li>by <a href="m.html">post</a>.</li></ul></doc>"#,
    );
    let said: Vec<String> = told(&parsed).into_iter().map(|(_, said)| said).collect();
    assert_eq!(said, ["See the tables (t.html), or ask (u.html) us.", "- by post (m.html)."]);
}

#[test]
fn like_elements_are_a_table_with_the_union_of_their_fields() {
    let parsed = read(
        r#"<stock><pump id="1"><name>Alpha</name><at><x>1</x></at></pump><pump id="2"><name>Beta</name><note lang="en">leaks</note></pump></stock>"#,
    );
    assert_eq!(told(&parsed), [(None, "id|name|at.x|note|note.lang/1|Alpha|1||/2|Beta||leaks|en".to_owned())]);
    assert_eq!(parsed.rows[0].kind, RowKind::Table);
}

#[test]
fn facts_are_lines_under_the_element_that_holds_them() {
    let parsed =
        read(r#"<config version="3"><server><host>a.example</host><port unit="tcp">80</port></server><db><host>b</host></db></config>"#);
    let server = Some("server");
    let lines = [(None, "version: 3"), (server, "host: a.example"), (server, "port: 80 (unit: tcp)"), (Some("db"), "host: b")];
    assert_eq!(told(&parsed), lines.map(|(title, line)| (title, line.to_owned())));
}

#[test]
fn entries_of_a_feed_are_sections_and_their_html_is_read() {
    let parsed = read(
        "<rss version=\"2.0\"><channel><title>News</title><item><title>First</title><link>http://e.org/1</link>\
         <description><![CDATA[<p>It <b>rained</b>.</p><table><tr><td>a</td><td>b</td></tr></table>]]></description></item>\
         <item><title>Second</title><description>&lt;p&gt;Dry.&lt;/p&gt;</description></item></channel></rss>",
    );
    assert_eq!(parsed.headings.iter().map(|h| h.title.as_str()).collect::<Vec<_>>(), ["News", "First", "Second"]);
    let told = told(&parsed);
    assert!(told.contains(&(Some("First"), "It rained.".to_owned())), "{told:?}");
    assert!(told.contains(&(Some("First"), "a|b".to_owned())) && told.contains(&(Some("Second"), "Dry.".to_owned())), "{told:?}");
}

#[test]
fn row_11_entities_are_never_expanded() {
    let laughs =
        "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;&a;\"><!ENTITY x SYSTEM \"file:///etc/passwd\">]><l><p>&b; &x; &amp;</p></l>";
    let parsed = read(laughs);
    assert_eq!(told(&parsed), [(None, "&b; &x; &".to_owned())]);
    assert!(parsed.warnings[0].message.contains("not expanded"));
}

#[test]
fn rows_12_13_depth_and_attributes_are_bounded() {
    let deep = format!("{}x{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    assert_eq!(super::read(deep.as_bytes(), &Limits::default()).unwrap_err().code, DocumentCode::TooDeep);
    let wide = format!("<a {}/>", (0..100_000).map(|n| format!("b{n}='1' ")).collect::<String>());
    assert_eq!(super::read(wide.as_bytes(), &Limits::default()).unwrap_err().code, DocumentCode::TooLarge);
}

#[test]
fn declared_and_wide_encodings_are_read_and_damage_is_named() {
    let latin = b"<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a><p>caf\xe9</p></a>";
    assert_eq!(told(&super::read(latin, &Limits::default()).unwrap())[0].1, "café");
    let wide: Vec<u8> = "<a><p>журнал</p></a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(told(&super::read(&wide, &Limits::default()).unwrap())[0].1, "журнал");
    assert_eq!(super::read(b"<a><p>cut", &Limits::default()).unwrap_err().code, DocumentCode::Corrupt);
    assert_eq!(told(&read("<a><b/><c/></a>"))[0].1, "a b c");
}

#[test]
fn every_word_of_the_source_is_in_a_row_or_a_title() {
    let source = include_str!("../../../../tests/golden/xml/almanac/input.xml");
    let parsed = read(source);
    let mut all: String = parsed.headings.iter().map(|h| format!("{} ", h.title)).collect();
    for (_, said) in told(&parsed) {
        all.push_str(&said.replace(['|', '/'], " "));
        all.push(' ');
    }
    for table in parsed.rows.iter().filter_map(|row| row.table.as_ref()) {
        all.push_str(&table.caption);
        all.push(' ');
    }
    // A space before every tag: the text of two elements side by side is two words.
    let tree = Tree::parse(&source.replace('<', " <"), &Limits::default()).unwrap();
    for word in tree.root().text().split_whitespace() {
        assert!(all.split_whitespace().any(|known| known.contains(word)), "{word} is lost");
    }
}
