//! Checked against the recorded null session and the bit numbers of the reference.

use super::*;

#[test]
fn capabilities() {
    let block = OffloadCapabilities {
        side: Side::Rx,
        port: 0,
        queue: 0,
        all: 0,
    };
    assert_eq!(
        block.to_string(),
        "Rx Offloading Capabilities of port 0 :\n  Per Queue :\n  Per Port  :\n\n"
    );
    let block = OffloadCapabilities {
        side: Side::Tx,
        port: 0,
        queue: 0,
        all: 0xC000,
    };
    let want = "Tx Offloading Capabilities of port 0 :\n  Per Queue :\n  Per Port  : MT_LOCKFREE MULTI_SEGS\n\n";
    assert_eq!(block.to_string(), want);
    let block = OffloadCapabilities {
        queue: 0x1_0000,
        all: 0x1_8000,
        ..block
    };
    assert!(
        block
            .to_string()
            .ends_with("  Per Queue : MBUF_FAST_FREE\n  Per Port  : MULTI_SEGS\n\n")
    );
}

#[test]
fn configuration() {
    let block = OffloadConfiguration {
        side: Side::Rx,
        port: 0,
        all: 0,
        queues: &[0],
    };
    assert_eq!(
        block.to_string(),
        "Rx Offloading Configuration of port 0 :\n  Port :\n  Queue[ 0] :\n\n"
    );
    let block = OffloadConfiguration {
        side: Side::Tx,
        port: 3,
        all: 0x1_0000,
        queues: &[0x1_0000, 0],
    };
    let want = "Tx Offloading Configuration of port 3 :\n  Port : MBUF_FAST_FREE\n  Queue[ 0] : MBUF_FAST_FREE\n  Queue[ 1] :\n\n";
    assert_eq!(block.to_string(), want);
}

#[test]
fn names_and_bits_belong_together() {
    assert_eq!(offload_bit(Side::Tx, "mbuf_fast_free"), Some(0x1_0000));
    assert_eq!(offload_bit(Side::Rx, "scatter"), Some(0x2000));
    assert_eq!(offload_bit(Side::Rx, "VLAN_FILTER"), Some(0x200));
    assert_eq!(offload_bit(Side::Rx, "multi_segs"), None);
    assert_eq!(
        Names {
            table: RX_OFFLOADS,
            bits: 1 << 8 | 1 << 20
        }
        .to_string(),
        " UNKNOWN BUFFER_SPLIT"
    );
}

#[test]
fn tables_rise_and_repeat_nothing() {
    for table in [RX_OFFLOADS, TX_OFFLOADS, DEVICE_CAPABILITIES] {
        assert!(table.windows(2).all(|two| two[0].0 < two[1].0));
        assert!(
            table
                .iter()
                .all(|(_, name)| table.iter().filter(|(_, other)| other == name).count() == 1)
        );
    }
    assert_eq!((RX_OFFLOADS.len(), TX_OFFLOADS.len()), (18, 22));
}
