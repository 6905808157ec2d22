//! DTS's patterns for queue information and for the verbose dump, with matchers written by hand.

use mpps_wire::MacAddr;

use super::*;

/// What stands behind a label up to the next blank.
fn word<'a>(text: &'a str, label: &str) -> Option<&'a str> {
    text.split_once(label)?.1.split([' ', '\n']).next()
}

fn number(text: &str, label: &str) -> Option<u64> {
    word(text, label)?.parse().ok()
}

fn hex(text: &str, label: &str) -> Option<u64> {
    u64::from_str_radix(word(text, label)?.strip_prefix("0x")?, 16).ok()
}

#[test]
fn queue_information() {
    let rx = RxQueueInfo {
        port: 0,
        queue: 0,
        pool: Some("mb_pool_0"),
        thresholds: Thresholds {
            prefetch: 1,
            host: 2,
            writeback: 3,
        },
        free: 4,
        drop: true,
        deferred: true,
        scattered: true,
        state: QueueState::Started,
        buffer: 2048,
        desc: 512,
        burst_mode: Some(BurstMode {
            text: "Vector AVX2",
            per_queue: false,
        }),
    }
    .to_string();
    let labels = [
        "prefetch threshold: ",
        "host threshold: ",
        "writeback threshold: ",
        "free threshold: ",
    ];
    assert_eq!(
        labels.map(|label| number(&rx, label)),
        [Some(1), Some(2), Some(3), Some(4)]
    );
    assert_eq!(number(&rx, "Number of RXDs: "), Some(512));
    let lines = [
        "RX drop packets: on",
        "RX scattered packets: on",
        "RX deferred start: on",
        "Rx queue state: started",
    ];
    assert!(
        lines
            .iter()
            .all(|line| rx.lines().any(|have| have == *line)),
        "{rx}"
    );
    assert_eq!(word(&rx, "Mempool: "), Some("mb_pool_0"));
    assert!(rx.contains("Burst mode: Vector AVX2\n"));
}

fn packet() -> PacketDump<'static> {
    PacketDump {
        received: true,
        queue: 1,
        src: MacAddr([0xFA, 0x1E, 0xDF, 0xE5, 0x84, 0x3A]),
        dst: MacAddr::BROADCAST,
        pool: "mb_pool_0",
        ether_type: 0x0800,
        length: 60,
        segments: 1,
        rss_hash: Some(0xBEEF),
        mark: None,
        timestamp: None,
        vlan: None,
        hw_ptype: Some("L2_ETHER "),
        sw_ptype: sw_ptype(&[0xFF; 60]),
        destination: Some(Destination::Tcp(80)),
        flags: RX_NO_OFFLOAD,
    }
}

#[test]
fn verbose_dump() {
    let packet = packet();
    let head = BurstHead {
        port: 10,
        queue: 1,
        received: true,
        packets: 1,
    };
    let text = format!("{head}{packet}");
    assert!(
        text.starts_with("port 10/queue 1: received 1 packets\n"),
        "{text}"
    );
    assert_eq!(
        (word(&text, " src="), word(&text, " dst=")),
        (Some("FA:1E:DF:E5:84:3A"), Some("FF:FF:FF:FF:FF:FF"))
    );
    assert_eq!(
        (
            hex(&text, " type="),
            hex(&text, "RSS hash="),
            hex(&text, "RSS queue=")
        ),
        (Some(0x800), Some(0xBEEF), Some(1))
    );
    assert_eq!(
        (
            number(&text, " length="),
            number(&text, "nb_segs="),
            number(&text, "l2_len=")
        ),
        (Some(60), Some(1), Some(14))
    );
    assert_eq!(number(&text, "Destination TCP port="), Some(80));
    assert_eq!(
        (word(&text, "hw ptype: "), word(&text, "sw ptype: ")),
        (Some("L2_ETHER"), Some("L2_ETHER"))
    );
    assert_eq!(
        word(&text, "ol_flags: "),
        Some("RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN")
    );
    // DTS splits packets at this line: two lines a packet, no more.
    assert_eq!(packet.to_string().lines().count(), 2);
}
