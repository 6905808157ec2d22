//! Packets through the port and back, in all the ways the port can be asked for.

use std::ptr::NonNull;

use mpps_mbuf::{Burst, HEADROOM};

use crate::back_end::Manner;
use crate::rig::{Rig, eventually};

#[test]
fn split_rings_of_every_kind() {
    for mergeable in [0, 1] {
        for in_order in [0, 1] {
            let args = format!(",mrg_rxbuf={mergeable},in_order={in_order},server=1");
            let mut rig = Rig::started(&args, 1);
            let peer = rig.meet(Manner::default());
            rig.wait_link(true);
            rig.echo(0, 3000);
            drop(peer);
            rig.finish();
        }
    }
}

#[test]
fn eight_queues_carry_their_own() {
    let mut rig = Rig::started(",queues=8", 8);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    for queue in (0..8).rev() {
        rig.echo(queue, 100 + queue);
    }
    let xstats = rig.dev.xstats();
    for queue in 0..8 {
        let name = format!("rx_q{queue}_size_64_packets");
        let found: Vec<_> = xstats.iter().filter(|stat| stat.name == name).collect();
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found[0].value, 100 + queue);
    }
    rig.dev.clear_stats();
    assert!(rig.dev.xstats().iter().all(|stat| stat.value == 0));
    drop(peer);
    rig.finish();
}

#[test]
fn packets_of_pools_that_are_not_lent_are_copied() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let mut burst = Burst::new(32);
    for _ in 0..32 {
        let mut packet = rig.theirs.alloc().unwrap();
        assert!(packet.append(&[5; 100]));
        burst.push(packet).unwrap();
    }
    let tx = rig.queues.tx[0].as_mut().unwrap();
    assert_eq!(tx.tx_burst(&mut rig.lcore, &mut burst), 32);
    let mut back = Burst::new(64);
    assert!(eventually(|| {
        let rx = rig.queues.rx[0].as_mut().unwrap();
        rx.rx_burst(&mut rig.lcore, &mut back);
        back.len() == 32
    }));
    assert!(
        back.as_slice()
            .iter()
            .all(|packet| packet.data() == [5; 100])
    );
    rig.lcore.free(&mut back);
    drop(peer);
    rig.finish();
}

/// The last twelve bytes of the headroom of one of the port's buffers.
fn header(rig: &Rig, buffer: NonNull<u8>) -> [u8; 12] {
    let buffers = rig.pool.buffers();
    let into = buffer.addr().get() - buffers.as_ptr().addr().get();
    let at = buffers.fd_offset() + into as u64 + u64::from(HEADROOM) - 12;
    let mut bytes = [0; 12];
    rustix::io::pread(buffers.fd().unwrap(), &mut bytes, at).unwrap();
    bytes
}

/// What the one that left wrote before a packet isn't what the next one reads.
#[test]
fn a_header_of_one_back_end_is_not_sent_to_the_next() {
    for server in ["", ",server=1"] {
        let mut rig = Rig::started(server, 1);
        let peer = rig.meet(Manner::default());
        rig.wait_link(true);
        let mut burst = Burst::new(1);
        let mut packet = rig.pool.alloc().unwrap();
        assert!(packet.append(&[9; 60]));
        burst.push(packet).unwrap();
        let tx = rig.queues.tx[0].as_mut().unwrap();
        assert_eq!(tx.tx_burst(&mut rig.lcore, &mut burst), 1);
        assert!(eventually(|| {
            let rx = rig.queues.rx[0].as_mut().unwrap();
            rx.rx_burst(&mut rig.lcore, &mut burst) == 1
        }));
        let place = burst.as_slice()[0].buffer();
        let one_buffer = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0];
        assert_eq!(header(&rig, place), one_buffer);
        drop(peer);
        rig.wait_link(false);
        let peer = rig.meet(Manner::default());
        rig.wait_link(true);
        let tx = rig.queues.tx[0].as_mut().unwrap();
        assert_eq!(tx.tx_burst(&mut rig.lcore, &mut burst), 1);
        assert_eq!(header(&rig, place), [0; 12]);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn the_names_of_statistics_are_those_of_dpdk() {
    let rig = Rig::started("", 1);
    let names: Vec<_> = rig.dev.xstats().into_iter().map(|stat| stat.name).collect();
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    let rx = &names[8..21];
    assert_eq!(rx[0], "rx_q0_good_packets");
    assert_eq!(rx[2], "rx_q0_errors");
    assert_eq!(rx[12], "rx_q0_size_1519_max_packets");
    assert_eq!(names[21], "tx_q0_good_packets");
    assert_eq!(names[23], "tx_q0_multicast_packets");
    assert_eq!(names.len(), 33);
    rig.finish();
}
