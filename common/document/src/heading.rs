//! The heading tree: levels → a tree of sections.
//!
//! A heading closes every open section of its own or a deeper level. Jumps (1 → 3) are normalised, so that a child is
//! always exactly one level below its parent; the level as the source had it is kept beside it. Headings below
//! `limits.tree_depth` become siblings at that depth.

use std::collections::HashMap;

use quarry_model::{Evidence, Heading, HierarchyFile, HierarchyNode, Limits, Row, SCHEMA_VERSION, SectionId, path};
use serde_json::{Map, Value};

use crate::parser::file_stem;

/// One section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Its identity: the titles from the root, and which one of that name it is.
    pub id: SectionId,
    /// As shown, number included; the file stem at level 0.
    pub title: String,
    /// The part of the title that the source counts and its author did not write.
    pub number: Option<String>,
    /// From 1; 0 only for text before the first heading.
    pub level: u32,
    /// The level as the source had it, when normalising changed it.
    pub original_level: Option<u32>,
    /// The section it stands in.
    pub parent: Option<usize>,
    /// `file name/title/title`, escaped (see [`quarry_model::path`]).
    pub path: String,
    /// Page, when the format has pages.
    pub page: Option<u32>,
    /// What made it a heading; `None` only at level 0.
    pub evidence: Option<Evidence>,
}

/// All sections in document order, parents before their children.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SectionTree {
    sections: Vec<Section>,
    /// 1 when text before the first heading has a section of its own, which is then the first.
    offset: usize,
}

impl SectionTree {
    /// Builds the tree. There is a section at level 0 exactly when some row stands before the first heading.
    pub fn build(headings: &[Heading], rows: &[Row], file_name: &str, limits: &Limits) -> Self {
        let mut builder = Builder { sections: Vec::with_capacity(headings.len()), occurrences: HashMap::new(), open: Vec::new() };
        let preface = rows.iter().any(|row| row.section.is_none());
        if preface {
            let stem = file_stem(file_name);
            builder.sections.push(Section {
                id: SectionId::for_path(&[], 0),
                title: stem.to_owned(),
                number: None,
                level: 0,
                original_level: None,
                parent: None,
                path: path::join([file_name, stem]),
                page: rows.iter().find(|row| row.section.is_none()).and_then(|row| row.pages.first().copied()),
                evidence: None,
            });
        }
        for heading in headings {
            builder.add(heading, file_name, limits.tree_depth.max(1) as usize);
        }
        Self { sections: builder.sections, offset: usize::from(preface) }
    }

    /// All sections.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Where the section of a row stands in [`SectionTree::sections`].
    pub fn index_of(&self, row_section: Option<usize>) -> usize {
        let last = self.sections.len().saturating_sub(1);
        row_section.map_or(0, |heading| heading.saturating_add(self.offset).min(last))
    }

    /// The section of a row; `None` only in a tree without sections.
    pub fn of_row(&self, row: &Row) -> Option<&Section> {
        self.sections.get(self.index_of(row.section))
    }

    /// The sections directly below each, as indices, and those at the top.
    pub fn children(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut below = vec![Vec::new(); self.sections.len()];
        let mut top = Vec::new();
        for (index, section) in self.sections.iter().enumerate() {
            match section.parent.and_then(|parent| below.get_mut(parent)) {
                Some(list) => list.push(index),
                None => top.push(index),
            }
        }
        (below, top)
    }

    /// Deepest level; text before the first heading counts as level 1.
    pub fn depth(&self) -> u32 {
        self.sections.iter().map(|s| s.level.max(1)).max().unwrap_or(0)
    }

    /// `hierarchy.json`.
    pub fn hierarchy(&self) -> HierarchyFile {
        let (below, top) = self.children();
        HierarchyFile { schema_version: SCHEMA_VERSION, headings: top.into_iter().filter_map(|i| self.node(i, &below)).collect() }
    }

    /// The title as its author wrote it.
    fn own_title(section: &Section) -> &str {
        let number = section.number.as_ref().map_or(0, |number| number.len().saturating_add(1));
        section.title.get(number..).unwrap_or(&section.title)
    }

    // The tree is at most `limits.tree_depth` deep.
    fn node(&self, index: usize, below: &[Vec<usize>]) -> Option<HierarchyNode> {
        let section = self.sections.get(index)?;
        Some(HierarchyNode {
            section_id: section.id.clone(),
            title: Self::own_title(section).to_owned(),
            number: section.number.clone(),
            level: section.level,
            original_level: section.original_level,
            page: section.page,
            evidence: section.evidence,
            children: below.get(index).into_iter().flatten().filter_map(|i| self.node(*i, below)).collect(),
        })
    }

    /// Titles as nested objects (`HIERARCHY` in the manifest); equal titles among siblings are numbered from ` (2)`.
    pub fn titles(&self) -> Map<String, Value> {
        let (below, top) = self.children();
        self.titles_of(&top, &below)
    }

    fn titles_of(&self, indices: &[usize], below: &[Vec<usize>]) -> Map<String, Value> {
        let mut map = Map::new();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        for index in indices {
            let Some(section) = self.sections.get(*index) else { continue };
            let count = counts.entry(&section.title).or_default();
            loop {
                *count = count.saturating_add(1);
                let name = if *count == 1 { section.title.clone() } else { format!("{} ({count})", section.title) };
                if !map.contains_key(&name) {
                    let children = below.get(*index).map_or(&[][..], Vec::as_slice);
                    map.insert(name, Value::Object(self.titles_of(children, below)));
                    break;
                }
            }
        }
        map
    }
}

struct Builder {
    sections: Vec<Section>,
    /// How often each path of titles has been seen.
    occurrences: HashMap<String, usize>,
    /// Open sections from the top: the source's level and the index.
    open: Vec<(u32, usize)>,
}

impl Builder {
    fn add(&mut self, heading: &Heading, file_name: &str, depth: usize) {
        while self.open.last().is_some_and(|(level, _)| *level >= heading.level) {
            self.open.pop();
        }
        self.open.truncate(depth.saturating_sub(1));
        let parent = self.open.last().map(|(_, index)| *index);
        let level = u32::try_from(self.open.len()).unwrap_or(u32::MAX).saturating_add(1);
        let shown = heading.shown();
        let path = match parent.and_then(|p| self.sections.get(p)) {
            Some(parent) => format!("{}/{}", parent.path, path::escape(&shown)),
            None => path::join([file_name, &shown]),
        };
        let titles: Vec<&str> =
            self.open.iter().filter_map(|(_, index)| self.sections.get(*index)).map(|s| s.title.as_str()).chain([shown.as_str()]).collect();
        let seen = self.occurrences.entry(titles.join("\u{0}")).or_default();
        let id = SectionId::for_path(&titles, *seen);
        *seen = seen.saturating_add(1);
        self.open.push((heading.level, self.sections.len()));
        self.sections.push(Section {
            id,
            number: heading.number.clone(),
            level,
            original_level: (heading.level != level).then_some(heading.level),
            parent,
            path,
            page: heading.page,
            evidence: Some(heading.evidence),
            title: shown,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(level: u32, title: &str) -> Heading {
        Heading { title: title.into(), number: None, level, page: None, evidence: Evidence::Markup }
    }

    fn tree(headings: &[(u32, &str)], rows: &[Row]) -> SectionTree {
        let headings: Vec<Heading> = headings.iter().map(|(l, t)| heading(*l, t)).collect();
        SectionTree::build(&headings, rows, "a/b.md", &Limits::default())
    }

    #[test]
    fn jumps_are_normalised_and_returns_close_descendants() {
        let tree = tree(&[(2, "A"), (5, "B"), (6, "C"), (4, "D"), (2, "E"), (1, "F"), (3, "G")], &[]);
        let shape: Vec<(u32, Option<usize>, Option<u32>)> = tree.sections().iter().map(|s| (s.level, s.parent, s.original_level)).collect();
        assert_eq!(
            shape,
            [
                (1, None, Some(2)),
                (2, Some(0), Some(5)),
                (3, Some(1), Some(6)),
                (2, Some(0), Some(4)),
                (1, None, Some(2)),
                (1, None, None),
                (2, Some(5), Some(3)),
            ]
        );
        assert_eq!(tree.sections()[2].path, "a\u{2215}b.md/A/B/C");
        assert_eq!(tree.depth(), 3);
    }

    #[test]
    fn a_counted_number_is_shown_and_kept_apart() {
        let counted = Heading { number: Some("1.2".into()), ..heading(1, "Scope") };
        let tree = SectionTree::build(&[counted], &[], "a.docx", &Limits::default());
        assert_eq!((tree.sections()[0].title.as_str(), tree.sections()[0].path.as_str()), ("1.2 Scope", "a.docx/1.2 Scope"));
        let node = &tree.hierarchy().headings[0];
        assert_eq!((node.title.as_str(), node.number.as_deref()), ("Scope", Some("1.2")));
    }

    #[test]
    fn depth_is_capped() {
        let headings: Vec<(u32, String)> = (1..=40).map(|n| (n, n.to_string())).collect();
        let headings: Vec<Heading> = headings.iter().map(|(l, t)| heading(*l, t)).collect();
        let tree = SectionTree::build(&headings, &[], "a.md", &Limits::default());
        assert_eq!(tree.depth(), 12);
        assert!(tree.sections()[12..].iter().all(|s| s.level == 12 && s.parent == Some(10)));
        assert_eq!(tree.sections()[20].original_level, Some(21));
    }

    #[test]
    fn text_before_the_first_heading_has_its_own_section_only_when_there_is_some() {
        let with = tree(&[(1, "b")], &[Row::text(None, "x"), Row::text(Some(0), "y")]);
        assert_eq!((with.sections()[0].level, with.sections()[0].title.as_str()), (0, "a/b"));
        assert_eq!((with.index_of(None), with.index_of(Some(0))), (0, 1));
        let without = tree(&[(1, "b")], &[Row::text(Some(0), "y")]);
        assert_eq!(without.sections().len(), 1);
        assert_eq!(without.sections()[0].id, with.sections()[1].id, "a preface does not change identities");
    }

    #[test]
    fn equal_titles_differ_in_identity_and_in_the_manifest() {
        let tree = tree(&[(1, "A"), (2, "x"), (2, "x"), (2, "x (2)"), (1, "A")], &[]);
        let ids: std::collections::HashSet<_> = tree.sections().iter().map(|s| &s.id).collect();
        assert_eq!(ids.len(), 5);
        let titles = tree.titles();
        assert_eq!(titles.keys().collect::<Vec<_>>(), ["A", "A (2)"]);
        assert_eq!(titles["A"].as_object().unwrap().len(), 3);
    }
}
