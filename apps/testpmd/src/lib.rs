//! testpmd: options, plan, running program and console commands.
#![forbid(unsafe_code)]

pub mod app;
pub mod app_args;
pub mod command_line;
pub mod commands;
pub mod cores;
pub mod eal_args;
pub mod getopt;
pub mod help;
pub mod plan;
pub mod tell;
pub mod text;
