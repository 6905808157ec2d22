//! What one port, or one of its queues, says of itself.

use mpps_console::{Args, Command, Outcome};

use super::control::no_port;
use super::show::ports;
use crate::app::{App, HashPart, Which};
use crate::text::{Refusal, Reply, ShowRefusal, Side};

pub(super) static COMMANDS: [Command<App>; 19] = [
    Command::new(
        "display",
        "show port (info|summary) all",
        "Shows what ports are and can do",
        |app, args| info(app, args, Which::All),
    ),
    Command::new(
        "display",
        "show port (info|summary) <port:port>",
        "Shows what a port is and can do",
        |app, args| info(app, args, Which::One(args.u16("port"))),
    ),
    Command::new(
        "display",
        "show device info all",
        "Shows the devices",
        |app, _| device(app, None),
    ),
    Command::new(
        "display",
        "show device info <device:text>",
        "Shows a device",
        |app, args| device(app, Some(args.word("device"))),
    ),
    Command::new(
        "display",
        "show rxq info <port:port> <queue:u16>",
        "Shows a receive queue",
        |app, args| queue_info(app, args, Side::Rx),
    ),
    Command::new(
        "display",
        "show txq info <port:port> <queue:u16>",
        "Shows a transmit queue",
        |app, args| queue_info(app, args, Side::Tx),
    ),
    Command::new(
        "display",
        "show port <port:port> (rxq|txq) <queue:u16> desc <descriptor:u16> status",
        "Shows the state of a descriptor",
        descriptor,
    ),
    Command::new(
        "display",
        "show port <port:port> (rxq|txq) <queue:u16> desc used count",
        "Counts the descriptors of a queue that are in use",
        used,
    ),
    Command::new(
        "display",
        "show port <port:port> macs",
        "Lists the addresses of a port",
        |app, args| known(app, args, App::show_macs),
    ),
    Command::new(
        "display",
        "show port <port:port> mcast_macs",
        "Lists the multicast addresses of a port",
        |app, args| known(app, args, App::show_multicast_macs),
    ),
    Command::new(
        "display",
        "show port <port:port> ptypes",
        "Lists the packet types that a port tells",
        ptypes,
    ),
    Command::new(
        "display",
        "show port <port:port> (rx_offload|tx_offload) capabilities",
        "Lists the offloads that a port can have",
        capabilities,
    ),
    Command::new(
        "display",
        "show port <port:port> (rx_offload|tx_offload) configuration",
        "Lists the offloads that a port has on",
        configuration,
    ),
    Command::new(
        "display",
        "show port <port:port> rss-hash",
        "Shows what packets are spread by",
        |app, args| {
            known(app, args, |app, id| {
                app.show_rss_hash(id, HashPart::Functions)
            })
        },
    ),
    Command::new(
        "display",
        "show port <port:port> rss-hash key",
        "Shows what packets are spread by, and the key",
        |app, args| known(app, args, |app, id| app.show_rss_hash(id, HashPart::Key)),
    ),
    Command::new(
        "display",
        "show port <port:port> rss-hash algorithm",
        "Shows how the hash is computed",
        |app, args| {
            known(app, args, |app, id| {
                app.show_rss_hash(id, HashPart::Algorithm)
            })
        },
    ),
    Command::new(
        "display",
        "show port <port:port> rss reta <size:u16> <masks:text>",
        "Shows entries of the redirection table, e.g. 128 (0xff,0x0)",
        |app, args| {
            app.show_reta(args.u16("port"), args.u16("size"), args.word("masks"));
            Outcome::Done
        },
    ),
    Command::new(
        "display",
        "csum show <port:port>",
        "Shows who computes checksums",
        checksums,
    ),
    Command::new(
        "display",
        "(tso|tunnel_tso) show <port:port>",
        "Shows the size of TCP segments",
        tso,
    ),
];

fn info(app: &mut App, args: &Args<'_>, which: Which) -> Outcome {
    if args.is("info") {
        ports(app, which)
            .into_iter()
            .for_each(|id| app.show_port_info(id));
        return Outcome::Done;
    }
    // The head comes even where no row follows.
    let ids = app.ports_of(which).unwrap_or_default();
    app.show_port_summary(&ids);
    match which {
        Which::One(id) if ids.is_empty() => no_port(app, id),
        _ => {}
    }
    Outcome::Done
}

fn device(app: &mut App, name: Option<&str>) -> Outcome {
    if !app.show_device_info(name) {
        app.out
            .complain(ShowRefusal::NoDevice(name.unwrap_or_default().to_owned()));
    }
    Outcome::Done
}

fn queue_info(app: &mut App, args: &Args<'_>, side: Side) -> Outcome {
    app.show_queue_info(args.u16("port"), side, args.u16("queue"));
    Outcome::Done
}

fn descriptor(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::PortId(id));
    } else {
        // No port here lets its descriptors be looked at; what doesn't exist and what can't be seen get one answer.
        app.out.complain(ShowRefusal::Descriptor(
            args.u16("queue"),
            args.u16("descriptor"),
        ));
    }
    Outcome::Done
}

fn used(app: &mut App, args: &Args<'_>) -> Outcome {
    let side = if args.is("rxq") { Side::Rx } else { Side::Tx };
    app.show_used_descriptors(args.u16("port"), side, args.u16("queue"));
    Outcome::Done
}

/// Shows something of a port that there is.
fn known(app: &mut App, args: &Args<'_>, show: fn(&mut App, u16)) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(Refusal::NoPort(id));
    } else {
        show(app, id);
    }
    Outcome::Done
}

/// The same of a port that has to be stopped for it.
pub(super) fn stopped(app: &mut App, args: &Args<'_>, show: fn(&mut App, u16)) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_some_and(|slot| slot.is_started()) {
        app.out.complain(Refusal::StopPort(id));
        return Outcome::Done;
    }
    known(app, args, show)
}

fn ptypes(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::NoPort(id));
    } else {
        app.show_packet_types(id);
    }
    Outcome::Done
}

fn side(args: &Args<'_>) -> Side {
    if args.is("rx_offload") {
        Side::Rx
    } else {
        Side::Tx
    }
}

fn capabilities(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::DeviceInfo(id));
    } else {
        app.show_offload_capabilities(id, side(args));
    }
    Outcome::Done
}

fn configuration(app: &mut App, args: &Args<'_>) -> Outcome {
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::DeviceConfig(id));
    } else {
        app.show_offload_configuration(id, side(args));
    }
    Outcome::Done
}

fn checksums(app: &mut App, args: &Args<'_>) -> Outcome {
    let outcome = stopped(app, args, App::show_checksums);
    let id = args.u16("port");
    if app.port(id).is_none() {
        app.out.complain(ShowRefusal::ChecksumPort(id));
    }
    outcome
}

fn tso(app: &mut App, args: &Args<'_>) -> Outcome {
    if args.is("tunnel_tso") {
        // Segments in tunnels have no setting of their own: off.
        return stopped(app, args, |app, _| app.out.line(Reply::TunnelTso(0)));
    }
    stopped(app, args, |app, id| {
        let size = app.port(id).map_or(0, |slot| u32::from(slot.checksum.tso));
        app.out.line(Reply::Tso(size));
    })
}
