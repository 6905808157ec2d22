//! Rows: which ports and cores forward, how ports are joined, who their peers are.

use std::path::PathBuf;

use super::{AppArgs, PortSelection, Topology};
use crate::cores::{Numbers, read_mask};
use crate::getopt::{ArgError, Given, Opt, opt, value};

/// The most ports.
pub(super) const MAX_PORTS: u16 = 32;
/// Hairpin queues join receive to transmit inside a card.
const HAIRPIN: &str =
    "hairpin queues are inside a network card, and no port here has them; drop the option";

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        value(
            "nb-cores",
            "N",
            "Forwarding cores, at most the lcores but main; 1 unless given",
        ),
        |args, given| {
            args.ports.nb_cores = Some(given.number(1..=1023)?);
            Ok(())
        },
    ),
    opt(
        value(
            "coremask",
            "MASK",
            "Forwarding lcores, as a hexadecimal mask without main",
        ),
        coremask,
    ),
    opt(
        value(
            "nb-ports",
            "N",
            "Forward on the first N ports; all unless given",
        ),
        |args, given| {
            args.ports.nb_ports = Some(given.number(1..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        value(
            "portmask",
            "MASK",
            "Forwarding ports, as a hexadecimal mask",
        ),
        portmask,
    ),
    opt(
        value("", "MASK", "Read as --portmask; testpmd itself has no -p")
            .short('p')
            .means("portmask")
            .exact()
            .deprecated("--portmask"),
        portmask,
    ),
    opt(
        value(
            "portlist",
            "LIST",
            "Forwarding ports, such as 0,2-4; their order pairs them",
        ),
        portlist,
    ),
    opt(
        value(
            "port-topology",
            "WORD",
            "How ports are joined: paired, chained, loop",
        ),
        |args, given| {
            args.ports.topology = given.choice(&[
                ("paired", Topology::Paired),
                ("chained", Topology::Chained),
                ("loop", Topology::Loop),
            ])?;
            Ok(())
        },
    ),
    opt(
        value(
            "forward-mode",
            "ENGINE",
            "What is done to packets; io unless given",
        ),
        |args, given| {
            let name = given.non_empty("an engine such as io")?;
            args.ports.forward_mode = Some(name.to_owned());
            args.echo.push(format!("Set {name} packet forwarding mode"));
            Ok(())
        },
    ),
    opt(
        value(
            "eth-peers-configfile",
            "FILE",
            "Ethernet addresses of the peers of ports 0, 1, ..., one a line",
        ),
        |args, given| {
            args.ports.peers_file = Some(PathBuf::from(given.non_empty("a file")?));
            Ok(())
        },
    ),
    opt(
        value("eth-peer", "PORT,MAC", "Ethernet address of a port's peer").repeats(),
        eth_peer,
    ),
    opt(
        value("hairpinq", "N", "Hairpin queues").limited("only 0"),
        |_, given| match given.number::<u16>(0..=1024)? {
            0 => Ok(()),
            _ => Err(given.unsupported(HAIRPIN)),
        },
    ),
    opt(
        value("hairpin-mode", "BITS", "Hairpin mode").limited("only 0"),
        |_, given| match given.any_base(given.text(), 0..=u64::from(u32::MAX))? {
            0 => Ok(()),
            _ => Err(given.unsupported(HAIRPIN)),
        },
    ),
    opt(
        value(
            "hairpin-map",
            "RXP:RXQ:TXP:TXQ:N",
            "Hairpin queues between ports",
        )
        .repeats()
        .refused(HAIRPIN),
        |_, _| Ok(()),
    ),
];

fn coremask(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let cores = read_mask(given.text())
        .map_err(|e| given.bad("can't be used", e.to_string().replace("; ", ": ")))?;
    let before = args
        .ports
        .nb_cores
        .unwrap_or_else(|| count(args.ports.coremask.as_ref()));
    let now = count(Some(&cores));
    if before != now {
        args.echo.push(format!(
            "previous number of forwarding cores {before} - changed to number of configured cores {now}"
        ));
    }
    args.ports.coremask = Some(cores);
    args.ports.nb_cores = None;
    Ok(())
}

fn count(cores: Option<&Numbers>) -> u32 {
    cores.map_or(1, |c| u32::try_from(c.len()).unwrap_or(u32::MAX))
}

fn portmask(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let mask = given.hex()?;
    if mask == 0 {
        return Err(given.bad(
            "selects no port",
            "set the bit of at least one port, such as 0x1",
        ));
    }
    let ports = (0..64).filter(|bit| mask >> bit & 1 == 1).collect();
    args.ports.selection = PortSelection::Mask(ports);
    args.ports.nb_ports = None;
    Ok(())
}

/// `0,2-4`: ports in the order of the list; a port that comes again is left out.
fn portlist(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let mut ports: Vec<u16> = Vec::new();
    for item in given.text().split(',') {
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let read = |text: &str| given.number_in::<u16>(text, 0..=1023);
        let (first, last) = (read(first)?, read(last)?);
        for port in first.min(last)..=first.max(last) {
            if ports.contains(&port) {
                args.notices.note(format!(
                    "{}: port {port} is in the list twice; once counts",
                    given.whole()
                ));
            } else {
                ports.push(port);
            }
        }
    }
    args.ports.selection = PortSelection::List(ports);
    args.ports.nb_ports = None;
    Ok(())
}

fn eth_peer(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let right = "give PORT,MAC such as 0,02:00:00:00:00:01";
    let Some((port, mac)) = given.text().split_once(',') else {
        return Err(given.bad("has no comma", right));
    };
    let port = given.number_in(port, 0..=MAX_PORTS - 1)?;
    let mac = mac
        .trim()
        .parse()
        .map_err(|_| given.bad_part(mac, "is not an Ethernet address", right))?;
    args.ports.peers.push((port, mac));
    Ok(())
}
