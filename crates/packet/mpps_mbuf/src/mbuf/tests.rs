//! Packets against a model: whatever is done to one, its bytes are those it should have, and no other packet's change.

use mpps_shm::{MemoryConfig, PageSource};
use proptest::prelude::*;

use crate::{Mbuf, Pool, PoolConfig};

/// A packet and what it should hold.
struct Held {
    mbuf: Mbuf,
    segments: Vec<Vec<u8>>,
    time: Option<u64>,
}

impl Held {
    fn check(&self) {
        let segments: Vec<_> = self.mbuf.segments_data().map(<[u8]>::to_vec).collect();
        assert_eq!(segments, self.segments);
        let total: usize = segments.iter().map(Vec::len).sum();
        assert_eq!(self.mbuf.pkt_len() as usize, total);
        assert_eq!(usize::from(self.mbuf.segments()), segments.len());
        let rooms = [
            self.mbuf.headroom(),
            self.mbuf.data_len(),
            self.mbuf.tailroom(),
        ];
        let room: u32 = rooms.iter().map(|room| u32::from(*room)).sum();
        assert_eq!(room, u32::from(self.mbuf.buffer_len()));
        assert_eq!(self.mbuf.timestamp(), self.time);
        let mut copy = vec![0; total];
        assert_eq!(self.mbuf.copy_out(0, &mut copy), total);
        assert_eq!(copy, segments.concat());
    }

    /// One change of the packet, of `n` bytes with this value.
    fn change(&mut self, step: u8, n: u16, value: u8) {
        let (mbuf, first) = (&mut self.mbuf, &mut self.segments[0]);
        let count = usize::from(n);
        match step {
            0 => {
                if let Some(front) = mbuf.prepend(n) {
                    front.fill(value);
                    first.splice(0..0, vec![value; count]);
                }
            }
            1 => {
                if mbuf.trim_front(n) {
                    first.drain(..count);
                }
            }
            2 => {
                if mbuf.append(&vec![value; count]) {
                    first.extend(vec![value; count]);
                }
            }
            3 => {
                if mbuf.resize(n) {
                    let kept = count.min(first.len());
                    assert_eq!(mbuf.data()[..kept], first[..kept]);
                    *first = mbuf.data().to_vec();
                }
            }
            4 => {
                if let Some(data) = mbuf.data_mut() {
                    data.fill(value);
                    first.fill(value);
                }
            }
            _ => {
                mbuf.set_timestamp(u64::from(n));
                self.time = Some(u64::from(n));
            }
        }
    }
}

fn pool(size: u32, data_room: u16) -> Pool {
    let config = PoolConfig {
        name: "model".to_owned(),
        size,
        data_room,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn lengths() -> impl Strategy<Value = u16> {
    prop_oneof![0u16..140, any::<u16>()]
}

proptest! {
    #[test]
    fn packets_hold_what_was_written(
        steps in proptest::collection::vec((0u8..10, any::<u8>(), lengths(), any::<u8>()), 0..150),
        room in prop_oneof![Just(256u16), Just(u16::MAX)],
    ) {
        let pools = [pool(24, 256), pool(24, room)];
        let mut held: Vec<Held> = Vec::new();
        for (step, which, n, value) in steps {
            let at = usize::from(which) % held.len().max(1);
            let pool = &pools[usize::from(value) % 2];
            match step {
                0..6 if !held.is_empty() => held[at].change(step, n, value),
                6 if held.len() > 1 => {
                    let Held { mbuf, segments, .. } = held.swap_remove(at);
                    let head = usize::from(value) % held.len();
                    held[head].mbuf.chain(mbuf).unwrap();
                    held[head].segments.extend(segments);
                }
                7 if !held.is_empty() => {
                    if let Some(mbuf) = pool.share(&mut held[at].mbuf) {
                        let Held { segments, time, .. } = &held[at];
                        let (segments, time) = (segments.clone(), *time);
                        held.push(Held { mbuf, segments, time });
                    }
                }
                8 if !held.is_empty() => drop(held.swap_remove(at)),
                _ => held.extend(pool.alloc().map(|mbuf| Held { mbuf, segments: vec![vec![]], time: None })),
            }
            held.iter().for_each(Held::check);
        }
        drop(held);
        prop_assert_eq!(pools.map(|pool| pool.free_count()), [24, 24]);
    }
}

#[test]
fn the_largest_chain_has_a_length_and_takes_no_more() {
    let pool = pool(65_537, 129);
    let mut head = pool.alloc().unwrap();
    let mut tails: Vec<_> = (0..255).map(|_| one(&pool)).collect();
    // 1 + 255 * 256 + 254 = 65,535 segments are the most.
    for tail in &mut tails {
        for _ in 0..255 {
            tail.chain(one(&pool)).unwrap();
        }
    }
    for tail in tails {
        head.chain(tail).unwrap();
    }
    for _ in 0..254 {
        head.chain(one(&pool)).unwrap();
    }
    assert_eq!((head.segments(), head.pkt_len()), (u16::MAX, 65_534));
    let back = head.chain(one(&pool)).unwrap_err();
    assert_eq!((back.segments(), back.pkt_len()), (1, 1));
    assert_eq!((head.segments(), head.pkt_len()), (u16::MAX, 65_534));
    drop((head, back));
    assert_eq!(pool.free_count(), 65_537);
}

fn one(pool: &Pool) -> Mbuf {
    let mut mbuf = pool.alloc().unwrap();
    assert!(mbuf.append(&[1]));
    mbuf
}
