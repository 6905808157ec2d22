//! Queue blocks by their labels, lists against the recorded null session.

use super::*;

#[test]
fn rx() {
    let info = RxQueueInfo {
        port: 0,
        queue: 1,
        pool: Some("mb_pool_0"),
        thresholds: Thresholds {
            prefetch: 8,
            host: 4,
            writeback: 2,
        },
        free: 32,
        drop: true,
        deferred: false,
        scattered: false,
        state: QueueState::Started,
        buffer: 2048,
        desc: 256,
        burst_mode: Some(BurstMode {
            text: "Scalar",
            per_queue: true,
        }),
    };
    let want = "
********************* Infos for port 0 , RX queue 1  *********************
Mempool: mb_pool_0
RX prefetch threshold: 8
RX host threshold: 4
RX writeback threshold: 2
RX free threshold: 32
RX drop packets: on
RX deferred start: off
RX scattered packets: off
Rx queue state: started
RX buffer size: 2048
Number of RXDs: 256
Burst mode: Scalar (per queue)
";
    assert_eq!(info.to_string(), want);
    let bare = RxQueueInfo {
        pool: None,
        buffer: 0,
        burst_mode: None,
        state: QueueState::Hairpin,
        ..info
    }
    .to_string();
    assert!(bare.contains("\nMempool: NULL\n"));
    assert!(
        bare.ends_with("Rx queue state: hairpin\nNumber of RXDs: 256\n"),
        "{bare}"
    );
}

#[test]
fn tx() {
    let info = TxQueueInfo {
        port: 10,
        queue: 11,
        thresholds: Thresholds::default(),
        rs: 32,
        free: 33,
        deferred: true,
        desc: 512,
        state: QueueState::Stopped,
        burst_mode: Some(BurstMode {
            text: "Vector",
            per_queue: false,
        }),
    };
    let want = "
********************* Infos for port 10, TX queue 11 *********************
TX prefetch threshold: 0
TX host threshold: 0
TX writeback threshold: 0
TX RS threshold: 32
TX free threshold: 33
TX deferred start: on
Number of TXDs: 512
Tx queue state: stopped
Burst mode: Vector
";
    assert_eq!(info.to_string(), want);
}

#[test]
fn a_queue_that_can_t_tell() {
    let failure = QueueInfoFailure {
        port: 0,
        side: "RX",
        queue: 0,
        reason: "Operation not supported",
        code: -95,
    };
    let want = "Failed to retrieve information for port: 0, RX queue: 0\nerror desc: Operation not supported(-95)";
    assert_eq!(failure.to_string(), want);
}

#[test]
fn lists() {
    let mac = MacAddr([0xEA, 0xCF, 0xD2, 0x50, 0x07, 0xD5]);
    assert_eq!(
        MacList(&[mac]).to_string(),
        "Number of MAC address added: 1\n  EA:CF:D2:50:07:D5\n"
    );
    assert_eq!(
        McastList(&[]).to_string(),
        "Number of Multicast MAC address added: 0\n"
    );
    assert_eq!(
        PtypeRow {
            layer: "Inner L2",
            types: &[]
        }
        .to_string(),
        "Inner L2 ptypes unsupported\n"
    );
    let row = PtypeRow {
        layer: "L3",
        types: &["L3_IPV4", "L3_IPV6"],
    };
    assert_eq!(
        row.to_string(),
        "Supported L3 ptypes:\nL3_IPV4 \nL3_IPV6 \n"
    );
}
