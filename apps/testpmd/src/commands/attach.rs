//! Ports that come and go.

use mpps_console::Command;

use super::answer;
use crate::app::App;

pub(super) static COMMANDS: [Command<App>; 3] = [
    Command::new(
        "devices",
        "port attach <device:text>",
        "Makes a port of a device, as --vdev does",
        |app, args| {
            let result = app.attach(args.word("device"));
            answer(app, result)
        },
    ),
    Command::new(
        "devices",
        "port detach <port:port>",
        "Removes a stopped port and its device",
        |app, args| {
            let result = app.detach_port(args.u16("port"));
            answer(app, result)
        },
    ),
    Command::new(
        "devices",
        "device detach <device:text>",
        "Removes a device and its stopped port",
        |app, args| {
            let result = app.detach_device(args.word("device"));
            answer(app, result)
        },
    ),
];
