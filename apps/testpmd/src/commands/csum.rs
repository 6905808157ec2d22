//! Engine csum and segmentation.

use mpps_console::Command;

use super::answer;
use crate::app::App;

pub(super) static COMMANDS: [Command<App>; 5] = [
    Command::new(
        "config",
        "csum set <layer:(ip|udp|tcp|sctp|outer-ip|outer-udp)> (hw|sw) <port:port>",
        "Sets who sums a layer of what a port sends",
        |app, args| {
            let result = app.set_checksum(args.u16("port"), args.word("layer"), args.is("hw"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "csum parse-tunnel (on|off) <port:port>",
        "Sets whether csum looks into tunnels",
        |app, args| {
            let result = app.set_parse_tunnel(args.u16("port"), args.is("on"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "csum mac-swap (on|off) <port:port>",
        "Sets whether csum writes addresses",
        |app, args| {
            let result = app.set_mac_swap(args.u16("port"), args.is("on"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tso set <bytes:u16> <port:port>",
        "Sets the TCP segments that a port makes, 0 for none",
        |app, args| {
            let result = app.set_tso(args.u16("port"), args.u16("bytes"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "tunnel_tso set <bytes:u16> <port:port>",
        "Sets the TCP segments that a port makes in tunnels",
        |app, args| {
            let result = app.set_tunnel_tso(args.u16("port"), args.u16("bytes"));
            answer(app, result)
        },
    ),
];
