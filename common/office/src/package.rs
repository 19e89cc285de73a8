//! The container: parts, relationships, and the rule which damage fails the document and which is a warning.

use std::collections::BTreeMap;
use std::rc::Rc;

use quarry_document::archive::{Archive, PartStream, relationships_of, resolve_target};
use quarry_document::xml::{Element, Ns, Tree, decode};
use quarry_model::{DocumentCode, DocumentFailure, Limits};

use quarry_document::Warnings;

/// Where a relationship leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A part of this package.
    Part(String),
    /// An address outside; never opened.
    External(String),
}

/// One relationship.
#[derive(Debug, Clone)]
pub struct Relationship {
    /// Last segment of its type: `image`, `styles`, `footnotes`. Strict and Transitional types end alike.
    pub kind: String,
    /// Where it leads.
    pub target: Target,
}

/// The relationships of one part, by id.
#[derive(Debug, Default)]
pub struct Relationships {
    by_id: BTreeMap<String, Relationship>,
}

impl Relationships {
    /// The relationship of this id.
    pub fn get(&self, id: &str) -> Option<&Relationship> {
        self.by_id.get(id)
    }

    /// The part that this id leads to.
    pub fn part(&self, id: &str) -> Option<&str> {
        self.get(id).and_then(|relationship| match &relationship.target {
            Target::Part(part) => Some(part.as_str()),
            Target::External(_) => None,
        })
    }

    /// All parts of this kind, by id.
    pub fn parts_of_kind(&self, kind: &str) -> impl Iterator<Item = (&str, &str)> {
        self.by_id.iter().filter_map(move |(id, relationship)| match &relationship.target {
            Target::Part(part) if relationship.kind == kind => Some((id.as_str(), part.as_str())),
            _ => None,
        })
    }

    /// The first part of this kind.
    pub fn part_of_kind(&self, kind: &str) -> Option<&str> {
        self.parts_of_kind(kind).next().map(|(_, part)| part)
    }
}

/// An open package.
pub struct Package<'a> {
    archive: Archive<'a>,
    limits: &'a Limits,
    relationships: BTreeMap<String, Rc<Relationships>>,
}

impl<'a> Package<'a> {
    /// Opens a package.
    ///
    /// Fails like [`Archive::open`].
    pub fn open(bytes: &'a [u8], limits: &'a Limits) -> Result<Self, DocumentFailure> {
        Ok(Self { archive: Archive::open(bytes, limits)?, limits, relationships: BTreeMap::new() })
    }

    /// The name of the main part: what the package's relationships say, else where it usually stands.
    ///
    /// Fails with `CORRUPT` when there is neither.
    pub fn main_part(&mut self, usual: &str, warnings: &mut Warnings) -> Result<String, DocumentFailure> {
        let root = self.relationships("", warnings)?;
        if let Some(part) = root.part_of_kind("officeDocument").filter(|part| self.archive.contains(part)) {
            return Ok(part.to_owned());
        }
        if self.archive.contains(usual) {
            return Ok(usual.to_owned());
        }
        Err(DocumentFailure::new(DocumentCode::Corrupt, "no main document part"))
    }

    /// The title in the core properties, found by relationship or in their usual place.
    pub fn title(&mut self, warnings: &mut Warnings) -> Result<Option<String>, DocumentFailure> {
        let root = self.relationships("", warnings)?;
        let part = root.part_of_kind("core-properties").unwrap_or("docProps/core.xml");
        let Some(tree) = self.optional_tree(part, warnings)? else { return Ok(None) };
        let title = tree.root().child(Ns::Dc, "title").map(Element::text).unwrap_or_default();
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Some(title).filter(|title| !title.is_empty()))
    }

    /// Whether there is such a part.
    pub fn contains(&self, part: &str) -> bool {
        self.archive.contains(part)
    }

    /// A part as it is decoded; `None` when there is none.
    ///
    /// Fails like [`Archive::stream`].
    pub fn stream(&mut self, part: &str) -> Result<Option<PartStream<'_>>, DocumentFailure> {
        self.archive.stream(part)
    }

    /// Whether a failure is one that no part may be forgiven: the document as a whole expands too far.
    pub fn is_exhausted(&self) -> bool {
        self.archive.expansion().used() > self.limits.expanded_bytes
    }

    /// A part that the document cannot do without.
    pub fn required_tree(&mut self, part: &str) -> Result<Tree, DocumentFailure> {
        let missing = || DocumentFailure::new(DocumentCode::Corrupt, format!("part {part} is missing"));
        let bytes = self.archive.read(part)?.ok_or_else(missing)?;
        Tree::parse(&decode(bytes), self.limits).map_err(|failure| within(part, &failure))
    }

    /// A part that may be missing. Damage is a warning; crossing a limit still fails the document.
    pub fn optional_tree(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Tree>, DocumentFailure> {
        if !self.archive.contains(part) {
            return Ok(None);
        }
        match self.required_tree(part) {
            Ok(tree) => Ok(Some(tree)),
            Err(failure) if failure.code == DocumentCode::Corrupt => {
                warnings.partial(failure.code, failure.detail);
                Ok(None)
            }
            Err(failure) => Err(failure),
        }
    }

    /// A part that another one refers to: one that is missing is a warning as well.
    pub fn linked_tree(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Tree>, DocumentFailure> {
        if !self.archive.contains(part) {
            warnings.partial(DocumentCode::Corrupt, format!("part {part} is missing"));
        }
        self.optional_tree(part, warnings)
    }

    /// The bytes of a picture. One that cannot be decoded, or that expands like a bomb by itself, is a warning; only
    /// the document's total is fatal.
    pub fn media(&mut self, part: &str, warnings: &mut Warnings) -> Result<Option<Vec<u8>>, DocumentFailure> {
        match self.archive.read(part) {
            Ok(Some(bytes)) => Ok(Some(bytes)),
            Ok(None) => {
                warnings.partial(DocumentCode::Corrupt, format!("picture {part} is missing"));
                Ok(None)
            }
            Err(failure) if self.is_exhausted() => Err(failure),
            Err(failure) => {
                warnings.partial(failure.code, failure.detail);
                Ok(None)
            }
        }
    }

    /// The relationships of a part (of the package when there is none); none when it has none.
    pub fn relationships(&mut self, part: &str, warnings: &mut Warnings) -> Result<Rc<Relationships>, DocumentFailure> {
        if let Some(known) = self.relationships.get(part) {
            return Ok(Rc::clone(known));
        }
        let mut found = Relationships::default();
        if let Some(tree) = self.optional_tree(&relationships_of(part), warnings)? {
            for element in tree.root().elements().filter(|element| element.is(Ns::Relationships, "Relationship")) {
                let attribute = |name| element.attribute(Ns::None, name).unwrap_or_default();
                let kind = attribute("Type").rsplit('/').next().unwrap_or_default().to_owned();
                let target = if attribute("TargetMode").eq_ignore_ascii_case("external") {
                    Target::External(attribute("Target").to_owned())
                } else {
                    match resolve_target(part, attribute("Target")) {
                        Some(part) => Target::Part(part),
                        None => continue,
                    }
                };
                found.by_id.entry(attribute("Id").to_owned()).or_insert(Relationship { kind, target });
            }
        }
        let found = Rc::new(found);
        self.relationships.insert(part.to_owned(), Rc::clone(&found));
        Ok(found)
    }
}

fn within(part: &str, failure: &DocumentFailure) -> DocumentFailure {
    DocumentFailure::new(failure.code, format!("part {part}: {}", failure.detail))
}
