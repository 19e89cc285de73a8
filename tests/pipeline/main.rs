//! Whole stages fed from `events/*.json`, and the whole road fed with doubled and shuffled events: the end is always the
//! state that each event once, in order, leads to.

mod bench;
mod delivery;
mod parts;
mod stages;
mod trace;
