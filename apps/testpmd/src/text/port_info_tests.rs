//! Checked against the recorded null and vhost sessions.

use super::*;

/// The vhost port of the recorded session.
pub(super) const VHOST: PortInfo<'static> = PortInfo {
    port: 0,
    mac: MacAddr([0x56, 0x48, 0x4F, 0x53, 0x54, 0x00]),
    device: "net_vhost0",
    driver: "net_vhost",
    firmware: None,
    devargs: Some("iface=vhost-net,client=1"),
    socket: SocketId(Some(0)),
    memory_socket: SocketId(Some(0)),
    link: Link {
        up: true,
        speed_mbps: 10_000,
        full_duplex: true,
        autoneg: false,
    },
    lanes: None,
    mtu: [1500, 46, 65535],
    promiscuous: true,
    allmulticast: true,
    max_macs: 1,
    max_hash_macs: 0,
    vlan: Some(VlanOffload {
        strip: false,
        filter: false,
        extend: false,
        qinq_strip: false,
    }),
    hash_key_size: 0,
    reta_size: 0,
    rss_types: 0,
    min_rx_buffer: 0,
    max_rx_buffer: None,
    max_rx_length: u32::MAX,
    max_lro: 0,
    rx_split: RxSplit {
        max_segments: 0,
        multi_pool: false,
        offset: false,
        offset_align: 0,
        selective: false,
    },
    max_vfs: 0,
    max_vmdq_pools: 0,
    rx_queues: [1, 1],
    rx_desc: DescriptorLimits {
        max: 65535,
        min: 0,
        align: 1,
    },
    tx_queues: [1, 1],
    tx_desc: DescriptorLimits {
        max: 65535,
        min: 0,
        align: 1,
    },
    segments: SegmentLimits {
        packet: 65535,
        mtu: 65535,
    },
    capabilities: 0,
    switch: None,
    error_handling: ErrorHandling::None,
    private: PrivateInfo::None,
    rx_path: None,
    tx_path: None,
};

const HEAD: &str = "
********************* Infos for port 0  *********************
MAC address: 56:48:4F:53:54:00
Device name: net_vhost0
Driver name: net_vhost
Firmware-version: not available
Devargs: iface=vhost-net,client=1
Connect to socket: 0
memory allocation on the socket: 0
Link status: up
Link speed: 10 Gbps
Link duplex: full-duplex
Autoneg status: Off
MTU: 1500
Minimum MTU: 46
Maximum MTU: 65535
Promiscuous mode: enabled
Allmulticast mode: enabled
Maximum number of MAC addresses: 1
Maximum number of MAC addresses of hash filtering: 0
";

const TAIL: &str = "  strip off, filter off, extend off, qinq strip off
No RSS offload flow type is supported.
Minimum size of RX buffer: 0
Maximum configurable length of RX packet: 4294967295
Maximum configurable size of LRO aggregated packet: 0
Rx split:
\tMax segments: 0
Current number of RX queues: 1
Max possible RX queues: 1
Max possible number of RXDs per queue: 65535
Min possible number of RXDs per queue: 0
RXDs number alignment: 1
Current number of TX queues: 1
Max possible TX queues: 1
Max possible number of TXDs per queue: 65535
Min possible number of TXDs per queue: 0
TXDs number alignment: 1
Max segment number per packet: 65535
Max segment number per MTU/TSO: 65535
Device capabilities: 0x0( )
Device error handling mode: none
Device private info:
";

#[test]
fn the_recorded_vhost_port() {
    let private = [
        "iface_name: vhost-net".to_owned(),
        "flags: 0x301".to_owned(),
    ];
    let info = PortInfo {
        private: PrivateInfo::Lines(&private),
        ..VHOST
    };
    let want = format!("{HEAD}VLAN offload: \n{TAIL}iface_name: vhost-net\nflags: 0x301\n");
    assert_eq!(info.to_string(), want);
}

#[test]
fn paths_are_the_last_lines() {
    assert!(
        VHOST
            .to_string()
            .ends_with("Device private info:\n  none\n")
    );
    let info = PortInfo {
        rx_path: Some("split, mergeable"),
        tx_path: Some("split, avx2"),
        ..VHOST
    };
    let want = "Device private info:\n  none\nRx path: split, mergeable\nTx path: split, avx2\n";
    assert!(info.to_string().ends_with(want));
}

#[test]
fn the_recorded_null_port_s_differences() {
    let info = PortInfo {
        devargs: Some(""),
        hash_key_size: 40,
        reta_size: 128,
        rss_types: 1 << 2,
        ..VHOST
    }
    .to_string();
    assert!(info.contains("\nDevargs: \nConnect to socket"), "{info}");
    let want = "qinq strip off\nHash key size in bytes: 40\nRedirection table size: 128\n\
                Supported RSS offload flow types:\n  ipv4\nMinimum size";
    assert!(info.contains(want), "{info}");
    assert!(
        !PortInfo {
            devargs: None,
            ..VHOST
        }
        .to_string()
        .contains("Devargs")
    );
}

#[test]
fn what_a_fuller_port_adds() {
    let switch = SwitchInfo {
        name: Some("sw0"),
        domain: 1,
        port: 2,
        rx_domain: Some(3),
    };
    let rx_split = RxSplit {
        max_segments: 2,
        multi_pool: true,
        offset: true,
        offset_align: 4,
        selective: false,
    };
    let info = PortInfo {
        firmware: Some("1.2.3"),
        socket: SocketId(None),
        lanes: Some(4),
        vlan: None,
        max_rx_buffer: Some(16384),
        rx_split,
        max_vfs: 8,
        max_vmdq_pools: 64,
        capabilities: 0b10111,
        switch: Some(switch),
        error_handling: ErrorHandling::Proactive,
        ..VHOST
    }
    .to_string();
    for want in [
        "Firmware-version: 1.2.3\n",
        "Connect to socket: any\n",
        "Link speed: 10 Gbps\nActive Lanes: 4\nLink duplex",
        "hash filtering: 0\nNo RSS",
        "Minimum size of RX buffer: 0\nMaximum size of RX buffer: 16384\nMaximum configurable length",
        "\tMax segments: 2\n\tMulti-pool: supported\n\tBuffer offset: supported\n\tOffset alignment: 4\n\tSelective Rx: not supported\nMaximum number of VFs: 8\nMaximum number of VMDq pools: 64\nCurrent",
        "Device capabilities: 0x17( RUNTIME_RX_QUEUE_SETUP RUNTIME_TX_QUEUE_SETUP RXQ_SHARE FLOW_SHARED_OBJECT_KEEP )\n",
        "Switch name: sw0\nSwitch domain Id: 1\nSwitch Port Id: 2\nSwitch Rx domain: 3\nDevice error handling mode: proactive\n",
    ] {
        assert!(info.contains(want), "{want:?} in {info}");
    }
}
