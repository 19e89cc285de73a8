//! PDF files made in code: text at places, rules, pages, an outline.

use lopdf::content::{Content, Operation};
use lopdf::{Bookmark, Document, Object, ObjectId, Stream, dictionary};

/// A page of 612 × 792 points; all places count from the top left.
#[derive(Default)]
pub(crate) struct Sheet {
    operations: Vec<Operation>,
}

impl Sheet {
    /// Helvetica at a baseline.
    pub(crate) fn text(self, x: f32, y: f32, size: f32, text: &str) -> Self {
        self.set("F1", x, y, size, text)
    }

    /// Helvetica Bold at a baseline.
    pub(crate) fn bold(self, x: f32, y: f32, size: f32, text: &str) -> Self {
        self.set("F2", x, y, size, text)
    }

    /// Lines of text under each other, 12 points apart.
    pub(crate) fn lines(self, x: f32, y: f32, lines: &[&str]) -> Self {
        lines.iter().enumerate().fold(self, |sheet, (i, line)| sheet.text(x, y + 12.0 * i as f32, 10.0, line))
    }

    /// A level rule.
    pub(crate) fn rule(self, x0: f32, x1: f32, y: f32) -> Self {
        self.stroke((x0, y), (x1, y))
    }

    #[allow(dead_code, reason = "not every test draws one")]
    /// A drawn grid: the left edges of its columns and the top edges of its rows, and the last ones' ends.
    pub(crate) fn grid(self, columns: &[f32], rows: &[f32]) -> Self {
        let (left, right) = (columns[0], columns[columns.len() - 1]);
        let (top, bottom) = (rows[0], rows[rows.len() - 1]);
        let level = rows.iter().fold(self, |sheet, y| sheet.rule(left, right, *y));
        columns.iter().fold(level, |sheet, x| sheet.stroke((*x, top), (*x, bottom)))
    }

    fn stroke(mut self, from: (f32, f32), to: (f32, f32)) -> Self {
        for (operator, (x, y)) in [("m", from), ("l", to)] {
            self.operations.push(Operation::new(operator, vec![Object::Real(x), Object::Real(792.0 - y)]));
        }
        self.operations.push(Operation::new("S", vec![]));
        self
    }

    fn set(mut self, font: &str, x: f32, y: f32, size: f32, text: &str) -> Self {
        self.operations.extend([
            Operation::new("BT", vec![]),
            Operation::new("Tf", vec![font.into(), Object::Real(size)]),
            Operation::new("Td", vec![Object::Real(x), Object::Real(792.0 - y)]),
            Operation::new("Tj", vec![Object::string_literal(text)]),
            Operation::new("ET", vec![]),
        ]);
        self
    }
}

/// The bytes of a document; `outline` names pages from 0.
pub(crate) fn document(sheets: Vec<Sheet>, outline: &[(&str, usize)]) -> Vec<u8> {
    let mut document = Document::with_version("1.5");
    let pages_id = document.new_object_id();
    let font = |name: &str| dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => name, "Encoding" => "WinAnsiEncoding" };
    let (plain, bold) = (document.add_object(font("Helvetica")), document.add_object(font("Helvetica-Bold")));
    let resources = document.add_object(dictionary! { "Font" => dictionary! { "F1" => plain, "F2" => bold } });
    let mut kids: Vec<ObjectId> = Vec::new();
    for sheet in sheets {
        let content = Content { operations: sheet.operations }.encode().expect("operations encode");
        let content = document.add_object(Stream::new(dictionary! {}, content));
        kids.push(document.add_object(dictionary! { "Type" => "Page", "Parent" => pages_id, "Contents" => content }));
    }
    let count = i64::try_from(kids.len()).expect("few pages");
    let pages = dictionary! {
        "Type" => "Pages",
        "Kids" => kids.iter().map(|id| Object::from(*id)).collect::<Vec<Object>>(),
        "Count" => count,
        "Resources" => resources,
        "MediaBox" => vec![0.into(), 0.into(), 612.into(), 792.into()],
    };
    document.objects.insert(pages_id, Object::Dictionary(pages));
    let catalog = document.add_object(dictionary! { "Type" => "Catalog", "Pages" => pages_id });
    document.trailer.set("Root", catalog);
    for (title, page) in outline {
        document.add_bookmark(Bookmark::new((*title).to_owned(), [0.0; 3], 0, kids[*page]), None);
    }
    if let Some(id) = document.build_outline() {
        let root = document.get_object_mut(catalog).and_then(Object::as_dict_mut).expect("a catalog");
        root.set("Outlines", id);
    }
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).expect("saved to memory");
    bytes
}
