//! The API on the local store, asked as clients ask. What other functions do is done here by hand: records of a finished
//! document, a publisher that only moves a status.

mod bench;
mod description;
mod documents;
mod jobs;
mod keys;
mod remote;
