//! What is asked for, what becomes of it, and what is said.

use mpps_dev::{DevConfig, RxOffloads, TxOffloads, TxQueueConfig};
use mpps_virtq::Features;

use super::{Wish, known, shown};
use crate::args::Settings;
use crate::session::Offer;

fn settings(text: &str) -> Settings {
    let device = format!("net_virtio_user0,path=p{text}");
    Settings::parse(&device.parse().unwrap()).unwrap()
}

fn config(queues: usize, rx: RxOffloads, tx: TxOffloads) -> DevConfig {
    DevConfig {
        tx: vec![TxQueueConfig::default(); queues],
        rx_offloads: rx,
        tx_offloads: tx,
        ..DevConfig::default()
    }
}

fn plain(queues: usize) -> DevConfig {
    config(queues, RxOffloads::empty(), TxOffloads::empty())
}

fn offer(features: Features, pairs: u64) -> Offer {
    Offer {
        features: features.bits(),
        pairs,
    }
}

#[test]
fn offloads_are_asked_for_when_the_port_is() {
    let wish = Wish::of(&settings(""), &plain(1)).features;
    assert!(!wish.intersects(Features::TO_DEVICE_OFFLOADS | Features::TO_DRIVER_OFFLOADS));
    let wish = Wish::of(
        &settings(""),
        &config(1, RxOffloads::UDP_CKSUM, TxOffloads::TCP_TSO),
    );
    let tso = Features::HOST_TSO4 | Features::HOST_TSO6;
    assert!(
        wish.features
            .contains(Features::GUEST_CSUM | Features::CSUM | tso)
    );
    // Without the checksum there is no segmentation.
    let got = wish.agree(offer(Features::VERSION_1 | tso, 1)).unwrap();
    assert_eq!(got.features, Features::VERSION_1);
    assert_eq!(got.without.len(), 4);
}

#[test]
fn required_features_are_missed_by_name() {
    let wish = Wish::of(&settings(",packed_vq=1"), &plain(1));
    let lack = wish.agree(offer(Features::empty(), 1)).unwrap_err();
    assert_eq!(
        lack.to_string(),
        "the back end lacks VERSION_1 and RING_PACKED, which packed_vq=1 needs"
    );
    let wish = Wish::of(&settings(",queues=2"), &plain(2));
    let lack = wish.agree(offer(Features::VERSION_1, 2)).unwrap_err();
    assert_eq!(
        lack.to_string(),
        "the back end lacks MQ, which a port with several queues needs"
    );
    let lack = wish.agree(offer(Features::all(), 1)).unwrap_err();
    assert!(lack.to_string().contains("has 1 queue pairs"));
    assert!(wish.agree(offer(Features::all(), 2)).is_ok());
}

#[test]
fn a_port_with_many_pairs_may_use_one() {
    let wish = Wish::of(&settings(",queues=8"), &plain(1));
    assert!(wish.agree(offer(Features::VERSION_1, 1)).is_ok());
}

#[test]
fn nothing_is_used_that_was_not_asked_for() {
    let wish = Wish::of(&settings(",mrg_rxbuf=0,in_order=0"), &plain(1));
    let got = wish.agree(offer(Features::all(), 8)).unwrap();
    let both = Features::VERSION_1 | Features::RING_INDIRECT_DESC;
    assert_eq!(got.features, both);
    assert!(got.without.is_empty());
}

/// The recorded session of DPDK's has these.
#[test]
fn features_are_shown_as_dpdk_does() {
    let wish = Wish::of(&settings(""), &plain(1));
    let got = wish.agree(offer(Features::all(), 1)).unwrap();
    assert_eq!(shown(got.features, &settings("")), 0x9_1001_8020);
    assert_eq!(known(&plain(1)), 0x8000_005f_10ef_8028);
}
