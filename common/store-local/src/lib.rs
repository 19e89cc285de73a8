//! Objects in a folder, queues and records in one SQLite file.
