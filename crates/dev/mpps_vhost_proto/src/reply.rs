//! Answers of the back end.

use crate::payload::{Payload, Writer};
use crate::{ConfigSpace, DecodeError, Header, Inflight, RequestKind, VringState};

/// The answer to a request. An acknowledgement is [`Reply::Number`], zero for success.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A number: features, a count, a status, an acknowledgement.
    Number(u64),
    /// GET_VRING_BASE.
    Vring(VringState),
    /// GET_CONFIG.
    Config(ConfigSpace),
    /// GET_INFLIGHT_FD; a size of zero where there is none.
    Inflight(Inflight),
    /// No payload: GET_CONFIG that failed.
    Empty,
}

impl Reply {
    /// An acknowledgement.
    pub const fn ack(success: bool) -> Self {
        Self::Number(!success as u64)
    }

    /// Writes the answer to the request with this number, which needn't be a known one.
    pub fn encode(&self, request: u32) -> Vec<u8> {
        let w = Writer::default();
        let payload = match self {
            Self::Number(number) => w.u64(*number),
            Self::Vring(state) => w.state(*state),
            Self::Config(config) => w.config(config),
            Self::Inflight(inflight) => w.inflight(inflight),
            Self::Empty => w,
        };
        let header = Header {
            request,
            reply: true,
            need_reply: false,
            size: payload.0.len() as u32,
        };
        let mut bytes = header.to_bytes().to_vec();
        bytes.extend(payload.0);
        bytes
    }

    /// Reads the answer to a request of kind `asked`.
    ///
    /// # Errors
    /// It is no reply, or the reply to something else, or has another length than the answer to that request.
    pub fn decode(asked: RequestKind, header: Header, payload: &[u8]) -> Result<Self, DecodeError> {
        let p = Payload {
            message: asked.name(),
            bytes: payload,
            fds: Vec::new(),
        };
        if !header.reply {
            return Err(DecodeError::Direction {
                message: asked.name(),
                reply: false,
            });
        }
        if header.request != asked.number() {
            return Err(DecodeError::OtherReply {
                expected: asked.name(),
                got: header.request,
            });
        }
        p.fields(header.size as usize)?;
        match asked {
            RequestKind::GetVringBase => p.vring_state().map(Self::Vring),
            RequestKind::GetConfig | RequestKind::SetLogBase if payload.is_empty() => {
                Ok(Self::Empty)
            }
            RequestKind::GetConfig => p.config().map(Self::Config),
            RequestKind::GetInflightFd => p.inflight().map(Self::Inflight),
            _ => p.number().map(Self::Number),
        }
    }
}

#[cfg(test)]
mod tests;
