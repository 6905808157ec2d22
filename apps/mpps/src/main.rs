//! The `mpps` program: the performance lab. Without arguments it runs the main job: the vhost <-> virtio-user loop between
//! two threads, which needs no device, no privileges and no hugepages, with a live line and a summary.
#![forbid(unsafe_code)]

mod balance;
mod bench;
mod capture;
mod figures;
mod folder;
mod job;
mod latency;
mod live;
mod numbered;
mod report;
mod ring_loop;
mod selfcheck;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use mpps_kernels::CopyKind;

use crate::job::Wish;

/// Measures packet paths on this machine: without a command, the vhost <-> virtio-user loop between two threads.
#[derive(Parser)]
#[command(version, about, long_about = None, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    measured: Measured,
}

#[derive(clap::Args)]
struct Measured {
    /// Seconds that the whole measurement takes, 2 to 3600.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
    /// Bytes of a packet without its CRC, 64 to 1518.
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u16).range(64..=1518))]
    size: u16,
    /// Packed rings instead of split ones.
    #[arg(long)]
    packed: bool,
    /// How packets are copied: auto, libc, inline, erms, avx2 or avx512.
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = copy_kind)]
    copy: CopyKind,
}

#[derive(Subcommand)]
enum Verb {
    /// Forwards between null ports, then a capture through pcap ports, and checks every frame of it.
    Check {
        /// Seconds that the whole check takes, 2 to 3600.
        #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
        seconds: u64,
    },
}

fn copy_kind(name: &str) -> Result<CopyKind, String> {
    CopyKind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = CopyKind::NAMES.iter().map(|(name, _)| *name).collect();
        format!("the kinds are {}", names.join(", "))
    })
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.verb {
        Some(Verb::Check { seconds }) => selfcheck::run(Duration::from_secs(seconds)),
        None => job::run(&Wish {
            seconds: args.measured.seconds,
            size: usize::from(args.measured.size),
            packed: args.measured.packed,
            copy: args.measured.copy,
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpps: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    //! What is taken and what is refused.

    use clap::{CommandFactory, Parser};
    use mpps_kernels::CopyKind;

    use super::{Args, Verb};

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(std::iter::once("mpps").chain(line.split_whitespace()))
    }

    #[test]
    fn the_table_of_options_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_and_verbs() {
        let args = parse("--seconds 3 --size 1518 --packed --copy erms").unwrap();
        assert_eq!((args.measured.seconds, args.measured.size), (3, 1518));
        assert!(args.measured.packed && args.measured.copy == CopyKind::Erms);
        let args = parse("").unwrap();
        assert!(args.verb.is_none() && args.measured.size == 64 && !args.measured.packed);
        assert!(matches!(
            parse("check --seconds 4").unwrap().verb,
            Some(Verb::Check { seconds: 4 })
        ));
    }

    #[test]
    fn refusals() {
        for line in [
            "--seconds 1",
            "--size 63",
            "--size 1519",
            "--copy fast",
            "--packed check",
            "wish",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
