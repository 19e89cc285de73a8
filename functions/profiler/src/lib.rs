//! Detects the format by content, profiles once, sends one pointer to the format queue.
