//! Conformance suites: each function is one promise of a port, and an adapter's tests call them all.
//!
//! An adapter writes, for each port, a function that gives a fresh store with whatever must be kept alive beside it
//! (`None` when the store cannot be reached here, which skips), and one line that makes a test of every promise:
//!
//! ```ignore
//! async fn fresh_records() -> Option<(Arc<dyn Records>, TempDir)> { … }
//! mod records { quarry_ports::records_conformance!(super::fresh_records()); }
//! ```
//!
//! Promises use scopes and partitions of their own, so that stores of objects and records may be shared between tests;
//! queues are named by `model`, so each test of a queue needs queues of its own.

mod http;
pub mod models;
pub mod objects;
pub mod queues;
mod queues_fifo;
pub mod records;
mod records_limits;
mod records_model;
mod records_transactions;

use std::hash::{BuildHasher, Hasher, RandomState};

use quarry_model::{Namespace, Owner, Scope};

/// Makes a test of each named promise of a suite.
#[doc(hidden)]
#[macro_export]
macro_rules! promises {
    ($suite:ident, $fresh:expr, [$($promise:ident),* $(,)?]) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $promise() {
                let Some((store, _kept)) = $fresh.await else {
                    return;
                };
                $crate::testing::$suite::$promise(store).await;
            }
        )*
    };
}

/// Sixteen hex digits that no other test has.
pub fn unique() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// A scope that no other test has.
pub fn fresh_scope() -> Scope {
    let owner = Owner::new("conformance").expect("a valid owner");
    let namespace = Namespace::new(&unique()).expect("a valid namespace");
    Scope::new(owner, namespace)
}

#[cfg(test)]
mod tests {
    /// A promise that is written but not listed would never be tested.
    #[test]
    fn every_promise_is_in_its_list() {
        let suites: [&[&str]; 4] = [
            &[include_str!("models/mod.rs")],
            &[include_str!("objects.rs")],
            &[include_str!("queues.rs"), include_str!("queues_fifo.rs")],
            &[
                include_str!("records.rs"),
                include_str!("records_limits.rs"),
                include_str!("records_transactions.rs"),
                include_str!("records_model.rs"),
            ],
        ];
        for files in suites {
            let lists = files[0].split("$crate::promises!(").skip(1).filter_map(|list| list.split_once(']'));
            let listed: Vec<&str> = lists.flat_map(|(list, _)| list.split(['[', ',', '\n'])).map(str::trim).collect();
            let mut found = 0;
            for line in files.iter().flat_map(|file| file.lines()) {
                if let Some(rest) = line.strip_prefix("pub async fn ") {
                    let name = rest.split('(').next().unwrap();
                    assert!(listed.contains(&name), "{name} is not listed");
                    found += 1;
                }
            }
            assert!(found > 10);
        }
    }
}
