//! Checked against the recorded null session.

use super::*;
use crate::text::{LayoutInput, Topology, lay_out};

const IO: FwdMode<'static> = FwdMode {
    name: "io",
    status: None,
    retry: false,
};

fn show(mode: FwdMode<'_>, numa: bool) -> String {
    let layout = lay_out(&LayoutInput {
        ports: &[0, 1],
        rxq: 1,
        txq: 1,
        lcores: &[1],
        topology: Topology::Paired,
        echo: false,
        num_procs: 1,
        proc_id: 0,
    });
    FwdConfig {
        mode,
        layout: &layout,
        numa,
        mp_alloc: MpAlloc::Native,
        retry: RetryFigures {
            retries: 64,
            delay_us: 1,
        },
        core_socket: &|_| 0,
        port_socket: &|port| SocketId((port == 0).then_some(0)),
        peer: &|port| MacAddr([2, 0, 0, 0, 0, port.to_be_bytes()[1]]),
    }
    .to_string()
}

#[test]
fn layout_of_two_ports() {
    let want = "\
io packet forwarding - ports=2 - cores=1 - streams=2 - NUMA support enabled, MP allocation mode: native
Logical Core 1 (socket 0) forwards packets on 2 streams:
  RX P=0/Q=0 (socket 0) -> TX P=1/Q=0 (socket any) peer=02:00:00:00:00:01
  RX P=1/Q=0 (socket any) -> TX P=0/Q=0 (socket 0) peer=02:00:00:00:00:00

";
    assert_eq!(show(IO, true), want);
}

#[test]
fn retry_and_status() {
    let mode = FwdMode {
        name: "noisy",
        status: Some("io"),
        retry: true,
    };
    let text = show(mode, false);
    let want = "noisy-io packet forwarding with retry - ports=2 - cores=1 - streams=2 - NUMA support disabled, \
                MP allocation mode: native\nTX retry num: 64, delay between TX retries: 1us\nLogical Core 1";
    assert!(text.starts_with(want), "{text}");
}

#[test]
fn cores() {
    assert_eq!(
        CoreList(&[1]).to_string(),
        "List of forwarding lcores:  1\n"
    );
    assert_eq!(
        CoreList(&[8, 12]).to_string(),
        "List of forwarding lcores:  8 12\n"
    );
}

#[test]
fn packets() {
    let want = "Number of segments: 1\nSegment sizes: 64\nSplit packet: off\n";
    assert_eq!(
        TxPackets {
            segments: &[64],
            split: "off"
        }
        .to_string(),
        want
    );
    let want = "Number of segments: 2\nSegment sizes: 64,1500\nSplit packet: rand\n";
    assert_eq!(
        TxPackets {
            segments: &[64, 1500],
            split: "rand"
        }
        .to_string(),
        want
    );
    assert_eq!(
        TxTimes { inter: 3, intra: 0 }.to_string(),
        "Interburst gap: 3\nIntraburst gap: 0\n"
    );
}

#[test]
fn receive_segments() {
    assert_eq!(
        RxSegments::Lengths(&[]).to_string(),
        "Number of segments: 0\n"
    );
    assert_eq!(
        RxSegments::Lengths(&[64, 0]).to_string(),
        "Number of segments: 2\nSegment sizes: 64,0\n"
    );
    assert_eq!(
        RxSegments::Offsets(&[0, 8]).to_string(),
        "Number of offsets: 2\nSegment offsets: 0,8\n"
    );
    let want = "Number of segments: 3\nPacket segs: eth, ipv4, payload\n";
    assert_eq!(RxSegments::Headers(&["eth", "ipv4"]).to_string(), want);
}
