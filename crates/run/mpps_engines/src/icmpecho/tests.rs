//! Requests and their answers, byte for byte.

use super::{Request, request};
use crate::frames;
use crate::testing::{Bench, packets, pool, setup};

fn answers(frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, frames), usize::MAX);
    let sent = bench.run(
        &mut *(crate::find("icmpecho").unwrap().make)(&setup(&pool)).unwrap(),
        1,
    );
    assert_eq!(bench.io.stats.rx_packets.get(), frames.len() as u64);
    assert_eq!(bench.io.stats.tx_packets.get(), sent.len() as u64);
    assert_eq!(bench.io.stats.dropped.get(), 0, "not answering is no drop");
    bench.finish();
    sent
}

fn tagged(frame: &[u8]) -> Vec<u8> {
    [&frame[..12], &[0x81, 0, 0x60, 5], &frame[12..]].concat()
}

#[test]
fn an_arp_request_gets_the_ports_address() {
    let sent = answers(&[frames::ARP.to_vec(), tagged(frames::ARP)]);
    let reply = [
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 0xa1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 2, 2, 0, 0, 0, 0, 0xa1,
        198, 18, 0, 1, 2, 0, 0, 0, 0, 2, 198, 18, 0, 2,
    ];
    assert_eq!(sent[0], reply);
    assert_eq!(sent[1], tagged(&reply));
}

#[test]
fn a_ping_is_answered_with_its_payload() {
    let sent = answers(&[frames::PING.to_vec(), tagged(frames::PING)]);
    let mut reply = frames::PING.to_vec();
    reply[5] = 2;
    reply[11] = 1;
    reply[26..34].copy_from_slice(&[198, 18, 0, 2, 198, 18, 0, 1]);
    // Type 8 -> 0 adds 0x0800 to the checksum: 0x65f2 -> 0x6df2.
    reply[34..38].copy_from_slice(&[0, 0, 0x6d, 0xf2]);
    assert_eq!(sent[0], reply);
    assert_eq!(sent[1], tagged(&reply));
    assert_eq!(mpps_wire::checksum::checksum(&reply[34..]), 0);
    assert_eq!(mpps_wire::checksum::checksum(&reply[14..34]), 0);
}

#[test]
fn ip_options_are_stepped_over() {
    let mut ping = frames::PING.to_vec();
    ping.splice(34..34, [0x94, 4, 0, 0]);
    ping[14] = 0x46;
    ping[17] += 4;
    mpps_wire::Ipv4::fill_checksum(&mut ping, 14);
    let sent = answers(&[ping.clone()]);
    assert_eq!(sent[0][38..42], [0, 0, 0x6d, 0xf2]);
    assert_eq!(sent[0][34..38], ping[34..38]);
}

#[test]
fn a_multicast_ping_is_answered_by_somebody() {
    for (source, answerer) in [(5, 6), (6, 5), (8, 9)] {
        let mut ping = frames::PING.to_vec();
        ping[29] = source;
        ping[30..34].copy_from_slice(&[224, 0, 0, 1]);
        let reply = answers(&[ping]).remove(0);
        assert_eq!(
            reply[26..34],
            [198, 18, 0, answerer, 198, 18, 0, source],
            "source {source}"
        );
        assert_eq!(mpps_wire::checksum::checksum(&reply[14..34]), 0);
    }
}

#[test]
fn all_else_is_freed() {
    let mut reply = frames::PING.to_vec();
    reply[34] = 0;
    let mut code = frames::PING.to_vec();
    code[35] = 1;
    let mut later = frames::PING.to_vec();
    later[21] = 1;
    let mut arp_reply = frames::ARP.to_vec();
    arp_reply[21] = 2;
    let mut arp_of_others = frames::ARP.to_vec();
    arp_of_others[18] = 8;
    let two_tags = tagged(&tagged(frames::PING));
    let mut odd = vec![reply, code, later, arp_reply, arp_of_others, two_tags];
    odd.push(frames::PING[..41].to_vec());
    odd.push(frames::ARP[..41].to_vec());
    odd.push(frames::PING6.to_vec());
    odd.push(vec![]);
    assert!(answers(&odd).is_empty());
}

#[test]
fn only_what_is_not_sent_is_dropped() {
    let pool = pool();
    let mixed: Vec<_> = (0..20)
        .map(|n| [frames::PING, frames::UDP][n % 2].to_vec())
        .collect();
    let mut bench = Bench::new(&pool, packets(&pool, &mixed), 4);
    let sent = bench.run(
        &mut *(crate::find("icmpecho").unwrap().make)(&setup(&pool)).unwrap(),
        1,
    );
    assert_eq!((sent.len(), bench.io.stats.dropped.get()), (4, 6));
    bench.finish();
}

#[test]
fn the_largest_burst_is_answered_whole() {
    let pool = pool();
    let pings = vec![frames::PING.to_vec(); 512];
    let mut bench = Bench::new(&pool, packets(&pool, &pings), usize::MAX);
    bench.io.burst.set_limit(512);
    let mut engine = (crate::find("icmpecho").unwrap().make)(&setup(&pool)).unwrap();
    assert_eq!(bench.run(&mut *engine, 1).len(), 512);
    bench.finish();
}

#[test]
fn a_shared_ping_is_answered_in_a_copy() {
    let pool = pool();
    let mut received = packets(&pool, &[frames::PING.to_vec()]);
    let clone = pool.share(&mut received[0]).unwrap();
    let mut bench = Bench::new(&pool, received, usize::MAX);
    let mut engine = (crate::find("icmpecho").unwrap().make)(&setup(&pool)).unwrap();
    assert_eq!(bench.run(&mut *engine, 1).len(), 1);
    assert_eq!(clone.data(), frames::PING);
    drop(clone);
    bench.finish();
}

#[test]
fn requests_are_found() {
    assert_eq!(request(frames::ARP), Some(Request::Arp(14)));
    assert_eq!(
        request(&tagged(frames::PING)),
        Some(Request::Ping { ip: 18, icmp: 38 })
    );
    assert_eq!(request(&[]), None);
}
