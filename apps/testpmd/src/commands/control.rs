//! Starting and stopping to forward, and the life cycle of ports.

use mpps_console::{Args, Command, Outcome};

use crate::app::{App, Which};
use crate::text::{ConfigRefusal, Refusal, ValidPorts};

pub(super) static COMMANDS: [Command<App>; 8] = [
    Command::new("control", "start", "Starts to forward packets", |app, _| {
        start(app, 0)
    }),
    Command::new(
        "control",
        "start tx_first",
        "Sends one burst a stream, then forwards",
        |app, _| start(app, 1),
    ),
    Command::new(
        "control",
        "start tx_first <bursts:u32>",
        "Sends this many bursts a stream, then forwards",
        |app, args| start(app, args.u32("bursts")),
    ),
    Command::new(
        "control",
        "stop",
        "Stops forwarding and shows what was forwarded",
        stop,
    ),
    Command::new(
        "ports",
        "port (start|stop|close|reset) all",
        "Starts, stops, closes or resets all ports",
        |app, args| port(app, args, Which::All),
    ),
    Command::new(
        "ports",
        "port (start|stop|close|reset) <port:u8@port>",
        "Starts, stops, closes or resets one port",
        |app, args| port(app, args, Which::One(u16::from(args.u8("port")))),
    ),
    Command::new(
        "ports",
        "set link-up port <port:port>",
        "Sets the link of a port up",
        |app, args| link(app, args.u16("port"), true),
    ),
    Command::new(
        "ports",
        "set link-down port <port:port>",
        "Sets the link of a port down",
        |app, args| link(app, args.u16("port"), false),
    ),
];

fn start(app: &mut App, tx_first: u32) -> Outcome {
    app.start_or_complain(tx_first);
    Outcome::Done
}

fn stop(app: &mut App, _: &Args<'_>) -> Outcome {
    if let Err(refusal) = app.stop_forwarding() {
        app.out.complain(refusal);
    }
    Outcome::Done
}

/// Says that there is no such port, and which there are.
pub(super) fn no_port(app: &mut App, id: u16) {
    app.out.complain(Refusal::NoPort(id));
    let ids = app.port_ids();
    app.out.line(ValidPorts(&ids));
}

fn port(app: &mut App, args: &Args<'_>, which: Which) -> Outcome {
    if let Err(refusal) = app.ports_of(which) {
        app.out.complain(refusal);
    } else if args.is("start") {
        app.start_ports(which);
    } else if args.is("stop") {
        app.stop_ports(which);
    } else if args.is("close") {
        app.close_ports(which);
    } else {
        app.reset_ports(which);
    }
    Outcome::Done
}

fn link(app: &mut App, id: u16, up: bool) -> Outcome {
    let refusal = if up {
        Refusal::LinkUp
    } else {
        Refusal::LinkDown
    };
    match app.port_mut(id) {
        None => app.out.complain(ConfigRefusal::NoEthdev(id, refusal)),
        Some(slot) => {
            if slot.dev.set_link(up).is_err() {
                app.out.complain(refusal);
            }
        }
    }
    Outcome::Done
}
