//! Which way packets go through the loop, and the engines for those that go one way only.
//!
//! One way, a side sends as many packets as the other takes, without a look at their bytes, and the other frees them: what
//! is left of the time is vhost's copy in that direction and what goes with it.

use mpps_dev::Lcore;
use mpps_engines::{Engine, StreamIo};
use mpps_mbuf::{Burst, PoolId};

use crate::numbered::BURST;

/// Which way packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Round and round.
    Round,
    /// From virtio-user to vhost, which copies them out of the front end's buffers (dequeue).
    FromVirtioUser,
    /// From vhost, which copies them into the front end's buffers (enqueue), to virtio-user.
    FromVhost,
}

/// Sends packets of one length, as many as the port takes.
pub(super) struct Source {
    pool: PoolId,
    size: u16,
    /// What the port hasn't taken yet.
    hand: Box<Burst>,
}

impl Source {
    pub(super) fn new(pool: PoolId, size: u16) -> Self {
        Self {
            pool,
            size,
            hand: Burst::new(BURST),
        }
    }
}

impl Engine for Source {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if self.hand.is_empty() {
            let room = self.hand.room();
            lcore.alloc(self.pool, room, self.size, &mut self.hand);
        }
        let tx = io.tx.as_mut();
        tx.is_some_and(|tx| tx.tx_burst(lcore, &mut self.hand) > 0)
    }
}

/// Frees what comes.
pub(super) struct Sink;

impl Engine for Sink {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        let came = io.receive(lcore) > 0;
        lcore.free(&mut io.burst);
        came
    }
}
