//! Keys of a folder in key order, which is not the order of the file names.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::LocalError;
use crate::path::{Entry, entry};

/// Some keys in order.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) keys: Vec<String>,
    /// Whether there is more after the last one.
    pub(crate) more: bool,
}

/// At most `limit` keys of `folder`, which is the folder of `prefix`, that sort after `cursor`.
pub(crate) fn keys(folder: &Path, prefix: &str, cursor: Option<&str>, limit: usize) -> Result<Listed, LocalError> {
    let mut listed = Listed::default();
    walk(folder, prefix.as_bytes(), cursor.unwrap_or_default().as_bytes(), limit, &mut listed)?;
    Ok(listed)
}

/// Something in a folder: the bytes its key goes on with, and the folder to walk when it is not an object.
struct Step {
    rest: Vec<u8>,
    folder: Option<PathBuf>,
}

fn walk(folder: &Path, prefix: &[u8], cursor: &[u8], limit: usize, listed: &mut Listed) -> Result<(), LocalError> {
    let mut steps = Vec::new();
    gather(folder, &[], &mut steps)?;
    // A folder's bytes end in `/`, so sorting by bytes sorts whole subtrees as their keys sort.
    steps.sort_by(|a, b| a.rest.cmp(&b.rest));
    for step in steps {
        let key = [prefix, &step.rest].concat();
        let past = match &step.folder {
            Some(_) => key.as_slice() < cursor && !cursor.starts_with(&key),
            None => key.as_slice() <= cursor,
        };
        if past {
            continue;
        }
        if let Some(folder) = &step.folder {
            walk(folder, &key, cursor, limit, listed)?;
        } else if listed.keys.len() == limit {
            listed.more = true;
        } else if let Ok(key) = String::from_utf8(key) {
            listed.keys.push(key);
        }
        if listed.more {
            return Ok(());
        }
    }
    Ok(())
}

/// Reads one folder; the pieces of long components are read through, because their keys mix with their neighbours'.
fn gather(folder: &Path, begun: &[u8], steps: &mut Vec<Step>) -> Result<(), LocalError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(LocalError::file("list", folder)(error)),
    };
    for found in entries {
        let found = found.map_err(LocalError::file("list", folder))?;
        match found.file_name().to_str().and_then(entry) {
            Some(Entry::File(rest)) => steps.push(Step { rest: [begun, &rest].concat(), folder: None }),
            Some(Entry::Folder(rest)) => steps.push(Step { rest: [begun, &rest].concat(), folder: Some(found.path()) }),
            Some(Entry::Piece(rest)) => gather(&found.path(), &[begun, &rest].concat(), steps)?,
            // Not a file of ours: left alone.
            None => (),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::file_of;

    #[test]
    fn keys_come_in_key_order_in_pages_of_any_size() {
        let root = tempfile::tempdir().unwrap();
        let long = |end: &str| format!("p/{}{end}", "é".repeat(80));
        let mut keys: Vec<String> =
            ["p/a", "p/a/b", "p/a-b", "p/a0", "p/A", "p/a//", "p/a/", "p/é", "p/z/y/x", "p/a/b/c", "p/%41"].map(str::to_owned).to_vec();
        keys.extend([long(""), long("/x"), long("-"), long("z"), long(&"z".repeat(300))]);
        for key in &keys {
            let file = file_of(root.path(), key);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        keys.sort();
        let folder = crate::path::folder_of(root.path(), "p/");
        for limit in 1..=keys.len() + 1 {
            let mut got = Vec::new();
            let mut cursor = None;
            loop {
                let page = super::keys(&folder, "p/", cursor.as_deref(), limit).unwrap();
                assert!(page.keys.len() <= limit);
                got.extend(page.keys);
                if !page.more {
                    break;
                }
                cursor = got.last().cloned();
            }
            assert_eq!(got, keys, "limit {limit}");
        }
    }
}
