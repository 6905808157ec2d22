//! Engine ieee1588: answers PTP packets and reads the hardware's timestamps of both.
//!
//! It works on timestamps that a device took, and no port here has a clock for them, so the engine is always refused; a
//! port kind that gets one adds both halves, reading transmit timestamps in `mpps_dev` and the engine here.

use crate::{Engine, EngineSpec, Needs, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "ieee1588",
    needs: Needs::Both,
    min_frame: 0,
    answers: true,
    help: "answer PTP packets with hardware timestamps; needs ports that take them",
    notice: None,
    make: refuse,
};

fn refuse(setup: &StreamSetup) -> Result<Box<dyn Engine>, String> {
    let port = setup.rx.port;
    let missing = if setup.rx.timestamps {
        "transmit"
    } else {
        "receive"
    };
    Err(format!(
        "ieee1588: port {port} takes no hardware {missing} timestamps; rxonly with \"set verbose 1\" shows PTP packets"
    ))
}
