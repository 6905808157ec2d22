//! Engine io: packets pass as they are.

use mpps_dev::Lcore;

use crate::{Engine, EngineSpec, Needs, StreamIo};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "io",
    needs: Needs::Both,
    min_frame: 0,
    answers: false,
    help: "send every packet unchanged",
    notice: None,
    make: |_| Ok(Box::new(Io)),
};

pub(crate) struct Io;

impl Engine for Io {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        io.send(lcore);
        true
    }
}
