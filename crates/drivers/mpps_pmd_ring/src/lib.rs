//! net_ring: a port over in-process rings, looped back or shared by name.
#![forbid(unsafe_code)]
