//! Single queues.

use mpps_console::Command;

use super::answer;
use super::port_config::side;
use crate::app::App;

pub(super) static COMMANDS: [Command<App>; 4] = [
    Command::new(
        "ports",
        "port config <port:port> (rxq|txq) <queue:u16> ring_size <count:u16>",
        "Sets the descriptors of a queue from its next setup on",
        |app, args| {
            let result = app.set_ring_size(
                args.u16("port"),
                side(args, "rxq"),
                args.u16("queue"),
                args.u16("count"),
            );
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port <port:port> (rxq|txq) <queue:u16> (start|stop)",
        "Starts or stops a queue of a running port",
        |app, args| {
            let queue = args.u16("queue");
            let result =
                app.start_queue(args.u16("port"), side(args, "rxq"), queue, args.is("start"));
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port <port:port> (rxq|txq) <queue:u16> deferred_start (on|off)",
        "Sets whether a queue stays stopped when its port starts",
        |app, args| {
            let result = app.set_deferred(
                args.u16("port"),
                side(args, "rxq"),
                args.u16("queue"),
                args.is("on"),
            );
            answer(app, result)
        },
    ),
    Command::new(
        "ports",
        "port <port:port> (rxq|txq) <queue:u16> setup",
        "Makes a queue of a stopped port anew",
        |app, args| {
            let result = app.set_up_queue(args.u16("port"), side(args, "rxq"), args.u16("queue"));
            answer(app, result)
        },
    ),
];
