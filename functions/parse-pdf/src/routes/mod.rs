//! What is done differently for pages that are pictures, for slides, and for drawings.

pub(crate) mod atlas;
pub(crate) mod notes;
mod recognise;
pub(crate) mod scanned;
pub(crate) mod slides;

use quarry_model::message::Profile;

/// How a document is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Generic,
    /// As generic; what differs is decided page by page, for scanned pages stand in other documents too.
    Scanned,
    Slides,
    Atlas,
}

impl Route {
    /// As the profiler decided; anything unknown is read the general way.
    pub(crate) fn of(profile: &Profile) -> Self {
        match profile.routing_category.as_str() {
            "scanned" => Self::Scanned,
            "slides" => Self::Slides,
            "atlas" => Self::Atlas,
            _ => Self::Generic,
        }
    }
}
