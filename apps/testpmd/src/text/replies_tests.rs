//! Checked against the recorded null session where it has the line.

use super::*;

#[test]
fn set_commands() {
    for (reply, want) in [
        (
            Reply::FwdMode("mac", false),
            "Set mac packet forwarding mode",
        ),
        (
            Reply::FwdMode("io", true),
            "Set io packet forwarding mode with retry",
        ),
        (Reply::Burst(16), "Number of packets per burst set to 16"),
        (Reply::Cores(1), "Number of forwarding cores set to 1"),
        (Reply::Ports(2), "Number of forwarding ports set to 2"),
        (Reply::Verbose(0, 1), "Change verbose level from 0 to 1"),
        (
            Reply::CoresChanged(1, 3),
            "previous number of forwarding cores 1 - changed to number of configured cores 3",
        ),
        (
            Reply::PortsChanged(2, 1),
            "previous number of forwarding ports 2 - changed to number of configured ports 1",
        ),
        (Reply::RssTypes(0x2_abac), "rss_hf 0x2abac"),
        (Reply::RssTypes(0), "rss_hf 0"),
        (Reply::RetaSize(0, 128), "The reta size of port 0 is 128"),
        (Reply::FlowCreated(3), "Flow rule #3 created"),
        (Reply::FlowDestroyed(3), "Flow rule #3 destroyed"),
        (Reply::FlowValidated, "Flow rule validated"),
        (
            Reply::Tso(0),
            "TSO and UFO for non-tunneled packets is disabled",
        ),
        (
            Reply::Tso(800),
            "segment size for non-tunneled packets is 800",
        ),
        (Reply::TunnelTso(0), "TSO for tunneled packets is disabled"),
        (
            Reply::TunnelTso(800),
            "TSO segment size for tunneled packets is 800",
        ),
        (
            Reply::UsedDescriptors("Rx", 0, 12),
            "RxQ 0 used desc count = 12",
        ),
        (Reply::DescriptorStatus("DONE"), "Desc status = DONE"),
        (Reply::GroOff(1), "Port 1 doesn't enable GRO."),
        (
            Reply::Loaded("a.txt"),
            "Finished reading CLI commands from a.txt",
        ),
    ] {
        assert_eq!(reply.to_string(), want);
    }
}

#[test]
fn valid_ports() {
    assert_eq!(
        ValidPorts(&[0, 1]).to_string(),
        "The valid ports array is [ 0 1 ]"
    );
    assert_eq!(ValidPorts(&[]).to_string(), "The valid ports array is [ ]");
}

#[test]
fn rss_changed() {
    let changed = RssChanged {
        port: 0,
        requested: 0xa38c,
        configured: 0,
    };
    let want =
        "Port 0 modified RSS hash function based on hardware support,requested:0xa38c configured:0";
    assert_eq!(changed.to_string(), want);
}

#[test]
fn offloads_by_software() {
    let want = "GRO type: TCP/IPv4\nMax number of packets to perform GRO: 32\nFlushing cycles: 1\n";
    assert_eq!(
        GroShow {
            packets: 32,
            flush_cycles: 1
        }
        .to_string(),
        want
    );
    let want = "Max GSO'd packet size: 1400B\nSupported GSO types: TCP/IPv4, UDP/IPv4, VxLAN with inner TCP/IPv4 packet, \
                GRE with inner TCP/IPv4 packet\n";
    assert_eq!(GsoShow { segment: 1400 }.to_string(), want);
    assert_eq!(Reply::GsoOff(0).to_string(), "GSO is not enabled on Port 0");
}

#[test]
fn checksums() {
    let show = CsumShow {
        parse_tunnel: false,
        hw: [true, false, false, false, false, true],
    };
    let want = "Parse tunnel is off
IP checksum offload is hw
UDP checksum offload is sw
TCP checksum offload is sw
SCTP checksum offload is sw
Outer-Ip checksum offload is sw
Outer-Udp checksum offload is hw
";
    assert_eq!(show.to_string(), want);
}
