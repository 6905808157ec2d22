//! Requests that the back end sends over a channel of its own (SET_BACKEND_REQ_FD).

use std::os::fd::OwnedFd;

use crate::kind::kinds;
use crate::payload::{Payload, Writer};
use crate::{DecodeError, Header, Iotlb, VringArea, VringState};

kinds! {
    /// A request of the back end.
    BackendKind {
        1 IotlbMsg "BACKEND_IOTLB_MSG";
        2 ConfigChangeMsg "BACKEND_CONFIG_CHANGE_MSG";
        3 VringHostNotifierMsg "BACKEND_VRING_HOST_NOTIFIER_MSG";
        4 VringCall "BACKEND_VRING_CALL";
        5 VringErr "BACKEND_VRING_ERR";
    }
}

/// A request of the back end. This project's back end sends none; its front end refuses all but [`BackendRequest::ConfigChange`]
/// by name.
#[derive(Debug)]
pub enum BackendRequest {
    /// A translation is missing, or an access failed.
    Iotlb(Iotlb),
    /// The configuration space has changed.
    ConfigChange,
    /// A doorbell to be mapped into the guest, or taken away.
    HostNotifier(VringArea, Option<OwnedFd>),
    /// Buffers were used (in-band notifications).
    VringCall(VringState),
    /// A ring failed (in-band notifications).
    VringErr(VringState),
}

impl BackendRequest {
    /// Reads a request of the back end.
    ///
    /// # Errors
    /// The message can't be taken; its descriptors are closed.
    pub fn decode(header: Header, payload: &[u8], fds: Vec<OwnedFd>) -> Result<Self, DecodeError> {
        let Some(kind) = BackendKind::of(header.request) else {
            return Err(DecodeError::Unknown {
                request: header.request,
            });
        };
        let mut p = Payload {
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
        p.fields(header.size as usize)?;
        Ok(match kind {
            BackendKind::IotlbMsg => Self::Iotlb(p.iotlb()?),
            BackendKind::ConfigChangeMsg => {
                p.empty()?;
                Self::ConfigChange
            }
            BackendKind::VringHostNotifierMsg => {
                let area = p.area()?;
                let fd = if p.fds.is_empty() {
                    None
                } else {
                    Some(p.one_fd()?)
                };
                Self::HostNotifier(area, fd)
            }
            BackendKind::VringCall => Self::VringCall(p.vring_state()?),
            BackendKind::VringErr => Self::VringErr(p.vring_state()?),
        })
    }

    /// Writes it, without descriptors.
    pub fn encode(&self, need_reply: bool) -> Vec<u8> {
        let w = Writer::default();
        let (kind, payload) = match self {
            Self::Iotlb(iotlb) => (BackendKind::IotlbMsg, w.iotlb(iotlb)),
            Self::ConfigChange => (BackendKind::ConfigChangeMsg, w),
            Self::HostNotifier(area, _) => (
                BackendKind::VringHostNotifierMsg,
                w.u64(area.index_and_flags).u64(area.size).u64(area.offset),
            ),
            Self::VringCall(state) => (BackendKind::VringCall, w.state(*state)),
            Self::VringErr(state) => (BackendKind::VringErr, w.state(*state)),
        };
        let header = Header {
            request: kind.number(),
            reply: false,
            need_reply,
            size: payload.0.len() as u32,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend(payload.0);
        bytes
    }
}

#[cfg(test)]
mod tests;
