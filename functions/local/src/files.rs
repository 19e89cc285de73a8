//! Files on disk: which ones a call means, and what they are called in the store.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::Context;
use quarry_model::{DocumentId, Format, Namespace, ObjectKey, Scope};

use crate::exit::Failure;

/// The files that paths mean.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// To be read, in order of their paths.
    pub(crate) files: BTreeSet<PathBuf>,
    /// Seen in folders, but of a kind that nothing reads.
    pub(crate) unsupported: BTreeSet<PathBuf>,
}

/// Walks folders and takes files as they are named. Hidden entries and the data folder are passed over; what a caller
/// names outright is always taken, whatever it is called.
pub(crate) fn find(paths: &[PathBuf], data: &Path) -> Result<Found, Failure> {
    let mut found = Found::default();
    for path in paths {
        let real = path.canonicalize().map_err(|error| Failure::not_found(format!("{}: {error}", path.display())))?;
        if real.is_dir() {
            walk(&real, data, &mut found)?;
        } else {
            found.unsupported.remove(&real);
            found.files.insert(real);
        }
    }
    Ok(found)
}

fn walk(top: &Path, data: &Path, found: &mut Found) -> Result<(), Failure> {
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with('.') || path == data {
                continue;
            }
            // Links are not followed: they could lead in circles, or out of the folder.
            let kind = entry.file_type().with_context(|| format!("cannot read {}", path.display()))?;
            if kind.is_dir() {
                open.push(path);
            } else if kind.is_file() {
                if is_readable(&path) {
                    found.files.insert(path);
                } else if !found.files.contains(&path) {
                    found.unsupported.insert(path);
                }
            }
        }
    }
    Ok(())
}

/// Whether a parser reads files of this name. A name without an extension we know says nothing; such files are left
/// out of folders, where they are mostly not documents.
fn is_readable(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    Format::of_file_name(&name).is_some_and(|format| format.row().family.is_some())
}

/// The place of a local file in the store: `inbox/{namespace}/{absolute path}`.
pub(crate) fn place(namespace: &Namespace, path: &Path) -> ObjectKey {
    let absolute = path.to_string_lossy().replace('\\', "/");
    ObjectKey::from_event(&format!("inbox/{namespace}/{}", absolute.trim_start_matches('/')))
}

/// The document of a local file.
pub(crate) fn document(scope: &Scope, path: &Path) -> DocumentId {
    DocumentId::for_drop_in(scope, place(&scope.namespace, path).as_str())
}

/// Files are dropped under `inbox/{namespace}/…`: there a namespace cannot hold a slash.
pub(crate) fn check_namespace(namespace: &Namespace) -> Result<(), Failure> {
    if namespace.as_str().contains('/') {
        return Err(Failure::usage("files can be read into a namespace without `/` only"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_give_readable_files_and_names_give_anything() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        let data = top.join("data");
        for name in ["a.md", "b.bin", "sub/c.TXT", ".hidden/d.md", ".e.md", "data/f.md", "LICENSE"] {
            let path = top.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "x").unwrap();
        }
        let found = find(std::slice::from_ref(&top), &data).unwrap();
        let names = |set: &BTreeSet<PathBuf>| set.iter().map(|p| p.strip_prefix(&top).unwrap().display().to_string()).collect::<Vec<_>>();
        assert_eq!(names(&found.files), ["a.md", "sub/c.TXT"]);
        assert_eq!(names(&found.unsupported), ["LICENSE", "b.bin"]);
        let named = find(&[top.clone(), top.join("LICENSE")], &data).unwrap();
        assert!(names(&named.files).contains(&"LICENSE".to_owned()) && !names(&named.unsupported).contains(&"LICENSE".to_owned()));
        assert_eq!(find(&[top.join("none")], &data).unwrap_err().exit, crate::Exit::NotFound);
    }

    #[test]
    fn a_place_keeps_the_whole_path() {
        let key = place(&Namespace::new("legal").unwrap(), Path::new("/home/a b/ü.md"));
        assert_eq!(key.as_str(), "inbox/legal/home/a b/ü.md");
    }
}
