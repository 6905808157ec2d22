//! Putting messages together from what a socket gives, without waiting.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use mpps_os::unix_socket::{Link, LinkError};
use mpps_vhost_proto::{DecodeError, HEADER_LEN, Header, MAX_FDS};

/// How long a front end may take from the first byte of a message to the last.
const PATIENCE: Duration = Duration::from_secs(2);

/// A message that is whole.
pub(crate) struct Envelope {
    pub(crate) header: Header,
    pub(crate) payload: Vec<u8>,
    pub(crate) fds: Vec<OwnedFd>,
}

/// Why no further message can come.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InboxError {
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Header(#[from] DecodeError),
    #[error("more than {MAX_FDS} file descriptors came with a message")]
    Fds,
}

/// The message that is under way. Descriptors that came with it are closed when it is dropped.
#[derive(Default)]
pub(crate) struct Inbox {
    head: Vec<u8>,
    header: Option<Header>,
    payload: Vec<u8>,
    fds: Vec<OwnedFd>,
    since: Option<Instant>,
}

impl Inbox {
    /// How long to wait for the rest of a message; none where none is under way.
    pub(crate) fn patience(&self) -> Option<Duration> {
        self.since
            .map(|since| PATIENCE.saturating_sub(since.elapsed()))
    }

    /// Reads what is there; a message when it is whole.
    pub(crate) fn pump(&mut self, link: &Link) -> Result<Option<Envelope>, InboxError> {
        if self.patience() == Some(Duration::ZERO) {
            return Err(LinkError::Deadline.into());
        }
        let header = match self.header {
            Some(header) => header,
            None => {
                if !fill(&mut self.head, HEADER_LEN, link, &mut self.fds)? {
                    return self.partial();
                }
                let header = Header::parse(self.head.first_chunk().copied().unwrap_or_default())?;
                *self.header.insert(header)
            }
        };
        let whole = fill(&mut self.payload, header.size as usize, link, &mut self.fds);
        if !whole.map_err(|error| self.inside(error))? {
            return self.partial();
        }
        self.fd_count()?;
        let done = std::mem::take(self);
        Ok(Some(Envelope {
            header,
            payload: done.payload,
            fds: done.fds,
        }))
    }

    fn partial(&mut self) -> Result<Option<Envelope>, InboxError> {
        self.fd_count()?;
        if self.since.is_none() && !self.head.is_empty() {
            self.since = Some(Instant::now());
        }
        Ok(None)
    }

    fn fd_count(&self) -> Result<(), InboxError> {
        if self.fds.len() > MAX_FDS {
            return Err(InboxError::Fds);
        }
        Ok(())
    }

    /// The end of a connection behind a header isn't an orderly one.
    fn inside(&self, error: LinkError) -> LinkError {
        match error {
            LinkError::Closed => LinkError::Short {
                got: self.head.len() + self.payload.len(),
                want: self.head.len() + self.header.map_or(0, |header| header.size as usize),
            },
            other => other,
        }
    }
}

/// Reads until `bytes` has `want` of them; whether it has.
fn fill(
    bytes: &mut Vec<u8>,
    want: usize,
    link: &Link,
    fds: &mut Vec<OwnedFd>,
) -> Result<bool, LinkError> {
    while bytes.len() < want {
        let (got, mut piece) = (bytes.len(), vec![0; want - bytes.len()]);
        match link.try_recv(&mut piece, fds) {
            Ok(Some(n)) => bytes.extend(piece.iter().take(n)),
            Ok(None) => return Ok(false),
            Err(LinkError::Closed) if got > 0 => return Err(LinkError::Short { got, want }),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}
