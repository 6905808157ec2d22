//! Both ends of vhost-user, joined by a socket, against the promises of every port: each end as the one that sends.
#![forbid(unsafe_code)]

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use mpps_dev::Driver;
use mpps_dev::conformance::{Facts, Source, Subject, run};

const FACTS: Facts = Facts {
    source: Source::Sent,
    // The back end's is the front end's.
    given_mtu: true,
    patience: Duration::from_secs(10),
    ..Facts::SINK
};

fn driver(name: &str) -> &'static dyn Driver {
    mpps_drivers::find(name).unwrap()
}

/// A socket path of its own.
fn path() -> String {
    static SERIAL: AtomicU32 = AtomicU32::new(0);
    // Relaxed: a lone number.
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let name = format!("mpps-kit-{}-{serial}", std::process::id());
    std::env::temp_dir().join(name).display().to_string()
}

/// The two devices: the front end with these arguments, and the back end.
fn devices(queues: u16, front_listens: bool, args: &str) -> [String; 2] {
    let path = path();
    let (server, client) = if front_listens { (1, 1) } else { (0, 0) };
    [
        format!("net_virtio_user0,path={path},queues={queues},server={server}{args}"),
        format!("net_vhost0,iface={path},queues={queues},client={client}"),
    ]
}

/// Names of the scenarios that are left out when the front end sends to the back end.
fn front_sends(queues: u16, listens: bool, args: &str, holds: Option<usize>) -> Vec<&'static str> {
    let subject = Subject {
        driver: driver("net_virtio_user0"),
        peer: Some(driver("net_vhost0")),
        devices: &|| devices(queues, listens, args).to_vec(),
        facts: Facts {
            queues,
            holds,
            ..FACTS
        },
    };
    let skipped = run(&subject).unwrap();
    skipped.iter().map(|skipped| skipped.scenario).collect()
}

/// The same when the back end sends to the front end. How much the ring holds then depends on when buffers were posted.
fn back_sends(queues: u16, listens: bool, args: &str) -> Vec<&'static str> {
    let subject = Subject {
        driver: driver("net_vhost0"),
        peer: Some(driver("net_virtio_user0")),
        devices: &|| {
            let [front, back] = devices(queues, listens, args);
            vec![back, front]
        },
        facts: Facts { queues, ..FACTS },
    };
    let skipped = run(&subject).unwrap();
    skipped.iter().map(|skipped| skipped.scenario).collect()
}

#[test]
fn a_front_end_with_split_rings() {
    // How many packets it holds depends on the descriptors that each takes, which is the ring's affair.
    let left_out = front_sends(1, true, "", None);
    assert_eq!(left_out, ["leftovers stay the caller's, in order"]);
}

#[test]
fn a_front_end_with_packed_rings() {
    assert!(front_sends(2, false, ",packed_vq=1,in_order=0", Some(256)).is_empty());
}

#[test]
fn a_back_end_with_split_rings() {
    let left_out = back_sends(2, true, ",in_order=0");
    assert_eq!(left_out, ["leftovers stay the caller's, in order"]);
}

#[test]
fn a_back_end_with_packed_rings() {
    let left_out = back_sends(1, false, ",packed_vq=1");
    assert_eq!(left_out, ["leftovers stay the caller's, in order"]);
}

/// Long packets fit no buffer: lost, and counted.
#[test]
fn a_back_end_that_sends_to_single_buffers() {
    for args in [",mrg_rxbuf=0", ",mrg_rxbuf=0,packed_vq=1,in_order=0"] {
        let left_out = back_sends(1, true, args);
        assert_eq!(left_out, ["leftovers stay the caller's, in order"]);
    }
}
