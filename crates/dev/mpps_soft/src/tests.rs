//! Finished packets against frames that are built, and summed, by other and simpler means.

mod cutting;
mod frames;
mod hostile;
mod requests;
mod stage;
mod stripping;
mod sums;

use mpps_mbuf::{Caches, Mbuf, OffloadFlags, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use crate::{Fault, finish_but};

/// A pool and its cache.
pub(crate) struct Rig {
    pub(crate) pool: Pool,
    pub(crate) caches: Caches,
}

impl Rig {
    /// `data_room` includes the headroom of 128.
    pub(crate) fn new(size: u32, data_room: u16) -> Self {
        let config = PoolConfig {
            name: "soft".to_owned(),
            size,
            data_room,
            cache_size: 32,
            node: None,
        };
        let pages = PageSource::new(MemoryConfig::default()).unwrap();
        let pool = Pool::create(config, &pages).unwrap();
        let caches = Caches::new(std::slice::from_ref(&pool));
        Self { pool, caches }
    }

    /// A packet of these bytes in segments of at most `segment`.
    pub(crate) fn packet(&mut self, bytes: &[u8], segment: usize) -> Mbuf {
        let mut head: Option<Mbuf> = None;
        for part in bytes.chunks(segment) {
            let mut mbuf = self.caches.alloc_one(self.pool.id()).unwrap();
            assert!(mbuf.append(part));
            match &mut head {
                None => head = Some(mbuf),
                Some(head) => head.chain(mbuf).unwrap(),
            }
        }
        head.unwrap()
    }

    /// What comes of a packet.
    pub(crate) fn finish(&mut self, packet: Mbuf) -> Result<Vec<Vec<u8>>, Fault> {
        self.finish_but(packet, OffloadFlags::empty())
            .map(|packets| packets.iter().map(bytes).collect())
    }

    pub(crate) fn finish_but(
        &mut self,
        packet: Mbuf,
        passed_on: OffloadFlags,
    ) -> Result<Vec<Mbuf>, Fault> {
        let mut out = Vec::new();
        let id = self.pool.id();
        let count = finish_but(packet, &mut self.caches, id, passed_on, &mut |packet| {
            out.push(packet);
        })?;
        assert_eq!(count, out.len());
        for packet in &out {
            let left = packet.flags() & OffloadFlags::UNFINISHED;
            assert!(passed_on.contains(left), "{left:?}");
        }
        Ok(out)
    }

    /// Whether every mbuf is home.
    pub(crate) fn is_whole(&mut self) -> bool {
        self.caches = Caches::default();
        self.pool.free_count() == self.pool.config().size as usize
    }
}

pub(crate) fn bytes(packet: &Mbuf) -> Vec<u8> {
    let mut bytes = vec![0; packet.pkt_len() as usize];
    assert_eq!(packet.copy_out(0, &mut bytes), bytes.len());
    bytes
}
