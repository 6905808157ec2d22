//! Requests of the front end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::payload::{Payload, Writer, log_area, region};
use crate::{
    ConfigSpace, DecodeError, DeviceStatus, Header, Inflight, Iotlb, LogArea, MAX_TABLE_REGIONS,
    MemoryRegion, ProtocolFeatures, RequestKind, VringAddr, VringFd, VringState,
};

/// A request of the front end, with the descriptors that belong to it: owned ones where it was received, borrowed ones
/// where it is to be sent.
#[derive(Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the variants are named after the specification's messages"
)]
pub enum Request<F = OwnedFd> {
    GetFeatures,
    SetFeatures(u64),
    SetOwner,
    ResetOwner,
    SetMemTable(Vec<(MemoryRegion, F)>),
    SetLogBase(LogBase<F>),
    SetLogFd(F),
    SetVringNum(VringState),
    SetVringAddr(VringAddr),
    SetVringBase(VringState),
    GetVringBase(VringState),
    SetVringKick(VringFd<F>),
    SetVringCall(VringFd<F>),
    SetVringErr(VringFd<F>),
    GetProtocolFeatures,
    SetProtocolFeatures(ProtocolFeatures),
    GetQueueNum,
    SetVringEnable(VringState),
    SendRarp([u8; 6]),
    NetSetMtu(u64),
    SetBackendReqFd(F),
    IotlbMsg(Iotlb),
    SetVringEndian(VringState),
    GetConfig(ConfigSpace),
    SetConfig(ConfigSpace),
    PostcopyAdvise,
    PostcopyListen,
    PostcopyEnd,
    GetInflightFd(Inflight),
    SetInflightFd(Inflight, F),
    ResetDevice,
    VringKick(VringState),
    GetMaxMemSlots,
    AddMemReg(MemoryRegion, F),
    RemMemReg(MemoryRegion),
    SetStatus(DeviceStatus),
    GetStatus,
    /// Messages of other kinds of device; only their names are known here.
    Foreign(RequestKind),
}

/// Where the dirty log is.
#[derive(Debug, PartialEq, Eq)]
pub enum LogBase<F> {
    /// In memory that the front end shares (LOG_SHMFD).
    Shared(LogArea, F),
    /// At an address that only the front end can reach (the form before LOG_SHMFD).
    Address(u64),
}

/// A message to be sent: all bytes, and the descriptors that go along.
#[derive(Debug)]
pub struct Message<'a> {
    /// Header and payload.
    pub bytes: Vec<u8>,
    /// Descriptors.
    pub fds: Vec<BorrowedFd<'a>>,
}

/// No descriptor comes with this SET_VRING_KICK, CALL or ERR.
const NO_FD: u64 = 1 << 8;

impl Request {
    /// Reads a request. `payload` is all that follows the header, `fds` all descriptors that came with the message.
    ///
    /// # Errors
    /// The message can't be taken; its descriptors are closed.
    pub fn decode(header: Header, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Self, DecodeError> {
        let Some(kind) = RequestKind::of(header.request) else {
            return Err(DecodeError::Unknown {
                request: header.request,
            });
        };
        let payload = Payload {
            message: kind.name(),
            bytes: payload,
            fds,
        };
        if header.reply {
            return Err(DecodeError::Direction {
                message: kind.name(),
                reply: true,
            });
        }
        payload.fields(header.size as usize)?;
        decode(kind, payload)
    }
}

fn decode(kind: RequestKind, mut p: Payload<'_>) -> Result<Request, DecodeError> {
    use RequestKind as K;
    Ok(match kind {
        K::SetMemTable => Request::SetMemTable(table(p)?),
        K::SetLogBase => Request::SetLogBase(log_base(p)?),
        K::SetLogFd => {
            log_fd_payload(&p)?;
            Request::SetLogFd(p.one_fd()?)
        }
        K::SetVringNum => Request::SetVringNum(p.vring_state()?),
        K::SetVringAddr => Request::SetVringAddr(p.vring_addr()?),
        K::SetVringBase => Request::SetVringBase(p.vring_state()?),
        K::GetVringBase => Request::GetVringBase(p.vring_state()?),
        K::SetVringKick => Request::SetVringKick(vring_fd(p)?),
        K::SetVringCall => Request::SetVringCall(vring_fd(p)?),
        K::SetVringErr => Request::SetVringErr(vring_fd(p)?),
        K::SetVringEnable => Request::SetVringEnable(on_or_off(&p)?),
        K::SetVringEndian => Request::SetVringEndian(on_or_off(&p)?),
        K::VringKick => Request::VringKick(p.vring_state()?),
        K::AddMemReg => {
            let region = single_region(&p)?;
            Request::AddMemReg(region, p.one_fd()?)
        }
        K::RemMemReg => Request::RemMemReg(removed_region(p)?),
        K::SetFeatures => Request::SetFeatures(p.number()?),
        K::SetProtocolFeatures => {
            Request::SetProtocolFeatures(ProtocolFeatures::from_bits_retain(p.number()?))
        }
        K::SendRarp => {
            let [a, b, c, d, e, f, _, _] = p.number()?.to_ne_bytes();
            Request::SendRarp([a, b, c, d, e, f])
        }
        K::NetSetMtu => Request::NetSetMtu(p.number()?),
        K::SetStatus => Request::SetStatus(status(&p)?),
        K::SetBackendReqFd => {
            p.fields(0)?;
            Request::SetBackendReqFd(p.one_fd()?)
        }
        _ => return decode_refused(kind, p),
    })
}

/// Messages without payload, and those that this back end refuses.
fn decode_refused(kind: RequestKind, mut p: Payload<'_>) -> Result<Request, DecodeError> {
    use RequestKind as K;
    let empty = match kind {
        K::GetFeatures => Request::GetFeatures,
        K::SetOwner => Request::SetOwner,
        K::ResetOwner => Request::ResetOwner,
        K::GetProtocolFeatures => Request::GetProtocolFeatures,
        K::GetQueueNum => Request::GetQueueNum,
        K::ResetDevice => Request::ResetDevice,
        K::GetMaxMemSlots => Request::GetMaxMemSlots,
        K::GetStatus => Request::GetStatus,
        K::PostcopyAdvise => Request::PostcopyAdvise,
        K::PostcopyListen => Request::PostcopyListen,
        K::PostcopyEnd => Request::PostcopyEnd,
        K::IotlbMsg => return p.iotlb().map(Request::IotlbMsg),
        K::GetConfig => return p.config().map(Request::GetConfig),
        K::SetConfig => return p.config().map(Request::SetConfig),
        K::GetInflightFd => {
            p.no_fds()?;
            return p.inflight().map(Request::GetInflightFd);
        }
        K::SetInflightFd => {
            let inflight = p.inflight()?;
            return Ok(Request::SetInflightFd(inflight, p.one_fd()?));
        }
        other => return Ok(Request::Foreign(other)),
    };
    p.empty()?;
    Ok(empty)
}

/// Some front ends send an unused number along.
fn log_fd_payload(p: &Payload<'_>) -> Result<(), DecodeError> {
    match p.bytes.len() {
        0 | 8 => Ok(()),
        _ => Err(p.size(0)),
    }
}

fn table(mut p: Payload<'_>) -> Result<Vec<(MemoryRegion, OwnedFd)>, DecodeError> {
    if p.bytes.len() < 8 {
        return Err(p.size(8));
    }
    let mut fields = p.fields(p.bytes.len())?;
    let (count, _padding) = (fields.u32(), fields.u32());
    if count as usize > MAX_TABLE_REGIONS {
        return Err(DecodeError::Regions {
            message: p.message,
            got: count,
        });
    }
    let want = 8 + 32 * count as usize;
    p.fields(want)?;
    let fds = p.all_fds(count as usize)?;
    Ok(fds
        .into_iter()
        .map(|fd| (region(&mut fields), fd))
        .collect())
}

fn single_region(p: &Payload<'_>) -> Result<MemoryRegion, DecodeError> {
    let mut fields = p.fields(40)?;
    let _padding = fields.u64();
    Ok(region(&mut fields))
}

/// One descriptor too many is allowed here and closed, as the specification has it for the sake of older front ends.
fn removed_region(mut p: Payload<'_>) -> Result<MemoryRegion, DecodeError> {
    let region = single_region(&p)?;
    if p.fds.len() == 1 {
        p.fds.clear();
    }
    p.no_fds()?;
    Ok(region)
}

fn log_base(mut p: Payload<'_>) -> Result<LogBase<OwnedFd>, DecodeError> {
    if p.bytes.len() == 8 {
        return p.number().map(LogBase::Address);
    }
    let mut fields = p.fields(16)?;
    Ok(LogBase::Shared(log_area(&mut fields), p.one_fd()?))
}

fn vring_fd(mut p: Payload<'_>) -> Result<VringFd<OwnedFd>, DecodeError> {
    let value = p.fields(8)?.u64();
    if value & !(NO_FD | 0xff) != 0 {
        return Err(p.value(
            "the ring",
            value,
            "a number below 256, with or without bit 8,",
        ));
    }
    let fd = if value & NO_FD != 0 {
        p.no_fds()?;
        None
    } else {
        Some(p.one_fd()?)
    };
    Ok(VringFd {
        index: (value & 0xff) as u8,
        fd,
    })
}

fn on_or_off(p: &Payload<'_>) -> Result<VringState, DecodeError> {
    let state = p.vring_state()?;
    if state.num > 1 {
        return Err(p.value("the number", u64::from(state.num), "0 or 1"));
    }
    Ok(state)
}

fn status(p: &Payload<'_>) -> Result<DeviceStatus, DecodeError> {
    let value = p.number()?;
    u8::try_from(value)
        .map(DeviceStatus::from_bits_retain)
        .map_err(|_| p.value("the status", value, "eight bits"))
}

impl<F: AsFd> Request<F> {
    /// Writes the request; `need_reply` asks for an acknowledgement where the message has no answer of its own.
    pub fn encode(&self, need_reply: bool) -> Message<'_> {
        let (payload, fds) = self.payload();
        let header = Header {
            request: self.kind().number(),
            reply: false,
            need_reply,
            size: payload.0.len() as u32,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend(payload.0);
        Message { bytes, fds }
    }

    fn payload(&self) -> (Writer, Vec<BorrowedFd<'_>>) {
        let w = Writer::default();
        match self {
            Self::SetFeatures(bits) => (w.u64(*bits), vec![]),
            Self::SetMemTable(regions) => {
                let w = w.u32(regions.len() as u32).u32(0);
                let w = regions.iter().fold(w, |w, (region, _)| w.region(region));
                (w, regions.iter().map(|(_, fd)| fd.as_fd()).collect())
            }
            Self::SetLogBase(LogBase::Shared(area, fd)) => {
                (w.u64(area.size).u64(area.offset), vec![fd.as_fd()])
            }
            Self::SetLogBase(LogBase::Address(address)) => (w.u64(*address), vec![]),
            Self::SetLogFd(fd) | Self::SetBackendReqFd(fd) => (w, vec![fd.as_fd()]),
            Self::SetVringNum(state)
            | Self::SetVringBase(state)
            | Self::GetVringBase(state)
            | Self::SetVringEnable(state)
            | Self::SetVringEndian(state)
            | Self::VringKick(state) => (w.state(*state), vec![]),
            Self::SetVringAddr(addr) => (w.addr(addr), vec![]),
            Self::SetVringKick(ring) | Self::SetVringCall(ring) | Self::SetVringErr(ring) => {
                let flag = if ring.fd.is_none() { NO_FD } else { 0 };
                let fds = ring.fd.iter().map(AsFd::as_fd).collect();
                (w.u64(u64::from(ring.index) | flag), fds)
            }
            Self::SetProtocolFeatures(bits) => (w.u64(bits.bits()), vec![]),
            Self::SendRarp(mac) => (w.bytes(mac).bytes(&[0; 2]), vec![]),
            Self::NetSetMtu(mtu) => (w.u64(*mtu), vec![]),
            Self::SetStatus(status) => (w.u64(u64::from(status.bits())), vec![]),
            Self::AddMemReg(region, fd) => (w.u64(0).region(region), vec![fd.as_fd()]),
            Self::RemMemReg(region) => (w.u64(0).region(region), vec![]),
            Self::IotlbMsg(iotlb) => (w.iotlb(iotlb), vec![]),
            Self::GetConfig(config) | Self::SetConfig(config) => (w.config(config), vec![]),
            Self::GetInflightFd(inflight) => (w.inflight(inflight), vec![]),
            Self::SetInflightFd(inflight, fd) => (w.inflight(inflight), vec![fd.as_fd()]),
            _ => (w, vec![]),
        }
    }
}

impl<F> Request<F> {
    /// Which request it is.
    pub const fn kind(&self) -> RequestKind {
        use RequestKind as K;
        match self {
            Self::GetFeatures => K::GetFeatures,
            Self::SetFeatures(_) => K::SetFeatures,
            Self::SetOwner => K::SetOwner,
            Self::ResetOwner => K::ResetOwner,
            Self::SetMemTable(_) => K::SetMemTable,
            Self::SetLogBase(_) => K::SetLogBase,
            Self::SetLogFd(_) => K::SetLogFd,
            Self::SetVringNum(_) => K::SetVringNum,
            Self::SetVringAddr(_) => K::SetVringAddr,
            Self::SetVringBase(_) => K::SetVringBase,
            Self::GetVringBase(_) => K::GetVringBase,
            Self::SetVringKick(_) => K::SetVringKick,
            Self::SetVringCall(_) => K::SetVringCall,
            Self::SetVringErr(_) => K::SetVringErr,
            Self::GetProtocolFeatures => K::GetProtocolFeatures,
            Self::SetProtocolFeatures(_) => K::SetProtocolFeatures,
            Self::GetQueueNum => K::GetQueueNum,
            Self::SetVringEnable(_) => K::SetVringEnable,
            Self::SendRarp(_) => K::SendRarp,
            Self::NetSetMtu(_) => K::NetSetMtu,
            Self::SetBackendReqFd(_) => K::SetBackendReqFd,
            Self::IotlbMsg(_) => K::IotlbMsg,
            Self::SetVringEndian(_) => K::SetVringEndian,
            Self::GetConfig(_) => K::GetConfig,
            Self::SetConfig(_) => K::SetConfig,
            Self::PostcopyAdvise => K::PostcopyAdvise,
            Self::PostcopyListen => K::PostcopyListen,
            Self::PostcopyEnd => K::PostcopyEnd,
            Self::GetInflightFd(_) => K::GetInflightFd,
            Self::SetInflightFd(..) => K::SetInflightFd,
            Self::ResetDevice => K::ResetDevice,
            Self::VringKick(_) => K::VringKick,
            Self::GetMaxMemSlots => K::GetMaxMemSlots,
            Self::AddMemReg(..) => K::AddMemReg,
            Self::RemMemReg(_) => K::RemMemReg,
            Self::SetStatus(_) => K::SetStatus,
            Self::GetStatus => K::GetStatus,
            Self::Foreign(kind) => *kind,
        }
    }
}

#[cfg(test)]
mod tests;
