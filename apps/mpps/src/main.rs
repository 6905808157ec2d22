//! The `mpps` program: the performance lab. Without arguments it runs the main job: the vhost <-> virtio-user loop between
//! two threads, which needs no device, no privileges and no hugepages, with a live line and a summary.
#![forbid(unsafe_code)]

mod balance;
mod bench;
mod capture;
mod copies;
mod figures;
mod folder;
mod job;
mod latency;
mod live;
mod numbered;
mod report;
mod ring_loop;
mod selfcheck;
mod summary;
mod versus;

use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};
use mpps_kernels::CopyKind;

use crate::bench::{Broken, Failure};
use crate::job::{Extra, Wish};
use crate::versus::{Program, Trouble};

/// Measures packet paths here: without a command, the vhost <-> virtio-user loop.
#[derive(Parser)]
#[command(version, long_about = None, args_conflicts_with_subcommands = true)]
struct Args {
    #[command(subcommand)]
    verb: Option<Verb>,
    #[command(flatten)]
    measured: Measured,
}

#[derive(clap::Args)]
struct Measured {
    /// Seconds that it takes, 2 to 3600.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
    seconds: u64,
    /// Bytes of a packet, no CRC, 64 to 1518.
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u16).range(64..=1518))]
    size: u16,
    /// Packed rings instead of split ones.
    #[arg(long)]
    packed: bool,
    /// libc, inline, erms, avx2, avx512, or auto unless named.
    #[arg(long, value_name = "KIND", hide_default_value = true, default_value = "auto", value_parser = copy_kind)]
    copy: CopyKind,
    /// Another testpmd, measured in turn: a name or a path.
    #[arg(long, value_name = "PROGRAM")]
    versus: Option<String>,
    /// Rounds with it, about 6 s each, 1 to 100.
    #[arg(long, value_name = "N", requires = "versus", default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=100))]
    rounds: u64,
    /// JSON on standard output instead of text.
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Verb {
    /// Tries null ports, then a capture through pcap ports.
    Check {
        /// Seconds that it takes, 2 to 3600.
        #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=3600))]
        seconds: u64,
    },
    /// Finds the fastest kind of copy in vhost, by packet size.
    Copies {
        /// Bytes of packets, 64 to 9000, as 64,1518 [default: seven].
        #[arg(long, value_name = "BYTES", value_delimiter = ',', hide_default_value = true, default_values_t = copies::SIZES, value_parser = clap::value_parser!(u16).range(64..=9000))]
        sizes: Vec<u16>,
        /// Rounds, a second a size, 1 to 1000.
        #[arg(long, value_name = "N", default_value_t = 15, value_parser = clap::value_parser!(u64).range(1..=1000))]
        rounds: u64,
        /// Packed rings instead of split ones.
        #[arg(long)]
        packed: bool,
        /// JSON on standard output instead of tables.
        #[arg(long)]
        json: bool,
    },
}

fn copy_kind(name: &str) -> Result<CopyKind, String> {
    CopyKind::from_name(name).ok_or_else(|| {
        let names: Vec<&str> = CopyKind::NAMES.iter().map(|(name, _)| *name).collect();
        format!("the kinds are {}", names.join(", "))
    })
}

/// The main job as it is asked for.
fn measure(measured: Measured) -> Result<(), Failure> {
    let versus = match measured.versus {
        Some(name) => Some((Program::find(&name)?, name)),
        None => None,
    };
    let wish = Wish {
        seconds: measured.seconds,
        size: usize::from(measured.size),
        packed: measured.packed,
        copy: measured.copy,
    };
    let extra = Extra {
        versus,
        rounds: measured.rounds,
        json: measured.json,
    };
    job::run(&wish, &extra)
}

/// 2 where the other program is at fault, as for a wrong command line; as a shell says it, where a signal ended us.
fn exit_code(error: &Failure) -> ExitCode {
    if error.is::<Trouble>() {
        return ExitCode::from(2);
    }
    match error.downcast_ref::<Broken>() {
        Some(Broken(signal)) => ExitCode::from(128 + signal.number() as u8),
        None => ExitCode::FAILURE,
    }
}

fn main() -> ExitCode {
    let args = Args::parse();
    let done = match args.verb {
        Some(Verb::Check { seconds }) => selfcheck::run(Duration::from_secs(seconds)),
        Some(Verb::Copies {
            sizes,
            rounds,
            packed,
            json,
        }) => copies::run(&copies::Wish {
            sizes,
            rounds,
            packed,
            json,
        }),
        None => measure(args.measured),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("mpps: {error}");
            exit_code(&error)
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
    fn the_help_fits_a_terminal() {
        let mut command = Args::command();
        let mut texts = vec![command.render_help()];
        texts.extend(command.get_subcommands_mut().map(|verb| verb.render_help()));
        for text in texts {
            for line in text.to_string().lines() {
                assert!(line.chars().count() <= 80, "{line}");
            }
        }
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
    fn copies_by_size() {
        let Some(Verb::Copies { sizes, rounds, .. }) =
            parse("copies --sizes 64,9000").unwrap().verb
        else {
            panic!("another verb");
        };
        assert_eq!((sizes.as_slice(), rounds), (&[64, 9000][..], 15));
        let Some(Verb::Copies { sizes, .. }) = parse("copies").unwrap().verb else {
            panic!("another verb");
        };
        assert_eq!(sizes, super::copies::SIZES);
    }

    #[test]
    fn refusals() {
        for line in [
            "--seconds 1",
            "--size 63",
            "--size 1519",
            "--copy fast",
            "--packed check",
            "--versus",
            "--rounds 3",
            "copies --sizes 9001",
            "copies --rounds 0",
            "--versus x --rounds 0",
            "wish",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
