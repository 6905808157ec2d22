//! testpmd: options, plan, running program and console commands.
#![forbid(unsafe_code)]
pub mod text;
