//! `port config all`: what is asked of every port.

use mpps_console::{Args, Command, Outcome};

use super::answer;
use crate::app::{App, FreeThreshold, Threshold};
use crate::text::Side;

pub(super) static COMMANDS: [Command<App>; 8] = [
    Command::new(
        "ports",
        "port config all (rxq|txq) <count:u16>",
        "Sets the queues of each port",
        |app, args| {
            let result = app.set_queue_count(side(args, "rxq"), args.u16("count"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all (rxd|txd) <count:u16>",
        "Sets the descriptors of each queue, 0 for what ports prefer",
        |app, args| {
            let result = app.set_descriptors(side(args, "rxd"), args.u16("count"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all burst <packets:u16>",
        "Sets the packets a burst, 1 to 512",
        |app, args| {
            let result = app.set_burst_of_all(args.u16("packets"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all max-pkt-len <bytes:u32>",
        "Sets the longest frame of all ports",
        |app, args| {
            let result = app.set_max_pkt_len(args.u32("bytes"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all max-lro-pkt-size <bytes:u32>",
        "Sets the longest packet that LRO makes; no port here does LRO",
        |app, args| {
            let result = app.set_max_lro(args.u32("bytes"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all drop-en (on|off)",
        "Sets whether full receive queues drop",
        |app, args| {
            let result = app.set_drop_en(args.is("on"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config all (rxpt|rxht|rxwt|txpt|txht|txwt) <value:u8>",
        "Sets a threshold register of all rings; shown, of no effect here",
        threshold,
    ),
    Command::new(
        "ports",
        "port config all (rxfreet|txfreet|txrst) <value:u16>",
        "Sets a threshold of all rings; shown, of no effect here",
        free_threshold,
    ),
];

/// Receive where the line has `rx`, else transmit.
pub(super) fn side(args: &Args<'_>, rx: &str) -> Side {
    if args.is(rx) { Side::Rx } else { Side::Tx }
}

fn threshold(app: &mut App, args: &Args<'_>) -> Outcome {
    let which = [
        ("rxpt", Threshold::RxPrefetch),
        ("rxht", Threshold::RxHost),
        ("rxwt", Threshold::RxWriteBack),
        ("txpt", Threshold::TxPrefetch),
        ("txht", Threshold::TxHost),
        ("txwt", Threshold::TxWriteBack),
    ];
    match which.into_iter().find(|(word, _)| args.is(word)) {
        Some((_, which)) => {
            let result = app.set_threshold(which, args.u8("value"));
            answer(app, result)
        }
        None => Outcome::Done,
    }
}

fn free_threshold(app: &mut App, args: &Args<'_>) -> Outcome {
    let which = match (args.is("rxfreet"), args.is("txfreet")) {
        (true, _) => FreeThreshold::RxFree,
        (_, true) => FreeThreshold::TxFree,
        _ => FreeThreshold::TxRs,
    };
    let result = app.set_free_threshold(which, args.u16("value"));
    answer(app, result)
}
