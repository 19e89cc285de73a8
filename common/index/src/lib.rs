//! Search segments: analysers, schema, split writer and reader, snapshots.
