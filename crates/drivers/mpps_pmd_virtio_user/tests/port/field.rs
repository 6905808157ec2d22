//! Faults that others have met, one test each, named by their number in the record of the field (`w01` and so on).

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use mpps_dev::{DevConfig, Lcore, LcoreId, QueueSize, RxQueueConfig, TxQueueConfig};
use mpps_mbuf::{BURST_MAX, Burst, Mbuf, Pool};
use mpps_vhost_proto::{DeviceStatus, ProtocolFeatures, RequestKind};
use mpps_virtq::Features;

use crate::back_end::{Manner, Trouble};
use crate::rig::{MBUFS, Rig, eventually};

fn packed() -> Manner {
    let manner = Manner::default();
    Manner {
        features: manner.features | Features::RING_PACKED,
        ..manner
    }
}

/// A packet of `segments` segments, 40 bytes each.
fn chain(pool: &Pool, segments: u8) -> Mbuf {
    let mut whole: Option<Mbuf> = None;
    for k in 0..segments {
        let mut part = pool.alloc().unwrap();
        assert!(part.append(&[k + 1; 40]));
        match &mut whole {
            None => whole = Some(part),
            Some(head) => head.chain(part).unwrap(),
        }
    }
    whole.unwrap()
}

/// Packets of few to `most` segments to the back end and back.
fn chains(rig: &mut Rig, most: u8) {
    for segments in (1..=most).filter(|n| *n < 5 || n % 5 == 0) {
        let mut burst = Burst::new(32);
        burst.push(chain(&rig.pool, segments)).unwrap();
        assert!(eventually(|| {
            let tx = rig.queues.tx[0].as_mut().unwrap();
            tx.tx_burst(&mut rig.lcore, &mut burst);
            burst.is_empty()
        }));
        assert!(eventually(|| {
            let rx = rig.queues.rx[0].as_mut().unwrap();
            rx.rx_burst(&mut rig.lcore, &mut burst) > 0
        }));
        let back = &burst.as_slice()[0];
        assert_eq!(back.pkt_len(), u32::from(segments) * 40);
        let bytes = back.segments_data().flatten().copied();
        let sent = (0..segments).flat_map(|k| [k + 1; 40]);
        assert!(bytes.eq(sent), "{segments} segments");
        rig.lcore.free(&mut burst);
    }
}

#[test]
fn w01_rings_start_afresh_with_each_back_end() {
    for layout in ["", ",packed_vq=1"] {
        for server in ["", ",server=1"] {
            let mut rig = Rig::started(&format!("{server}{layout}"), 1);
            for n in 0..6 {
                let peer = rig.meet(packed());
                rig.wait_link(true);
                // Never a whole number of turns through the ring.
                rig.echo(0, 100 + 37 * n);
                drop(peer);
                rig.wait_link(false);
            }
            rig.finish();
        }
    }
}

#[test]
fn w02_status_is_told_again_where_the_back_end_knows_it() {
    let last = DeviceStatus::ACKNOWLEDGE
        | DeviceStatus::DRIVER
        | DeviceStatus::FEATURES_OK
        | DeviceStatus::DRIVER_OK;
    let mut rig = Rig::started(",server=1", 1);
    for knows in [true, false, true] {
        let mut manner = Manner::default();
        if !knows {
            manner.protocol = Some(ProtocolFeatures::MQ | ProtocolFeatures::REPLY_ACK);
        }
        let peer = rig.meet(manner);
        rig.wait_link(true);
        rig.echo(0, 50);
        let statuses = peer.learned.statuses.lock().unwrap().clone();
        assert_eq!(statuses.last(), knows.then_some(&last));
        assert_eq!(
            peer.learned.count(RequestKind::GetStatus),
            usize::from(knows)
        );
        drop(peer);
        rig.wait_link(false);
    }
    rig.finish();
}

#[test]
fn w04_the_link_can_be_asked_for_while_requests_wait() {
    for step in [RequestKind::GetFeatures, RequestKind::SetMemTable] {
        let mut rig = Rig::started(",server=1", 1);
        let late = Trouble::Late(Duration::from_millis(200));
        let peer = rig.meet(Manner::troubled(step, late));
        while !rig.dev.link().up {
            assert!(!peer.ended(), "{:?}", rig.heard.lines.lock().unwrap());
        }
        rig.echo(0, 50);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn w05_what_is_not_there_yet_is_a_socket_and_that_is_said() {
    let rig = Rig::started("", 1);
    assert_eq!(rig.heard.times("vhost-user"), 1);
    rig.finish();
    let rig = Rig::started(",server=1", 1);
    assert_eq!(rig.heard.times("waiting for client connection..."), 1);
    rig.finish();
}

#[test]
fn w07_each_ring_has_a_call_of_its_own() {
    let mut rig = Rig::started(",queues=4", 4);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let calls = peer.learned.calls.lock().unwrap().clone();
    let rings: Vec<u8> = calls.iter().map(|(ring, _)| *ring).collect();
    assert_eq!(rings, [0, 1, 2, 3, 4, 5, 6, 7]);
    let fds: BTreeSet<i32> = calls.iter().map(|(_, fd)| *fd).collect();
    assert!(fds.len() == 8 && fds.iter().all(|fd| *fd >= 0), "{fds:?}");
    drop(peer);
    rig.finish();
}

#[test]
fn w09_chains_of_every_length_before_and_after_a_reconnection() {
    for layout in ["", ",packed_vq=1"] {
        for indirect in [true, false] {
            let mut rig = Rig::started(&format!(",server=1,in_order=0{layout}"), 1);
            for _ in 0..3 {
                let mut manner = packed();
                manner.features.set(Features::RING_INDIRECT_DESC, indirect);
                let peer = rig.meet(manner);
                rig.wait_link(true);
                chains(&mut rig, 30);
                drop(peer);
                rig.wait_link(false);
            }
            rig.finish();
        }
    }
}

#[test]
fn w15_a_queue_asked_to_be_smaller_bounds_what_is_posted() {
    for args in [
        "",
        ",packed_vq=1",
        ",mrg_rxbuf=0,vectorized=1",
        ",packed_vq=1,vectorized=1",
        ",in_order=0",
    ] {
        let mut rig = Rig::new(&format!(",server=1,queue_size=256{args}"), 1);
        let size = QueueSize::new(64).unwrap();
        let mut config = DevConfig {
            rx: vec![RxQueueConfig::of(&rig.pool)],
            tx: vec![TxQueueConfig::default()],
            ..DevConfig::plain(&rig.pool, 1)
        };
        config.rx[0].queue.size = size;
        config.tx[0].queue.size = size;
        rig.dev.configure(&config).unwrap();
        rig.start();
        let peer = rig.meet(packed());
        rig.wait_link(true);
        let told: Vec<u32> = {
            let rings = peer.learned.rings.lock().unwrap();
            rings.values().map(|(num, _)| *num).collect()
        };
        assert_eq!(told, [256, 256], "{args}");
        assert_eq!(rig.dev.rx_queue_info(0).unwrap().descriptors, 64);
        rig.echo(0, 1000);
        // Nobody receives: the back end has the buffers that are posted, then a burst of its own, then its ring is full.
        let mut taken = 0;
        for _ in 0..250 {
            let mut burst = Burst::new(1);
            burst.push(chain(&rig.pool, 1)).unwrap();
            let tx = rig.queues.tx[0].as_mut().unwrap();
            taken += tx.tx_burst(&mut rig.lcore, &mut burst);
            rig.lcore.free(&mut burst);
            std::thread::sleep(Duration::from_micros(300));
        }
        assert!((1..=64 + 32 + 64).contains(&taken), "{args}: {taken}");
        let mut out = Burst::new(BURST_MAX);
        let rx = rig.queues.rx[0].as_mut().unwrap();
        let n = rx.rx_burst(&mut rig.lcore, &mut out);
        assert!((1..=64).contains(&n), "{args}: {n}");
        rig.lcore.free(&mut out);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn w16_all_counters_move_and_nothing_is_left_in_the_ring() {
    for layout in ["", ",packed_vq=1"] {
        let args = format!(",server=1,mrg_rxbuf=0,vectorized=1,count_groups=1{layout}");
        let mut rig = Rig::started(&args, 1);
        let peer = rig.meet(packed());
        rig.wait_link(true);
        rig.echo(0, 1003);
        let stats = rig.dev.stats();
        assert_eq!((stats.ipackets, stats.ibytes), (1003, 1003 * 64));
        assert_eq!((stats.opackets, stats.obytes), (1003, 1003 * 64));
        let xstats = rig.dev.xstats();
        for (name, value) in [
            ("rx_good_packets", 1003),
            ("rx_q0_good_packets", 1003),
            ("rx_q0_good_bytes", 1003 * 64),
            ("rx_q0_size_64_packets", 1003),
            ("tx_q0_size_64_packets", 1003),
            ("rx_q0_errors", 0),
        ] {
            let found = xstats.iter().find(|stat| stat.name == name);
            assert_eq!(found.unwrap().value, value, "{name}");
        }
        drop(peer);
        rig.finish();
    }
}

#[test]
fn w22_packets_that_the_back_end_is_done_with_come_home_at_a_stop() {
    for layout in ["", ",packed_vq=1", ",in_order=0", ",in_order=0,packed_vq=1"] {
        let mut rig = Rig::started(&format!(",server=1{layout}"), 1);
        let peer = rig.meet(packed());
        rig.wait_link(true);
        let mut burst = Burst::new(100);
        for _ in 0..100 {
            burst.push(chain(&rig.pool, 1)).unwrap();
        }
        let tx = rig.queues.tx[0].as_mut().unwrap();
        let sent = tx.tx_burst(&mut rig.lcore, &mut burst) as u64;
        assert!(sent > 32, "{sent}");
        rig.lcore.free(&mut burst);
        // Used, and never looked at again: neither those nor the ones that came back.
        assert!(eventually(
            || peer.learned.received.load(Ordering::Relaxed) == sent
        ));
        rig.stop();
        // Its cache goes with it; the port is still there.
        let pools = [rig.pool.clone(), rig.theirs.clone()];
        rig.lcore = Lcore::new(LcoreId(0), &pools, mpps_cpu::Clock::kernel());
        assert_eq!(rig.pool.free_count(), MBUFS as usize, "{layout}");
        drop(peer);
        rig.finish();
    }
}

#[test]
fn w24_the_control_queue_is_no_ring() {
    for (args, queues, rings) in [(",cq=1", 1, 2), (",queues=4", 4, 8), (",queues=4", 1, 2)] {
        let mut rig = Rig::started(&format!("{args},server=1"), queues);
        let mut manner = Manner::default();
        // One that has a control queue of its own isn't asked for it either.
        manner.features |= Features::CTRL_VQ | Features::CTRL_RX;
        let peer = rig.meet(manner);
        rig.wait_link(true);
        let told: Vec<u32> = peer.learned.rings.lock().unwrap().keys().copied().collect();
        assert_eq!(told, (0..rings).collect::<Vec<_>>());
        let features = peer.learned.features.load(Ordering::Relaxed);
        let control = Features::CTRL_VQ.union(Features::CTRL_RX).bits();
        assert_eq!(features & control, 0, "{features:#x}");
        rig.echo(0, 50);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn w25_commands_are_answered_after_every_configuration() {
    let mut rig = Rig::new(",cq=1,queues=2,server=1", 2);
    let peer = rig.meet(Manner::default());
    for round in 0..10 {
        let queues = 1 + round % 2;
        let config = DevConfig::plain(&rig.pool, queues);
        rig.dev.configure(&config).unwrap();
        rig.start();
        rig.wait_link(true);
        for on in [true, false] {
            rig.dev.set_promiscuous(on).unwrap();
            rig.dev.set_allmulticast(!on).unwrap();
            assert_eq!(rig.dev.port().promiscuous(), on);
        }
        rig.echo(queues - 1, 50);
        rig.stop();
    }
    drop(peer);
    rig.finish();
}

#[test]
fn w26_a_back_end_that_comes_gets_nothing_unasked() {
    let mut rig = Rig::started(",server=1", 1);
    for _ in 0..3 {
        let peer = rig.meet(Manner::default());
        rig.wait_link(true);
        std::thread::sleep(Duration::from_millis(10));
        assert_eq!(peer.learned.received.load(Ordering::Relaxed), 0);
        assert_eq!(peer.learned.count(RequestKind::SendRarp), 0);
        drop(peer);
        rig.wait_link(false);
    }
    assert_eq!(rig.dev.stats().opackets, 0);
    rig.finish();
}

#[test]
fn w27_statistics_of_each_queue_have_their_own_names() {
    let rig = Rig::started(",queues=8", 8);
    let names: Vec<_> = rig.dev.xstats().into_iter().map(|stat| stat.name).collect();
    let unique: BTreeSet<_> = names.iter().collect();
    assert_eq!(unique.len(), names.len());
    rig.finish();
}

/// Virtio 1.3, sections 2.7 and 2.8.10: where the parts of a ring may lie.
#[test]
fn w29_the_parts_of_a_ring_lie_as_specified() {
    for (args, split) in [("", true), (",packed_vq=1,queue_size=255", false)] {
        let mut rig = Rig::started(&format!(",server=1{args}"), 1);
        let peer = rig.meet(packed());
        rig.wait_link(true);
        for (num, at) in peer.learned.rings.lock().unwrap().values() {
            let num = u64::from(*num);
            let (avail, used) = if split {
                (6 + 2 * num, 6 + 8 * num)
            } else {
                (4, 4)
            };
            let aligned = [(at.descriptor, 16), (at.available, 4), (at.used, 4)];
            assert!(aligned.iter().all(|(at, to)| at % to == 0), "{at:?}");
            assert!(at.descriptor + 16 * num <= at.available, "{at:?}");
            assert!(at.available + avail <= at.used, "{at:?}");
            assert!(used < 1 << 20);
        }
        drop(peer);
        rig.finish();
    }
}
