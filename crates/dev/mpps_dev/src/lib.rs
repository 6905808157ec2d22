//! The port model: drivers, ports, queues, device arguments, statistics, conformance kit.
#![forbid(unsafe_code)]
