//! Engine csum: which fields it may change, and what they must hold afterwards.

use super::{
    ETHERNET, IPV4, IPV6, Mac, SCTP, TCP, UDP, checksum, ethertype, ipv4_header, is_ipv6, short,
};

/// How many checksums were held against the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Of IPv4 headers.
    pub ip: usize,
    /// Of UDP and TCP.
    pub l4: usize,
    /// Of SCTP.
    pub sctp: usize,
}

/// An L4 header: where it is, whose, and its length with all that follows.
struct Transport {
    proto: u8,
    at: usize,
    total: usize,
    /// The addresses of the pseudo header; none where the destination isn't in the IP header.
    addresses: Option<Vec<u8>>,
}

/// Holds a frame that left engine csum against what came in, `from` the port's address and `to` its peer's.
///
/// # Errors
/// What is wrong with it.
pub fn judge_csum(
    before: &[u8],
    after: &[u8],
    to: Mac,
    from: Mac,
    judged: &mut Judged,
) -> Result<(), String> {
    let mut expected = before.to_vec();
    if before.len() >= ETHERNET {
        expected[..6].copy_from_slice(&to);
        expected[6..12].copy_from_slice(&from);
    }
    if after.len() != before.len() {
        return Err(format!("{} bytes became {}", before.len(), after.len()));
    }
    if let Some((kind, at)) = ethertype(before, 8) {
        let transport = match kind {
            IPV4 => ipv4(after, at, &mut expected, judged)?,
            IPV6 => ipv6(after, at),
            _ => None,
        };
        if let Some(transport) = transport {
            self::transport(after, &transport, &mut expected, judged)?;
        }
    }
    match expected.iter().zip(after).position(|(a, b)| a != b) {
        Some(at) => Err(format!(
            "byte {at} is {:#04x}, must be {:#04x}",
            after[at], expected[at]
        )),
        None => Ok(()),
    }
}

/// Checks the header's sum and takes it as expected; returns what follows it.
fn ipv4(
    after: &[u8],
    at: usize,
    expected: &mut [u8],
    judged: &mut Judged,
) -> Result<Option<Transport>, String> {
    let Some(length) = ipv4_header(after, at) else {
        return Ok(None);
    };
    let total = usize::from(short(after, at + 2).unwrap_or(0));
    if total < length || after.len() < at + total {
        return Ok(None);
    }
    if checksum([&after[at..at + length]]) != 0 {
        return Err("the IPv4 header's checksum is wrong".to_owned());
    }
    judged.ip += 1;
    expected[at + 10..at + 12].copy_from_slice(&after[at + 10..at + 12]);
    let is_fragment = short(after, at + 6).is_some_and(|word| word & 0x3fff != 0);
    Ok((!is_fragment).then(|| Transport {
        proto: after[at + 9],
        at: at + length,
        total: total - length,
        // A source route (options 131 and 137) names another destination.
        addresses: (length == 20).then(|| after[at + 12..at + 20].to_vec()),
    }))
}

/// What follows the IPv6 header and its extension headers.
fn ipv6(after: &[u8], at: usize) -> Option<Transport> {
    if !is_ipv6(after, at) {
        return None;
    }
    let end = at + 40 + usize::from(short(after, at + 4)?);
    if after.len() < end {
        return None;
    }
    let (mut proto, mut next, mut routed) = (after[at + 6], at + 40, false);
    while matches!(proto, 0 | 43 | 51 | 60) {
        let unit = usize::from(*after.get(next + 1)?);
        routed |= proto == 43;
        let length = if proto == 51 {
            (unit + 2) * 4
        } else {
            (unit + 1) * 8
        };
        proto = after[next];
        next += length;
    }
    let addresses = (!routed).then(|| after[at + 8..at + 40].to_vec());
    Some(Transport {
        proto,
        at: next,
        total: end.checked_sub(next)?,
        addresses,
    })
}

/// Checks the L4 checksum where the lengths leave no doubt, and takes it as expected.
fn transport(
    after: &[u8],
    l4: &Transport,
    expected: &mut [u8],
    judged: &mut Judged,
) -> Result<(), String> {
    let (field, size, least) = match l4.proto {
        UDP => (6, 2, 8),
        TCP => (16, 2, 20),
        SCTP => (8, 4, 12),
        _ => return Ok(()),
    };
    let bytes = &after[l4.at..l4.at + l4.total];
    if bytes.len() < least {
        return Ok(());
    }
    let none = l4.proto == UDP && expected[l4.at + field..l4.at + field + 2] == [0, 0];
    if none {
        return Ok(());
    }
    let doubtful = match l4.proto {
        UDP => usize::from(short(bytes, 4).unwrap_or(0)) != l4.total,
        TCP => {
            usize::from(bytes[12] >> 4) * 4 < least || usize::from(bytes[12] >> 4) * 4 > l4.total
        }
        _ => false,
    };
    let known = l4.addresses.as_ref().filter(|_| !doubtful);
    match (l4.proto, known) {
        (SCTP, _) => {
            judged.sctp += 1;
            sctp(bytes)?;
        }
        (_, Some(addresses)) => {
            judged.l4 += 1;
            let length = (l4.total as u32).to_be_bytes();
            if checksum([&addresses[..], &length, &[0, l4.proto], bytes]) != 0 {
                return Err(format!("the checksum of protocol {} is wrong", l4.proto));
            }
        }
        _ => {}
    }
    let field = l4.at + field..l4.at + field + size;
    expected[field.clone()].copy_from_slice(&after[field]);
    Ok(())
}

/// CRC32c over the packet with a zero field, least significant byte first (RFC 9260, appendix A).
fn sctp(bytes: &[u8]) -> Result<(), String> {
    let mut crc = !0_u32;
    for (at, byte) in bytes.iter().enumerate() {
        crc ^= if (8..12).contains(&at) {
            0
        } else {
            u32::from(*byte)
        };
        for _ in 0..8 {
            crc = crc >> 1 ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 };
        }
    }
    if bytes[8..12] == (!crc).to_le_bytes() {
        Ok(())
    } else {
        Err("the checksum of SCTP is wrong".to_owned())
    }
}
