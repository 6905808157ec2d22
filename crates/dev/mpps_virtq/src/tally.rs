//! What a ring counts beside packets and bytes: sizes, kinds of address, notifications.

use mpps_mbuf::Burst;
use mpps_ring::Counter;

/// What a burst moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Packets.
    pub packets: usize,
    /// Their bytes, without virtio-net headers.
    pub bytes: u64,
}

/// Classes of packet sizes in bytes, by their number in [`Tally::sizes`]; the names are those of extended statistics.
pub const SIZES: [&str; 8] = [
    "undersize",
    "size_64",
    "size_65_127",
    "size_128_255",
    "size_256_511",
    "size_512_1023",
    "size_1024_1518",
    "size_1519_max",
];

/// Counters of one queue, written by its poller alone. Shared as an `Arc`; they survive the ring.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Tally {
    /// Packets by size, see [`SIZES`].
    pub sizes: [Counter; 8],
    /// Packets to a group address that isn't broadcast.
    pub multicast: Counter,
    /// Packets to the broadcast address.
    pub broadcast: Counter,
    /// Times that the peer was told.
    pub notified: Counter,
    /// Times that the peer wanted to be told and couldn't be.
    pub unnotified: Counter,
    /// Times that the peer didn't want to be told.
    pub suppressed: Counter,
    /// Packets lost because the peer described them wrongly.
    pub bad: Counter,
    /// Packets lost because no mbuf was free.
    pub no_mbuf: Counter,
    /// Packets lost because they fit none of the peer's buffers, or because the ring was closed while they waited for some.
    pub too_long: Counter,
}

/// The class of a size.
#[inline(always)]
pub(crate) const fn class(len: u32) -> usize {
    match len {
        0..64 => 0,
        64 => 1,
        65..128 => 2,
        128..256 => 3,
        256..512 => 4,
        512..1024 => 5,
        1024..=1518 => 6,
        _ => 7,
    }
}

/// Lengths of the packets of a run, summed up while they pass: in registers, since a vector load of lengths that were just
/// stored one by one waits until they are in the cache, behind every store to a line that another core has.
#[derive(Clone, Copy)]
pub(crate) struct Lengths {
    first: u32,
    differ: u32,
    pub(crate) bytes: u64,
}

impl Lengths {
    /// Of a run that begins with a packet of this length, which is still to be added.
    #[inline(always)]
    pub(crate) const fn from(first: u32) -> Self {
        Self {
            first,
            differ: 0,
            bytes: 0,
        }
    }

    /// Of a run that begins with the first packet of a burst, which is still to be added.
    #[inline(always)]
    pub(crate) fn from_front(packets: &Burst) -> Self {
        let first = packets.as_slice().first();
        Self::from(first.map_or(0, |packet| u32::from(packet.data_len())))
    }

    #[inline(always)]
    pub(crate) const fn add(&mut self, len: u32) {
        self.differ |= len ^ self.first;
        self.bytes += len as u64;
    }
}

impl Moved {
    /// What a run and what came before it moved.
    #[inline(always)]
    pub(crate) const fn and(self, packets: usize, bytes: u64) -> Self {
        Self {
            packets: self.packets + packets,
            bytes: self.bytes + bytes,
        }
    }
}

impl Tally {
    /// Counts a run of packets by size.
    #[inline(always)]
    pub(crate) fn count_run(&self, sum: Lengths, lens: &[u32]) {
        if sum.differ == 0 {
            self.sizes[class(sum.first)].add(lens.len() as u64);
        } else {
            self.count_mixed(lens);
        }
    }

    /// Counts packets by size.
    #[inline(always)]
    pub(crate) fn count_sizes(&self, lens: &[u32]) {
        let Some(&first) = lens.first() else {
            return;
        };
        let differ = lens.iter().fold(0, |all, len| all | (len ^ first));
        if differ == 0 {
            self.sizes[class(first)].add(lens.len() as u64);
        } else {
            self.count_mixed(lens);
        }
    }

    #[inline(never)]
    fn count_mixed(&self, lens: &[u32]) {
        let mut by_class = [0_u64; 8];
        for &len in lens {
            by_class[class(len)] += 1;
        }
        for (counter, n) in self.sizes.iter().zip(by_class) {
            counter.add(n);
        }
    }

    /// Counts a packet to a group address by the first bytes of its data.
    #[cold]
    pub(crate) fn count_group(&self, data: &[u8]) {
        match data.get(..6) {
            Some([0xff, 0xff, 0xff, 0xff, 0xff, 0xff]) => self.broadcast.add(1),
            _ => self.multicast.add(1),
        }
    }
}
