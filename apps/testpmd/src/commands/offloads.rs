//! Offloads of ports and queues.

use mpps_console::{Args, Command, Outcome};

use super::answer;
use crate::app::{App, Which};
use crate::text::{Side, offload_bit};

pub(super) static COMMANDS: [Command<App>; 6] = [
    Command::new(
        "ports",
        "port config <port:port> rx_offload <name:choice(rx_offloads)> (on|off)",
        "Sets a receive offload of a stopped port",
        |app, args| of_port(app, args, Which::One(args.u16("port")), Side::Rx),
    ),
    Command::new(
        "ports",
        "port config <port:port> tx_offload <name:choice(tx_offloads)> (on|off)",
        "Sets a transmit offload of a stopped port",
        |app, args| of_port(app, args, Which::One(args.u16("port")), Side::Tx),
    ),
    Command::new(
        "ports",
        "port config all rx_offload <name:choice(rx_offloads)> (on|off)",
        "Sets a receive offload of all ports, which are stopped",
        |app, args| of_port(app, args, Which::All, Side::Rx),
    ),
    Command::new(
        "ports",
        "port config all tx_offload <name:choice(tx_offloads)> (on|off)",
        "Sets a transmit offload of all ports, which are stopped",
        |app, args| of_port(app, args, Which::All, Side::Tx),
    ),
    Command::new(
        "ports",
        "port <port:port> rxq <queue:u16> rx_offload <name:choice(rx_offloads)> (on|off)",
        "Sets a receive offload of one queue",
        |app, args| of_queue(app, args, Side::Rx),
    ),
    Command::new(
        "ports",
        "port <port:port> txq <queue:u16> tx_offload <name:choice(tx_offloads)> (on|off)",
        "Sets a transmit offload of one queue",
        |app, args| of_queue(app, args, Side::Tx),
    ),
];

/// The names of a side's offloads, as commands have them.
pub(super) fn names(side: Side) -> impl Iterator<Item = String> {
    side.table()
        .iter()
        .map(|(_, name)| name.to_ascii_lowercase())
}

fn bits(args: &Args<'_>, side: Side) -> u64 {
    // The grammar takes names of the table alone.
    offload_bit(side, args.word("name")).unwrap_or_default()
}

fn of_port(app: &mut App, args: &Args<'_>, which: Which, side: Side) -> Outcome {
    let result = app.set_offload(which, side, bits(args, side), args.is("on"));
    answer(app, result)
}

fn of_queue(app: &mut App, args: &Args<'_>, side: Side) -> Outcome {
    let queue = args.u16("queue");
    let result = app.set_queue_offload(
        args.u16("port"),
        side,
        queue,
        bits(args, side),
        args.is("on"),
    );
    answer(app, result)
}
