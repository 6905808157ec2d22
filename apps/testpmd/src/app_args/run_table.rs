//! Rows: how to run.

use std::path::PathBuf;

use super::{AppArgs, CommandFile, events};
use crate::getopt::{ArgError, Given, Opt, flag, opt, value};

/// The most command files.
const MAX_COMMAND_FILES: usize = 16;

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        flag("interactive", "Give a prompt; forwarding waits for `start`").short('i'),
        |args, _| {
            args.run.interactive = true;
            args.echo.push("Interactive-mode selected".to_owned());
            Ok(())
        },
    ),
    opt(
        flag("auto-start", "Start forwarding before the first prompt").short('a'),
        |args, _| {
            args.run.auto_start = true;
            args.echo.push("Auto-start selected".to_owned());
            Ok(())
        },
    ),
    opt(
        value(
            "cmdline-file",
            "FILE",
            "Run the commands of a file first, echoing each",
        )
        .repeats(),
        |args, given| command_file(args, given, true),
    ),
    opt(
        value(
            "cmdline-file-noecho",
            "FILE",
            "Run the commands of a file first",
        )
        .repeats(),
        |args, given| command_file(args, given, false),
    ),
    opt(
        flag("tx-first", "Send a burst on each stream first; not with -i"),
        |args, _| {
            args.run.tx_first = true;
            let line = "Ports to start sending a burst of packets first";
            args.echo.push(line.to_owned());
            Ok(())
        },
    ),
    opt(
        value(
            "stats-period",
            "SECONDS",
            "Show statistics at this interval; not with -i",
        ),
        |args, given| {
            args.run.stats_period = Some(given.number(1..=65_534)?);
            Ok(())
        },
    ),
    opt(
        value(
            "display-xstats",
            "NAME[,NAME...]",
            "Add these extended statistics to each display",
        ),
        |args, given| {
            let names = given.text().split(',').filter(|name| !name.is_empty());
            args.run.display_xstats = names.map(str::to_owned).collect();
            Ok(())
        },
    ),
    opt(
        flag("disable-link-check", "Don't wait for links"),
        |args, _| {
            args.run.link_check = false;
            Ok(())
        },
    ),
    opt(
        flag("disable-device-start", "Leave ports stopped"),
        |args, _| {
            args.run.device_start = false;
            Ok(())
        },
    ),
    opt(
        flag("no-lsc-interrupt", "No link state events"),
        |args, _| {
            args.run.link_events = false;
            Ok(())
        },
    ),
    opt(flag("no-rmv-interrupt", "No removal events"), |args, _| {
        args.run.removal_events = false;
        Ok(())
    }),
    opt(
        flag("hot-plug", "Listen for devices that come and go")
            .no_effect("virtual ports come and go by command only"),
        |args, _| {
            args.run.hot_plug = true;
            Ok(())
        },
    ),
    opt(
        value(
            "print-event",
            "NAME",
            "Print port events of this kind, or all",
        )
        .repeats(),
        |args, given| {
            args.run.printed_events |= event(given)?;
            Ok(())
        },
    ),
    opt(
        value(
            "mask-event",
            "NAME",
            "Don't print port events of this kind, or all",
        )
        .repeats(),
        |args, given| {
            args.run.printed_events &= !event(given)?;
            Ok(())
        },
    ),
    opt(flag("mlockall", "Lock memory (the default)"), |args, _| {
        args.run.mlockall = true;
        Ok(())
    }),
    opt(flag("no-mlockall", "Don't lock memory"), |args, _| {
        args.run.mlockall = false;
        Ok(())
    }),
    opt(
        value("num-procs", "N", "Processes that share the queues")
            .limited("one process owns all queues, so only 1"),
        num_procs,
    ),
    opt(
        value("proc-id", "N", "This process among them").limited("below --num-procs, so only 0"),
        |args, given| {
            args.run.proc_id = given.number(0..=u32::MAX)?;
            Ok(())
        },
    ),
    opt(
        value("latencystats", "LCORE", "Measure latency on an lcore")
            .refused("there is no latency measurement yet; drop the option"),
        |_, _| Ok(()),
    ),
    opt(
        value("bitrate-stats", "LCORE", "Measure bit rates on an lcore")
            .refused("`show port stats` prints Rx-bps and Tx-bps; drop the option"),
        |_, _| Ok(()),
    ),
    opt(
        flag("record-core-cycles", "Count the cycles of a packet"),
        |args, _| {
            args.run.record_core_cycles = true;
            Ok(())
        },
    ),
    opt(
        flag("record-burst-stats", "Count bursts by their size"),
        |args, _| {
            args.run.record_burst_stats = true;
            Ok(())
        },
    ),
    opt(
        flag("help", "Print this text and end").short('h'),
        |args, _| {
            args.help = true;
            Ok(())
        },
    ),
];

fn command_file(args: &mut AppArgs, given: &Given<'_>, echo: bool) -> Result<(), ArgError> {
    let path = given.non_empty("a file of commands")?;
    if args.run.command_files.len() == MAX_COMMAND_FILES {
        return Err(given.bad(
            format!("is one file more than {MAX_COMMAND_FILES}"),
            "put commands together, or `load` files from a file",
        ));
    }
    args.echo
        .push(format!("CLI commands to be read from {path}"));
    args.run.command_files.push(CommandFile {
        path: PathBuf::from(path),
        echo,
    });
    Ok(())
}

fn event(given: &Given<'_>) -> Result<u32, ArgError> {
    if given.text() == "all" {
        return Ok(events::ALL);
    }
    let mut names = events::NAMES.to_vec();
    names.push("all");
    events::bit(given.text()).ok_or_else(|| given.not_among(&names))
}

fn num_procs(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    match given.number(1..=u32::MAX)? {
        1 => {
            args.run.num_procs = 1;
            Ok(())
        }
        _ => Err(given.unsupported("one process owns all queues; use --nb-cores for more threads")),
    }
}
