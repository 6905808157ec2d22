//! Frames to send, and what a reader thinks of those that arrive: RFC 791, 768, 793, 8200, 1071 and 7348 by the letter.
//! Nothing is shared with the code under test.

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const VLAN: u16 = 0x8100;
pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;
const HOP_BY_HOP: u8 = 0;
const DESTINATION: u8 = 60;
const VXLAN: u16 = 4789;

/// The TCP sequence number of every frame.
pub(crate) const SEQUENCE: u32 = 0xffff_fc00;

/// A frame to send.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    pub(crate) name: &'static str,
    pub(crate) tags: usize,
    pub(crate) is_v6: bool,
    /// Bytes of IPv4 options, or IPv6 extension headers of 8 bytes each.
    pub(crate) extras: usize,
    pub(crate) protocol: u8,
    pub(crate) payload: Vec<u8>,
    /// The checksum field as it is sent: whatever, as a rule.
    pub(crate) field: u16,
    /// A first fragment: its L4 checksum covers what isn't there.
    pub(crate) is_fragment: bool,
    /// Ethernet padding behind the packet.
    pub(crate) padding: usize,
}

impl Spec {
    pub(crate) fn new(name: &'static str, is_v6: bool, protocol: u8, payload: usize) -> Self {
        Self {
            name,
            tags: 0,
            is_v6,
            extras: 0,
            protocol,
            payload: (0..payload).map(|n| (n * 7 + n / 251) as u8).collect(),
            field: 0x1234,
            is_fragment: false,
            padding: 0,
        }
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn l4(&self) -> Vec<u8> {
        let mut bytes = vec![0x12, 0x34, 0x10, 0x92];
        if self.protocol == UDP {
            bytes.extend((8 + self.payload.len() as u16).to_be_bytes());
            bytes.extend(self.field.to_be_bytes());
        } else {
            bytes.extend(SEQUENCE.to_be_bytes());
            bytes.extend([0, 0, 0, 1, 0x50, 0x18, 0x10, 0]);
            bytes.extend(self.field.to_be_bytes());
            bytes.extend([0, 0]);
        }
        bytes.extend(&self.payload);
        bytes
    }

    fn l3(&self) -> Vec<u8> {
        let l4 = self.l4();
        if self.is_v6 {
            let mut bytes = vec![0x60, 0, 0, 0];
            bytes.extend(((self.extras * 8 + l4.len()) as u16).to_be_bytes());
            let kinds = [HOP_BY_HOP, DESTINATION];
            let mut next = kinds[..self.extras].to_vec();
            next.push(self.protocol);
            bytes.extend([next[0], 64]);
            bytes.extend([0xfd; 15]);
            bytes.push(1);
            bytes.extend([0xfd; 15]);
            bytes.push(2);
            for next in &next[1..] {
                // One option that pads: PadN of 4.
                bytes.extend([*next, 0, 1, 4, 0, 0, 0, 0]);
            }
            return [bytes, l4].concat();
        }
        let header = 20 + self.extras;
        let fragment = if self.is_fragment { 0x20 } else { 0 };
        let mut bytes = vec![0x40 | (header / 4) as u8, 0];
        bytes.extend(((header + l4.len()) as u16).to_be_bytes());
        bytes.extend([0, 7, fragment, 0, 64, self.protocol, 0xab, 0xcd]);
        bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend(vec![1; self.extras]);
        [bytes, l4].concat()
    }

    /// The frame.
    pub(crate) fn frame(&self) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for tag in 0..self.tags {
            bytes.extend(VLAN.to_be_bytes());
            bytes.extend([0, 10 + tag as u8]);
        }
        bytes.extend(if self.is_v6 { IPV6 } else { IPV4 }.to_be_bytes());
        bytes.extend(self.l3());
        bytes.extend(vec![0xee; self.padding]);
        bytes
    }

    /// The frame within VXLAN over IPv4, whose outer UDP checksum is zero: none.
    pub(crate) fn tunnelled(&self) -> Vec<u8> {
        let inner = self.frame();
        let mut outer = Self::new(self.name, false, UDP, 8 + inner.len());
        outer.payload[..8].copy_from_slice(&[8, 0, 0, 0, 0, 0, 5, 0]);
        outer.payload[8..].copy_from_slice(&inner);
        outer.field = 0;
        let mut frame = outer.frame();
        frame[36..38].copy_from_slice(&VXLAN.to_be_bytes());
        frame
    }

    /// Changes the end of the payload so that the sum of everything is nought, whose complement a sender of UDP must not
    /// write (RFC 768).
    pub(crate) fn summing_to_nought(mut self) -> Self {
        let end = self.payload.len();
        self.payload[end - 2..].fill(0);
        let packet = Packet::of(&self.frame());
        let missing = !packet.sum();
        self.payload[end - 2..].copy_from_slice(&missing.to_be_bytes());
        self
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// RFC 1071, a word at a time.
fn ones_complement(parts: &[&[u8]]) -> u16 {
    let mut sum = 0_u64;
    for part in parts {
        for pair in part.chunks(2) {
            sum += u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
        }
    }
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

/// A packet as a receiver sees it.
#[derive(Debug)]
pub(crate) struct Packet {
    pub(crate) tags: usize,
    addresses: Vec<u8>,
    pub(crate) protocol: u8,
    /// L4 header and payload.
    l4: Vec<u8>,
    pub(crate) is_fragment: bool,
    /// The IPv4 header, where there is one.
    v4: Option<Vec<u8>>,
}

impl Packet {
    /// # Panics
    /// Where the frame is no such packet: tests send no others.
    pub(crate) fn of(frame: &[u8]) -> Self {
        let (mut at, mut tags) = (12, 0);
        while word(frame, at) == VLAN {
            at += 4;
            tags += 1;
        }
        let (kind, ip) = (word(frame, at), &frame[at + 2..]);
        if kind == IPV4 {
            let (header, total) = (usize::from(ip[0] & 15) * 4, usize::from(word(ip, 2)));
            return Self {
                tags,
                addresses: ip[12..20].to_vec(),
                protocol: ip[9],
                l4: ip[header..total].to_vec(),
                is_fragment: word(ip, 6) & 0x3fff != 0,
                v4: Some(ip[..header].to_vec()),
            };
        }
        assert_eq!(kind, IPV6, "{frame:02x?}");
        let end = 40 + usize::from(word(ip, 4));
        let (mut at, mut protocol) = (40, ip[6]);
        while [HOP_BY_HOP, DESTINATION].contains(&protocol) {
            protocol = ip[at];
            at += 8 * (1 + usize::from(ip[at + 1]));
        }
        Self {
            tags,
            addresses: ip[8..40].to_vec(),
            protocol,
            l4: ip[at..end].to_vec(),
            is_fragment: false,
            v4: None,
        }
    }

    const fn field_at(&self) -> usize {
        if self.protocol == UDP { 6 } else { 16 }
    }

    /// The checksum field.
    pub(crate) fn field(&self) -> u16 {
        word(&self.l4, self.field_at())
    }

    /// The sum with a field of nought.
    fn sum(&self) -> u16 {
        let mut l4 = self.l4.clone();
        let at = self.field_at();
        l4[at..at + 2].fill(0);
        let mut pseudo = self.addresses.clone();
        pseudo.extend([0, self.protocol]);
        pseudo.extend((l4.len() as u16).to_be_bytes());
        ones_complement(&[&pseudo, &l4])
    }

    pub(crate) fn payload(&self) -> &[u8] {
        let header = if self.protocol == UDP {
            8
        } else {
            usize::from(self.l4[12] >> 4) * 4
        };
        &self.l4[header..]
    }

    pub(crate) fn sequence(&self) -> u32 {
        u32::from_be_bytes(self.l4[4..8].try_into().unwrap())
    }

    /// Asserts that a receiver would take it: the IPv4 header's sum is right, and the L4 checksum, unless there is none.
    pub(crate) fn assert_right(&self, about: &str) {
        if let Some(header) = &self.v4 {
            assert_eq!(ones_complement(&[header]), 0xffff, "{about}: IPv4 header");
        }
        if self.is_fragment || (self.protocol == UDP && self.v4.is_some() && self.field() == 0) {
            return;
        }
        let right = match !self.sum() {
            0 if self.protocol == UDP => 0xffff,
            right => right,
        };
        assert_eq!(self.field(), right, "{about}: checksum of {self:?}");
    }
}

/// The frame within a tunnel that [`Spec::tunnelled`] made.
pub(crate) fn inner(frame: &[u8]) -> &[u8] {
    let at = 14 + 20 + 8 + 8;
    &frame[at..]
}
