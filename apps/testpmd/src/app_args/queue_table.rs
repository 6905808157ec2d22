//! Rows: queues, rings, bursts.

use super::{AppArgs, Burst};
use crate::getopt::{Opt, flag, opt, optional, value};

/// Queues of a port at most; a port may have fewer.
const MAX_QUEUES: u16 = 1024;
/// Thresholds are registers of a card.
const REGISTER: &str =
    "ring thresholds are registers of network cards; `show config rxtx` prints them";
/// Buffer split happens in a card.
const SPLIT: &str = "no port here splits a packet over pools; drop the option";

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        value(
            "rxq",
            "N",
            "Receive queues of a port, 0 to 1024; 1 unless given",
        ),
        |args, given| {
            args.queues.rxq = Some(given.number(0..=MAX_QUEUES)?);
            Ok(())
        },
    ),
    opt(
        value(
            "txq",
            "N",
            "Transmit queues of a port, 0 to 1024; 1 unless given",
        ),
        |args, given| {
            args.queues.txq = Some(given.number(0..=MAX_QUEUES)?);
            Ok(())
        },
    ),
    opt(
        value("rxd", "N", "Descriptors of a receive ring"),
        |args, given| {
            args.queues.rxd = Some(given.number(1..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txd", "N", "Descriptors of a transmit ring"),
        |args, given| {
            args.queues.txd = Some(given.number(1..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        value(
            "burst",
            "N",
            "Packets of a burst, 1 to 512, 0: ask port 0; 32 unless given",
        ),
        |args, given| {
            args.queues.burst = match given.number(0..=512)? {
                0 => Burst::OfPort,
                n => Burst::Packets(n),
            };
            Ok(())
        },
    ),
    opt(
        value("rxpt", "N", "Receive prefetch threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.rxpt = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("rxht", "N", "Receive host threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.rxht = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("rxwt", "N", "Receive write-back threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.rxwt = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txpt", "N", "Transmit prefetch threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.txpt = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txht", "N", "Transmit host threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.txht = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txwt", "N", "Transmit write-back threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.txwt = Some(given.number(0..=u8::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("rxfreet", "N", "Receive free threshold, below --rxd").no_effect(REGISTER),
        |args, given| {
            args.queues.rxfreet = Some(given.number(0..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txfreet", "N", "Transmit free threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.txfreet = Some(given.number(0..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        value("txrst", "N", "Transmit RS bit threshold").no_effect(REGISTER),
        |args, given| {
            args.queues.txrst = Some(given.number(0..=u16::MAX)?);
            Ok(())
        },
    ),
    opt(
        optional("rxq-share", "N", "Share receive queues between ports")
            .no_effect("no port here can share its receive queues"),
        |_, given| match given.value {
            Some(_) => given.number(0..=u32::MAX).map(|_| ()),
            None => Ok(()),
        },
    ),
    opt(
        flag(
            "no-flush-rx",
            "Don't drain receive queues before forwarding",
        ),
        |args, _| {
            args.queues.flush_rx = false;
            Ok(())
        },
    ),
    opt(
        flag("multi-rx-mempool", "Several pools for a queue").refused(SPLIT),
        |_, _| Ok(()),
    ),
    opt(
        value("rxoffs", "N[,N...]", "Offsets of split packets").refused(SPLIT),
        |_, _| Ok(()),
    ),
    opt(
        value("rxpkts", "N[,N...]", "Lengths of split packets").refused(SPLIT),
        |_, _| Ok(()),
    ),
    opt(
        value("rxhdrs", "NAME[,NAME...]", "Headers to split at").refused(SPLIT),
        |_, _| Ok(()),
    ),
];
