//! The `mpps` program: the performance lab. Without arguments it runs the main job: a measurement of this machine's packet
//! path that needs no device, no privileges and no hugepages, with a live line and a summary.
#![forbid(unsafe_code)]

mod bench;
mod capture;
mod job;
mod live;
mod report;

use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

/// Measures packet paths on this machine.
#[derive(Parser)]
#[command(version, about, long_about = None)]
struct Args {
    /// Seconds that the whole measurement takes, 2 to 3600.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    match job::run(Duration::from_secs(args.seconds)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpps: {error}");
            ExitCode::FAILURE
        }
    }
}
