//! Engine recycle_mbufs: sent buffers go straight to a receive queue's ring where ports can do that; else it is io.
//!
//! No software port can, since none has a descriptor ring that a peer's buffers could be put into. So this engine does
//! what DPDK's does on such ports: it says so and passes packets on unchanged.

use crate::io::Io;
use crate::{EngineSpec, Needs};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "recycle_mbufs",
    needs: Needs::Both,
    min_frame: 0,
    answers: false,
    help: "send every packet unchanged, reusing sent buffers where both ports can",
    notice: Some(
        "recycle_mbufs: these ports can't hand sent buffers to a receive queue; packets pass as with io",
    ),
    make: |_| Ok(Box::new(Io)),
};
