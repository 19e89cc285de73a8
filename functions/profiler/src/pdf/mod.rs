//! Measures a PDF once: what is on its pages, what kind of document it is, and how it is to be read.

mod anatomy;
mod category;
mod features;
mod measure;
mod plan;
mod route;

pub use measure::{InProcess, MeasurePdf, Measured, measure};
