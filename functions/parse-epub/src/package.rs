//! The container: where the package document stands, what it lists, in which order, and what of it is encrypted.

use std::collections::{BTreeMap, BTreeSet};

use quarry_document::Warnings;
use quarry_document::archive::{Archive, resolve_target};
use quarry_document::prose::percent_decoded;
use quarry_document::xml::{self, Element, Ns, Tree};
use quarry_model::{DocumentCode, DocumentFailure, Limits};

/// Fonts whose first bytes are mangled: no protection of the text.
const FONT_MANGLING: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// A file of the book.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Item {
    /// Its name in the container.
    pub part: String,
    media_type: String,
    properties: String,
}

impl Item {
    pub(crate) fn is_picture(&self) -> bool {
        self.media_type.starts_with("image/")
    }

    fn is_chapter(&self) -> bool {
        matches!(self.media_type.as_str(), "application/xhtml+xml" | "text/html" | "text/x-oeb1-document" | "application/x-dtbook+xml")
    }

    /// Whether it is nothing but the contents list.
    pub(crate) fn is_navigation(&self) -> bool {
        self.has("nav")
    }

    fn has(&self, property: &str) -> bool {
        self.properties.split_ascii_whitespace().any(|word| word == property)
    }

    pub(crate) fn file_name(&self) -> &str {
        self.part.rsplit('/').next().unwrap_or_default()
    }
}

/// An open book.
pub(crate) struct Package<'a> {
    archive: Archive<'a>,
    items: Vec<Item>,
    spine: Vec<Item>,
    ncx: Option<Item>,
    encrypted: BTreeSet<String>,
    limits: Limits,
    /// The title by the book's own metadata.
    pub title: Option<String>,
}

impl<'a> Package<'a> {
    /// Opens a book. Fails with `CORRUPT` without a package document, `ENCRYPTED` when the text is protected, and when a
    /// limit is crossed.
    pub(crate) fn open(bytes: &'a [u8], limits: &Limits, warnings: &mut Warnings) -> Result<Self, DocumentFailure> {
        let mut archive = Archive::open(bytes, limits)?;
        let root = package_document(&mut archive, limits)?;
        let text = archive.read(&root)?.ok_or_else(|| corrupt("the package document is missing"))?;
        let tree = Tree::parse(&xml::decode(text), limits)?;
        let encrypted = encrypted_parts(&mut archive, limits)?;

        let manifest = child(tree.root(), "manifest");
        let mut items: Vec<Item> = Vec::new();
        let mut by_id: BTreeMap<&str, usize> = BTreeMap::new();
        for element in manifest.iter().flat_map(|manifest| manifest.elements()).filter(|element| element.name() == "item") {
            let Some((part, _)) = element.attribute(Ns::None, "href").and_then(|address| locate(&root, address)) else { continue };
            let value = |name| element.attribute(Ns::None, name).unwrap_or_default().trim();
            by_id.entry(value("id")).or_insert(items.len());
            items.push(Item { part, media_type: value("media-type").to_ascii_lowercase(), properties: value("properties").to_owned() });
        }
        let item = |id: &str| by_id.get(id.trim()).and_then(|index| items.get(*index));
        let spine_element = child(tree.root(), "spine");
        let mut spine: Vec<Item> = Vec::new();
        for reference in spine_element.iter().flat_map(|spine| spine.elements()).filter(|element| element.name() == "itemref") {
            let id = reference.attribute(Ns::None, "idref").unwrap_or_default();
            match item(id) {
                Some(found) if spine.contains(found) => {}
                Some(found) => spine.push(found.clone()),
                None => warnings.partial(DocumentCode::Corrupt, format!("the book names a chapter {id} that it does not list")),
            }
        }
        if spine.is_empty() {
            // Without an order of reading, the order of the list.
            spine = items.iter().filter(|item| item.is_chapter()).cloned().collect();
        }
        if spine.is_empty() {
            return Err(corrupt("the book lists no chapters"));
        }
        if spine.iter().any(|item| encrypted.contains(&item.part)) {
            return Err(DocumentFailure::new(DocumentCode::Encrypted, "the chapters are protected by digital rights management"));
        }
        let ncx = spine_element.and_then(|spine| spine.attribute(Ns::None, "toc")).and_then(item).cloned();
        let ncx = ncx.or_else(|| items.iter().find(|item| item.media_type == "application/x-dtbncx+xml").cloned());
        let title = child(tree.root(), "metadata").and_then(title);
        Ok(Self { archive, items, spine, ncx, encrypted, limits: limits.clone(), title })
    }

    /// Every file listed.
    pub(crate) fn items(&self) -> impl Iterator<Item = &Item> {
        self.items.iter()
    }

    /// The files in reading order.
    pub(crate) fn spine(&self) -> Vec<Item> {
        self.spine.clone()
    }

    /// The EPUB 3 navigation document.
    pub(crate) fn navigation(&self) -> Option<Item> {
        self.items.iter().find(|item| item.is_navigation()).cloned()
    }

    /// The EPUB 2 contents list.
    pub(crate) fn ncx(&self) -> Option<Item> {
        self.ncx.clone()
    }

    /// A file's bytes. One that is missing, damaged or encrypted is a warning; a crossed limit is a failure.
    pub(crate) fn read(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Vec<u8>>, DocumentFailure> {
        let name = part.rsplit('/').next().unwrap_or_default();
        if self.encrypted.contains(part) {
            warnings.partial(DocumentCode::Encrypted, format!("{name} is encrypted"));
            return Ok(None);
        }
        match self.archive.read(part) {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => {
                warnings.partial(DocumentCode::Corrupt, format!("{name} is listed, but not in the container"));
                Ok(None)
            }
            Err(failure) if matches!(failure.code, DocumentCode::Corrupt | DocumentCode::Unsupported) => {
                warnings.partial(failure.code, failure.detail);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// A file as XML; one that is none is a warning.
    pub(crate) fn tree(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Tree>, DocumentFailure> {
        let Some(bytes) = self.read(part, warnings)? else { return Ok(None) };
        match Tree::parse(&xml::decode(bytes), &self.limits) {
            Ok(tree) => Ok(Some(tree)),
            Err(failure) if failure.code == DocumentCode::Corrupt => {
                warnings.note(failure.code, failure.detail);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }
}

/// An address in a file as a part of the container and a fragment; `None` for one that leads outside.
pub(crate) fn locate(from: &str, address: &str) -> Option<(String, String)> {
    let (path, fragment) = address.trim().split_once('#').unwrap_or((address.trim(), ""));
    let decode = |text: &str| String::from_utf8_lossy(&percent_decoded(text)).into_owned();
    let path = decode(path);
    let part = if path.is_empty() { from.to_owned() } else { resolve_target(from, &path)? };
    Some((part, decode(fragment)))
}

/// The name of the package document: what the container says, or the only one there is.
fn package_document(archive: &mut Archive<'_>, limits: &Limits) -> Result<String, DocumentFailure> {
    if let Some(bytes) = archive.read("META-INF/container.xml")?
        && let Ok(tree) = Tree::parse(&xml::decode(bytes), limits)
    {
        let named = tree.root().descendants().filter(|element| element.name() == "rootfile");
        let named: Vec<String> = named.filter_map(|element| resolve_target("", element.attribute(Ns::None, "full-path")?.trim())).collect();
        if let Some(found) = named.into_iter().find(|part| archive.contains(part)) {
            return Ok(found);
        }
    }
    archive.names().find(|name| name.ends_with(".opf")).map(str::to_owned).ok_or_else(|| corrupt("no package document"))
}

/// Parts that are encrypted, mangled fonts left out.
fn encrypted_parts(archive: &mut Archive<'_>, limits: &Limits) -> Result<BTreeSet<String>, DocumentFailure> {
    let Some(bytes) = archive.read("META-INF/encryption.xml")? else { return Ok(BTreeSet::new()) };
    let tree = Tree::parse(&xml::decode(bytes), limits)?;
    let data = tree.root().descendants().filter(|element| element.name() == "EncryptedData");
    let encrypted = data.filter_map(|data| {
        let method = data.elements().find(|element| element.name() == "EncryptionMethod");
        let algorithm = method.and_then(|method| method.attribute(Ns::None, "Algorithm")).unwrap_or_default();
        let reference = data.descendants().find(|element| element.name() == "CipherReference")?;
        let (part, _) = locate("", reference.attribute(Ns::None, "URI")?)?;
        (!FONT_MANGLING.contains(&algorithm)).then_some(part)
    });
    Ok(encrypted.collect())
}

/// The main title: the first one, or the one refined as `main`.
fn title(metadata: Element<'_>) -> Option<String> {
    let titles = || metadata.descendants().filter(|element| element.is(Ns::Dc, "title"));
    let main = metadata
        .descendants()
        .find(|meta| meta.name() == "meta" && meta.attribute(Ns::None, "property") == Some("title-type") && meta.text().trim() == "main");
    let refined = main.and_then(|meta| meta.attribute(Ns::None, "refines")).map(|id| id.trim_start_matches('#'));
    let found = refined.and_then(|id| titles().find(|title| title.attribute(Ns::None, "id") == Some(id))).or_else(|| titles().next())?;
    let text = found.text().split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

fn child<'t>(element: Element<'t>, name: &str) -> Option<Element<'t>> {
    element.elements().find(|child| child.name() == name)
}

fn corrupt(detail: &str) -> DocumentFailure {
    DocumentFailure::new(DocumentCode::Corrupt, detail)
}
