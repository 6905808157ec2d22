//! Commands that turn something on or off.

use mpps_console::{Command, Outcome};
use mpps_engines::TxSplit;

use crate::app::App;

pub(super) static COMMANDS: [Command<App>; 8] = [
    Command::new(
        "config",
        "set flush_rx (on|off)",
        "Sets whether queues are emptied before a start",
        |app, args| {
            app.forwarding.flush_rx = args.is("on");
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set link_check (on|off)",
        "Sets whether links are looked at when ports start",
        |app, args| {
            app.args.run.link_check = args.is("on");
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set txsplit (on|off|rand)",
        "Sets how generated packets are cut into segments",
        |app, args| {
            app.set_txsplit(match (args.is("on"), args.is("rand")) {
                (true, _) => TxSplit::On,
                (_, true) => TxSplit::Random,
                _ => TxSplit::Off,
            });
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set record-core-cycles (on|off)",
        "Sets whether cycles a packet are counted",
        |app, args| {
            app.set_record_cycles(args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set record-burst-stats (on|off)",
        "Sets whether bursts are counted by size",
        |app, args| {
            app.set_record_bursts(args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set xstats-hide-zero (on|off)",
        "Sets whether counters of 0 are left out",
        |app, args| {
            app.xstats.hide_zero = args.is("on");
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set xstats-show-state (on|off)",
        "Sets whether counters show if they count",
        |app, args| {
            app.xstats.show_state = args.is("on");
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set xstats-hide-disabled (on|off)",
        "Sets whether counters that don't count are left out",
        |app, args| {
            app.xstats.hide_disabled = args.is("on");
            Outcome::Done
        },
    ),
];
