//! Whole frames with a header that fits them: what leaves must be packets that a receiver takes, with all of the payload.
//!
//! Frames are built and checksums summed byte by byte: nothing of what is tested has a part in it.

use mpps_mbuf::{Caches, Mbuf, OffloadFlags, Pool};
use mpps_soft::finish_but;
use mpps_virtq::net_header::{NetHeader, NetOffloads, Verdict};

use super::{judge, packet};
use crate::input::Input;

/// Bytes of a frame without payload, and what it is.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tagged: bool,
    is_v6: bool,
    is_udp: bool,
    /// Bytes of IPv4 options and of TCP options.
    options: (usize, usize),
}

impl Shape {
    fn read(input: &mut Input<'_>) -> Self {
        let kind = input.u8();
        Self {
            tagged: kind & 1 != 0,
            is_v6: kind & 2 != 0,
            is_udp: kind & 4 != 0,
            options: (
                usize::from(kind >> 3 & 3) * 4,
                usize::from(kind >> 5 & 7) * 4,
            ),
        }
    }

    fn l3(self) -> usize {
        if self.tagged { 18 } else { 14 }
    }

    fn l4(self) -> usize {
        self.l3() + if self.is_v6 { 40 } else { 20 + self.options.0 }
    }

    fn payload(self) -> usize {
        self.l4() + if self.is_udp { 8 } else { 20 + self.options.1 }
    }

    /// Where the L4 checksum is, from the L4 header's start.
    fn field(self) -> usize {
        if self.is_udp { 6 } else { 16 }
    }

    fn protocol(self) -> u8 {
        if self.is_udp { 17 } else { 6 }
    }

    /// The frame of a payload, with the sum of the pseudo header in the L4 checksum field.
    fn frame(self, payload: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; self.payload()];
        let (l3, l4) = (self.l3(), self.l4());
        if self.tagged {
            frame[12..14].copy_from_slice(&[0x81, 0]);
        }
        let kind: [u8; 2] = if self.is_v6 { [0x86, 0xdd] } else { [8, 0] };
        frame[l3 - 2..l3].copy_from_slice(&kind);
        // Lengths of a packet to be cut needn't be right: they may not even fit.
        let (total, l4_len) = (
            (self.payload() - l3 + payload.len()) as u16,
            (self.payload() - l4 + payload.len()) as u16,
        );
        if self.is_v6 {
            frame[l3] = 0x60;
            frame[l3 + 4..l3 + 6].copy_from_slice(&(total - 40).to_be_bytes());
            frame[l3 + 6] = self.protocol();
        } else {
            frame[l3] = 0x45 + (self.options.0 / 4) as u8;
            frame[l3 + 2..l3 + 4].copy_from_slice(&total.to_be_bytes());
            frame[l3 + 6..l3 + 8].fill(0);
            frame[l3 + 9] = self.protocol();
            frame[l3 + 10..l3 + 12].fill(0);
            frame[l3 + 20..l4].fill(1);
            let sum = !sum(&[&frame[l3..l4]]);
            frame[l3 + 10..l3 + 12].copy_from_slice(&sum.to_be_bytes());
        }
        if self.is_udp {
            frame[l4 + 4..l4 + 6].copy_from_slice(&l4_len.to_be_bytes());
        } else {
            frame[l4 + 12] = ((5 + self.options.1 / 4) << 4) as u8;
            frame[l4 + 13] = 0x18;
            let end = frame.len();
            frame[l4 + 20..end].fill(1);
        }
        let pseudo = self.pseudo(&frame, l4_len);
        let at = l4 + self.field();
        frame[at..at + 2].copy_from_slice(&pseudo.to_be_bytes());
        frame.extend(payload);
        frame
    }

    /// The sum of the pseudo header.
    fn pseudo(self, frame: &[u8], l4_len: u16) -> u16 {
        let addresses = if self.is_v6 {
            self.l3() + 8..self.l3() + 40
        } else {
            self.l3() + 12..self.l3() + 20
        };
        sum(&[
            &frame[addresses],
            &[0, self.protocol()],
            &l4_len.to_be_bytes(),
        ])
    }

    /// That a receiver takes the packet; its payload.
    fn check(self, packet: &Mbuf) -> Vec<u8> {
        let mut bytes = vec![0; packet.pkt_len() as usize];
        packet.copy_out(0, &mut bytes);
        let (l3, l4) = (self.l3(), self.l4());
        assert!(bytes.len() >= self.payload(), "{} bytes", bytes.len());
        let (at, rest) = if self.is_v6 {
            (l3 + 4, bytes.len() - l3 - 40)
        } else {
            assert_eq!(sum(&[&bytes[l3..l4]]), 0xffff, "sum of the IPv4 header");
            (l3 + 2, bytes.len() - l3)
        };
        assert_eq!(bytes[at..at + 2], (rest as u16).to_be_bytes(), "IP length");
        let l4_len = (bytes.len() - l4) as u16;
        if self.is_udp {
            assert_eq!(bytes[l4 + 4..l4 + 6], l4_len.to_be_bytes(), "UDP length");
        }
        let pseudo = self.pseudo(&bytes, l4_len);
        let whole = sum(&[&pseudo.to_be_bytes(), &bytes[l4..]]);
        assert_eq!(whole, 0xffff, "L4 checksum of {self:?}");
        bytes.split_off(self.payload())
    }
}

/// One's complement sum of pairs of bytes; all parts but the last one are even.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u32;
    for pair in parts.iter().flat_map(|part| part.chunks(2)) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u32::from(*byte));
        if sum > 0xffff {
            sum -= 0xffff;
        }
    }
    sum as u16
}

/// A frame whose checksum is owed and which may be one to be cut, with one byte of its header spoilt sometimes.
pub(super) fn frame(input: &mut Input<'_>, pool: &Pool, caches: &mut Caches) {
    let shape = Shape::read(input);
    let (cut, spoilt) = (input.u8(), input.once_in(4));
    let payload: Vec<u8> = {
        let (len, seed) = (usize::from(input.u16() % 6000), input.u8());
        (0..len).map(|at| at as u8 ^ seed).collect()
    };
    let gso_type = match (cut & 1 != 0, shape.is_udp, shape.is_v6) {
        (false, ..) => 0,
        (true, true, _) => 5,
        (true, false, false) => 1,
        (true, false, true) => 4,
    };
    let header = NetHeader {
        flags: 1,
        gso_type,
        hdr_len: shape.payload() as u16,
        gso_size: 1 + input.u16() % 1500,
        csum_start: shape.l4() as u16,
        csum_offset: shape.field() as u16,
        num_buffers: 0,
    };
    let mut bytes = header.to_bytes();
    if spoilt {
        bytes[usize::from(input.below(10))] ^= input.u8();
    }
    let spoilt = bytes != header.to_bytes();
    let segment = 1 + usize::from(input.u16() % super::ROOM);
    let frame = shape.frame(&payload);
    let Some(mut packet) = packet(&frame, 0, segment, pool, caches) else {
        return;
    };
    let offloads = NetOffloads::all();
    let verdict = NetHeader::apply(bytes, &mut packet, offloads);
    judge(&packet, bytes, verdict, offloads);
    assert!(spoilt || verdict == Verdict::Accept, "{header:?}");
    if verdict == Verdict::BadHeader {
        return caches.free_one(packet);
    }
    let mut out = Vec::new();
    let put = &mut |packet| out.push(packet);
    let result = finish_but(packet, caches, pool.id(), OffloadFlags::empty(), put);
    let mut arrived = Vec::new();
    for packet in out.drain(..) {
        assert!(!packet.flags().intersects(OffloadFlags::UNFINISHED));
        if !spoilt {
            let piece = shape.check(&packet);
            assert!(cut & 1 == 0 || piece.len() <= usize::from(header.gso_size));
            arrived.extend(piece);
        }
        caches.free_one(packet);
    }
    if !spoilt {
        let sent = payload.get(..arrived.len());
        assert_eq!(sent, Some(&arrived[..]), "what was cut isn't what was sent");
        assert!(result.is_err() || arrived.len() == payload.len());
    }
}
