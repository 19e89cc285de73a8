use std::io::{Cursor, Read};

use quarry_model::{Asset, Cell, Evidence, Format, Heading, Parsed, Row, Table, Timestamp, Warning};

use super::*;

struct Fixed(Parsed);

impl Parser for Fixed {
    fn name(&self) -> &'static str {
        "parse-fixed"
    }
    fn version(&self) -> &'static str {
        "1"
    }
    fn parse(&self, _: &Source<'_>, _: &Limits) -> Result<Parsed, DocumentFailure> {
        Ok(self.0.clone())
    }
}

struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::from_millis(1_000)
    }
}

fn request() -> RevisionRequest {
    RevisionRequest {
        job_id: None,
        data_id: Some("crm-42".into()),
        document_id: DocumentId::from_random([7; 6]),
        file_name: "a/b report.md".into(),
        profile: Profile {
            format: Format::Markdown,
            claimed_format: None,
            encoding: None,
            category: "report".into(),
            routing_category: "generic".into(),
            pdf: None,
        },
        parsing_params: Map::new(),
    }
}

fn folder(parsed: Parsed) -> Result<RevisionFolder, DocumentFailure> {
    parse_to_folder(&Fixed(parsed), &Bytes::from_static(b"source"), &request(), &Limits::default(), &Still)
}

fn heading(title: &str, level: u32) -> Heading {
    Heading { title: title.into(), number: None, level, page: None, evidence: Evidence::Markup }
}

fn picture(colour: u8) -> Asset {
    let mut bytes = Cursor::new(Vec::new());
    image::RgbImage::from_pixel(3, 2, image::Rgb([colour; 3])).write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    Asset { bytes: bytes.into_inner(), original_name: "../x.png".into() }
}

fn document() -> Parsed {
    let table = Table {
        rows: vec![vec![Cell::new("Year"), Cell::new("Units")], vec![Cell::new("2025"), Cell::new("3,400")]],
        header_rows: 1,
        caption: "Output".into(),
        ..Table::default()
    };
    Parsed {
        headings: vec![heading("1 Summary", 1), heading("2 Operations", 1), heading("2.1 Capacity", 3), heading("Empty", 1)],
        rows: vec![
            Row::text(None, "For internal use."),
            Row::text(Some(0), "Capacity grew in 2025."),
            Row::text(Some(2), "Two plants were added."),
            Row::image(Some(2), 0, "Plant [west]"),
            Row::table(Some(2), table),
            Row::image(Some(2), 1, ""),
            Row::image(Some(2), 0, "again"),
        ],
        assets: vec![picture(10), picture(200), picture(90)],
        outline: vec![heading("1 Summary", 1)],
        warnings: vec![Warning::new(DocumentCode::Corrupt, "one note could not be read")],
        title: Some("Annual report".into()),
        ..Parsed::default()
    }
}

#[test]
fn names_order_and_counts() {
    let folder = folder(document()).unwrap();
    let names: Vec<&str> = folder.files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "chunks.json",
            "doc_nav.json",
            "hierarchy.json",
            "full.md",
            "toc_hierarchies.json",
            "images/image-3.png",
            "images/image-5.png",
            "tables/table-4.html",
            "diagnostics/profile.json",
            "diagnostics/headings.json",
            "diagnostics/warnings.json",
            "result.zip",
            "manifest.json",
        ]
    );
    let stats = &folder.manifest.statistics;
    assert_eq!((stats.total_chunks, stats.text_chunks, stats.image_chunks, stats.table_chunks), (7, 3, 3, 1));
    assert_eq!(folder.manifest.files.images[0].original_name, "../x.png");
    assert_eq!((folder.manifest.files.images[0].width, folder.manifest.files.images[0].height), (Some(3), Some(2)));
    assert_eq!(folder.manifest.quality.warnings.len(), 1);
    assert_eq!(folder.source_name(), "source/original.md");
    let hierarchy = serde_json::to_string(&folder.manifest.hierarchy).unwrap();
    assert_eq!(hierarchy, r#"{"a/b report":{},"1 Summary":{},"2 Operations":{"2.1 Capacity":{}},"Empty":{}}"#);
}

#[test]
fn navigation_sums_up_and_summarises() {
    let nav = folder(document()).unwrap().nav;
    let titles: Vec<(&str, u32, u32, &str)> =
        nav.sections.iter().map(|s| (s.title.as_str(), s.level, s.chunk_count, s.summary.as_str())).collect();
    assert_eq!(
        titles,
        [
            ("a/b report", 1, 1, "For internal use."),
            ("1 Summary", 1, 1, "Capacity grew in 2025."),
            ("2 Operations", 1, 5, "Covers: 2.1 Capacity"),
            ("Empty", 1, 0, ""),
        ]
    );
    let capacity = &nav.sections[2].children[0];
    assert_eq!((capacity.level, capacity.path.as_str()), (2, "a\u{2215}b report.md/2 Operations/2.1 Capacity"));
    assert_eq!(capacity.images, ["images/image-3.png", "images/image-5.png"]);
    assert_eq!(nav.resources.images.len(), 2);
    assert_eq!(nav.resources.tables[0].summary, "Output");
}

#[test]
fn the_whole_document_reads_as_markdown() {
    let folder = folder(document()).unwrap();
    let markdown = std::str::from_utf8(folder.file("full.md").unwrap()).unwrap();
    assert_eq!(
        markdown,
        "For internal use.\n\n# 1 Summary\n\nCapacity grew in 2025.\n\n# 2 Operations\n\n## 2.1 Capacity\n\nTwo plants were added.\n\n\
         ![Plant west](images/image-3.png)\n\nOutput\n\n| Year | Units |\n| --- | --- |\n| 2025 | 3,400 |\n\n\
         ![](images/image-5.png)\n\n![again](images/image-3.png)\n\n# Empty\n"
    );
}

#[test]
fn two_runs_are_byte_identical() {
    let (one, two) = (folder(document()).unwrap(), folder(document()).unwrap());
    assert_eq!(one.files, two.files);
}

#[test]
fn json_is_indented_ordered_and_closed_by_a_newline() {
    let folder = folder(document()).unwrap();
    let chunks = std::str::from_utf8(folder.file("chunks.json").unwrap()).unwrap();
    assert!(chunks.starts_with("{\n  \"schema_version\": 1,\n  \"chunks\": [\n    {\n      \"chunk_id\": \""), "{chunks}");
    assert!(chunks.ends_with("\n}\n"));
    let value: Value = serde_json::from_str(chunks).unwrap();
    let capacity = &value["chunks"][2];
    assert_eq!(
        capacity["content"],
        "Two plants were added.\n[images/image-3.png]\n[tables/table-4.html]\n[images/image-5.png]\n[images/image-3.png]"
    );
    assert_eq!(capacity["metadata"]["tokens"], serde_json::json!(["two", "plants", "added"]));
    assert_eq!(capacity["metadata"]["lang"], "en");
    assert_eq!(capacity["metadata"]["document_top_summary"], "Annual report. For internal use.");
}

#[test]
fn the_zip_holds_what_the_folder_holds() {
    let folder = folder(document()).unwrap();
    let mut archive = ::zip::ZipArchive::new(Cursor::new(folder.file("result.zip").unwrap().to_vec())).unwrap();
    let names: Vec<String> = (0..archive.len()).map(|n| archive.by_index(n).unwrap().name().unwrap().into_owned()).collect();
    assert_eq!(names.first().map(String::as_str), Some("chunks.json"));
    assert_eq!(names.last().map(String::as_str), Some("manifest.json"));
    assert!(!names.iter().any(|name| name.starts_with("diagnostics") || name.starts_with("source")));
    for name in names {
        let mut bytes = Vec::new();
        archive.by_name(&name).unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(folder.file(&name).unwrap(), &bytes, "{name}");
    }
}

#[test]
fn emptiness_is_refused_and_pictures_alone_are_not() {
    assert_eq!(folder(Parsed::default()).unwrap_err().code, DocumentCode::Empty);
    let blank = Parsed { rows: vec![Row::text(None, " \n ")], ..Parsed::default() };
    assert_eq!(folder(blank).unwrap_err().code, DocumentCode::Empty);
    let pictures = Parsed { rows: vec![Row::image(None, 0, "")], assets: vec![picture(1)], ..Parsed::default() };
    let folder = folder(pictures).unwrap();
    assert_eq!(folder.manifest.statistics.image_chunks, 1);
    assert_eq!(folder.manifest.quality.warnings[0].code, DocumentCode::NoText);
}

#[test]
fn sizes_are_checked_before_parsing() {
    let limits = Limits { file_bytes: 3, ..Limits::default() };
    let parse = |bytes: &'static [u8]| parse_to_folder(&Fixed(document()), &Bytes::from_static(bytes), &request(), &limits, &Still);
    assert_eq!(parse(b"1234").unwrap_err().code, DocumentCode::TooLarge);
    assert_eq!(parse(b"").unwrap_err().code, DocumentCode::Empty);
}

#[test]
fn the_revision_follows_from_source_parser_and_parameters() {
    let params = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
    let of = |source: &str, text: &str| revision_of(&Fixed(Parsed::default()), source, &params(text));
    assert_eq!(of("a", r#"{"x":1,"y":{"b":1,"a":2}}"#), of("a", r#"{"y":{"a":2,"b":1},"x":1}"#));
    assert_ne!(of("a", "{}"), of("b", "{}"));
    assert_ne!(of("a", "{}"), of("a", r#"{"x":1}"#));
}

#[test]
fn countless_headings_are_bounded() {
    let headings: Vec<Heading> = (0..200_000_u32).map(|n| heading("H", n % 9 + 1)).collect();
    let limits = Limits { sections: 5_000, ..Limits::default() };
    let parser = Fixed(Parsed { headings, ..Parsed::default() });
    let folder = parse_to_folder(&parser, &Bytes::from_static(b"source"), &request(), &limits, &Still).unwrap();
    let count = |nodes: &[quarry_model::HierarchyNode]| {
        fn walk(nodes: &[quarry_model::HierarchyNode], depth: usize) -> (usize, usize) {
            nodes.iter().fold((nodes.len(), depth), |(n, d), node| {
                let (below, deep) = walk(&node.children, depth + 1);
                (n + below, d.max(deep))
            })
        }
        walk(nodes, 0)
    };
    let (sections, depth) = count(&folder.hierarchy.headings);
    assert_eq!(sections, 5_000);
    assert!(depth <= 12);
    assert!(folder.manifest.quality.warnings.iter().any(|warning| warning.code == DocumentCode::TooLarge));
}

#[test]
fn a_contradiction_is_found() {
    let good = folder(document()).unwrap();
    let limits = Limits::default();
    let broken = |change: fn(&mut RevisionFolder)| {
        let mut folder = good.clone();
        change(&mut folder);
        validate::check(&folder, &limits)
    };
    assert_eq!(broken(|_| {}), Ok(()));
    assert!(matches!(broken(|f| f.chunks.chunks[1].ordinal = 9), Err(Inconsistency::Ordinal(1, 9))));
    assert!(matches!(broken(|f| f.files.retain(|x| x.name != "images/image-3.png")), Err(Inconsistency::File(_))));
    assert!(matches!(broken(|f| f.manifest.files.tables.clear()), Err(Inconsistency::File(_))));
    assert!(matches!(broken(|f| f.chunks.chunks[2].content.insert(0, 'x')), Err(Inconsistency::Link(2, 3))));
    assert!(matches!(broken(|f| f.nav.sections[0].chunk_count += 1), Err(Inconsistency::Counts(_))));
    assert!(matches!(broken(|f| f.manifest.statistics.text_chunks += 1), Err(Inconsistency::Counts(_))));
    assert!(matches!(broken(|f| f.hierarchy.headings.truncate(1)), Err(Inconsistency::Section(_))));
}
