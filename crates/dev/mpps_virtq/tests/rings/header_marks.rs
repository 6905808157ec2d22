//! The header before a packet that goes back to the device which sent it, and before one that goes elsewhere.

use mpps_mbuf::{Burst, HEADROOM, Mbuf};
use mpps_virtq::{DeviceTx, DriverRx, DriverSetup, DriverTx, Features, HeaderMark, Lent};

use crate::rig::{Rig, on_every_kind};

/// What a device writes before a packet in one buffer: nothing to say, and the number of buffers.
const FROM_DEVICE: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
const ZEROS: [u8; 12] = [0; 12];

fn header(packet: &Mbuf) -> [u8; 12] {
    let start = packet
        .buffer()
        .as_ptr()
        .wrapping_add(usize::from(HEADROOM) - 12);
    // SAFETY: the last bytes of the headroom, which nobody writes to now.
    unsafe { start.cast::<[u8; 12]>().read() }
}

/// Receives one packet, lets `edit` have it, and transmits it with the setup that `other` makes of the receiving one; says
/// what the header is then.
fn there_and_back(
    features: Features,
    edit: impl Fn(&mut Mbuf),
    other: impl Fn(DriverSetup) -> DriverSetup,
) -> [u8; 12] {
    let (rig, back) = (Rig::new(8, features), Rig::new(8, features));
    let (mut caches, setup) = (rig.caches(), rig.driver(None));
    let mut rx = DriverRx::open(&setup).expect("a ring");
    rx.fill(&mut caches);
    let mut device = DeviceTx::open(&rig.device(rx.addresses(), None)).expect("a ring");
    let mut burst = Burst::new(4);
    let mut packet = rig.back.alloc().expect("an mbuf");
    assert!(packet.append(&[7; 64]) && burst.push(packet).is_ok());
    device.burst(&mut caches, &mut burst);
    rx.burst(&mut caches, &mut burst);
    let packet = burst.as_mut_slice().first_mut().expect("a packet");
    assert_eq!(header(packet), FROM_DEVICE);
    edit(packet);
    let start = packet.buffer();
    let mut tx = DriverTx::open(&other(DriverSetup {
        lent: Lent::new(vec![rig.front.clone()]),
        pool: rig.front.id(),
        mark: setup.mark,
        ..back.driver(None)
    }))
    .expect("a ring");
    tx.burst(&mut caches, &mut burst);
    assert!(burst.is_empty());
    // SAFETY: the ring holds the packet; its headroom is still mapped.
    unsafe {
        let place = start.as_ptr().add(usize::from(HEADROOM) - 12);
        place.cast::<[u8; 12]>().read()
    }
}

fn both_layouts(check: impl Fn(Features)) {
    let plain = Features::VERSION_1.union(Features::MRG_RXBUF);
    on_every_kind([plain, plain.union(Features::RING_PACKED)]).for_each(check);
}

#[test]
fn the_same_device_gets_its_own_header_back() {
    both_layouts(|features| {
        assert_eq!(there_and_back(features, |_| (), |setup| setup), FROM_DEVICE);
    });
}

#[test]
fn another_device_never_sees_it() {
    both_layouts(|features| {
        let elsewhere = |setup| DriverSetup {
            mark: HeaderMark::fresh(),
            ..setup
        };
        assert_eq!(there_and_back(features, |_| (), elsewhere), ZEROS);
    });
}

#[test]
fn a_headroom_that_was_written_to_gets_a_fresh_one() {
    both_layouts(|features| {
        let tunnel = |packet: &mut Mbuf| {
            packet.prepend(40).expect("room").fill(9);
            assert!(packet.trim_front(40));
        };
        assert_eq!(there_and_back(features, tunnel, |setup| setup), ZEROS);
    });
}

#[test]
fn where_headers_may_say_something_each_is_written() {
    both_layouts(|features| {
        for negotiated in [Features::CSUM, Features::GUEST_CSUM] {
            let says = |setup: DriverSetup| DriverSetup {
                features: setup.features.union(negotiated),
                ..setup
            };
            assert_eq!(there_and_back(features, |_| (), says), ZEROS);
        }
    });
}
