//! Packets whose checksum was left to others, or that are yet to be cut: a file holds them as a wire would.

use crate::rig::{Folder, Rig, parse};
use mpps_mbuf::{Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum};

/// Ethernet, IPv4 and TCP headers with a wrong checksum in each, and a payload.
fn tcp(payload: usize) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
    let total = (40 + payload) as u16;
    frame.extend([0x45, 0]);
    frame.extend(total.to_be_bytes());
    frame.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    let ip = sum(&frame[14..34], 0);
    frame[24..26].copy_from_slice(&(!ip).to_be_bytes());
    frame.extend([0, 1, 0, 2, 0, 0, 0, 9, 0, 0, 0, 8, 0x50, 0x18, 1, 0]);
    let pseudo = sum(&frame[26..34], 6 + 20 + payload as u32);
    frame.extend(pseudo.to_be_bytes());
    frame.extend([0, 0]);
    frame.extend((0..payload).map(|n| n as u8));
    frame
}

/// One's complement sum of pairs of bytes, behind `start`.
fn sum(bytes: &[u8], start: u32) -> u16 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u32::from(*byte));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn is_right(frame: &[u8]) -> bool {
    let l4 = (frame.len() - 34) as u32;
    let pseudo = sum(&frame[26..34], 6 + l4);
    sum(&frame[14..34], 0) == 0xffff && sum(&frame[34..], u32::from(pseudo)) == 0xffff
}

const CHECKSUM: PartialChecksum = PartialChecksum {
    start: 34,
    offset: 16,
};

fn packet(rig: &mut Rig, bytes: &[u8]) -> Mbuf {
    let mut packets = bytes.chunks(2000).map(|part| {
        let mut mbuf = rig.lcore.alloc_one(rig.pool.id()).unwrap();
        assert!(mbuf.append(part));
        mbuf
    });
    let head = packets.next().unwrap();
    packets.fold(head, |mut head, mbuf| {
        head.chain(mbuf).unwrap();
        head
    })
}

// V-44: the port of a file does in software what nobody did before.
#[test]
fn v44_a_file_never_holds_half_a_checksum() {
    let folder = Folder::new("unfinished");
    let tx = folder.path("out.pcap");
    let mut rig = Rig::new(&format!("net_pcap0,tx_pcap={}", tx.display()));
    let plain = packet(
        &mut rig,
        b"plain packet that owes nothing, of sixty bytes or thereabouts",
    );
    let mut partial = packet(&mut rig, &tcp(101));
    partial.set_partial_checksum(CHECKSUM);
    let mut large = packet(&mut rig, &tcp(10_000));
    let gso = Gso {
        kind: GsoKind::TcpV4,
        ecn: false,
        size: 1448,
        header_len: 54,
    };
    large.set_gso(CHECKSUM, gso);
    // Nothing that anybody could finish.
    let mut broken = packet(&mut rig, &[0; 40]);
    broken.set_partial_checksum(CHECKSUM);
    for packet in [plain, partial, large, broken] {
        rig.burst.push(packet).unwrap();
    }
    assert!(rig.burst.flags_union().intersects(OffloadFlags::UNFINISHED));
    assert_eq!(rig.tx(0), 4);
    assert!(rig.burst.is_empty());
    let stats = rig.dev.stats();
    assert_eq!((stats.opackets, stats.oerrors), (1 + 1 + 7, 1));
    rig.end();
    let written = parse(&std::fs::read(&tx).unwrap());
    assert_eq!(written.len(), 9);
    assert!(written[0].0.starts_with(b"plain"));
    assert!(written[1..].iter().all(|(frame, _)| is_right(frame)));
    let lengths: Vec<usize> = written[1..].iter().map(|(frame, _)| frame.len()).collect();
    assert_eq!(lengths, [155, 1502, 1502, 1502, 1502, 1502, 1502, 1366]);
    let payload: Vec<u8> = written[2..]
        .iter()
        .flat_map(|(frame, _)| frame[54..].to_vec())
        .collect();
    assert!(payload == tcp(10_000)[54..]);
    let bytes: usize = lengths.iter().sum();
    assert_eq!(stats.obytes as usize, bytes + written[0].0.len());
}
