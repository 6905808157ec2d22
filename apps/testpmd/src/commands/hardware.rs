//! Questions that only hardware has an answer to: software ports refuse them, in the words scripts wait for.

use mpps_console::{Args, Command, Outcome};

use crate::app::App;
use crate::text::{Refusal, Reply, ShowRefusal};

pub(super) static COMMANDS: [Command<App>; 14] = [
    Command::new(
        "display",
        "show port info <port:port> representor",
        "Shows the representors of a port",
        |app, args| refuse(app, ShowRefusal::NoRepresentor(args.u16("port"))),
    ),
    Command::new(
        "display",
        "show port <port:port> flow_ctrl",
        "Shows flow control of the link",
        |app, args| {
            let id = args.u16("port");
            if app.port(id).is_none() {
                app.out.complain(ShowRefusal::NoPort(id));
                return refuse(app, ShowRefusal::FlowControl(-19));
            }
            refuse(app, ShowRefusal::FlowControl(-95))
        },
    ),
    Command::new(
        "display",
        "show port dcb_tc <port:port>",
        "Shows traffic classes",
        |app, args| of_port(app, args, ShowRefusal::Dcb(args.u16("port"))),
    ),
    Command::new(
        "display",
        "show port <port:port> (eeprom|module_eeprom)",
        "Shows the memory of a plug",
        |app, args| of_port(app, args, ShowRefusal::NotByDevice),
    ),
    Command::new(
        "display",
        "show port <port:port> fec_mode",
        "Shows forward error correction",
        |app, args| of_port(app, args, ShowRefusal::NotImplemented),
    ),
    Command::new(
        "display",
        "show port <port:port> fec capabilities",
        "Shows forward error corrections",
        |app, args| of_port(app, args, ShowRefusal::NotImplemented),
    ),
    Command::new(
        "display",
        "(show|clear) vf stats <port:port> <vf:u16>",
        "Counters of a virtual function",
        |app, args| of_port(app, args, ShowRefusal::NoVf),
    ),
    Command::new(
        "filters",
        "show port <port:port> flow transfer proxy",
        "Shows who transfers a port's flows",
        |app, args| of_port(app, args, ShowRefusal::NoProxy),
    ),
    Command::new(
        "display",
        "show config dcbfwdtc",
        "Shows which traffic classes are forwarded",
        |app, _| {
            app.out.complain(
                "mpps: show config dcbfwdtc: no port here has traffic classes (DCB), so all is forwarded",
            );
            Outcome::Done
        },
    ),
    Command::new(
        "traffic_management",
        "show port <port:port> queue <queue:u16> rate",
        "Shows the rate that a queue is limited to",
        |app, args| {
            let id = args.u16("port");
            match app.port(id) {
                None => app.out.complain(Refusal::NoPort(id)),
                Some(_) => app.out.complain(format_args!(
                    "mpps: port {id}: its queues are not limited; rate limits are for ports that have them in hardware"
                )),
            }
            Outcome::Done
        },
    ),
    Command::new(
        "drivers",
        "show bonding config <port:port>",
        "Shows a bond",
        |app, args| bond(app, args, ShowRefusal::NoBond(args.u16("port"))),
    ),
    Command::new(
        "drivers",
        "show bonding lacp info <port:port>",
        "Shows a bond's link aggregation",
        |app, args| bond(app, args, ShowRefusal::NoLacp),
    ),
    Command::new(
        "display",
        "show port <port:port> gro",
        "Shows whether packets are merged",
        |app, args| {
            let id = args.u16("port");
            offload(app, id, ShowRefusal::GroPort(id), Reply::GroOff(id))
        },
    ),
    Command::new(
        "display",
        "show port <port:port> gso",
        "Shows whether packets are split",
        |app, args| {
            let id = args.u16("port");
            offload(app, id, ShowRefusal::PortId(id), Reply::GsoOff(id))
        },
    ),
];

fn refuse(app: &mut App, refusal: ShowRefusal) -> Outcome {
    app.out.complain(refusal);
    Outcome::Done
}

/// A refusal where there is such a port.
fn of_port(app: &mut App, args: &Args<'_>, refusal: ShowRefusal) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(Refusal::NoPort(id));
        return Outcome::Done;
    }
    refuse(app, refusal)
}

fn bond(app: &mut App, args: &Args<'_>, refusal: ShowRefusal) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::NoPort(id));
    }
    refuse(app, refusal)
}

/// Merging and splitting by software isn't there to be switched on, so it is off.
fn offload(app: &mut App, id: u16, no_port: ShowRefusal, off: Reply<'_>) -> Outcome {
    if app.port(id).is_none() {
        return refuse(app, no_port);
    }
    app.out.line(off);
    Outcome::Done
}
