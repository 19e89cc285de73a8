//! The dependency rule, the bans, the licences and the five places a format lives in, read from the workspace itself.

mod dependencies;
mod files;
mod formats;
mod licences;
