//! The forwarding configuration: engine, ports, cores, bursts, packets, modes of ports.

use mpps_console::{Args, Command, ListError, Outcome};

use super::answer;
use crate::app::{App, Which};
use crate::text::{ConfigRefusal, Refusal};

/// The most items of a list of ports or cores.
const MOST_ITEMS: usize = 4096;
/// The most segments of a generated packet.
const MOST_SEGMENTS: usize = 255;

pub(super) static COMMANDS: [Command<App>; 21] = [
    Command::new(
        "config",
        "set fwd <mode:choice(modes)>",
        "Chooses the engine for the next start",
        |app, args| fwd(app, args.word("mode"), false),
    ),
    Command::new(
        "config",
        "set fwd <mode:choice(modes)> retry",
        "Chooses the engine, and tries again to send what a queue doesn't take",
        |app, args| fwd(app, args.word("mode"), true),
    ),
    Command::new(
        "config",
        "set nbcore <count:u16>",
        "Sets how many of the chosen cores forward",
        |app, args| {
            let result = app.set_nb_cores(args.u16("count"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set nbport <count:u16>",
        "Sets how many of the chosen ports forward",
        |app, args| {
            let result = app.set_nb_ports(args.u16("count"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set burst <packets:u16>",
        "Sets the packets a burst, 1 to 512",
        |app, args| {
            let result = app.set_burst(args.u16("packets"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set verbose <level:u16>",
        "Prints packets received (1), sent (2) or both (3)",
        |app, args| {
            app.set_verbose(args.u16("level"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set corelist <cores:list>",
        "Chooses the cores that forward, in order",
        |app, args| {
            let result =
                items(args, "cores", "core", MOST_ITEMS).and_then(|cores| app.set_cores(&cores));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set coremask <mask:u64>",
        "Chooses the cores that forward, a bit each",
        |app, args| {
            let result = app.set_core_mask(args.u64("mask"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set portlist <ports:list>",
        "Chooses the ports that forward, in order",
        |app, args| {
            let result =
                items(args, "ports", "port", MOST_ITEMS).and_then(|ports| app.set_ports(&ports));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set portmask <mask:u64>",
        "Chooses the ports that forward, a bit each",
        |app, args| {
            let result = app.set_port_mask(args.u64("mask"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set txpkts <lengths:list>",
        "Sets the lengths of the segments of generated packets",
        |app, args| {
            let lengths = items(args, "lengths", "segment lengths", MOST_SEGMENTS);
            let result =
                lengths.and_then(|lengths| app.set_txpkts(&lengths).map_err(ConfigRefusal::from));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set txonly-flows <flows:u16>",
        "Sets how many source ports generated packets have, 1 to 64",
        |app, args| {
            let result = app.set_txonly_flows(args.u16("flows"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set default",
        "Chooses all ports and one core again, and forgets peers",
        |app, _| {
            let result = app.set_default();
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set burst tx delay <microseconds:u32> retry <times:u32>",
        "Sets how long and how often sending is tried again",
        |app, args| {
            app.set_retry(args.u32("microseconds"), args.u32("times"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set promisc all (on|off)",
        "Sets promiscuous mode of all ports",
        |app, args| {
            app.set_promiscuous(Which::All, args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set promisc <port:port> (on|off)",
        "Sets promiscuous mode of a port",
        |app, args| {
            app.set_promiscuous(Which::One(args.u16("port")), args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set allmulti all (on|off)",
        "Sets whether all ports take all multicast",
        |app, args| {
            app.set_allmulticast(Which::All, args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set allmulti <port:port> (on|off)",
        "Sets whether a port takes all multicast",
        |app, args| {
            app.set_allmulticast(Which::One(args.u16("port")), args.is("on"));
            Outcome::Done
        },
    ),
    Command::new(
        "config",
        "set eth-peer <port:port> <address:word>",
        "Sets the address that packets sent by a port go to",
        |app, args| {
            let result = app.set_peer(args.u16("port"), args.word("address"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "port config mtu <port:port> <bytes:u16>",
        "Sets the MTU of a port",
        |app, args| {
            let result = app.set_mtu(args.u16("port"), args.u16("bytes"));
            answer(app, result)
        },
    ),
    Command::new(
        "config",
        "set port setup on (iterator|event)",
        "Sets how attached ports are found; here they are the same",
        |_, _| Outcome::Done,
    ),
];

fn fwd(app: &mut App, mode: &str, retry: bool) -> Outcome {
    match mpps_engines::find(mode) {
        Some(engine) => app.set_engine(engine, retry),
        None => app.out.complain(Refusal::FwdMode(mode.to_owned())),
    }
    Outcome::Done
}

/// A list of numbers, or what is wrong with it.
fn items(
    args: &Args<'_>,
    name: &str,
    what: &'static str,
    most: usize,
) -> Result<Vec<u32>, ConfigRefusal> {
    args.items(name, what, most).map_err(|error| {
        ConfigRefusal::Plain(match error {
            ListError::NotADigit(character) => Refusal::ListCharacter(character),
            ListError::NothingBeforeComma => Refusal::ListComma,
            ListError::TooMany { what, count, most } => Refusal::ListLong(what, count, most),
        })
    })
}
