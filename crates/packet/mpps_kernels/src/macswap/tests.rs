//! Every kernel against a swap written byte by byte, at every length and alignment of the data.

use mpps_mbuf::{Mbuf, OffloadFlags, Pool, PoolConfig, TxOffload};
use mpps_shm::{MemoryConfig, PageSource};
use proptest::prelude::*;

use super::{MacSwap, MacSwapKind, Marks};

fn pool() -> Pool {
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    let config = PoolConfig {
        name: "kernels".to_owned(),
        size: 1024,
        data_room: 512,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &pages).unwrap()
}

fn marks() -> Marks {
    Marks {
        flags: OffloadFlags::TX_VLAN,
        lengths: TxOffload::new(14, 20, 0),
    }
}

fn kernels() -> Vec<MacSwap> {
    MacSwapKind::NAMES
        .iter()
        .filter_map(|(_, kind)| MacSwap::choose(*kind).ok())
        .collect()
}

fn packet(pool: &Pool, offset: u16, bytes: &[u8]) -> Mbuf {
    let mut packet = pool.alloc().unwrap();
    assert!(
        packet.append(&vec![0; usize::from(offset)])
            && packet.trim_front(offset)
            && packet.append(bytes)
    );
    packet
}

fn expected(bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    if bytes.len() >= 14 {
        out[..6].copy_from_slice(&bytes[6..12]);
        out[6..12].copy_from_slice(&bytes[..6]);
    }
    out
}

proptest! {
    #[test]
    fn swaps_like_the_oracle(lengths in proptest::collection::vec((0u16..80, 0u16..17), 0..40), seed: u8) {
        let pool = pool();
        for kernel in kernels() {
            let frames: Vec<Vec<u8>> = lengths.iter().enumerate()
                .map(|(n, (len, _))| (0..*len).map(|i| (i as u8).wrapping_mul(7).wrapping_add(n as u8).wrapping_add(seed)).collect())
                .collect();
            let mut packets: Vec<Mbuf> = frames.iter().zip(&lengths)
                .map(|(frame, (_, offset))| packet(&pool, *offset, frame)).collect();
            prop_assert_eq!(kernel.swap(&mut packets, marks()), 0);
            for (packet, frame) in packets.iter().zip(&frames) {
                prop_assert_eq!(packet.data(), expected(frame), "kernel {}", kernel.name());
                prop_assert_eq!(packet.flags(), OffloadFlags::TX_VLAN);
                prop_assert_eq!(packet.tx_offload(), TxOffload::new(14, 20, 0));
            }
        }
    }
}

#[test]
fn shared_packets_are_left_alone_and_counted() {
    let pool = pool();
    for kernel in kernels() {
        let frame: Vec<u8> = (0..60).collect();
        let mut packets: Vec<Mbuf> = (0..9).map(|_| packet(&pool, 0, &frame)).collect();
        let clone = pool.share(&mut packets[5]).unwrap();
        assert_eq!(kernel.swap(&mut packets, marks()), 1, "{}", kernel.name());
        assert_eq!(clone.data(), frame);
        assert_eq!(packets[4].data(), expected(&frame));
    }
}
