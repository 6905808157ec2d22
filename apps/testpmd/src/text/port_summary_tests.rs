//! Checked against the recorded null session.

use super::*;

#[test]
fn two_null_ports() {
    let link = Link {
        up: true,
        speed_mbps: 10_000,
        full_duplex: true,
        autoneg: false,
    };
    let mac = |last| MacAddr([0xEA, 0xCF, 0xD2, 0x50, 0x07, last]);
    let rows = [
        (0, mac(0xD5), "net_null0", "net_null", link),
        (
            1,
            mac(0x8F),
            "net_virtio_user10",
            "net_virtio_user",
            Link::default(),
        ),
    ];
    let text = PortSummary {
        count: 2,
        rows: &rows,
    }
    .to_string();
    let want = "Number of available ports: 2
Port MAC Address       Name         Driver         Status   Link
0    EA:CF:D2:50:07:D5 net_null0    net_null       up       10 Gbps
1    EA:CF:D2:50:07:8F net_virtio_user10 net_virtio_user down     None
";
    assert_eq!(text, want);
}
