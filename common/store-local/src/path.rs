//! Where an object's file is, and which object a file is: the two undo each other for every key.
//!
//! A key's components become folders and a file. Lower-case ASCII letters, digits, `-`, `_` and `.` stay; an upper-case
//! letter becomes `=` and its lower-case form, so that disks that ignore case keep keys apart; any other byte becomes
//! `%` and two hex digits. A folder's name ends in `,`, so that the keys `a` and `a/b` can both exist. A component too
//! long for a file name is cut into pieces; the folder of a piece that goes on ends in `+`.

use std::path::{Path, PathBuf};

/// Longest encoded piece; with its mark it fits the 255 bytes of common disks.
const PIECE_MAX: usize = 200;
/// Ends the name of a folder that stands for a whole component.
const FOLDER: char = ',';
/// Ends the name of a folder that stands for the beginning of a long component.
const GOES_ON: char = '+';
/// The file of a key that ends in `/`: no encoded byte is a lone `%`.
const EMPTY: &str = "%";

/// The file of a key, below `root`.
pub(crate) fn file_of(root: &Path, key: &str) -> PathBuf {
    let (folders, file) = key.rsplit_once('/').map_or((None, key), |(folders, file)| (Some(folders), file));
    let mut path = folder_path(root, folders);
    let pieces = pieces(file);
    for (at, piece) in pieces.iter().enumerate() {
        let last = at + 1 == pieces.len();
        match (last, piece.is_empty()) {
            (true, true) => path.push(EMPTY),
            (true, false) => path.push(piece),
            (false, _) => path.push(format!("{piece}{GOES_ON}")),
        }
    }
    path
}

/// The folder of the keys that begin with `prefix`, which is empty or ends in `/`.
pub(crate) fn folder_of(root: &Path, prefix: &str) -> PathBuf {
    folder_path(root, prefix.strip_suffix('/'))
}

fn folder_path(root: &Path, folders: Option<&str>) -> PathBuf {
    let mut path = root.to_owned();
    for component in folders.into_iter().flat_map(|folders| folders.split('/')) {
        let pieces = pieces(component);
        for (at, piece) in pieces.iter().enumerate() {
            let mark = if at + 1 == pieces.len() { FOLDER } else { GOES_ON };
            path.push(format!("{piece}{mark}"));
        }
    }
    path
}

fn pieces(component: &str) -> Vec<String> {
    let only_dots = component.bytes().all(|byte| byte == b'.');
    let mut pieces = vec![String::new()];
    for byte in component.bytes() {
        let encoded = match byte {
            b'.' if only_dots => "%2e".to_owned(),
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
            b'A'..=b'Z' => format!("={}", char::from(byte.to_ascii_lowercase())),
            other => format!("%{other:02x}"),
        };
        match pieces.last_mut() {
            Some(piece) if piece.len() + encoded.len() <= PIECE_MAX => piece.push_str(&encoded),
            _ => pieces.push(encoded),
        }
    }
    pieces
}

/// What one directory entry stands for, as bytes of the key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An object whose key ends here.
    File(Vec<u8>),
    /// All keys that go on after a `/`, which is included.
    Folder(Vec<u8>),
    /// All keys that go on within the component.
    Piece(Vec<u8>),
}

/// Reads an entry's name; `None` for a name this module does not write.
pub(crate) fn entry(name: &str) -> Option<Entry> {
    if name == EMPTY {
        return Some(Entry::File(Vec::new()));
    }
    if let Some(name) = name.strip_suffix(FOLDER) {
        let mut bytes = decoded(name)?;
        bytes.push(b'/');
        return Some(Entry::Folder(bytes));
    }
    match name.strip_suffix(GOES_ON) {
        Some(name) => decoded(name).map(Entry::Piece),
        None => decoded(name).map(Entry::File),
    }
}

fn decoded(name: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(name.len());
    let mut bytes = name.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' => byte,
            b'=' => bytes.next().filter(u8::is_ascii_lowercase)?.to_ascii_uppercase(),
            b'%' => hex_digit(bytes.next()?)? * 16 + hex_digit(bytes.next()?)?,
            _ => return None,
        });
    }
    Some(out)
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key_of(path: &Path) -> String {
        let mut key = Vec::new();
        for name in path.strip_prefix("/r").unwrap() {
            match entry(name.to_str().unwrap()).unwrap() {
                Entry::File(bytes) | Entry::Folder(bytes) | Entry::Piece(bytes) => key.extend(bytes),
            }
        }
        String::from_utf8(key).unwrap()
    }

    #[test]
    fn every_key_comes_back() {
        let long = "é".repeat(512);
        let keys = ["a", "a/", "a//b", "/", "..", "../../etc/passwd", "a/./b", "A/a", "x y+z%20", "a,", "a+", "漢/字", &long];
        for key in keys {
            let path = file_of(Path::new("/r"), key);
            assert_eq!(key_of(&path), key, "{}", path.display());
            assert!(path.components().all(|part| part.as_os_str().len() <= 255));
            assert!(!path.components().any(|part| matches!(part, std::path::Component::ParentDir)));
        }
    }

    #[test]
    fn different_keys_have_different_files_even_without_case() {
        let keys = ["a", "A", "a/b", "a,/b", "a+", "=a", "%", "%25", "", "a/", "aa", "a/a"];
        let mut files: Vec<String> = keys.iter().map(|key| file_of(Path::new("/r"), key).display().to_string().to_lowercase()).collect();
        files.sort();
        files.dedup();
        assert_eq!(files.len(), keys.len());
    }

    #[test]
    fn a_file_lies_in_the_folder_of_its_prefix() {
        assert_eq!(file_of(Path::new("/r"), "documents/local/a.json"), Path::new("/r/documents,/local,/a.json"));
        assert_eq!(folder_of(Path::new("/r"), "documents/local/"), Path::new("/r/documents,/local,"));
        assert_eq!(folder_of(Path::new("/r"), ""), Path::new("/r"));
    }
}
