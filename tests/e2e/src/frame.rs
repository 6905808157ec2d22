//! What an engine has to make of a frame, worked out from the standards: byte offsets and plain sums, slow and short.
//!
//! Engines look at headers only where these are whole and make sense; here, too, a header that doesn't is left alone.

mod csum;

use std::net::Ipv4Addr;

pub use csum::{Judged, judge_csum};

/// Frames shorter than an Ethernet header pass unchanged.
const ETHERNET: usize = 14;

const ARP: u16 = 0x0806;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;

/// A MAC address.
pub type Mac = [u8; 6];

fn short(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*frame.get(at..)?.first_chunk()?))
}

/// EtherType and the offset behind it, past at most `tags` VLAN tags.
fn ethertype(frame: &[u8], tags: usize) -> Option<(u16, usize)> {
    let (mut kind, mut at) = (short(frame, 12)?, ETHERNET);
    for _ in 0..tags {
        if !matches!(kind, 0x8100 | 0x88a8) || frame.len() < at + 4 {
            break;
        }
        kind = short(frame, at + 2)?;
        at += 4;
    }
    Some((kind, at))
}

/// Length of the IPv4 header at `at`, when it is one and lies whole in the frame.
fn ipv4_header(frame: &[u8], at: usize) -> Option<usize> {
    let first = *frame.get(at)?;
    let length = usize::from(first & 15) * 4;
    (first >> 4 == 4 && length >= 20 && frame.len() >= at + length).then_some(length)
}

fn is_ipv6(frame: &[u8], at: usize) -> bool {
    frame.len() >= at + 40 && frame[at] >> 4 == 6
}

/// Swaps `n` bytes at `a` with those behind them.
fn swap(frame: &mut [u8], a: usize, n: usize) {
    let (front, back) = frame[a..a + 2 * n].split_at_mut(n);
    front.swap_with_slice(back);
}

/// Internet checksum (RFC 1071) of these bytes: the complement of their sum.
fn checksum<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> u16 {
    let words = parts.into_iter().flat_map(|part| part.chunks(2));
    let word = |pair: &[u8]| u64::from(pair[0]) << 8 | pair.get(1).map_or(0, |low| u64::from(*low));
    let mut sum: u64 = words.map(word).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// macswap: destination and source address change places.
pub fn macswap(frame: &[u8]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    if frame.len() >= ETHERNET {
        swap(&mut frame, 0, 6);
    }
    frame
}

/// 5tswap: addresses of Ethernet, IPv4 and IPv6 change places, and ports of UDP and TCP right behind IP.
pub fn five_tuple_swap(frame: &[u8]) -> Vec<u8> {
    let mut frame = macswap(frame);
    let Some((kind, at)) = ethertype(&frame, 8) else {
        return frame;
    };
    let (proto, l4) = match kind {
        IPV4 => {
            let Some(length) = ipv4_header(&frame, at) else {
                return frame;
            };
            swap(&mut frame, at + 12, 4);
            let first_fragment = short(&frame, at + 6).is_some_and(|word| word & 0x1fff == 0);
            (if first_fragment { frame[at + 9] } else { 0 }, at + length)
        }
        IPV6 if is_ipv6(&frame, at) => {
            swap(&mut frame, at + 8, 16);
            (frame[at + 6], at + 40)
        }
        _ => return frame,
    };
    let need = match proto {
        UDP => 8,
        TCP => 20,
        _ => return frame,
    };
    if frame.len() >= l4 + need {
        swap(&mut frame, l4, 2);
    }
    frame
}

/// icmpecho: the answer to an ARP request or a ping, none for all else. `own` is the port's address.
pub fn icmpecho(frame: &[u8], own: Mac) -> Option<Vec<u8>> {
    let (kind, at) = match ethertype(frame, 1)? {
        // Only tags of 802.1Q are looked behind.
        (_, 18) if short(frame, 12) != Some(0x8100) => return None,
        found => found,
    };
    match kind {
        ARP => arp_answer(frame, at, own),
        IPV4 => ping_answer(frame, at),
        _ => None,
    }
}

fn arp_answer(frame: &[u8], at: usize, own: Mac) -> Option<Vec<u8>> {
    let request = [0, 1, 8, 0, 6, 4, 0, 1];
    let arp = frame
        .get(at..at + 28)
        .filter(|arp| arp.starts_with(&request))?;
    let mut answer = frame.to_vec();
    answer[..6].copy_from_slice(&frame[6..12]);
    answer[6..12].copy_from_slice(&own);
    let (sender, target) = (&arp[8..18], &arp[24..28]);
    let fields = [&[0, 2][..], &own, target, sender].concat();
    answer[at + 6..at + 28].copy_from_slice(&fields);
    Some(answer)
}

fn ping_answer(frame: &[u8], at: usize) -> Option<Vec<u8>> {
    let length = ipv4_header(frame, at)?;
    let icmp = at + length;
    let whole = frame[at + 9] == ICMP && short(frame, at + 6)? & 0x1fff == 0;
    let is_request = whole && frame.len() >= icmp + 8 && frame[icmp..icmp + 2] == [8, 0];
    let mut answer = macswap(frame);
    if !is_request {
        return None;
    }
    if (224..240).contains(&frame[at + 16]) {
        let mut source: [u8; 4] = *frame[at + 12..].first_chunk()?;
        answer[at + 16..at + 20].copy_from_slice(&source);
        let host = if source[3] & 3 == 1 { 2 } else { 1 };
        source[3] = source[3] & 0xfc | host;
        answer[at + 12..at + 16].copy_from_slice(&source);
        answer[at + 10..at + 12].fill(0);
        let sum = checksum([&answer[at..icmp]]);
        answer[at + 10..at + 12].copy_from_slice(&sum.to_be_bytes());
    } else {
        swap(&mut answer, at + 12, 4);
    }
    answer[icmp] = 0;
    // RFC 1624: the sum of the word that changed, 0x0800 to 0, taken out of the complement.
    let old = u32::from(!short(frame, icmp + 2)?) + u32::from(!0x0800_u16);
    let new = !((old & 0xffff) + (old >> 16)) as u16;
    answer[icmp + 2..icmp + 4].copy_from_slice(&new.to_be_bytes());
    Some(answer)
}

/// Fields of a UDP packet over IPv4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Udp {
    /// Source address and port.
    pub from: (Ipv4Addr, u16),
    /// Destination address and port.
    pub to: (Ipv4Addr, u16),
    /// The length that its header says.
    pub length: u16,
}

/// The UDP packet in a frame without VLAN tags. None unless it fills the frame and its IPv4 header has a right checksum.
pub fn udp(frame: &[u8]) -> Option<Udp> {
    let is_udp = short(frame, 12)? == IPV4 && ipv4_header(frame, 14)? == 20 && frame[23] == UDP;
    let whole =
        usize::from(short(frame, 16)?) + 14 == frame.len() && checksum([&frame[14..34]]) == 0;
    let address = |at: usize| Some(Ipv4Addr::from(*frame.get(at..)?.first_chunk::<4>()?));
    let udp = Udp {
        from: (address(26)?, short(frame, 34)?),
        to: (address(30)?, short(frame, 36)?),
        length: short(frame, 38)?,
    };
    (is_udp && whole).then_some(udp)
}

#[cfg(test)]
mod tests;
