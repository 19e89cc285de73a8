//! The quarry program: every stage in one process, command line and HTTP server.
