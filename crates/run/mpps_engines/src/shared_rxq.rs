//! Engine shared_rxq: packets are received and freed, accounted to the port that they came from.
//!
//! Where several ports share one receive queue, packets of all of them come out of it and are counted a second time for
//! the stream of their own port. No port kind here shares queues: a burst has one source, the port that was polled, and
//! its packets have been counted for that port's stream when they were received. They are freed, which is no drop.

use mpps_dev::Lcore;

use crate::{Engine, EngineSpec, Needs, StreamIo};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "shared_rxq",
    needs: Needs::Rx,
    min_frame: 0,
    answers: false,
    help: "receive and free every packet, counting it for the port it came from",
    notice: None,
    make: |_| Ok(Box::new(SharedRxq)),
};

struct SharedRxq;

impl Engine for SharedRxq {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        debug_assert_eq!(io.burst.source(), io.rx_at.0, "one source a burst");
        lcore.free(&mut io.burst);
        true
    }
}
