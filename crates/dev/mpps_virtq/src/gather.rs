//! Device half, receiving: a packet out of a chain that is anything but simple, whichever ring it came from.

use std::mem::MaybeUninit;

use mpps_mbuf::{Caches, HEADROOM, Mbuf, PoolId};

use crate::Tally;
use crate::chain::Chain;
use crate::net_header::{NetHeader, NetOffloads, Verdict};

/// Longest packet that is taken over: a GSO packet of 64 KiB with its headers.
const LONGEST: u64 = 65_536 + 1024;

/// Into what packets are gathered.
#[derive(Clone, Copy)]
pub(crate) struct Gather {
    pub(crate) pool: PoolId,
    /// The most bytes of data of an mbuf.
    pub(crate) capacity: u32,
    /// Chains of mbufs are refused.
    pub(crate) linear: bool,
    /// Bytes of the header.
    pub(crate) header: usize,
    /// What headers may say.
    pub(crate) offloads: NetOffloads,
}

impl Gather {
    /// A packet of the chain; none, and counted, when there can't be one.
    pub(crate) fn packet(&self, chain: &Chain, tally: &Tally, caches: &mut Caches) -> Option<Mbuf> {
        let len = chain.readable().saturating_sub(self.header as u64);
        let too_long = len > LONGEST || (self.linear && len > u64::from(self.capacity));
        if chain.unmapped || chain.writable() > 0 || len == 0 || too_long {
            tally.bad.add(1);
            return None;
        }
        let mut bytes = [0; 12];
        if let Some(header) = bytes.get_mut(..self.header) {
            chain.read(0, header);
        }
        let Some(mut packet) = self.copy(len as usize, chain, caches) else {
            tally.no_mbuf.add(1);
            return None;
        };
        if NetHeader::apply(bytes, &mut packet, self.offloads) == Verdict::Accept {
            return Some(packet);
        }
        tally.bad.add(1);
        caches.free_one(packet);
        None
    }

    /// Copies the `len` bytes behind the header into as many mbufs as they need.
    fn copy(&self, len: usize, chain: &Chain, caches: &mut Caches) -> Option<Mbuf> {
        let mut packet: Option<Mbuf> = None;
        let mut done = 0;
        while done < len {
            let n = (len - done).min(self.capacity as usize);
            let segment = self.segment(n, self.header + done, chain, caches);
            match (segment, &mut packet) {
                (Some(segment), None) => packet = Some(segment),
                (Some(segment), Some(head)) => {
                    if let Err(segment) = head.chain(segment) {
                        caches.free_one(segment);
                    }
                }
                (None, _) => {
                    if let Some(packet) = packet {
                        caches.free_one(packet);
                    }
                    return None;
                }
            }
            done += n;
        }
        packet
    }

    fn segment(&self, n: usize, offset: usize, chain: &Chain, caches: &mut Caches) -> Option<Mbuf> {
        let mut one = [MaybeUninit::uninit()];
        if caches.take(self.pool, &mut one) == 0 {
            return None;
        }
        let [one] = one;
        // SAFETY: `take` filled it.
        let mut segment: Mbuf = unsafe { one.assume_init() };
        // SAFETY: `n` is at most the pool's capacity behind the headroom.
        unsafe { segment.set_received(HEADROOM, n as u16) };
        if let Some(data) = segment.data_mut() {
            chain.read(offset, data);
        }
        Some(segment)
    }
}
