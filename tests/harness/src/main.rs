//! `mpps_harness`: ports put together in one process, or one port against another program, for checks that need to be
//! inside. `cargo xtask check` builds and runs it; it prints lines that the checks read.
#![forbid(unsafe_code)]

mod idle;
mod rig;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Measures and judges ports from inside.
#[derive(Parser)]
#[command(version, about, long_about = None)]
struct Args {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// The cost of ports that have nothing to do, as the slope of a turn's time from 1 to 64 of them.
    Idle {
        /// The CPU that polls.
        #[arg(long, default_value_t = 0)]
        cpu: usize,
        /// Milliseconds of a single measurement.
        #[arg(long, default_value_t = 200)]
        milliseconds: u64,
        /// Nanoseconds that each visit wastes, to try the check.
        #[arg(long, default_value_t = 0)]
        burden: u64,
        /// Only kinds of ports with this in their names.
        #[arg(long, default_value = "")]
        kind: String,
    },
}

fn main() -> ExitCode {
    let done = match Args::parse().verb {
        Verb::Idle {
            cpu,
            milliseconds,
            burden,
            kind,
        } => idle::run(cpu, Duration::from_millis(milliseconds), burden, &kind),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpps_harness: {error}");
            ExitCode::FAILURE
        }
    }
}
