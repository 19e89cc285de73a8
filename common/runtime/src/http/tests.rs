//! Tests of the shell.
