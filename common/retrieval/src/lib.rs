//! From a request to cited evidence: channels, fusion, hydration, evidence, cache, hits, traces.
