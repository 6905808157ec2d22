//! Ethernet (MAC) addresses: six bytes by value, with the text forms that testpmd reads and prints.
//!
//! A `MacAddr` is made from bytes of a frame, from text, or from a seed; it is `Copy` and nobody has to end it.

use core::fmt;
use core::str::FromStr;

/// A 48-bit Ethernet address in wire order.
///
/// ```
/// use mpps_wire::MacAddr;
///
/// let mac: MacAddr = "2:0:0:0:0:1".parse().expect("six groups");
/// assert_eq!(mac.to_string(), "02:00:00:00:00:01");
/// assert_eq!("0200.0000.00ab".parse(), Ok(MacAddr([2, 0, 0, 0, 0, 0xAB])));
/// assert!(mac.is_local() && mac.is_unicast());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[repr(transparent)]
pub struct MacAddr(pub [u8; 6]);

impl MacAddr {
    /// Length on the wire, in bytes.
    pub const LEN: usize = 6;
    /// All ones: every station.
    pub const BROADCAST: MacAddr = MacAddr([0xFF; 6]);
    /// All zeroes: no address.
    pub const ZERO: MacAddr = MacAddr([0; 6]);

    /// The six bytes in wire order.
    #[inline]
    pub const fn bytes(self) -> [u8; 6] {
        self.0
    }

    /// The group bit is set (IEEE 802, clause 8.2); true for broadcast as well.
    #[inline]
    pub const fn is_multicast(self) -> bool {
        self.0[0] & 1 != 0
    }

    /// All ones.
    #[inline]
    pub const fn is_broadcast(self) -> bool {
        let [a, b, c, d, e, f] = self.0;
        a & b & c & d & e & f == 0xFF
    }

    /// All zeroes.
    #[inline]
    pub const fn is_zero(self) -> bool {
        let [a, b, c, d, e, f] = self.0;
        a | b | c | d | e | f == 0
    }

    /// The group bit is clear; true for the zero address as well.
    #[inline]
    pub const fn is_unicast(self) -> bool {
        !self.is_multicast()
    }

    /// The locally administered bit is set.
    #[inline]
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }

    /// Neither zero nor a group address: one that a port may own.
    #[inline]
    pub const fn is_assignable(self) -> bool {
        self.is_unicast() && !self.is_zero()
    }

    /// A locally administered unicast address that is the same for the same seed, and spread over all 46 free bits.
    ///
    /// The mixer is splitmix64's finaliser, so that neighbouring seeds give unlike addresses.
    pub const fn local_random(seed: u64) -> MacAddr {
        let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        let [a, b, c, d, e, f, ..] = (z ^ (z >> 31)).to_be_bytes();
        MacAddr([(a & !1) | 2, b, c, d, e, f])
    }
}

impl From<[u8; 6]> for MacAddr {
    fn from(bytes: [u8; 6]) -> MacAddr {
        MacAddr(bytes)
    }
}

impl From<MacAddr> for [u8; 6] {
    fn from(mac: MacAddr) -> [u8; 6] {
        mac.0
    }
}

/// Upper case with colons, as testpmd prints it.
impl fmt::Display for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = [b':'; 17];
        for (out, byte) in text.chunks_mut(3).zip(self.0) {
            out[0] = HEX[usize::from(byte >> 4)];
            out[1] = HEX[usize::from(byte & 15)];
        }
        f.pad(core::str::from_utf8(&text).unwrap_or_default())
    }
}

const HEX: &[u8; 16] = b"0123456789ABCDEF";

impl fmt::Debug for MacAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Text that isn't an Ethernet address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is no MAC address: six groups of 1 or 2 hex digits parted by ':' or '-' (02:00:00:00:00:01), \
     or three groups of 4 parted by ':', '-' or '.' (0200.0000.0001)"
)]
pub struct ParseMacError(String);

/// Reads six groups of one or two hex digits parted by `:` or `-`, or three groups of exactly four parted by `:`, `-`
/// or `.`; one separator throughout, either case, nothing before or after.
impl FromStr for MacAddr {
    type Err = ParseMacError;

    fn from_str(text: &str) -> Result<MacAddr, ParseMacError> {
        parse(text).ok_or_else(|| ParseMacError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<MacAddr> {
    let separator = text.chars().find(|c| !c.is_ascii_hexdigit())?;
    let six = matches!(separator, ':' | '-');
    let three = six || separator == '.';
    match text.matches(separator).count() {
        5 if six => six_groups(text, separator),
        2 if three => three_groups(text, separator),
        _ => None,
    }
}

fn six_groups(text: &str, separator: char) -> Option<MacAddr> {
    let mut mac = [0; 6];
    for (byte, group) in mac.iter_mut().zip(text.split(separator)) {
        *byte = hex(group, 1..=2)?.try_into().ok()?;
    }
    Some(MacAddr(mac))
}

fn three_groups(text: &str, separator: char) -> Option<MacAddr> {
    let mut mac = [0; 6];
    for (pair, group) in mac.chunks_mut(2).zip(text.split(separator)) {
        pair.copy_from_slice(&hex(group, 4..=4)?.to_be_bytes());
    }
    Some(MacAddr(mac))
}

// `from_str_radix` alone would take a leading '+'.
fn hex(group: &str, digits: core::ops::RangeInclusive<usize>) -> Option<u16> {
    let all_hex = group.bytes().all(|b| b.is_ascii_hexdigit());
    (digits.contains(&group.len()) && all_hex)
        .then(|| u16::from_str_radix(group, 16).ok())
        .flatten()
}

#[cfg(test)]
mod tests;
