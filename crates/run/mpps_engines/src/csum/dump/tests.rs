//! The blocks as DPDK's testpmd 22.11 printed them for the same frames.

use mpps_dev::TxOffloads;
use mpps_mbuf::OffloadFlags;

use super::{Dump, RxNames, TxNames};
use crate::csum::Csum;
use crate::testing::{Bench, packets, pool, setup};
use crate::{ChecksumSettings, frames};

/// The block of one frame, without the line that has an address in it.
fn block(frame: &[u8], settings: ChecksumSettings) -> String {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.tx.checksum = settings;
    let mut bench = Bench::new(&pool, packets(&pool, &[frame.to_vec()]), usize::MAX);
    bench.io.receive(&mut bench.lcore);
    let mut engine = Csum::new(&setup).unwrap();
    engine.work(&mut bench.lcore, &mut bench.io);
    let packet = bench.io.burst.pop_front().unwrap();
    let text = Dump {
        port: 0,
        packet: &packet,
        rx_flags: OffloadFlags::empty(),
        layers: mpps_wire::parse(packet.data(), engine.tunnels.as_ref()),
        hardware: engine.hardware,
        tso: engine.tso,
    }
    .to_string();
    drop(packet);
    bench.finish();
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines[0], "-----------------");
    let length = format!(", pkt_len={}, nb_segs=1:", frame.len());
    assert!(lines[1].starts_with("port=0, mbuf=0x") && lines[1].ends_with(&length));
    lines[2..].join("\n")
}

const UNKNOWN: &str = "RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN ";

#[test]
fn blocks_in_software() {
    let settings = ChecksumSettings {
        parse_tunnel: true,
        ..ChecksumSettings::default()
    };
    for (frame, rx, more, tx) in [
        (
            frames::UDP,
            "l2_len=14 ethertype=800 l3_len=20 l4_proto=17 l4_len=8",
            "",
            "RTE_MBUF_F_TX_IPV4 ",
        ),
        (
            frames::TCP,
            "l2_len=14 ethertype=800 l3_len=20 l4_proto=6 l4_len=32",
            "",
            "RTE_MBUF_F_TX_IPV4 ",
        ),
        (
            frames::VLAN,
            "l2_len=18 ethertype=800 l3_len=20 l4_proto=17 l4_len=8",
            "",
            "RTE_MBUF_F_TX_IPV4 ",
        ),
        (
            frames::VXLAN,
            "l2_len=30 ethertype=800 l3_len=20 l4_proto=17 l4_len=8",
            "rx: outer_l2_len=14 outer_ethertype=800 outer_l3_len=20\n",
            "RTE_MBUF_F_TX_IPV4 RTE_MBUF_F_TX_OUTER_IPV4 RTE_MBUF_F_TX_TUNNEL_VXLAN ",
        ),
        (
            frames::GRE,
            "l2_len=12 ethertype=800 l3_len=20 l4_proto=17 l4_len=8",
            "rx: outer_l2_len=14 outer_ethertype=800 outer_l3_len=20\n",
            "RTE_MBUF_F_TX_IPV4 RTE_MBUF_F_TX_OUTER_IPV4 RTE_MBUF_F_TX_TUNNEL_GRE ",
        ),
        (
            frames::ARP,
            "l2_len=14 ethertype=806 l3_len=0 l4_proto=0 l4_len=0",
            "",
            "",
        ),
        (
            frames::PING,
            "l2_len=14 ethertype=800 l3_len=20 l4_proto=1 l4_len=0",
            "",
            "RTE_MBUF_F_TX_IPV4 ",
        ),
        (
            frames::SCTP,
            "l2_len=14 ethertype=800 l3_len=20 l4_proto=132 l4_len=0",
            "",
            "RTE_MBUF_F_TX_IPV4 ",
        ),
        (
            frames::QINQ,
            "l2_len=22 ethertype=86dd l3_len=40 l4_proto=17 l4_len=8",
            "",
            "RTE_MBUF_F_TX_IPV6 ",
        ),
    ] {
        let expected =
            format!("rx: {rx} flags={UNKNOWN}\n{more}tx: flags=RTE_MBUF_F_TX_L4_NO_CKSUM {tx}");
        assert_eq!(block(frame, settings), expected);
    }
}

#[test]
fn what_the_port_is_told() {
    let settings = ChecksumSettings {
        hardware: TxOffloads::IPV4_CKSUM | TxOffloads::UDP_CKSUM | TxOffloads::OUTER_IPV4_CKSUM,
        parse_tunnel: true,
        ..ChecksumSettings::default()
    };
    let plain = block(frames::UDP, settings);
    assert!(plain.ends_with(
        "\ntx: m->l2_len=14 m->l3_len=20 m->l4_len=8\n\
         tx: flags=RTE_MBUF_F_TX_IP_CKSUM RTE_MBUF_F_TX_UDP_CKSUM RTE_MBUF_F_TX_IPV4 "
    ));
    let mut no_outer_sum = frames::VXLAN.to_vec();
    no_outer_sum[40..42].fill(0);
    assert!(
        block(&no_outer_sum, settings).contains("\ntx: m->outer_l2_len=14 m->outer_l3_len=20\n")
    );
    let settings = ChecksumSettings {
        hardware: TxOffloads::TCP_TSO,
        tso: 3,
        ..ChecksumSettings::default()
    };
    assert!(block(frames::TCP, settings).contains("\ntx: m->tso_segsz=3\n"));
}

#[test]
fn names_of_flags() {
    use OffloadFlags as F;
    let rx = F::RX_VLAN | F::RX_L4_CKSUM_GOOD | F::RX_IP_CKSUM_BAD | F::RX_IP_CKSUM_GOOD;
    assert_eq!(
        RxNames(rx).to_string(),
        "RTE_MBUF_F_RX_VLAN RTE_MBUF_F_RX_L4_CKSUM_GOOD RTE_MBUF_F_RX_IP_CKSUM_NONE RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN "
    );
    assert_eq!(
        TxNames(F::TX_VLAN | F::TX_SCTP_CKSUM).to_string(),
        "RTE_MBUF_F_TX_VLAN RTE_MBUF_F_TX_SCTP_CKSUM "
    );
}
