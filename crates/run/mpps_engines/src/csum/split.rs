//! What `set txsplit` asks of csum: each packet is copied into segments as `--txpkts` lists them.
//!
//! The last segment takes what the list leaves, and more follow where that doesn't fit an mbuf. A packet for which there
//! are no mbufs goes out unsplit.

use mpps_dev::Lcore;
use mpps_mbuf::{Burst, Mbuf, PoolId};

use crate::random::XorShift;
use crate::{StreamSetup, TxSplit};

pub(super) struct Splitter {
    /// Lengths of segments, none zero; at least one.
    lengths: Vec<u16>,
    is_random: bool,
    pool: PoolId,
    capacity: u16,
    random: XorShift,
}

impl Splitter {
    /// None where packets aren't split.
    pub(super) fn new(setup: &StreamSetup) -> Option<Self> {
        let settings = &setup.settings.txonly;
        let capacity = setup.pool_capacity;
        let lengths: Vec<u16> = settings
            .lengths
            .iter()
            .map(|len| (*len).min(capacity))
            .filter(|len| *len != 0)
            .collect();
        (settings.split != TxSplit::Off && !lengths.is_empty()).then(|| Self {
            lengths,
            is_random: settings.split == TxSplit::Random,
            pool: setup.pool,
            capacity,
            random: XorShift::of_queue(setup.tx.port, setup.tx.queue),
        })
    }

    /// Splits all packets of a burst.
    #[inline(never)]
    pub(super) fn split(&mut self, lcore: &mut Lcore, burst: &mut Burst) {
        for packet in burst.as_mut_slice() {
            if let Some(copy) = self.copy(lcore, packet) {
                lcore.free_one(std::mem::replace(packet, copy));
            }
        }
    }

    fn copy(&mut self, lcore: &mut Lcore, packet: &Mbuf) -> Option<Mbuf> {
        let listed = if self.is_random {
            1 + self.random.below(self.lengths.len())
        } else {
            self.lengths.len()
        };
        let mut left = packet.pkt_len() as usize;
        let mut head: Option<Mbuf> = None;
        let mut n = 0;
        while left > 0 || head.is_none() {
            let len = if n + 1 < listed {
                self.lengths[n]
            } else {
                self.capacity
            };
            // At most the length of an mbuf.
            let len = left.min(usize::from(len)) as u16;
            let mut segment = lcore.alloc_one(self.pool)?;
            segment.resize(len);
            packet.copy_out(packet.pkt_len() as usize - left, segment.data_mut()?);
            left -= usize::from(len);
            n += 1;
            match &mut head {
                None => head = Some(segment),
                Some(head) => head.chain(segment).ok()?,
            }
        }
        let mut head = head?;
        head.copy_metadata(packet);
        Some(head)
    }
}
