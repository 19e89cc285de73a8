//! Progress on standard error, only where somebody watches.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar, or nothing.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar over `total` documents, hidden when standard error is no terminal or JSON was asked for.
    pub(crate) fn documents(total: usize, json: bool) -> Self {
        let shown = !json && std::io::stderr().is_terminal();
        let bar = if shown { ProgressBar::new(total as u64) } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {pos}/{len} documents {bar:30} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }

    pub(crate) fn at(&self, done: usize, message: String) {
        self.0.set_position(done as u64);
        self.0.set_message(message);
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}
