//! The messages of one connection: each request with its deadline, its acknowledgement and its answer.
//!
//! Made by the control thread for each [`Link`] it gets; ends with the first thing that goes wrong, since after that the
//! two sides may no longer agree on where a message begins.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use mpps_os::Waker;
use mpps_os::unix_socket::{Link, LinkError};
use mpps_vhost_proto::{
    DecodeError, DeviceStatus, F_PROTOCOL_FEATURES, HEADER_LEN, Header, ProtocolFeatures, Reply,
    Request, RequestKind, VringState,
};

/// Extensions of the protocol that this front end has a use for.
const WANTED: ProtocolFeatures = ProtocolFeatures::MQ
    .union(ProtocolFeatures::REPLY_ACK)
    .union(ProtocolFeatures::STATUS);

/// How long a back end may take for an answer. It maps, and perhaps fills, all memory that it is lent in that time.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// How long a back end may take to read; the socket holds all messages of a start, so that a good one is never waited for.
const SEND_PATIENCE: Duration = Duration::from_millis(250);

/// A request with borrowed descriptors, as it is sent.
pub(crate) type Outgoing<'a> = Request<BorrowedFd<'a>>;

/// Why a connection can't go on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    /// Sending or receiving.
    #[error("{during}: {source}")]
    Link {
        during: RequestKind,
        source: LinkError,
    },
    /// The answer makes no sense.
    #[error("bad answer to {0}")]
    Decode(#[from] DecodeError),
    /// The back end said no.
    #[error("the back end refuses {request} with {answer}")]
    Refused { request: RequestKind, answer: u64 },
    /// An answer of the right form with a wrong content.
    #[error("bad answer to {request}: {what}")]
    Answer { request: RequestKind, what: String },
}

impl SessionError {
    /// Whether the peer just went, rather than did something wrong.
    pub(crate) fn is_departure(&self) -> bool {
        matches!(
            self,
            Self::Link {
                source: LinkError::Closed | LinkError::Woken,
                ..
            }
        )
    }

    /// Whether the wait for an answer was ended from this side.
    pub(crate) fn is_hurry(&self) -> bool {
        matches!(
            self,
            Self::Link {
                source: LinkError::Woken,
                ..
            }
        )
    }
}

/// What the back end can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// Virtio feature bits, without the one that stands for protocol features.
    pub(crate) features: u64,
    /// Queue pairs.
    pub(crate) pairs: u64,
}

/// A connection to a back end.
pub(crate) struct Session {
    link: Link,
    /// Woken to end a wait for an answer.
    hurry: Waker,
    patience: Duration,
    /// Protocol features in use; none where the back end doesn't know of any.
    protocol: Option<ProtocolFeatures>,
}

impl Session {
    pub(crate) fn new(link: Link, hurry: Waker, patience: Duration) -> Self {
        Self {
            link,
            hurry,
            patience,
            protocol: None,
        }
    }

    /// Claims the back end and asks what it can do.
    pub(crate) fn greet(&mut self) -> Result<Offer, SessionError> {
        self.tell(&Request::SetOwner)?;
        let features = self.ask_number(&Request::GetFeatures)?;
        let mut pairs = 1;
        if features & F_PROTOCOL_FEATURES != 0 {
            let have = self.ask_number(&Request::GetProtocolFeatures)?;
            let use_both = ProtocolFeatures::from_bits_retain(have) & WANTED;
            self.tell(&Request::SetProtocolFeatures(use_both))?;
            self.protocol = Some(use_both);
            if use_both.contains(ProtocolFeatures::MQ) {
                pairs = self.ask_number(&Request::GetQueueNum)?;
            }
        }
        Ok(Offer {
            features: features & !F_PROTOCOL_FEATURES,
            pairs,
        })
    }

    /// Whether both sides have this extension.
    pub(crate) fn has(&self, extension: ProtocolFeatures) -> bool {
        self.protocol
            .is_some_and(|protocol| protocol.contains(extension))
    }

    /// Tells the negotiated features.
    pub(crate) fn set_features(&mut self, features: u64) -> Result<(), SessionError> {
        let protocol = if self.protocol.is_some() {
            F_PROTOCOL_FEATURES
        } else {
            0
        };
        self.tell(&Request::SetFeatures(features | protocol))
    }

    /// Tells how far the driver is, where the back end cares.
    pub(crate) fn set_status(&mut self, status: DeviceStatus) -> Result<(), SessionError> {
        if self.has(ProtocolFeatures::STATUS) {
            self.tell(&Request::SetStatus(status))?;
        }
        Ok(())
    }

    /// Whether the back end accepts the features; true where it isn't asked.
    pub(crate) fn accepts_features(&mut self) -> Result<bool, SessionError> {
        if !self.has(ProtocolFeatures::STATUS) {
            return Ok(true);
        }
        let status = self.ask_number(&Request::GetStatus)?;
        Ok(status & u64::from(DeviceStatus::FEATURES_OK.bits()) != 0)
    }

    /// Switches a ring on or off. A back end without protocol features has rings that are always on.
    pub(crate) fn enable(&mut self, index: u32, on: bool) -> Result<(), SessionError> {
        if self.protocol.is_none() {
            return Ok(());
        }
        let num = u32::from(on);
        self.tell(&Request::SetVringEnable(VringState { index, num }))
    }

    /// Stops a ring; where it stopped.
    pub(crate) fn stop_ring(&mut self, index: u32) -> Result<u32, SessionError> {
        let request = Request::GetVringBase(VringState { index, num: 0 });
        match self.ask(&request)? {
            Reply::Vring(state) if state.index == index => Ok(state.num),
            Reply::Vring(state) => Err(self.wrong(
                &request,
                format!("ring {} in place of {index}", state.index),
            )),
            other => Err(self.wrong(&request, format!("{other:?}"))),
        }
    }

    /// Waits until all that was told is done. Where nothing is acknowledged, a question is: it is answered in its turn.
    pub(crate) fn sync(&mut self) -> Result<(), SessionError> {
        if !self.has(ProtocolFeatures::REPLY_ACK) {
            self.ask_number(&Request::GetFeatures)?;
        }
        Ok(())
    }

    /// Sends a request that has no answer of its own, and takes its acknowledgement where there are any.
    pub(crate) fn tell(&mut self, request: &Outgoing<'_>) -> Result<(), SessionError> {
        let acknowledged = self.has(ProtocolFeatures::REPLY_ACK);
        self.send(request, acknowledged)?;
        if !acknowledged {
            return Ok(());
        }
        match self.receive(request.kind())? {
            Reply::Number(0) => Ok(()),
            Reply::Number(answer) => Err(SessionError::Refused {
                request: request.kind(),
                answer,
            }),
            other => Err(self.wrong(request, format!("{other:?}"))),
        }
    }

    /// Sends a request that has an answer, and gives that.
    fn ask(&mut self, request: &Outgoing<'_>) -> Result<Reply, SessionError> {
        self.send(request, false)?;
        self.receive(request.kind())
    }

    fn ask_number(&mut self, request: &Outgoing<'_>) -> Result<u64, SessionError> {
        match self.ask(request)? {
            Reply::Number(number) => Ok(number),
            other => Err(self.wrong(request, format!("{other:?}"))),
        }
    }

    fn wrong(&self, request: &Outgoing<'_>, what: String) -> SessionError {
        SessionError::Answer {
            request: request.kind(),
            what,
        }
    }

    fn send(&self, request: &Outgoing<'_>, need_reply: bool) -> Result<(), SessionError> {
        let message = request.encode(need_reply);
        let deadline = Instant::now() + self.patience.min(SEND_PATIENCE);
        self.link
            .send(&message.bytes, &message.fds, deadline)
            .map_err(|source| during(request.kind(), source))
    }

    fn receive(&self, asked: RequestKind) -> Result<Reply, SessionError> {
        let deadline = Instant::now() + self.patience;
        let mut fds = Vec::new();
        let mut take = |bytes: &mut [u8]| {
            self.link
                .recv(bytes, &mut fds, deadline, Some(self.hurry.as_fd()))
                .map_err(|source| during(asked, source))
        };
        let mut header = [0; HEADER_LEN];
        take(&mut header)?;
        let header = Header::parse(header)?;
        // The header's size has passed the check against the longest payload.
        let mut payload = vec![0; header.size as usize];
        take(&mut payload)?;
        Ok(Reply::decode(asked, header, &payload)?)
    }

    /// What it means that the socket became readable although nothing was asked.
    pub(crate) fn unasked(&self) -> Option<Unasked> {
        let mut byte = [0];
        match self.link.try_recv(&mut byte, &mut Vec::new()) {
            Ok(None) => None,
            Ok(Some(_)) => Some(Unasked::Message),
            Err(LinkError::Closed) => Some(Unasked::Gone),
            Err(error) => Some(Unasked::Error(error)),
        }
    }
}

impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.link.as_fd()
    }
}

/// What came over a connection on which nothing was asked.
#[derive(Debug)]
pub(crate) enum Unasked {
    /// The back end went.
    Gone,
    /// Bytes that nobody asked for.
    Message,
    /// Something else is wrong.
    Error(LinkError),
}

fn during(during: RequestKind, source: LinkError) -> SessionError {
    SessionError::Link { during, source }
}

#[cfg(test)]
mod tests;
