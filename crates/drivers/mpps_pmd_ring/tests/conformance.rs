//! The ring port against the promises of every port.
#![forbid(unsafe_code)]

use mpps_dev::conformance::{Facts, Source, Subject, run};
use mpps_pmd_ring::Ring;

const FACTS: Facts = Facts {
    source: Source::Sent,
    holds: Some(1024),
    // Handles pass, and nothing of them is read.
    counts_bytes: false,
    ..Facts::SINK
};

/// Names of the scenarios that don't apply.
fn skipped(devices: &[&str], queues: u16) -> Vec<&'static str> {
    let subject = Subject {
        driver: &Ring,
        peer: None,
        devices: &|| devices.iter().map(|device| (*device).to_owned()).collect(),
        facts: Facts { queues, ..FACTS },
    };
    let skipped = run(&subject).unwrap();
    skipped.iter().map(|skipped| skipped.scenario).collect()
}

#[test]
fn loop_back() {
    assert_eq!(skipped(&["net_ring0"], 1), ["the peer vanishes"]);
}

#[test]
fn loop_back_with_16_queues() {
    assert_eq!(skipped(&["eth_ring0"], 16), ["the peer vanishes"]);
}

#[test]
fn one_port_on_a_named_ring() {
    assert_eq!(
        skipped(&["net_ring0,nodeaction=alone:0:CREATE"], 1),
        ["the peer vanishes"]
    );
}

#[test]
fn two_ports_on_named_rings() {
    let create = "net_ring0,nodeaction=a:0:CREATE,nodeaction=b:0:CREATE";
    let attach = "net_ring1,nodeaction=a:0:ATTACH,nodeaction=b:0:ATTACH";
    assert!(skipped(&[create, attach], 2).is_empty());
}
