//! Commands of DPDK's for what no port or engine here has: each is read in full and refused, by DPDK's words where it
//! answers a software port with any, by ours elsewhere.

use mpps_console::{Args, Command, Outcome};

use super::answer;
use crate::app::App;
use crate::text::{ConfigRefusal, Refusal};

pub(super) static COMMANDS: [Command<App>; 20] = [
    Command::new(
        "config",
        "set txtimes <inter:word>",
        "Sets times between bursts; no port here sends by time",
        |app, _| {
            own(
                app,
                "set txtimes: no port here sends packets at a given time (offload SEND_ON_TIMESTAMP)",
            )
        },
    ),
    Command::new(
        "config",
        "set rxoffs <offsets:list>",
        "Sets offsets of segments; no port here splits packets",
        split,
    ),
    Command::new(
        "config",
        "set rxpkts <lengths:list>",
        "Sets lengths of segments; no port here splits packets",
        split,
    ),
    Command::new(
        "config",
        "set rxhdrs <headers:list>",
        "Sets headers to split at; no port here splits packets",
        split,
    ),
    Command::new(
        "config",
        "set log global <level:u32>",
        "Sets the log level; nothing is logged by level here",
        log,
    ),
    Command::new(
        "config",
        "set log <type:word> <level:u32>",
        "Sets a type's log level; there are no types here",
        log,
    ),
    Command::new(
        "config",
        "port <port:port> (enable|disable) <counter:word>",
        "Makes a counter count, or not; all counters here always do",
        |app, args| {
            of_port(
                app,
                args,
                "all counters always count; there is none to turn on or off",
            )
        },
    ),
    Command::new(
        "config",
        "set port <port:port> gro (on|off)",
        "Merges received packets; not available here",
        |app, args| {
            offload(
                app,
                args,
                "packets are not merged here (GRO)",
                Refusal::GroForwarding,
            )
        },
    ),
    Command::new(
        "config",
        "set gro flush <cycles:u8>",
        "Sets how often merged packets leave; not available here",
        |app, _| own(app, "set gro flush: packets are not merged here (GRO)"),
    ),
    Command::new(
        "config",
        "set port <port:port> gso (on|off)",
        "Splits sent packets; not available here",
        |app, args| {
            offload(
                app,
                args,
                "packets are not split here (GSO)",
                Refusal::GsoForwarding(args.is("on")),
            )
        },
    ),
    Command::new(
        "config",
        "set gso segsz <bytes:u16>",
        "Sets the length of split packets; not available here",
        |app, _| own(app, "set gso segsz: packets are not split here (GSO)"),
    ),
    Command::new(
        "config",
        "set port <port:port> ptype_mask <mask:u32>",
        "Sets the packet types that a port tells",
        |app, args| {
            let id = args.u16("port");
            let refusal = if app.port(id).is_some() {
                ConfigRefusal::Ptypes(id)
            } else {
                ConfigRefusal::NoPtypes(id)
            };
            answer(app, Err(refusal))
        },
    ),
    Command::new(
        "config",
        "set port <port:port> queue <queue:u16> rate <mbps:u32>",
        "Limits the rate of a queue; not available here",
        |app, args| {
            let id = args.u16("port");
            let refusal = if app.port(id).is_none() {
                Refusal::NoPort(id).into()
            } else {
                ConfigRefusal::Rate(id)
            };
            answer(app, Err(refusal))
        },
    ),
    Command::new(
        "config",
        "set flow_ctrl (rx|tx|autoneg|mac_ctrl_frame_fwd) (on|off) <port:port>",
        "Sets flow control of a link; not available here",
        |app, _| answer(app, Err(ConfigRefusal::FlowControl)),
    ),
    Command::new(
        "config",
        "set flow_ctrl (high_water|low_water|pause_time|send_xon) <value:u32> <port:port>",
        "Sets a figure of a link's flow control; not available here",
        |app, _| answer(app, Err(ConfigRefusal::FlowControl)),
    ),
    Command::new(
        "config",
        "set flow_ctrl rx (on|off) tx (on|off) <high:u32> <low:u32> <pause:u16> <xon:u16> mac_ctrl_frame_fwd (on|off) autoneg (on|off) <port:port>",
        "Sets all of a link's flow control; not available here",
        |app, _| answer(app, Err(ConfigRefusal::FlowControl)),
    ),
    Command::new(
        "ports",
        "read (rxd|txd) <port:port> <queue:u16> <descriptor:u16>",
        "Shows a descriptor of a card's ring; software ports have none to read",
        |app, args| of_port(app, args, "a software port has no descriptors in registers"),
    ),
    Command::new(
        "ports",
        "port config (<port:port>|all) speed <speed:(10|100|1000|2500|5000|10000|25000|40000|50000|100000|200000|400000|800000|auto)> duplex <duplex:(half|full|auto)>",
        "Sets speed and duplex of a link; software ports have the speed they say",
        |app, args| of_ports(app, args, "the link of a software port has no speed to set"),
    ),
    Command::new(
        "ports",
        "port config (<port:port>|all) loopback <mode:u32>",
        "Sets a card's loopback",
        |app, args| {
            of_ports(
                app,
                args,
                "a software port has no loopback inside; '--port-topology=loop' sends packets back",
            )
        },
    ),
    Command::new(
        "config",
        "set tx loopback <port:port> (on|off)",
        "Sets loopback between functions of a card",
        |app, args| {
            of_port(
                app,
                args,
                "a software port has no functions to loop packets between",
            )
        },
    ),
];

fn own(app: &mut App, why: &str) -> Outcome {
    answer(app, Err(ConfigRefusal::Own(why.to_owned())))
}

fn split(app: &mut App, args: &Args<'_>) -> Outcome {
    let command: Vec<&str> = args.literals().collect();
    own(
        app,
        &format!(
            "{}: no port here splits received packets (offload BUFFER_SPLIT)",
            command.join(" ")
        ),
    )
}

fn log(app: &mut App, _: &Args<'_>) -> Outcome {
    own(
        app,
        "set log: nothing is logged by type or level here; errors and notices are always printed",
    )
}

/// For a port: that there is none, or why it can't.
fn of_port(app: &mut App, args: &Args<'_>, why: &str) -> Outcome {
    let id = args.u16("port");
    let refusal = match app.port(id) {
        None => Refusal::NoPort(id).into(),
        Some(_) => ConfigRefusal::Own(format!("port {id}: {why}")),
    };
    answer(app, Err(refusal))
}

/// The same, where all ports may be meant.
fn of_ports(app: &mut App, args: &Args<'_>, why: &str) -> Outcome {
    if args.has("port") {
        of_port(app, args, why)
    } else {
        own(app, why)
    }
}

/// Merging and splitting, which are refused otherwise while forwarding.
fn offload(app: &mut App, args: &Args<'_>, why: &str, running: Refusal) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        return answer(app, Err(ConfigRefusal::NoPortId(id)));
    }
    if app.forwarding.running.is_some() {
        return answer(app, Err(running.into()));
    }
    answer(app, Err(ConfigRefusal::Own(format!("port {id}: {why}"))))
}
