//! Checked against a session of 22.11, whose template is the same.

use super::*;

#[test]
fn a_null_device() {
    let mac = MacAddr([0xFE, 0x2B, 0xC8, 0xAA, 0x50, 0x67]);
    let port = DevicePort {
        port: 0,
        mac,
        name: "net_null0",
        speeds: 0,
    };
    let info = DeviceInfo {
        name: "net_null0",
        bus: "vdev",
        bus_info: "",
        driver: "net_null",
        devargs: "",
        socket: 0,
        ports: &[port],
    };
    let want = [
        "",
        "********************* Infos for device net_null0 *********************",
        "Bus name: vdev",
        "Bus information: ",
        "Driver name: net_null",
        "Devargs: ",
        "Connect to socket: 0",
        "",
        "\tPort id: 0 ",
        "\tMAC address: FE:2B:C8:AA:50:67",
        "\tDevice name: net_null0",
        "\tDevice speed capability: Autonegotiate (all speeds)",
        "",
    ];
    assert_eq!(info.to_string(), want.join("\n"));
    let fast = DevicePort {
        speeds: 1 << 8 | 1 << 14,
        ..port
    }
    .to_string();
    assert!(
        fast.ends_with("Device speed capability: 10 Gbps   100 Gbps  \n"),
        "{fast:?}"
    );
}
