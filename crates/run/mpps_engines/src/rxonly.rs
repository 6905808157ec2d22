//! Engine rxonly: packets are received and freed.

use mpps_dev::Lcore;

use crate::{Engine, EngineSpec, Needs, StreamIo};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "rxonly",
    needs: Needs::Rx,
    min_frame: 0,
    answers: false,
    help: "receive and free every packet",
    notice: None,
    make: |_| Ok(Box::new(RxOnly)),
};

struct RxOnly;

impl Engine for RxOnly {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        lcore.free(&mut io.burst);
        true
    }
}
