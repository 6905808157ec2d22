//! Counters and configuration.

use mpps_console::{Args, Command, Outcome};
use mpps_engines::TxSplit;

use super::control::no_port;
use crate::app::{App, Which};
use crate::text::{CoreList, RxSegments, TxPackets, TxTimes};

pub(super) static COMMANDS: [Command<App>; 8] = [
    Command::new(
        "display",
        "show port (stats|xstats) all",
        "Shows the counters of all ports",
        |app, args| stats(app, args, Which::All),
    ),
    Command::new(
        "display",
        "show port (stats|xstats) <port:port>",
        "Shows the counters of a port",
        |app, args| stats(app, args, Which::One(args.u16("port"))),
    ),
    Command::new(
        "display",
        "clear port (stats|xstats) all",
        "Clears the counters of all ports",
        |app, args| clear(app, args, Which::All),
    ),
    Command::new(
        "display",
        "clear port (stats|xstats) <port:port>",
        "Clears the counters of a port",
        |app, args| clear(app, args, Which::One(args.u16("port"))),
    ),
    Command::new(
        "display",
        "show fwd stats all",
        "Shows what was forwarded since the start",
        |app, _| {
            app.show_fwd_stats();
            Outcome::Done
        },
    ),
    Command::new(
        "display",
        "clear fwd stats all",
        "Counts what is forwarded from now on",
        |app, _| {
            app.clear_fwd_stats();
            Outcome::Done
        },
    ),
    Command::new(
        "display",
        "show config (rxtx|cores|fwd)",
        "Shows the forwarding configuration",
        |app, args| {
            if args.is("rxtx") {
                app.show_config_rxtx();
            } else if args.is("fwd") {
                app.show_config_fwd();
            } else {
                let cores = app.forwarding.active_lcores().to_vec();
                app.out.block(CoreList(&cores));
            }
            Outcome::Done
        },
    ),
    Command::new(
        "display",
        "show config (txpkts|txtimes|rxpkts|rxoffs|rxhdrs)",
        "Shows how packets are made up of segments",
        segments,
    ),
];

fn segments(app: &mut App, args: &Args<'_>) -> Outcome {
    if args.is("txpkts") {
        let txonly = &app.engines.txonly;
        let split = match txonly.split {
            TxSplit::Off => "off",
            TxSplit::On => "on",
            TxSplit::Random => "rand",
        };
        let block = TxPackets {
            segments: &txonly.lengths,
            split,
        }
        .to_string();
        app.out.block(block);
    } else if args.is("txtimes") {
        // Packets carry no time to be sent at.
        app.out.block(TxTimes { inter: 0, intra: 0 });
    } else if args.is("rxpkts") {
        // Received packets are not split, by lengths, offsets or headers: the options for it are refused.
        app.out.block(RxSegments::Lengths(&[]));
    } else if args.is("rxoffs") {
        app.out.block(RxSegments::Offsets(&[]));
    } else {
        app.out.block(RxSegments::Headers(&[]));
    }
    Outcome::Done
}

fn stats(app: &mut App, args: &Args<'_>, which: Which) -> Outcome {
    for id in ports(app, which) {
        if args.is("xstats") {
            app.show_port_xstats(id);
        } else {
            app.show_port_stats(id);
        }
    }
    Outcome::Done
}

fn clear(app: &mut App, args: &Args<'_>, which: Which) -> Outcome {
    for id in ports(app, which) {
        app.clear_port_stats(id, args.is("xstats"));
    }
    Outcome::Done
}

/// The ports that are meant; says so when there is no such port.
pub(super) fn ports(app: &mut App, which: Which) -> Vec<u16> {
    match (app.ports_of(which), which) {
        (Ok(ids), _) => ids,
        (Err(_), Which::One(id)) => {
            no_port(app, id);
            Vec::new()
        }
        (Err(_), Which::All) => Vec::new(),
    }
}
