//! `mpps_harness`: ports put together in one process, or one port against another program, for checks that need to be
//! inside. `cargo xtask check` builds and runs it; it prints lines that the checks read.
#![forbid(unsafe_code)]

mod contents;
mod echo;
mod idle;
mod lone;
mod packet;
mod rig;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

use crate::contents::{Plant, Wish};

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
    /// Percentiles of the time of a lone packet once round the loop.
    Lone {
        /// Milliseconds for each layout.
        #[arg(long, default_value_t = 1000)]
        milliseconds: u64,
        /// Nanoseconds that the other end wastes at each visit, to try the check.
        #[arg(long, default_value_t = 0)]
        burden: u64,
    },
    /// Numbered packets into a port and back, each found once and whole, or counted as dropped.
    Contents {
        /// Device arguments of the port; with --echo, `{}` is the socket.
        #[arg(long)]
        port: String,
        /// Device arguments of a port of this process that sends packets back; without, another program does, which is
        /// ready when a line comes in.
        #[arg(long)]
        echo: Option<String>,
        /// How many.
        #[arg(long, default_value_t = 100_000)]
        packets: u64,
        /// The most that are under way.
        #[arg(long, default_value_t = 256)]
        window: u64,
        /// CPUs of the port and of the one that sends back.
        #[arg(long, value_delimiter = ',', num_args = 2, default_values_t = [0, 1])]
        cpus: Vec<usize>,
        /// What goes wrong on purpose, to try the check.
        #[arg(long)]
        plant: Option<Plant>,
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
        Verb::Lone {
            milliseconds,
            burden,
        } => lone::run([0, 1], Duration::from_millis(milliseconds), burden),
        Verb::Contents {
            port,
            echo,
            packets,
            window,
            cpus,
            plant,
        } => contents::run(&Wish {
            port,
            echo,
            packets,
            window,
            cpus: [cpus[0], cpus[1]],
            plant,
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpps_harness: {error}");
            ExitCode::FAILURE
        }
    }
}
