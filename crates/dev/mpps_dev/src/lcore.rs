//! What a polling thread carries with it: its number, its stock of mbufs and its clock.

use mpps_cpu::clock::Clock;
use mpps_mbuf::{Burst, Caches, Mbuf, Pool, PoolId};

use crate::LcoreId;

/// The private context of one lcore. Made by the worker when it starts, passed as `&mut` into every burst, dropped (and
/// its mbufs returned) when the worker ends: no thread-local look-up and no lock on the data path.
pub struct Lcore {
    id: LcoreId,
    caches: Caches,
    clock: Clock,
}

impl Lcore {
    /// A context with a cache for each of `pools`.
    pub fn new(id: LcoreId, pools: &[Pool], clock: Clock) -> Self {
        Self {
            id,
            caches: Caches::new(pools),
            clock,
        }
    }

    /// The lcore's number.
    pub fn id(&self) -> LcoreId {
        self.id
    }

    /// The clock.
    #[inline(always)]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The stock of mbufs, for rings that take and free their own.
    #[inline(always)]
    pub fn caches(&mut self) -> &mut Caches {
        &mut self.caches
    }

    /// Appends `n` packets of `len` bytes of unspecified content to `out`; fewer when the pool runs dry or there is no room.
    #[inline(always)]
    pub fn alloc(&mut self, pool: PoolId, n: usize, len: u16, out: &mut Burst) -> usize {
        self.caches.alloc(pool, n, len, out)
    }

    /// One empty packet.
    #[inline]
    pub fn alloc_one(&mut self, pool: PoolId) -> Option<Mbuf> {
        self.caches.alloc_one(pool)
    }

    /// Frees all packets of a burst in bulk; returns their bytes.
    #[inline(always)]
    pub fn free(&mut self, packets: &mut Burst) -> u64 {
        self.caches.free(packets)
    }

    /// Frees one packet.
    #[inline]
    pub fn free_one(&mut self, packet: Mbuf) {
        self.caches.free_one(packet);
    }
}
