//! Packets with numbers: each has its own number and a pattern made from it, so that one that comes back can be told from
//! every other and from a damaged one.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use mpps_dev::Lcore;
use mpps_engines::{Engine, StreamIo};
use mpps_mbuf::{Mbuf, PoolId};

/// Where the number is: behind the addresses and the type of the Ethernet header.
const NUMBER: std::ops::Range<usize> = 14..22;

/// To a fixed address, from a fixed one, of an experimental type.
const HEADER: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5];

/// How long the other side may take to be ready.
const PATIENCE: Duration = Duration::from_secs(10);

/// Packets that a burst of the first ones has, and how many bursts: `start tx_first 32` with bursts of 32.
pub(crate) const BURST: usize = 32;
pub(crate) const FIRST_BURSTS: u32 = 32;
/// Packets that are made for a run.
pub(crate) const MADE: u64 = BURST as u64 * FIRST_BURSTS as u64;

/// Writes the packet of this number over `bytes`, which are at least 64.
pub(crate) fn write(bytes: &mut [u8], number: u64) {
    let seed = seed(number);
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = pattern(at, seed);
    }
    if let Some(header) = bytes.get_mut(..HEADER.len()) {
        header.copy_from_slice(&HEADER);
    }
    if let Some(place) = bytes.get_mut(NUMBER) {
        place.copy_from_slice(&number.to_le_bytes());
    }
}

/// Every byte of the number counts, so that none can change unseen.
fn seed(number: u64) -> u8 {
    let bytes = number.to_le_bytes();
    bytes
        .iter()
        .fold(0, |sum: u8, byte| sum.wrapping_mul(31).wrapping_add(*byte))
}

fn pattern(at: usize, seed: u8) -> u8 {
    (at as u8).wrapping_mul(31).wrapping_add(seed)
}

/// The number of a packet that is whole: as long as it was made, and with every byte as it was made.
pub(crate) fn read(bytes: &[u8], size: usize) -> Option<u64> {
    let number = u64::from_le_bytes(bytes.get(NUMBER)?.try_into().ok()?);
    let mut expected = vec![0; size];
    write(&mut expected, number);
    (bytes == expected).then_some(number)
}

/// A packet of this number.
pub(crate) fn make(lcore: &mut Lcore, pool: PoolId, size: usize, number: u64) -> Option<Mbuf> {
    let mut packet = lcore.alloc_one(pool)?;
    if packet.resize(size as u16)
        && let Some(bytes) = packet.data_mut()
    {
        write(bytes, number);
        return Some(packet);
    }
    lcore.free_one(packet);
    None
}

/// An engine that makes and sends the first packets, a burst a visit.
pub(crate) struct First {
    pub(crate) pool: PoolId,
    pub(crate) size: usize,
    pub(crate) next: u64,
    /// Whether the other side has taken any.
    pub(crate) taken: bool,
}

/// Sends until the other side, which fills its receive ring when it first runs, takes something: else all could be dropped.
fn wait_for_room(lcore: &mut Lcore, io: &mut StreamIo) -> bool {
    let begin = Instant::now();
    let Some(tx) = &mut io.tx else { return false };
    // Relaxed, no partner: only ends the wait early.
    while begin.elapsed() < PATIENCE && !io.stop.load(Ordering::Relaxed) {
        if tx.tx_burst(lcore, &mut io.burst) > 0 {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

impl Engine for First {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        for _ in 0..BURST {
            let Some(packet) = make(lcore, self.pool, self.size, self.next) else {
                break;
            };
            self.next += 1;
            if let Err(packet) = io.burst.push(packet) {
                lcore.free_one(packet);
            }
        }
        if !self.taken {
            self.taken = wait_for_room(lcore, io);
        }
        io.send(lcore);
        true
    }
}

#[cfg(test)]
mod tests {
    //! The judge is itself judged.

    use super::{read, write};

    #[test]
    fn whole_packets_have_numbers_and_damaged_ones_none() {
        for size in [64, 65, 1518] {
            let mut bytes = vec![0; size];
            write(&mut bytes, 0x0123_4567_89ab_cdef);
            assert_eq!(read(&bytes, size), Some(0x0123_4567_89ab_cdef));
            for at in [0, 13, 14, 21, 22, size - 1] {
                bytes[at] ^= 1;
                assert_eq!(read(&bytes, size), None, "byte {at} of {size}");
                bytes[at] ^= 1;
            }
            assert_eq!(read(&bytes[..size - 1], size), None);
            bytes.push(0);
            assert_eq!(read(&bytes, size), None);
        }
        assert_eq!(read(&[], 64), None);
    }
}
