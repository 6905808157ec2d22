//! Rows: traffic generation and the engines.

use std::net::Ipv4Addr;

use super::{AppArgs, NoisyMode};
use crate::getopt::{ArgError, Given, Opt, flag, opt, value};

/// Segments of a packet at most.
const MAX_SEGMENTS: usize = 255;
/// Ethernet, IPv4 and UDP headers: the shortest packet that txonly can make.
const HEADERS: u32 = 14 + 20 + 8;
/// Speeds that `--eth-link-speed` takes, in Mbit/s.
const SPEEDS: [u32; 11] = [
    1_000, 2_500, 5_000, 10_000, 25_000, 40_000, 50_000, 100_000, 200_000, 400_000, 800_000,
];

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        value(
            "txpkts",
            "N[,N...]",
            "Length of each segment that txonly sends; 64 unless given",
        ),
        txpkts,
    ),
    opt(
        flag("txonly-multi-flow", "txonly varies the UDP source port"),
        |args, _| {
            args.traffic.multi_flow = true;
            Ok(())
        },
    ),
    opt(
        value("txonly-flows", "N", "Flows of --txonly-multi-flow, 1 to 64"),
        |args, given| {
            args.traffic.flows = given.number(1..=64)?;
            Ok(())
        },
    ),
    opt(
        value(
            "tx-ip",
            "SRC,DST",
            "Addresses that txonly sends; 198.18.0.1,198.18.0.2 unless given",
        ),
        tx_ip,
    ),
    opt(
        value(
            "tx-udp",
            "SRC[,DST]",
            "UDP ports that txonly sends; 9,9 unless given",
        ),
        |args, given| {
            let ports = given.numbers(0..=u16::MAX, 2)?;
            args.traffic.udp = (ports[0], ports[ports.len() - 1]);
            Ok(())
        },
    ),
    opt(
        value(
            "flowgen-clones",
            "N",
            "Copies of each packet that flowgen sends",
        ),
        |args, given| {
            args.traffic.flowgen_clones = given.number(0..=u16::MAX)?;
            Ok(())
        },
    ),
    opt(
        value("flowgen-flows", "N", "Flows of flowgen; 1024 unless given"),
        |args, given| {
            args.traffic.flowgen_flows = given.number(1..=i32::MAX.unsigned_abs())?;
            Ok(())
        },
    ),
    opt(
        value("eth-link-speed", "MBIT", "Fixed link speed, such as 10000"),
        link_speed,
    ),
    opt(
        value(
            "noisy-forward-mode",
            "WORD",
            "What noisy does: io, mac, macswap, 5tswap",
        ),
        |args, given| {
            args.noisy.mode = given.choice(&[
                ("io", NoisyMode::Io),
                ("mac", NoisyMode::Mac),
                ("macswap", NoisyMode::Macswap),
                ("5tswap", NoisyMode::FiveTupleSwap),
            ])?;
            Ok(())
        },
    ),
    opt(
        value(
            "noisy-tx-sw-buffer-size",
            "N",
            "Packets that noisy holds back",
        ),
        |args, given| {
            args.noisy.buffer_size = given.number(0..=u16::MAX)?;
            Ok(())
        },
    ),
    opt(
        value(
            "noisy-tx-sw-buffer-flushtime",
            "MS",
            "noisy lets held packets go after this",
        ),
        |args, given| {
            args.noisy.flush_ms = given.number(0..=u16::MAX)?;
            Ok(())
        },
    ),
    opt(
        value(
            "noisy-lkup-memory",
            "MB",
            "Memory that noisy touches, in MiB",
        ),
        |args, given| {
            args.noisy.memory_mb = given.number(0..=1 << 20)?;
            Ok(())
        },
    ),
    opt(
        value("noisy-lkup-num-writes", "N", "Writes to it for each packet"),
        |args, given| {
            args.noisy.writes = given.number(0..=u32::MAX)?;
            Ok(())
        },
    ),
    opt(
        value("noisy-lkup-num-reads", "N", "Reads of it for each packet"),
        |args, given| {
            args.noisy.reads = given.number(0..=u32::MAX)?;
            Ok(())
        },
    ),
    opt(
        value(
            "noisy-lkup-num-reads-writes",
            "N",
            "Reads and writes for each packet",
        ),
        |args, given| {
            args.noisy.reads_writes = given.number(0..=u32::MAX)?;
            Ok(())
        },
    ),
];

fn txpkts(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let lengths = given.numbers(0..=u16::MAX, MAX_SEGMENTS)?;
    let total: u32 = lengths.iter().map(|n| u32::from(*n)).sum();
    if total < HEADERS {
        return Err(given.bad(
            format!("is {total} bytes"),
            format!("give at least {HEADERS}, for the Ethernet, IPv4 and UDP headers"),
        ));
    }
    args.traffic.txpkts = lengths;
    Ok(())
}

fn tx_ip(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let right = "give two IPv4 addresses such as 198.18.0.1,198.18.0.2";
    let Some((source, destination)) = given.text().split_once(',') else {
        return Err(given.bad("is not two addresses", right));
    };
    let read = |text: &str| {
        let address = text.trim().parse::<Ipv4Addr>();
        address.map_err(|_| given.bad_part(text, "is not an IPv4 address", right))
    };
    args.traffic.ip = (read(source)?, read(destination)?);
    Ok(())
}

fn link_speed(args: &mut AppArgs, given: &Given<'_>) -> Result<(), ArgError> {
    let speed: u32 = given.number(0..=u32::MAX)?;
    if !SPEEDS.contains(&speed) {
        let all: Vec<String> = SPEEDS.iter().map(u32::to_string).collect();
        return Err(given.bad(
            "is no fixed speed",
            format!("give one of {}", all.join(", ")),
        ));
    }
    args.traffic.link_speed = Some(speed);
    Ok(())
}
