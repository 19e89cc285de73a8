//! Parsing in child processes: what overflows a stack, exhausts the memory or never ends takes down a child, not us.
//!
//! A child is this program again, as `parse-worker`: a parse message on one line of its standard input, the outcome on
//! one line of its standard output. It is kept and given the next document, until it dies or is killed.

mod child;
mod errand;
mod measure;
mod page;
mod pool;
mod stage;

pub(crate) use child::Told;
pub(crate) use measure::ChildMeasurer;
pub(crate) use page::ChildDrawer;
pub(crate) use pool::Pool;
pub(crate) use stage::ChildParser;

/// Whether a child starts, reads its (empty) input to the end and ends well.
pub(crate) async fn answers(data: &std::path::Path) -> Result<(), crate::exit::Failure> {
    let program = std::env::current_exe()?;
    child::Worker::start(&program, data)?.farewell().await?;
    Ok(())
}
