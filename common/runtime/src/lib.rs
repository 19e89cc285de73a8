//! Configuration, logs, metrics, the batch loop, attempts, outcomes and the HTTP shell; Lambda behind a feature.
