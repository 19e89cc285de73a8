//! Every other parser: golden documents, changed. What comes in a container is changed inside it, part by part, so that the
//! parts are reached and not only the checksum.

use std::io::{Cursor, Read, Write};

use bytes::Bytes;
use quarry::parsers::parser;
use quarry_document::{RevisionRequest, parse_to_folder};
use quarry_model::format::FORMAT_TABLE;
use quarry_model::message::Profile;
use quarry_model::{DocumentCode, DocumentId, Format, Limits};
use quarry_ports::SystemClock;
use quarry_tests::repository;
use serde_json::Map;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use crate::change::{Chance, changed_from};

/// Pieces of syntax of all these formats.
const TOKENS: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "'",
    "&",
    "&#x10FFFF;",
    "&#0;",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml",
    "<!DOCTYPE x [<!ENTITY a \"b\">]>",
    " w:val=\"2147483648\"",
    " w:val=\"-1\"",
    " r:id=\"rId1\"",
    " r=\"XFD1048576\"",
    " s=\"99999\"",
    " t=\"s\"",
    " ref=\"A1:XFD1048576\"",
    " gridSpan=\"9999\"",
    " rowSpan=\"9999\"",
    " table:number-columns-repeated=\"16384\"",
    " table:number-rows-repeated=\"1048576\"",
    "<w:p>",
    "</w:p>",
    "<w:tbl>",
    "</w:tbl>",
    "<w:tr>",
    "<w:tc>",
    "<w:vMerge/>",
    "<w:gridSpan w:val=\"70000\"/>",
    "<w:txbxContent>",
    "<w:fldChar w:fldCharType=\"begin\"/>",
    "<w:fldChar w:fldCharType=\"end\"/>",
    "<mc:AlternateContent>",
    "<mc:Fallback>",
    "<m:oMath>",
    "<m:f>",
    "<a:t>",
    "<a:tbl>",
    "<p:grpSp>",
    "<c:ser>",
    "<text:p>",
    "<text:h>",
    "<text:list>",
    "<table:table>",
    "<table:covered-table-cell/>",
    "<v>",
    "<f>",
    "<is>",
    "<table>",
    "</table>",
    "<td rowspan=99999 colspan=99999>",
    "<tr>",
    "<th>",
    "<pre>",
    "<h1>",
    "<h6>",
    "<ul>",
    "<li>",
    "<dt>",
    "<svg>",
    "<math>",
    "<template>",
    "|",
    "|---|",
    "\n",
    "\r",
    "\t",
    "\n\n",
    "    ",
    "```",
    "~~~",
    "> ",
    "* ",
    "- ",
    "1. ",
    "# ",
    "===",
    "---\n",
    "+++\n",
    "[^a]",
    "[^a]: ",
    "![",
    "](",
    "$$",
    "`",
    "{",
    "}",
    "[",
    "]",
    ",",
    ";",
    ":",
    "1e999",
    "-0",
    "null",
    "{\\*\\",
    "\\trowd",
    "\\cell",
    "\\row",
    "\\bin99999999 ",
    "\\u-1?",
    "\\'zz",
    "\\pict",
    "\\field",
    "\\itap9",
    "Content-Type: multipart/mixed; boundary=x\n\n",
    "--x\n",
    "--x--\n",
    "Content-Transfer-Encoding: base64\n",
    "=?utf-8?b?w",
    "=?x?q?=",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "\u{fffd}",
    "𝔘",
];

/// A parser with the documents it is given.
pub(crate) struct Target {
    pub(crate) format: Format,
    corpus: Vec<Vec<u8>>,
    /// The parts of each document that is a container.
    containers: Vec<Vec<(String, Vec<u8>)>>,
}

/// All of them that golden documents exist for.
pub(crate) fn targets() -> Vec<Target> {
    let rows = FORMAT_TABLE.iter().filter(|row| row.format != Format::Pdf && row.family.is_some());
    rows.filter_map(|row| target(row.format)).collect()
}

fn target(format: Format) -> Option<Target> {
    let cases = std::fs::read_dir(repository().join("tests/golden").join(format.name())).ok()?;
    let files = cases.flatten().flat_map(|case| std::fs::read_dir(case.path()).into_iter().flatten().flatten());
    let inputs = files.filter(|file| file.file_name().to_string_lossy().starts_with("input."));
    let mut corpus: Vec<Vec<u8>> = inputs.filter_map(|file| std::fs::read(file.path()).ok()).collect();
    corpus.sort();
    let containers = corpus.iter().filter_map(|bytes| parts(bytes)).collect();
    (!corpus.is_empty()).then_some(Target { format, corpus, containers })
}

fn parts(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).ok()?;
            let mut content = Vec::new();
            entry.read_to_end(&mut content).ok()?;
            Some((entry.name().ok()?.into_owned(), content))
        })
        .collect()
}

fn packed(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, content) in parts {
        // A name that is there already is left out.
        if writer.start_file(name.as_str(), stored).is_ok() {
            writer.write_all(content).expect("memory");
        }
    }
    writer.finish().expect("memory").into_inner()
}

impl Target {
    /// A changed document.
    pub(crate) fn input(&self, chance: &mut Chance) -> Vec<u8> {
        // The container itself is changed now and then only.
        if self.containers.is_empty() || chance.below(16) == 0 {
            let bytes = self.corpus[chance.below(self.corpus.len())].clone();
            return changed_from(bytes, &self.corpus, TOKENS, chance);
        }
        let mut parts = self.containers[chance.below(self.containers.len())].clone();
        let contents: Vec<Vec<u8>> = parts.iter().map(|(_, content)| content.clone()).collect();
        for _ in 0..=chance.below(2) {
            let at = chance.below(parts.len());
            match chance.below(20) {
                0 => {
                    let other = chance.below(contents.len());
                    parts[at].1.clone_from(&contents[other]);
                }
                1 if parts.len() > 1 => {
                    parts.remove(at);
                }
                _ => parts[at].1 = changed_from(std::mem::take(&mut parts[at].1), &contents, TOKENS, chance),
            }
        }
        packed(&parts)
    }

    /// Reads a document to its revision folder.
    pub(crate) fn exercise(&self, bytes: &[u8]) {
        let limits = Limits {
            expanded_bytes: 64 << 20,
            stream_bytes: 16 << 20,
            image_pixels: 4_000_000,
            workbook_cells: 200_000,
            ..Limits::default()
        };
        let request = RevisionRequest {
            job_id: None,
            data_id: None,
            document_id: DocumentId::from_random([0; 6]),
            file_name: format!("input.{}", self.format.name()),
            profile: Profile {
                format: self.format,
                claimed_format: None,
                encoding: None,
                category: String::new(),
                routing_category: "generic".into(),
                pdf: None,
            },
            parsing_params: Map::new(),
        };
        let family = self.format.row().family.expect("a format that is read");
        let read = parse_to_folder(&*parser(family), &Bytes::copy_from_slice(bytes), &request, &limits, &SystemClock);
        if let Err(failure) = read {
            assert!(!matches!(failure.code, DocumentCode::Crashed), "{failure}");
        }
    }
}
