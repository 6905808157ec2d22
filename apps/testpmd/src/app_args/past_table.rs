//! Rows of releases before today's: gone from DPDK, still in scripts. Each is accepted with a notice.

use super::{AppArgs, rx};
use crate::getopt::{Opt, flag, opt, value};

/// VLAN offloads are off by themselves since 18.02.
const VLAN_OFF: &str = "VLAN offloads are off unless --enable-hw-vlan... turns them on";
/// Filters of flow director.
const FDIR: &str = "packet filters of this kind are gone from DPDK too";
/// Counters of queues.
const QUEUE_STATS: &str = "each queue has its own counters";

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(
        flag("disable-hw-vlan", "All four VLAN offloads off")
            .past()
            .no_effect(VLAN_OFF),
        |args, _| {
            args.offloads.rx &=
                !(rx::VLAN_STRIP | rx::VLAN_FILTER | rx::VLAN_EXTEND | rx::QINQ_STRIP);
            Ok(())
        },
    ),
    opt(
        flag("disable-hw-vlan-filter", "VLAN filter off")
            .past()
            .no_effect(VLAN_OFF),
        |args, _| {
            args.offloads.rx &= !rx::VLAN_FILTER;
            Ok(())
        },
    ),
    opt(
        flag("disable-hw-vlan-strip", "VLAN strip off")
            .past()
            .no_effect(VLAN_OFF),
        |args, _| {
            args.offloads.rx &= !rx::VLAN_STRIP;
            Ok(())
        },
    ),
    opt(
        flag("disable-hw-vlan-extend", "VLAN extend off")
            .past()
            .no_effect(VLAN_OFF),
        |args, _| {
            args.offloads.rx &= !rx::VLAN_EXTEND;
            Ok(())
        },
    ),
    opt(
        flag("crc-strip", "Take the CRC off")
            .past()
            .no_effect("the CRC is off unless --disable-crc-strip leaves it"),
        |args, _| {
            args.offloads.rx &= !rx::KEEP_CRC;
            Ok(())
        },
    ),
    opt(
        value("txqflags", "MASK", "Flags of transmit queues")
            .past()
            .no_effect("--tx-offloads took its place"),
        |_, given| given.hex().map(|_| ()),
    ),
    opt(
        value("pkt-filter-mode", "WORD", "Packet filter mode")
            .past()
            .no_effect(FDIR),
        |_, given| given.non_empty("a mode").map(|_| ()),
    ),
    opt(
        value("pkt-filter-report-hash", "WORD", "Packet filter report")
            .past()
            .no_effect(FDIR),
        |_, given| given.non_empty("a word").map(|_| ()),
    ),
    opt(
        value("pkt-filter-size", "SIZE", "Packet filter memory")
            .past()
            .no_effect(FDIR),
        |_, given| given.non_empty("a size").map(|_| ()),
    ),
    opt(
        value("pkt-filter-drop-queue", "N", "Packet filter drop queue")
            .past()
            .no_effect(FDIR),
        |_, given| given.number(0..=u16::MAX).map(|_| ()),
    ),
    opt(
        value(
            "tx-queue-stats-mapping",
            "(PORT,QUEUE,COUNTER)[,...]",
            "Counters of transmit queues",
        )
        .repeats()
        .past()
        .no_effect(QUEUE_STATS),
        |_, given| given.non_empty("(port,queue,counter)").map(|_| ()),
    ),
    opt(
        value(
            "rx-queue-stats-mapping",
            "(PORT,QUEUE,COUNTER)[,...]",
            "Counters of receive queues",
        )
        .repeats()
        .past()
        .no_effect(QUEUE_STATS),
        |_, given| given.non_empty("(port,queue,counter)").map(|_| ()),
    ),
    opt(
        value(
            "txonly-nb-flows",
            "N",
            "The name that DPDK's help has for --txonly-flows",
        )
        .means("txonly-flows")
        .past()
        .deprecated("--txonly-flows"),
        |args, given| {
            args.traffic.flows = given.number(1..=64)?;
            Ok(())
        },
    ),
];
