//! From a greeted connection to rings that are polled, and back: the messages of a start and of a stop.
//!
//! Everything is told anew at each start and each connection, so that neither side can rely on what the other has kept.

use mpps_vhost_proto::{DeviceStatus, Request, VringAddr, VringFd, VringState};
use mpps_virtq::Features;
use std::os::fd::AsFd;

use crate::negotiate::{Agreement, Lack};
use crate::plan::{Fresh, Plan, RingError};
use crate::queue::Alarm;
use crate::session::{Offer, Session, SessionError};

/// Why a port's rings can't be enabled with this back end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EnableError {
    #[error(transparent)]
    Lack(#[from] Lack),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(transparent)]
    Ring(#[from] RingError),
}

/// Where a packed ring begins: offset zero and wrap counter one, for available and used.
const PACKED_BASE: u32 = 0x8000_8000;

/// Settles the features, lends the memory, describes the rings and switches them on.
pub(crate) fn enable(
    session: &mut Session,
    offer: Offer,
    plan: &Plan,
    alarm: &Alarm,
) -> Result<(Agreement, Vec<Fresh>), EnableError> {
    let agreement = plan.wish.agree(offer)?;
    let rings = plan.make_rings(agreement.features, alarm)?;
    settle(session, agreement.features)?;
    session.tell(&Request::SetMemTable(plan.memory.regions()))?;
    let base = if agreement.features.contains(Features::RING_PACKED) {
        PACKED_BASE
    } else {
        0
    };
    for (index, ring) in (0..).zip(&rings) {
        describe(session, index, plan.memory.size(index as usize), base, ring)?;
    }
    for (index, _) in (0..).zip(&rings) {
        session.enable(index, true)?;
    }
    session.set_status(driver_status() | DeviceStatus::FEATURES_OK | DeviceStatus::DRIVER_OK)?;
    // The link comes up when all queues can be used, not when they have been told of.
    session.sync()?;
    Ok((agreement, rings))
}

fn driver_status() -> DeviceStatus {
    DeviceStatus::ACKNOWLEDGE | DeviceStatus::DRIVER
}

/// The steps of virtio 1.3, section 3.1.1, as far as the back end cares for them.
fn settle(session: &mut Session, features: Features) -> Result<(), EnableError> {
    session.set_status(DeviceStatus::empty())?;
    session.set_status(driver_status())?;
    session.set_features(features.bits())?;
    session.set_status(driver_status() | DeviceStatus::FEATURES_OK)?;
    if session.accepts_features()? {
        Ok(())
    } else {
        let features = features.bits();
        Err(Lack::NotAccepted { features }.into())
    }
}

fn describe(
    session: &mut Session,
    index: u32,
    size: u32,
    base: u32,
    ring: &Fresh,
) -> Result<(), SessionError> {
    let at = ring.addresses;
    // Ring numbers are below 256: the arguments allow 128 pairs at most.
    let fd_of = |fd| VringFd {
        index: index as u8,
        fd: Some(fd),
    };
    session.tell(&Request::SetVringCall(fd_of(ring.call.as_fd())))?;
    session.tell(&Request::SetVringNum(VringState { index, num: size }))?;
    session.tell(&Request::SetVringBase(VringState { index, num: base }))?;
    session.tell(&Request::SetVringAddr(VringAddr {
        index,
        flags: 0,
        descriptor: at.desc,
        used: at.used,
        available: at.avail,
        log: at.log,
    }))?;
    session.tell(&Request::SetVringKick(fd_of(ring.kick.as_fd())))
}

/// Switches the rings off and waits until the back end has left them.
pub(crate) fn disable(session: &mut Session, rings: usize) -> Result<(), SessionError> {
    for index in (0..).take(rings) {
        session.enable(index, false)?;
    }
    for index in (0..).take(rings) {
        session.stop_ring(index)?;
    }
    Ok(())
}
