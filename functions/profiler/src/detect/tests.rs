//! Tests of detection.
