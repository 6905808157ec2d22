//! Lcore threads, streams, start and stop.
#![forbid(unsafe_code)]
