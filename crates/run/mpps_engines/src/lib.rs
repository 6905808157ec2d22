//! The forwarding engines, a file each.
#![forbid(unsafe_code)]
