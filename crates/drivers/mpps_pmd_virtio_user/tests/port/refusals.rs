//! What the port refuses, and that it goes on as if nothing had been.

use std::sync::atomic::Ordering;

use mpps_dev::{DevConfig, Driver, PortId, ProbeContext, RxOffloads};
use mpps_pmd_virtio_user::VirtioUser;

use crate::back_end::Manner;
use crate::rig::{Rig, fresh_path};

fn probe(device: &str) -> String {
    let context = ProbeContext::new(PortId::new(0).unwrap());
    let refused = VirtioUser.probe(&device.parse().unwrap(), &context).err();
    refused.unwrap().to_string()
}

#[test]
fn a_path_in_use_is_refused_and_a_stale_one_replaced() {
    let rig = Rig::new(",server=1", 1);
    let device = format!("net_virtio_user1,server=1,path={}", rig.path.display());
    let line = probe(&device);
    assert!(line.contains("in use"), "{line}");
    let path = rig.path.clone();
    rig.finish();

    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(path.exists());
    let context = ProbeContext::new(PortId::new(0).unwrap());
    drop(
        VirtioUser
            .probe(&device.parse().unwrap(), &context)
            .unwrap(),
    );
}

#[test]
fn long_paths_are_refused_on_both_sides() {
    let path = fresh_path().join("x".repeat(120));
    for server in [0, 1] {
        let line = probe(&format!(
            "net_virtio_user0,server={server},path={}",
            path.display()
        ));
        assert!(line.contains("at most 107"), "{line}");
    }
}

#[test]
fn w14_each_queue_must_hold_a_frame() {
    let mut rig = Rig::new(",queues=2", 2);
    let mut config = DevConfig::plain(&rig.pool, 2);
    let small = crate::rig::pool_of("small", 64, 128 + 1000);
    config.rx[1].pool = small.clone();
    rig.dev.configure(&config).unwrap();
    let line = rig.dev.start().err().unwrap().to_string();
    for part in ["receive queue 1", "MTU 1500", "1518 bytes", "1000 bytes"] {
        assert!(line.contains(part), "{line}");
    }
    rig.dev.configure(&DevConfig::plain(&rig.pool, 2)).unwrap();
    rig.start();
    rig.finish();
}

#[test]
fn w14_a_frame_that_fits_no_mbuf_is_refused_with_the_sizes() {
    let mut rig = Rig::new("", 1);
    rig.dev.set_mtu(9000).unwrap();
    let line = rig.dev.start().err().unwrap().to_string();
    for part in ["MTU 9000", "9018 bytes", "2048 bytes", "--enable-scatter"] {
        assert!(line.contains(part), "{line}");
    }
    let scattered = DevConfig {
        rx_offloads: RxOffloads::SCATTER,
        ..DevConfig::plain(&rig.pool, 1)
    };
    rig.dev.configure(&scattered).unwrap();
    rig.start();
    rig.finish();
}

#[test]
fn w21_a_configuration_that_fails_leaves_the_port_usable() {
    let mut rig = Rig::new(",server=1", 1);
    assert!(rig.dev.configure(&DevConfig::plain(&rig.pool, 2)).is_err());
    rig.start();
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    rig.echo(0, 100);
    drop(peer);
    rig.finish();
}

#[test]
fn modes_need_the_control_queue() {
    let mut rig = Rig::new("", 1);
    assert!(rig.dev.set_promiscuous(true).is_err());
    assert!(rig.dev.set_allmulticast(true).is_err());
    rig.finish();
    let mut rig = Rig::new(",cq=1", 1);
    rig.dev.set_promiscuous(true).unwrap();
    assert!(rig.dev.port().promiscuous());
    rig.finish();
}

#[test]
fn several_queues_bring_the_control_queue_and_use_what_is_configured() {
    let mut rig = Rig::new(",queues=4,server=1", 2);
    rig.dev.set_promiscuous(true).unwrap();
    rig.start();
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let rings = || peer.learned.enabled.load(Ordering::Relaxed);
    assert_eq!(rings(), 4);
    rig.stop();
    assert_eq!(rings(), 0);
    let four = DevConfig::plain(&rig.pool, 4);
    rig.dev.configure(&four).unwrap();
    rig.start();
    rig.wait_link(true);
    assert_eq!(rings(), 8);
    drop(peer);
    rig.finish();
}

#[test]
fn rss_is_refused_by_name() {
    let mut rig = Rig::new(",queues=2", 2);
    let mut config = DevConfig::plain(&rig.pool, 2);
    config.rss.types = 1 << 2;
    let line = rig.dev.configure(&config).unwrap_err().to_string();
    assert!(
        line.contains("RSS") && line.contains("net_virtio_user0"),
        "{line}"
    );
    rig.start();
    rig.finish();
}

#[test]
fn speed_and_address_are_what_was_asked_for() {
    let rig = Rig::new(",speed=25000,mac=02:03:04:05:06:07", 1);
    assert_eq!(rig.dev.link().speed, 25_000);
    let mac = rig.dev.port().mac().to_string().to_lowercase();
    assert_eq!(mac, "02:03:04:05:06:07");
    rig.finish();
    let (one, two) = (Rig::new("", 1), Rig::new("", 1));
    assert_eq!(one.dev.link().speed, u32::MAX);
    let macs = [one.dev.port().mac(), two.dev.port().mac()];
    assert!(macs[0] != macs[1] && macs.iter().all(|mac| mac.is_unicast()));
    one.finish();
    two.finish();
}

#[test]
fn back_ends_of_other_kinds_are_refused_by_name() {
    for (args, words) in [
        ("path=/dev/vhost-net", "vhost-kernel, which isn't available"),
        (
            "path=/dev/vhost-vdpa-0",
            "vhost-vdpa, which isn't available",
        ),
        ("path=./s,iface=tap0", "leave iface out"),
    ] {
        let line = probe(&format!("net_virtio_user0,{args}"));
        assert!(
            line.contains(words) && line.contains("net_virtio_user0"),
            "{line}"
        );
    }
}

#[test]
fn private_information_is_shown_as_dpdk_does() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let mut features = String::new();
    for (name, value) in rig.dev.private_info() {
        match name {
            "guest_features" => features = value,
            "vtnet_hdr_size" => assert_eq!(value, "12"),
            "use_inorder" => assert_eq!(value, "rx-1 tx-1"),
            "max_mtu" => assert_eq!(value, "9698"),
            "max_rx_pkt_len" => assert_eq!(value, "1530"),
            "req_guest_features" => assert_eq!(value, "0x8000005f10ef8028"),
            _ => {}
        }
    }
    // MAC, MRG_RXBUF, STATUS, INDIRECT_DESC, VERSION_1, IN_ORDER, as in the recorded session of DPDK's.
    assert_eq!(features, "0x910018020");
    drop(peer);
    rig.finish();
}
