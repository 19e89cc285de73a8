//! What the program prints. Results go to standard output, everything else to standard error.

use std::io::{ErrorKind, Write};

use serde::Serialize;
use serde_json::json;

use crate::exit::Failure;

/// Writes to standard output. A reader that has seen enough and closed its end (`| head`) is no failure.
pub(crate) fn text(text: impl std::fmt::Display) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// Writes a value as JSON to standard output.
pub(crate) fn json(value: &impl Serialize) -> Result<(), Failure> {
    text(serde_json::to_string_pretty(value)?)
}

/// Says something about the work to standard error. Where nobody can read that there is nobody to tell.
pub(crate) fn note(text: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// Says why the program ends.
pub(crate) fn failure(failure: &Failure, as_json: bool) {
    if as_json {
        let body = json!({ "error": { "message": sentence(&failure.error), "exit_code": failure.exit.code() } });
        note(body);
    } else {
        note(format!("quarry: {}", sentence(&failure.error)));
    }
}

/// An error with its causes; a cause that the error itself has told already is not told again.
fn sentence(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Text of documents for a terminal: control characters (escape sequences, bidirectional overrides) could change what is
/// seen, so they are shown as U+FFFD.
pub(crate) fn safe(text: &str) -> String {
    let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    text.chars().map(|c| if hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// One line of at most `width` characters.
pub(crate) fn line(text: &str, width: usize) -> String {
    let folded: String = safe(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if folded.chars().count() <= width {
        return folded;
    }
    let cut: String = folded.chars().take(width.saturating_sub(1)).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = anyhow::anyhow!("No such file").context("open x: No such file").context("cannot open the data folder");
        assert_eq!(sentence(&error), "cannot open the data folder: open x: No such file");
    }

    #[test]
    fn what_could_fool_a_terminal_is_shown() {
        assert_eq!(safe("a\u{1b}[31mb\u{202e}c\td\n"), "a\u{fffd}[31mb\u{fffd}c\td\n");
        assert_eq!(line("  one\n two   three ", 40), "one two three");
        assert_eq!(line("one two three", 8), "one two…");
    }
}
