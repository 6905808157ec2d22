//! Frames built byte by byte, and checksums summed pair by pair: nothing of what is tested has a part in it.

/// Headers of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Spec {
    /// EtherType and tag control information of each tag, outermost first.
    pub(crate) tags: Vec<(u16, u16)>,
    pub(crate) is_v6: bool,
    /// IPv4 options, or IPv6 extension headers of the given kinds and lengths.
    pub(crate) options: Vec<u8>,
    pub(crate) extensions: Vec<(u8, usize)>,
    pub(crate) is_udp: bool,
    /// Bytes of TCP options, a multiple of four.
    pub(crate) tcp_options: usize,
    pub(crate) tcp_flags: u8,
    pub(crate) sequence: u32,
    pub(crate) identification: u16,
}

/// What the L4 checksum field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    /// The checksum.
    Sum,
    /// The sum of the pseudo header.
    Pseudo,
    /// Something else.
    Junk(u16),
}

pub(crate) fn tcp4() -> Spec {
    Spec {
        tags: Vec::new(),
        is_v6: false,
        options: Vec::new(),
        extensions: Vec::new(),
        is_udp: false,
        tcp_options: 0,
        tcp_flags: 0x18,
        sequence: 0xffff_f000,
        identification: 0xfffe,
    }
}

/// One's complement sum of pairs of bytes.
pub(crate) fn naive(parts: &[&[u8]]) -> u16 {
    let bytes: Vec<u8> = parts.concat();
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |byte| u32::from(*byte));
        if sum > 0xffff {
            sum -= 0xffff;
        }
    }
    sum as u16
}

impl Spec {
    pub(crate) fn l3(&self) -> usize {
        14 + 4 * self.tags.len()
    }

    pub(crate) fn l4(&self) -> usize {
        let extensions: usize = self.extensions.iter().map(|(_, len)| len).sum();
        self.l3()
            + if self.is_v6 {
                40 + extensions
            } else {
                20 + self.options.len()
            }
    }

    pub(crate) fn l4_len(&self) -> usize {
        if self.is_udp {
            8
        } else {
            20 + self.tcp_options
        }
    }

    pub(crate) fn field_offset(&self) -> usize {
        if self.is_udp { 6 } else { 16 }
    }

    pub(crate) fn protocol(&self) -> u8 {
        if self.is_udp { 17 } else { 6 }
    }

    fn ethernet(&self) -> Vec<u8> {
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];
        for (kind, tci) in &self.tags {
            frame.extend(kind.to_be_bytes());
            frame.extend(tci.to_be_bytes());
        }
        frame.extend(if self.is_v6 { [0x86, 0xdd] } else { [8, 0] });
        frame
    }

    /// The network header before `below` bytes, and its two addresses.
    fn network(&self, below: usize) -> (Vec<u8>, Vec<u8>) {
        if self.is_v6 {
            return self.ipv6(below);
        }
        let len = 20 + self.options.len();
        let mut ip = vec![0x40 | (len / 4) as u8, 3];
        ip.extend(((len + below) as u16).to_be_bytes());
        ip.extend(self.identification.to_be_bytes());
        ip.extend([0x40, 0, 63, self.protocol(), 0, 0]);
        let addresses = vec![198, 18, 0, 1, 198, 19, 255, 254];
        ip.extend(&addresses);
        ip.extend(&self.options);
        let sum = !naive(&[&ip]);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        (ip, addresses)
    }

    fn ipv6(&self, below: usize) -> (Vec<u8>, Vec<u8>) {
        let mut kinds: Vec<u8> = self.extensions.iter().map(|(kind, _)| *kind).collect();
        kinds.push(self.protocol());
        let extensions: usize = self.extensions.iter().map(|(_, len)| len).sum();
        let mut ip = vec![0x60, 5, 6, 7];
        ip.extend(((extensions + below) as u16).to_be_bytes());
        ip.extend([kinds[0], 61]);
        let mut addresses = vec![0x20, 1, 0xd, 0xb8];
        addresses.extend(1..=28);
        ip.extend(&addresses);
        for (n, (_, len)) in self.extensions.iter().enumerate() {
            let mut extension = vec![0; *len];
            extension[0] = kinds[n + 1];
            extension[1] = (len / 8 - 1) as u8;
            ip.extend(extension);
        }
        (ip, addresses)
    }

    /// The frame with this payload.
    pub(crate) fn frame(&self, payload: &[u8], field: Field) -> Vec<u8> {
        let mut l4 = vec![0x30, 0x39, 0, 80];
        if self.is_udp {
            l4.extend(((8 + payload.len()) as u16).to_be_bytes());
            l4.extend([0, 0]);
        } else {
            l4.extend(self.sequence.to_be_bytes());
            l4.extend([9, 8, 7, 6, (5 + self.tcp_options / 4) as u8 * 16]);
            l4.extend([self.tcp_flags, 0x72, 0x10, 0, 0, 0, 1]);
            l4.extend((0..self.tcp_options).map(|n| 1 + n as u8));
        }
        let total = l4.len() + payload.len();
        let (ip, addresses) = self.network(total);
        let length = (total as u32).to_be_bytes();
        let protocol = [0, self.protocol()];
        let pseudo = [&addresses[..], &length, &protocol].concat();
        let mut value = match field {
            Field::Sum => !naive(&[&pseudo, &l4, payload]),
            Field::Pseudo => naive(&[&pseudo]),
            Field::Junk(junk) => junk,
        };
        if self.is_udp && field == Field::Sum && value == 0 {
            value = 0xffff;
        }
        let at = self.field_offset();
        l4[at..at + 2].copy_from_slice(&value.to_be_bytes());
        [self.ethernet(), ip, l4, payload.to_vec()].concat()
    }

    /// What a packet with this payload is cut into.
    pub(crate) fn pieces(&self, payload: &[u8], size: usize) -> Vec<Vec<u8>> {
        let mut parts: Vec<&[u8]> = payload.chunks(size).collect();
        if parts.is_empty() {
            parts.push(&[]);
        }
        let last = parts.len() - 1;
        let mut spec = self.clone();
        let mut pieces = Vec::new();
        for (n, part) in parts.into_iter().enumerate() {
            spec.tcp_flags = self.tcp_flags;
            if n != last {
                // All but FIN and PSH.
                spec.tcp_flags &= 0xf6;
            }
            if n != 0 {
                spec.tcp_flags &= 0x7f;
            }
            pieces.push(spec.frame(part, Field::Sum));
            spec.sequence = spec.sequence.wrapping_add(part.len() as u32);
            spec.identification = spec.identification.wrapping_add(1);
        }
        pieces
    }
}

/// Bytes that depend on their place.
pub(crate) fn payload(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n * 7 + n / 251) as u8).collect()
}
