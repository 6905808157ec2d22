//! Addresses of ports.

use mpps_console::Command;

use super::answer;
use crate::app::App;

pub(super) static COMMANDS: [Command<App>; 3] = [
    Command::new(
        "config",
        "mac_addr (set|add|remove) <port:port> <address:mac>",
        "Sets the address of a port, or adds or removes a further one",
        |app, args| {
            let (port, mac) = (args.u16("port"), args.mac("address").into());
            let result = if args.is("set") {
                app.set_mac(port, mac)
            } else if args.is("add") {
                app.add_mac(port, mac)
            } else {
                app.remove_mac(port, mac)
            };
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "mcast_addr (add|remove) <port:port> <address:mac>",
        "Adds or removes a multicast address that a port takes",
        |app, args| {
            let (port, mac) = (args.u16("port"), args.mac("address").into());
            let result = if args.is("add") {
                app.add_multicast(port, mac)
            } else {
                app.remove_multicast(port, mac)
            };
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "mcast_addr flush <port:port>",
        "Removes all multicast addresses of a port",
        |app, args| {
            let result = app.flush_multicast(args.u16("port"));
            answer(app, result)
        },
    ),
];
