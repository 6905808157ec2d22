//! A debt stays with its packet until somebody settles it.

use mpps_shm::{MemoryConfig, PageSource};

use crate::{
    Burst, Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum, Pool, PoolConfig, TxOffload,
};

const CHECKSUM: PartialChecksum = PartialChecksum {
    start: 34,
    offset: 16,
};

const GSO: Gso = Gso {
    kind: GsoKind::TcpV6,
    ecn: true,
    size: 1448,
    header_len: 66,
};

fn pool() -> Pool {
    let config = PoolConfig {
        name: "debt".to_owned(),
        size: 64,
        data_room: 512,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn packet(pool: &Pool) -> Mbuf {
    let mut packet = pool.alloc().unwrap();
    assert!(packet.append(&[7; 100]));
    packet
}

#[test]
fn what_is_set_is_read_back_and_cleared() {
    let pool = pool();
    let mut packet = packet(&pool);
    assert_eq!((packet.partial_checksum(), packet.gso()), (None, None));
    for kind in [GsoKind::TcpV4, GsoKind::TcpV6, GsoKind::Udp] {
        for ecn in [false, true] {
            let gso = Gso { kind, ecn, ..GSO };
            packet.set_gso(CHECKSUM, gso);
            assert_eq!(packet.partial_checksum(), Some(CHECKSUM));
            assert_eq!(packet.gso(), Some(gso));
        }
    }
    packet.set_partial_checksum(CHECKSUM);
    assert_eq!(
        (packet.partial_checksum(), packet.gso()),
        (Some(CHECKSUM), None)
    );
    packet.clear_debt();
    assert_eq!(packet.flags(), OffloadFlags::empty());
    assert_eq!(packet.tx_offload(), TxOffload::default());
}

#[test]
fn extremes_do_not_run_into_each_other() {
    let pool = pool();
    let mut packet = packet(&pool);
    let checksum = PartialChecksum {
        start: u16::MAX,
        offset: 0,
    };
    let gso = Gso {
        size: u16::MAX,
        header_len: 0,
        ..GSO
    };
    packet.set_gso(checksum, gso);
    assert_eq!(packet.partial_checksum(), Some(checksum));
    assert_eq!(packet.gso(), Some(gso));
    assert!(!checksum.fits(65_536) && checksum.fits(65_537));
    let last = PartialChecksum {
        start: u16::MAX,
        offset: u16::MAX,
    };
    assert_eq!(last.field(), 131_070);
}

// V-44: what a peer says of a packet never turns into a request that the program didn't make.
#[test]
fn v44_a_debt_is_receive_metadata() {
    let pool = pool();
    let mut packet = packet(&pool);
    packet.set_gso(CHECKSUM, GSO);
    assert!(packet.flags().intersects(OffloadFlags::UNFINISHED));
    assert!(!packet.flags().intersects(OffloadFlags::TX_REQUESTS));
    assert_eq!(
        packet.flags().sent_names().collect::<Vec<_>>(),
        ["RTE_MBUF_F_TX_L4_NO_CKSUM"]
    );
    assert!(
        packet
            .flags()
            .received_names()
            .any(|name| name == "RTE_MBUF_F_RX_L4_CKSUM_NONE")
    );
}

#[test]
fn marks_of_an_engine_leave_the_debt() {
    let pool = pool();
    let mut packet = packet(&pool);
    packet.set_gso(CHECKSUM, GSO);
    packet.set_offload(OffloadFlags::TX_VLAN, TxOffload::new(14, 20, 0));
    packet.set_flags(OffloadFlags::TX_VLAN | OffloadFlags::RX_RSS_HASH);
    assert_eq!(packet.gso(), Some(GSO));
    assert_eq!(packet.partial_checksum(), Some(CHECKSUM));
    assert!(packet.flags().contains(OffloadFlags::TX_VLAN));
    packet.clear_debt();
    packet.set_offload(OffloadFlags::TX_VLAN, TxOffload::new(14, 20, 0));
    assert_eq!(packet.flags(), OffloadFlags::TX_VLAN);
    assert_eq!(packet.tx_offload(), TxOffload::new(14, 20, 0));
}

#[test]
fn copies_and_clones_owe_the_same() {
    let pool = pool();
    let mut packet = packet(&pool);
    packet.set_gso(CHECKSUM, GSO);
    packet.set_vlan(5, 6);
    packet.set_port(3);
    packet.set_rss_hash(0x1234);
    packet.set_timestamp(99);
    let clone = pool.share(&mut packet).unwrap();
    assert_eq!(clone.gso(), Some(GSO));
    let mut copy = self::packet(&pool);
    copy.copy_metadata(&packet);
    assert_eq!((copy.gso(), copy.flags()), (Some(GSO), packet.flags()));
    assert_eq!((copy.vlan(), copy.vlan_outer(), copy.port()), (5, 6, 3));
    assert_eq!((copy.rss_hash(), copy.timestamp()), (0x1234, Some(99)));
    // A copy of a packet that owes nothing owes nothing, whatever the target owed.
    copy.copy_metadata(&self::packet(&pool));
    assert!(!copy.has_debt());
}

#[test]
fn a_fresh_packet_owes_nothing() {
    let pool = pool();
    let mut first = packet(&pool);
    first.set_gso(CHECKSUM, GSO);
    drop(first);
    let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    assert!(all.len() == 64 && all.iter().all(|packet| !packet.has_debt()));
}

#[test]
fn one_packet_of_a_burst_is_seen() {
    let pool = pool();
    let mut burst = Burst::new(32);
    assert_eq!(burst.flags_union(), OffloadFlags::empty());
    for _ in 0..32 {
        burst.push(packet(&pool)).unwrap();
    }
    assert!(!burst.flags_union().intersects(OffloadFlags::UNFINISHED));
    burst.as_mut_slice()[17].set_partial_checksum(CHECKSUM);
    assert!(burst.flags_union().intersects(OffloadFlags::UNFINISHED));
    drop(burst.pop_front());
    assert!(burst.flags_union().intersects(OffloadFlags::DEBT));
}
