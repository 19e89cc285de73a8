//! Conformance suites: each function is one promise of a port; an adapter's tests call them all.
