//! Receive-side scaling.

use mpps_console::Command;

use super::answer;
use crate::app::{App, RssChoice};

pub(super) static COMMANDS: [Command<App>; 4] = [
    Command::new(
        "ports",
        "port config all rss <types:word@rss_types>",
        "Sets what all ports hash",
        |app, args| {
            let result =
                RssChoice::parse(args.word("types")).map(|choice| app.set_rss_types(choice));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config <port:port> rss-hash-key <type:choice(rss_types)> <key:text>",
        "Sets the key that a port hashes with, in hexadecimal digits",
        |app, args| {
            let result = app.set_rss_key(args.u16("port"), args.word("key"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config <port:port> rss-hash-algo <name:(default|simple_xor|toeplitz|symmetric_toeplitz|symmetric_toeplitz_sort)>",
        "Sets how a port hashes",
        |app, args| {
            let result = app.set_rss_algorithm(args.u16("port"), args.word("name"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port config <port:port> rss reta <pairs:text>",
        "Sets entries of the redirection table, as in (0,1),(1,0)",
        |app, args| {
            let result = app.set_reta(args.u16("port"), args.word("pairs"));
            answer(app, result)
        },
    ),
];
