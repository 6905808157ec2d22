//! Rows: offloads, RSS, VLAN; and the bits that DPDK prints for them.

use super::AppArgs;
use crate::getopt::{Opt, flag, opt, value};

/// The receive offloads that options name, as DPDK numbers them.
pub mod rx {
    use mpps_dev::RxOffloads;

    /// Take the VLAN tag off.
    pub const VLAN_STRIP: u64 = RxOffloads::VLAN_STRIP.bits();
    /// Check IPv4 sums.
    pub const IPV4_CKSUM: u64 = RxOffloads::IPV4_CKSUM.bits();
    /// Check UDP sums.
    pub const UDP_CKSUM: u64 = RxOffloads::UDP_CKSUM.bits();
    /// Check TCP sums.
    pub const TCP_CKSUM: u64 = RxOffloads::TCP_CKSUM.bits();
    /// Join TCP segments.
    pub const TCP_LRO: u64 = RxOffloads::TCP_LRO.bits();
    /// Take both VLAN tags off.
    pub const QINQ_STRIP: u64 = RxOffloads::QINQ_STRIP.bits();
    /// Drop by VLAN.
    pub const VLAN_FILTER: u64 = RxOffloads::VLAN_FILTER.bits();
    /// Know double tags.
    pub const VLAN_EXTEND: u64 = RxOffloads::VLAN_EXTEND.bits();
    /// Packets over several mbufs.
    pub const SCATTER: u64 = RxOffloads::SCATTER.bits();
    /// Stamp arrival.
    pub const TIMESTAMP: u64 = RxOffloads::TIMESTAMP.bits();
    /// Leave the CRC.
    pub const KEEP_CRC: u64 = RxOffloads::KEEP_CRC.bits();
}

/// The transmit offloads that options and defaults name, as DPDK numbers them.
pub mod tx {
    use mpps_dev::TxOffloads;

    /// Packets of several segments.
    pub const MULTI_SEGS: u64 = TxOffloads::MULTI_SEGS.bits();
    /// All mbufs of a queue from one pool, none cloned.
    pub const MBUF_FAST_FREE: u64 = TxOffloads::MBUF_FAST_FREE.bits();
}

/// RSS hash types, as DPDK numbers them.
pub mod rss {
    /// IPv4 and IPv6 with their variants without ports.
    pub const IP: u64 = 0xa38c;
    /// UDP over either.
    pub const UDP: u64 = 0x2_0820;
    /// Hash the outermost headers.
    pub const LEVEL_OUTERMOST: u64 = 1 << 50;
    /// Hash the innermost headers.
    pub const LEVEL_INNERMOST: u64 = 2 << 50;
}

/// Flow rules don't exist.
const NO_RULES: &str = "there are no flow rules yet";

pub(super) const ROWS: &[Opt<AppArgs>] = &[
    opt(flag("disable-rss", "No RSS"), |args, _| {
        args.offloads.rss = 0;
        Ok(())
    }),
    opt(flag("enable-rss", "RSS even with one queue"), |args, _| {
        args.offloads.rss_always = true;
        Ok(())
    }),
    opt(
        flag("rss-ip", "Hash IP addresses (the default)"),
        |args, _| {
            args.offloads.rss |= rss::IP;
            Ok(())
        },
    ),
    opt(
        flag("rss-udp", "Hash IP addresses and UDP ports"),
        |args, _| {
            args.offloads.rss |= rss::IP | rss::UDP;
            Ok(())
        },
    ),
    opt(
        flag("rss-level-inner", "Hash the innermost headers"),
        |args, _| {
            args.offloads.rss |= rss::LEVEL_INNERMOST;
            Ok(())
        },
    ),
    opt(
        flag("rss-level-outer", "Hash the outermost headers"),
        |args, _| {
            args.offloads.rss |= rss::LEVEL_OUTERMOST;
            Ok(())
        },
    ),
    opt(
        value(
            "rx-mq-mode",
            "BITS",
            "Queue modes allowed: 1 RSS, 2 DCB, 4 VMDq; 0x7 unless given",
        ),
        |args, given| {
            let right = "give 0x0 to 0x7";
            args.offloads.rx_mq_mode = match u8::try_from(given.hex()?) {
                Ok(bits @ 0..=7) => bits,
                _ => return Err(given.bad("is out of range", right)),
            };
            Ok(())
        },
    ),
    opt(
        flag("enable-rx-cksum", "Check IPv4, UDP and TCP sums on receipt"),
        |args, _| {
            args.offloads.rx |= rx::IPV4_CKSUM | rx::UDP_CKSUM | rx::TCP_CKSUM;
            Ok(())
        },
    ),
    opt(
        flag("enable-rx-timestamp", "Stamp packets on receipt"),
        |args, _| {
            args.offloads.rx |= rx::TIMESTAMP;
            Ok(())
        },
    ),
    opt(
        flag("enable-lro", "Join TCP segments on receipt"),
        |args, _| {
            args.offloads.rx |= rx::TCP_LRO;
            Ok(())
        },
    ),
    opt(
        flag("enable-scatter", "Receive packets over several mbufs"),
        |args, _| {
            args.offloads.rx |= rx::SCATTER;
            Ok(())
        },
    ),
    opt(
        flag("disable-crc-strip", "Leave the CRC on received packets"),
        |args, _| {
            args.offloads.rx |= rx::KEEP_CRC;
            Ok(())
        },
    ),
    opt(
        flag("enable-hw-vlan", "All four VLAN offloads"),
        |args, _| {
            args.offloads.rx |= rx::VLAN_STRIP | rx::VLAN_FILTER | rx::VLAN_EXTEND | rx::QINQ_STRIP;
            Ok(())
        },
    ),
    opt(flag("enable-hw-vlan-filter", "Drop by VLAN"), |args, _| {
        args.offloads.rx |= rx::VLAN_FILTER;
        Ok(())
    }),
    opt(
        flag("enable-hw-vlan-strip", "Take the VLAN tag off"),
        |args, _| {
            args.offloads.rx |= rx::VLAN_STRIP;
            Ok(())
        },
    ),
    opt(
        flag("enable-hw-vlan-extend", "Know double tags"),
        |args, _| {
            args.offloads.rx |= rx::VLAN_EXTEND;
            Ok(())
        },
    ),
    opt(
        flag("enable-hw-qinq-strip", "Take both VLAN tags off"),
        |args, _| {
            args.offloads.rx |= rx::QINQ_STRIP;
            Ok(())
        },
    ),
    opt(
        flag("enable-drop-en", "Let a full receive queue drop")
            .no_effect("the queues of software ports do what their kind says when full"),
        |args, _| {
            args.offloads.drop_en = true;
            Ok(())
        },
    ),
    opt(
        value(
            "rx-offloads",
            "MASK",
            "Receive offloads, instead of those before",
        ),
        |args, given| {
            args.offloads.rx = given.hex()?;
            Ok(())
        },
    ),
    opt(
        value(
            "tx-offloads",
            "MASK",
            "Transmit offloads; 0x10000 unless given",
        ),
        |args, given| {
            args.offloads.tx = given.hex()?;
            Ok(())
        },
    ),
    opt(
        value(
            "vxlan-gpe-port",
            "N",
            "UDP port of VXLAN-GPE; 4790 unless given",
        ),
        |args, given| {
            args.offloads.vxlan_gpe_port = given.number(0..=u16::MAX)?;
            Ok(())
        },
    ),
    opt(
        value(
            "geneve-parsed-port",
            "N",
            "UDP port of GENEVE; 6081 unless given",
        ),
        |args, given| {
            args.offloads.geneve_port = given.number(0..=u16::MAX)?;
            Ok(())
        },
    ),
    opt(
        flag("flow-isolate-all", "Receive only what flow rules name").refused(
            "there are no flow rules yet, so isolated ports would receive nothing; drop the option",
        ),
        |_, _| Ok(()),
    ),
    opt(
        flag("disable-flow-flush", "Keep flow rules when a port stops").no_effect(NO_RULES),
        |_, _| Ok(()),
    ),
];
