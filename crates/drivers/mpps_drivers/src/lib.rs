//! The table of all drivers.
#![forbid(unsafe_code)]
