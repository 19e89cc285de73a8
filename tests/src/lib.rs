//! Workspace-wide tests: architecture, pipeline, golden files, hostile inputs, load.
