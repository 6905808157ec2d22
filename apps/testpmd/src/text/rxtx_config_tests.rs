//! Checked against the recorded null and virtio-user sessions.

use super::*;

#[test]
fn as_recorded() {
    let queue = QueueConf {
        desc: 256,
        ..QueueConf::default()
    };
    let each = [PortRxTx {
        rx: queue,
        tx: queue,
        ..PortRxTx::default()
    }];
    let mode = FwdMode {
        name: "io",
        status: None,
        retry: false,
    };
    let config = RxTxConfig {
        mode,
        burst: 32,
        made: None,
        cores: 1,
        ports: 1,
        rxq: 1,
        txq: 1,
        each: &each,
    };
    let want = "  io packet forwarding packets/burst=32
  nb forwarding cores=1 - nb forwarding ports=1
  port 0: RX queue number: 1 Tx queue number: 1
    Rx offloads=0x0 Tx offloads=0x0
    RX queue: 0
      RX desc=256 - RX free threshold=0
      RX threshold registers: pthresh=0 hthresh=0  wthresh=0
      RX Offloads=0x0
    TX queue: 0
      TX desc=256 - TX free threshold=0
      TX threshold registers: pthresh=0 hthresh=0  wthresh=0
      TX offloads=0x0 - TX RS bit threshold=0
";
    assert_eq!(config.to_string(), want);
}

#[test]
fn every_field_has_its_place() {
    let thresholds = Thresholds {
        prefetch: 8,
        host: 4,
        writeback: 2,
    };
    let rx = QueueConf {
        desc: 512,
        free: 32,
        thresholds,
        offloads: 0x2000,
        rs: 9,
        share: Some((1, 3)),
    };
    let tx = QueueConf {
        desc: 1024,
        free: 33,
        thresholds,
        offloads: 0x1_0000,
        rs: 34,
        share: None,
    };
    let each = [PortRxTx {
        port: 3,
        rx_offloads: 0x2001,
        tx_offloads: 0x1_8000,
        rx,
        tx,
    }];
    let mode = FwdMode {
        name: "txonly",
        status: None,
        retry: true,
    };
    let made = Some((128, 2));
    let config = RxTxConfig {
        mode,
        burst: 64,
        made,
        cores: 4,
        ports: 1,
        rxq: 8,
        txq: 7,
        each: &each,
    };
    let want = "  txonly packet forwarding with retry packets/burst=64
  packet len=128 - nb packet segments=2
  nb forwarding cores=4 - nb forwarding ports=1
  port 3: RX queue number: 8 Tx queue number: 7
    Rx offloads=0x2001 Tx offloads=0x18000
    RX queue: 0
      RX desc=512 - RX free threshold=32
      RX threshold registers: pthresh=8 hthresh=4  wthresh=2
      RX Offloads=0x2000 share_group=1 share_qid=3
    TX queue: 0
      TX desc=1024 - TX free threshold=33
      TX threshold registers: pthresh=8 hthresh=4  wthresh=2
      TX offloads=0x10000 - TX RS bit threshold=34
";
    assert_eq!(config.to_string(), want);
}
