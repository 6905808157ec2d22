//! Requests of the front end, one at a time: what each does, and what is answered.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpps_os::EventFd;
use mpps_shm::peer::{DirtyLog, MOST_REGIONS, PeerMapping};
use mpps_vhost_proto::{
    DecodeError, Header, Inflight, LogArea, LogBase, ProtocolFeatures, Reply, Request, RequestKind,
    VringAddr, VringFd, VringState,
};
use mpps_virtq::RingAddresses;

use crate::core::{Core, Outcome};
use crate::inbox::Envelope;
use crate::peer::{Peer, Vring};
use crate::settings::PROTOCOL;

/// MTUs that a network device can have (virtio 1.3, section 5.1.4).
const MTU: std::ops::RangeInclusive<u64> = 68..=65535;

/// The most descriptors of a ring.
const MOST_DESCRIPTORS: u32 = 32768;

/// A place of the used ring beyond the end of any log, for one whose writes aren't to be logged.
const NOT_LOGGED: u64 = 1 << 63;

/// Why a request isn't met.
enum Refused {
    /// The two sides no longer agree; unless the front end asked to be told, the connection ends.
    Fault(String),
    /// Something that isn't available here; the connection goes on. With the answer where the request always has one.
    Absent(String, Option<Reply>),
    /// The message itself is wrong: the connection ends in any case.
    Broken(DecodeError),
}

type Answer = Result<Option<Reply>, Refused>;

const DONE: Answer = Ok(None);

impl Core {
    /// Handles one message.
    pub(crate) fn handle(&mut self, envelope: Envelope) -> Outcome {
        let mut out = Outcome::default();
        let Envelope {
            header,
            payload,
            fds,
        } = envelope;
        let asked = header.need_reply && self.negotiated(ProtocolFeatures::REPLY_ACK);
        let answer = match Request::decode(header, &payload, fds) {
            Ok(request) => self.request(request, &mut out),
            Err(error) if error.is_unknown() => Err(Refused::Absent(error.to_string(), None)),
            Err(error) => Err(Refused::Broken(error)),
        };
        self.refresh(&mut out);
        let reply = match answer {
            Ok(Some(reply)) => Some(reply),
            Ok(None) => asked.then(|| Reply::ack(true)),
            Err(refused) => self.refuse(header, refused, asked, &mut out),
        };
        out.reply = reply.map(|reply| reply.encode(header.request));
        out
    }

    fn refuse(
        &mut self,
        header: Header,
        refused: Refused,
        asked: bool,
        out: &mut Outcome,
    ) -> Option<Reply> {
        let (line, own) = match refused {
            Refused::Fault(line) => {
                out.hang_up = !asked;
                (line, None)
            }
            Refused::Absent(line, own) => (line, own),
            Refused::Broken(error) => {
                out.hang_up = true;
                (error.to_string(), None)
            }
        };
        let first = self
            .peer
            .as_mut()
            .is_some_and(|peer| peer.first_refusal(header.request));
        if first || out.hang_up {
            out.notes.push(format!("front end refused: {line}"));
        }
        own.or_else(|| asked.then(|| Reply::ack(false)))
    }

    fn negotiated(&self, feature: ProtocolFeatures) -> bool {
        self.peer
            .as_ref()
            .is_some_and(|peer| peer.protocol.contains(feature))
    }

    fn request(&mut self, request: Request, out: &mut Outcome) -> Answer {
        let kind = request.kind();
        match request {
            Request::GetFeatures => number(self.settings.offered()),
            Request::SetFeatures(bits) => self.set_features(bits),
            Request::SetOwner => DONE,
            Request::GetProtocolFeatures => number(PROTOCOL.bits()),
            Request::SetProtocolFeatures(bits) => self.set_protocol(bits),
            Request::GetQueueNum => number(u64::from(self.settings.pairs)),
            Request::GetMaxMemSlots => number(MOST_REGIONS as u64),
            Request::GetStatus => {
                let status = self.peer.as_ref().map_or(0, |peer| peer.status.bits());
                number(u64::from(status))
            }
            Request::SetStatus(status) => {
                self.session(kind)?.status = status;
                DONE
            }
            Request::ResetOwner | Request::ResetDevice => self.reset(kind, out),
            Request::SetMemTable(_) | Request::AddMemReg(..) | Request::RemMemReg(_) => {
                self.memory(request, kind)
            }
            Request::SetLogBase(base) => self.log(base, kind),
            // Pages are noted whether or not somebody is told of it.
            Request::SetLogFd(_) => DONE,
            Request::SetBackendReqFd(fd) => {
                self.session(kind)?.channel = Some(fd);
                DONE
            }
            Request::NetSetMtu(mtu) => self.mtu(mtu),
            Request::SendRarp(mac) => self.rarp(mac),
            Request::GetVringBase(state) => self.get_base(state, out),
            _ => self.ring_request(request, kind),
        }
    }

    fn ring_request(&mut self, request: Request, kind: RequestKind) -> Answer {
        match request {
            Request::SetVringNum(VringState { num, .. }) if num == 0 || num > MOST_DESCRIPTORS => {
                Err(Refused::Fault(format!(
                    "{kind}: a ring of {num} descriptors; 1 to {MOST_DESCRIPTORS} would be right"
                )))
            }
            Request::SetVringNum(state) => {
                self.changed(kind, state.index)?.size = state.num;
                DONE
            }
            Request::SetVringAddr(addr) => {
                self.changed(kind, addr.index)?.addresses = Some(addresses(&addr));
                DONE
            }
            Request::SetVringBase(state) => {
                self.changed(kind, state.index)?.base = state.num;
                DONE
            }
            Request::SetVringKick(ring) => {
                self.changed(kind, u32::from(ring.index))?.kicked = true;
                DONE
            }
            Request::SetVringCall(ring) => {
                let (index, event) = event(kind, ring)?;
                self.changed(kind, index)?.call = event.map(Arc::new);
                DONE
            }
            Request::SetVringErr(ring) => {
                let (index, event) = event(kind, ring)?;
                self.changed(kind, index)?.err = event;
                DONE
            }
            Request::SetVringEnable(state) => {
                self.changed(kind, state.index)?.enabled = state.num == 1;
                DONE
            }
            other => Err(absent(&other)),
        }
    }

    /// The front end, for requests that need one; there always is one when a message comes.
    fn session(&mut self, kind: RequestKind) -> Result<&mut Peer, Refused> {
        self.peer
            .as_mut()
            .ok_or_else(|| Refused::Fault(format!("{kind}: no front end is connected")))
    }

    /// A ring that is about to be changed, taken back from its poller.
    fn changed(&mut self, kind: RequestKind, index: u32) -> Result<&mut Vring, Refused> {
        let rings = self.settings.rings();
        let at = index as usize;
        if at < rings {
            self.close(at);
        }
        let ring = self.vring(at).ok_or_else(|| {
            Refused::Fault(format!(
                "{kind}: ring {index}; this device has {rings} rings"
            ))
        })?;
        ring.dead = false;
        Ok(ring)
    }

    fn set_features(&mut self, bits: u64) -> Answer {
        let foreign = bits & !self.settings.offered();
        if foreign != 0 {
            return Err(Refused::Fault(format!(
                "SET_FEATURES: {bits:#x} has {foreign:#x}, which was not offered"
            )));
        }
        if self.peer.as_ref().is_some_and(|peer| peer.features != bits) {
            self.close_all();
        }
        self.session(RequestKind::SetFeatures)?.features = bits;
        self.revive();
        DONE
    }

    fn set_protocol(&mut self, bits: ProtocolFeatures) -> Answer {
        let foreign = bits - PROTOCOL;
        if !foreign.is_empty() {
            return Err(Refused::Fault(format!(
                "SET_PROTOCOL_FEATURES: {:#x} has {:#x}, which was not offered",
                bits.bits(),
                foreign.bits()
            )));
        }
        self.session(RequestKind::SetProtocolFeatures)?.protocol = bits;
        DONE
    }

    fn reset(&mut self, kind: RequestKind, out: &mut Outcome) -> Answer {
        self.close_all();
        self.stop_running(out);
        let peer = self.session(kind)?;
        if kind == RequestKind::ResetDevice {
            let was: Vec<bool> = peer.rings.iter().map(|ring| ring.was_ready).collect();
            peer.reset();
            for (ring, was_ready) in peer.rings.iter_mut().zip(was) {
                ring.was_ready = was_ready;
            }
        } else {
            for ring in &mut peer.rings {
                ring.enabled = false;
            }
        }
        DONE
    }

    /// New memory is mapped before anything is taken away; where that fails, all stays as it was.
    fn memory(&mut self, request: Request, kind: RequestKind) -> Answer {
        let memory = &mut self.session(kind)?.memory;
        let changed = match &request {
            Request::SetMemTable(all) => memory.replace(all),
            Request::AddMemReg(region, fd) => memory.add(region, fd),
            Request::RemMemReg(region) => memory.remove(region),
            _ => Ok(()),
        };
        changed.map_err(|error| Refused::Fault(format!("{kind}: {error}")))?;
        // Rings keep the table that they were opened with until here, so that it is unmapped after they are closed.
        self.close_all();
        self.revive();
        DONE
    }

    /// Rings that were given up may work with what is new.
    fn revive(&mut self) {
        for ring in self.peer.iter_mut().flat_map(|peer| &mut peer.rings) {
            ring.dead = false;
        }
    }

    fn log(&mut self, base: LogBase<OwnedFd>, kind: RequestKind) -> Answer {
        let LogBase::Shared(LogArea { size, offset }, fd) = base else {
            return Err(Refused::Fault(format!(
                "{kind}: a log at an address of the front end; shared memory (LOG_SHMFD) would be right"
            )));
        };
        let mapping = PeerMapping::map(fd.as_fd(), offset, size)
            .map_err(|error| Refused::Fault(format!("{kind}: {error}")))?;
        self.close_all();
        self.session(kind)?.log = Some(Arc::new(DirtyLog::new(mapping)));
        number(0)
    }

    fn mtu(&mut self, mtu: u64) -> Answer {
        if !MTU.contains(&mtu) {
            return Err(Refused::Fault(format!(
                "NET_SET_MTU: {mtu}; 68 to 65535 would be right"
            )));
        }
        // Relaxed: a lone number.
        self.published.mtu.store(mtu as u32, Ordering::Relaxed);
        DONE
    }

    fn rarp(&mut self, mac: [u8; 6]) -> Answer {
        let at_once = self
            .rx
            .first_mut()
            .and_then(|rx| rx.keeper.with(|state| state.announce = Some(mac)));
        if at_once.is_none() {
            self.session(RequestKind::SendRarp)?.announce = Some(mac);
        }
        DONE
    }

    /// Stops the ring. One that doesn't exist has nothing to go on with; the answer is zero.
    fn get_base(&mut self, state: VringState, out: &mut Outcome) -> Answer {
        let index = state.index as usize;
        self.stop_running(out);
        if index < self.settings.rings() {
            self.close(index);
        }
        let num = self.vring(index).map_or(0, |ring| {
            ring.kicked = false;
            ring.call = None;
            ring.dead = false;
            ring.base
        });
        let index = state.index;
        Ok(Some(Reply::Vring(VringState { index, num })))
    }
}

fn number(value: u64) -> Answer {
    Ok(Some(Reply::Number(value)))
}

fn addresses(addr: &VringAddr) -> RingAddresses {
    RingAddresses {
        desc: addr.descriptor,
        avail: addr.available,
        used: addr.used,
        log: if addr.flags & VringAddr::LOG == 0 {
            NOT_LOGGED
        } else {
            addr.log
        },
    }
}

fn event(kind: RequestKind, ring: VringFd<OwnedFd>) -> Result<(u32, Option<EventFd>), Refused> {
    let event = ring
        .fd
        .map(EventFd::from_peer)
        .transpose()
        .map_err(|error| Refused::Fault(format!("{kind}: {error}")))?;
    Ok((u32::from(ring.index), event))
}

/// What isn't available here, with the answer that its sender waits for.
fn absent(request: &Request) -> Refused {
    let kind = request.kind();
    let own = match kind {
        RequestKind::IotlbMsg | RequestKind::PostcopyEnd => Some(Reply::ack(false)),
        RequestKind::GetConfig => Some(Reply::Empty),
        RequestKind::GetInflightFd => Some(Reply::Inflight(Inflight::default())),
        // Its sender waits for a descriptor that never comes.
        RequestKind::PostcopyAdvise => {
            return Refused::Fault(format!("{kind}: not available here"));
        }
        _ => None,
    };
    Refused::Absent(format!("{kind}: not available here"), own)
}
