//! Documents built in code, for tests: pages of content streams, standard fonts, pictures, and whatever else a case needs.
//! It is written with another library than the one that reads, so that reader and writer cannot share a mistake.
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test that cannot build its document must fail at once")]

use lopdf::{Dictionary, Document, Object, ObjectId, Stream, dictionary};

/// A page to be written.
#[derive(Debug, Clone)]
pub struct Leaf {
    /// Points.
    pub width: f32,
    /// Points.
    pub height: f32,
    /// Degrees clockwise.
    pub rotate: i64,
    /// The content stream.
    pub content: String,
    /// Pictures it may draw as `/I0`, `/I1`, …: width, height and grey pixels.
    pub pictures: Vec<(u32, u32, Vec<u8>)>,
}

impl Leaf {
    /// An empty page.
    pub fn sized(width: f32, height: f32) -> Self {
        Self { width, height, rotate: 0, content: String::new(), pictures: Vec::new() }
    }

    /// An empty page of A4.
    pub fn a4() -> Self {
        Self::sized(595.0, 842.0)
    }

    /// Adds operators.
    #[must_use]
    pub fn draw(mut self, operators: &str) -> Self {
        self.content.push_str(operators);
        self.content.push('\n');
        self
    }

    /// A line of text in Helvetica (`F1`), its baseline `down` points below the top.
    #[must_use]
    pub fn text(self, x: f32, down: f32, size: f32, text: &str) -> Self {
        self.shown(x, down, size, text, 0)
    }

    /// The same without ink, as under a scan.
    #[must_use]
    pub fn hidden(self, x: f32, down: f32, size: f32, text: &str) -> Self {
        self.shown(x, down, size, text, 3)
    }

    fn shown(self, x: f32, down: f32, size: f32, text: &str, mode: u8) -> Self {
        let up = self.height - down;
        let escaped = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
        self.draw(&format!("BT {mode} Tr /F1 {size} Tf {x} {up} Td ({escaped}) Tj ET"))
    }

    /// Lines of text below one another, from `down` points below the top.
    #[must_use]
    pub fn lines(mut self, x: f32, mut down: f32, size: f32, lines: &[&str]) -> Self {
        for line in lines {
            self = self.text(x, down, size, line);
            down += size * 1.2;
        }
        self
    }

    /// A grey picture over the whole page, drawn before everything that follows.
    #[must_use]
    pub fn scan(mut self, width: u32, height: u32, grey: Vec<u8>) -> Self {
        let index = self.pictures.len();
        self.pictures.push((width, height, grey));
        let (w, h) = (self.width, self.height);
        self.draw(&format!("q {w} 0 0 {h} 0 0 cm /I{index} Do Q"))
    }

    /// A light grey picture over the whole page.
    #[must_use]
    pub fn blank_scan(self) -> Self {
        self.scan(4, 4, vec![220; 16])
    }
}

/// A document under construction.
#[derive(Debug)]
pub struct Builder {
    /// What is written; cases reach in for what has no method here.
    pub document: Document,
    pages: ObjectId,
    fonts: ObjectId,
    kids: Vec<Object>,
    /// The catalog's entries.
    pub catalog: Dictionary,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A document without pages.
    pub fn new() -> Self {
        let mut document = Document::with_version("1.5");
        let pages = document.new_object_id();
        let font = |name: &str| {
            dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => name, "Encoding" => "WinAnsiEncoding" }
        };
        let fonts = document.add_object(dictionary! { "F1" => font("Helvetica"), "F2" => font("Helvetica-Bold") });
        Self { document, pages, fonts, kids: Vec::new(), catalog: dictionary! { "Type" => "Catalog", "Pages" => pages } }
    }

    /// The dictionary of fonts that every page uses.
    pub fn fonts(&mut self) -> &mut Dictionary {
        self.document.get_dictionary_mut(self.fonts).unwrap()
    }

    /// Adds a page.
    #[must_use]
    pub fn page(mut self, leaf: Leaf) -> Self {
        self.add(leaf);
        self
    }

    /// Adds a page and says which object it is.
    pub fn add(&mut self, leaf: Leaf) -> ObjectId {
        let mut pictures = Dictionary::new();
        for (index, (width, height, grey)) in leaf.pictures.into_iter().enumerate() {
            let kind = dictionary! {
                "Type" => "XObject", "Subtype" => "Image", "Width" => i64::from(width), "Height" => i64::from(height),
                "ColorSpace" => "DeviceGray", "BitsPerComponent" => 8,
            };
            let picture = self.document.add_object(Stream::new(kind, grey));
            pictures.set(format!("I{index}"), picture);
        }
        let content = self.document.add_object(Stream::new(dictionary! {}, leaf.content.into_bytes()));
        let page = self.document.add_object(dictionary! {
            "Type" => "Page", "Parent" => self.pages, "Contents" => content, "Rotate" => leaf.rotate,
            "MediaBox" => vec![0.into(), 0.into(), leaf.width.into(), leaf.height.into()],
            "Resources" => dictionary! { "Font" => self.fonts, "XObject" => pictures },
        });
        self.kids.push(page.into());
        page
    }

    /// Sets the title of the document's own metadata.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        let info = self.document.add_object(dictionary! { "Title" => Object::string_literal(title) });
        self.document.trailer.set("Info", info);
        self
    }

    /// The finished document, for cases that go on with it.
    pub fn finish(mut self) -> Document {
        let count = i64::try_from(self.kids.len()).unwrap();
        let tree = dictionary! { "Type" => "Pages", "Kids" => self.kids, "Count" => count };
        self.document.objects.insert(self.pages, tree.into());
        let catalog = self.document.add_object(self.catalog);
        self.document.trailer.set("Root", catalog);
        self.document
    }

    /// The file, its streams deflated.
    pub fn save(self) -> Vec<u8> {
        let mut document = self.finish();
        document.compress();
        written(document)
    }
}

/// The bytes of a finished document.
pub fn written(mut document: Document) -> Vec<u8> {
    let mut bytes = Vec::new();
    document.save_to(&mut bytes).unwrap();
    bytes
}
