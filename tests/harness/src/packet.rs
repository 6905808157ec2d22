//! Packets with a number, of many lengths, each byte of which can be checked: whoever changes, shortens or doubles one is
//! found out.
//!
//! Layout: an Ethernet header, the number (8 bytes, little-endian), a checksum over the rest (8 bytes), and a filling that
//! is made from the number.

use mpps_dev::Lcore;
use mpps_mbuf::{Mbuf, PoolId};

/// To a fixed address, from a fixed one, of an experimental type.
const HEADER: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5];
const NUMBER: std::ops::Range<usize> = 14..22;
const SUM: std::ops::Range<usize> = 22..30;
const FILLING: usize = 30;

/// Lengths without CRC, mostly short as traffic is; primes and ends of buffers among them. Which one follows from the number.
const LENGTHS: [u16; 16] = [
    60, 64, 60, 67, 128, 60, 64, 252, 61, 64, 60, 509, 64, 131, 60, 1514,
];

/// Length of the packet of this number.
pub(crate) fn length(number: u64) -> u16 {
    // By all bits, so that lengths and places in a ring don't go together.
    LENGTHS[(mix(number) >> 60) as usize]
}

fn mix(number: u64) -> u64 {
    (number ^ number >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Word `at` of the filling.
fn word(seed: u64, at: u64) -> u64 {
    seed.wrapping_add(at.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A sum that changes with every bit, and with the order of words.
fn checksum(number: u64, filling: &[u8]) -> u64 {
    let mut sum = mix(number ^ filling.len() as u64);
    let (words, rest) = filling.as_chunks::<8>();
    for word in words {
        sum = (sum.rotate_left(5) ^ u64::from_le_bytes(*word)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    for byte in rest {
        sum = (sum.rotate_left(5) ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    sum
}

/// Writes the packet of this number over bytes of its length.
fn write(bytes: &mut [u8], number: u64) {
    let (front, filling) = bytes.split_at_mut(FILLING);
    front[..HEADER.len()].copy_from_slice(&HEADER);
    front[NUMBER].copy_from_slice(&number.to_le_bytes());
    let seed = mix(number);
    let (words, rest) = filling.as_chunks_mut::<8>();
    let mut at = 0;
    for place in words {
        *place = word(seed, at).to_le_bytes();
        at += 1;
    }
    let last = word(seed, at).to_le_bytes();
    let len = rest.len();
    rest.copy_from_slice(&last[..len]);
    front[SUM].copy_from_slice(&checksum(number, filling).to_le_bytes());
}

/// The number of a packet that is whole.
pub(crate) fn read(bytes: &[u8]) -> Option<u64> {
    let number = u64::from_le_bytes(bytes.get(NUMBER)?.try_into().ok()?);
    let sum = u64::from_le_bytes(bytes.get(SUM)?.try_into().ok()?);
    let whole = bytes.len() == usize::from(length(number))
        && bytes.starts_with(&HEADER)
        && sum == checksum(number, bytes.get(FILLING..)?);
    whole.then_some(number)
}

/// A packet of this number; none when the pool is empty.
pub(crate) fn make(lcore: &mut Lcore, pool: PoolId, number: u64) -> Option<Mbuf> {
    let mut packet = lcore.alloc_one(pool)?;
    if packet.resize(length(number))
        && let Some(bytes) = packet.data_mut()
    {
        write(bytes, number);
        return Some(packet);
    }
    lcore.free_one(packet);
    None
}

#[cfg(test)]
mod tests {
    use super::{LENGTHS, length, read, write};

    #[test]
    fn whole_packets_have_numbers_and_damaged_ones_none() {
        for number in 0..200 {
            let mut bytes = vec![0; usize::from(length(number))];
            write(&mut bytes, number);
            assert_eq!(read(&bytes), Some(number));
            for at in 0..bytes.len() {
                bytes[at] ^= 1 << (number % 8);
                assert_eq!(read(&bytes), None, "byte {at} of packet {number}");
                bytes[at] ^= 1 << (number % 8);
            }
            assert_eq!(read(&bytes[..bytes.len() - 1]), None);
            bytes.push(0);
            assert_eq!(read(&bytes), None);
        }
        assert_eq!(read(&[]), None);
    }

    #[test]
    fn every_length_comes_up() {
        let mut lengths: Vec<u16> = (0..1000).map(length).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let mut all = LENGTHS.to_vec();
        all.sort_unstable();
        all.dedup();
        assert_eq!(lengths, all);
    }
}
