//! One connection: bytes with file descriptors, by deadline.

use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType, connect,
    recvmsg, sendmsg, socket_with, socketpair,
};

use super::{SocketError, address};

/// The most descriptors that can come with one piece of a stream, or with all pieces of a message; more are an error.
pub const FDS_AT_ONCE: usize = 32;

/// The most descriptors that are sent with a message.
const FDS_TO_SEND: usize = 8;

/// Why a connection can't go on.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The peer has closed it.
    #[error("the peer closed the connection")]
    Closed,
    /// The peer has closed it inside a message.
    #[error("the peer closed the connection after {got} of {want} bytes of a message")]
    Short {
        /// Bytes that came.
        got: usize,
        /// Bytes that belong together.
        want: usize,
    },
    /// Descriptors were lost on the way, or refused: more than anyone sends, or none are left here.
    #[error("descriptors of a message were cut off")]
    FdsCut,
    /// The time is over.
    #[error("the peer took too long")]
    Deadline,
    /// Somebody asked to stop waiting.
    #[error("the wait was ended")]
    Woken,
    /// What the system says.
    #[error("{0}")]
    System(#[from] io::Error),
}

impl From<Errno> for LinkError {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::CONNRESET | Errno::PIPE => Self::Closed,
            errno => Self::System(errno.into()),
        }
    }
}

/// A connected socket. Closed by being dropped.
#[derive(Debug)]
pub struct Link(OwnedFd);

impl Link {
    pub(super) fn of(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Connects to whoever listens at `path`, at once or not at all.
    ///
    /// # Errors
    /// Nobody listens ([`SocketError::is_nobody_there`]), the path is too long, or what the system says.
    pub fn connect(path: &Path) -> Result<Self, SocketError> {
        let at = address(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(|errno| SocketError::system(path, "no socket", errno))?;
        connect(&fd, &at).map_err(|errno| SocketError::system(path, "can't connect", errno))?;
        Ok(Self(fd))
    }

    /// Two ends of a connection inside the process.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> io::Result<(Self, Self)> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let (a, b) = socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        Ok((Self(a), Self(b)))
    }

    /// A stream socket that came as a descriptor. It is used without blocking, whatever its mode is.
    pub fn from_fd(fd: OwnedFd) -> Self {
        Self(fd)
    }

    /// Sends all of `bytes`; `fds`, at most 8, go with the first of them.
    ///
    /// # Errors
    /// The peer is gone or takes nothing until the deadline.
    pub fn send(
        &self,
        mut bytes: &[u8],
        mut fds: &[BorrowedFd<'_>],
        deadline: Instant,
    ) -> Result<(), LinkError> {
        while !bytes.is_empty() {
            match self.send_some(bytes, fds) {
                Ok(n) => {
                    bytes = bytes.get(n..).unwrap_or_default();
                    fds = &[];
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => self.wait(PollFlags::OUT, deadline, None)?,
                Err(errno) => return Err(errno.into()),
            }
        }
        Ok(())
    }

    fn send_some(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<usize, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_TO_SEND))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if fds.len() > FDS_TO_SEND {
            return Err(Errno::TOOBIG);
        }
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(Errno::TOOBIG);
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        sendmsg(&self.0, &[IoSlice::new(bytes)], &mut control, flags)
    }

    /// Receives what is there, at most `bytes.len()`, and appends the descriptors that came along, closed on exec. Doesn't
    /// wait: `None` when nothing is there yet.
    ///
    /// # Errors
    /// The peer has closed the connection, or descriptors were cut off (those that came are closed), or there are more than
    /// [`FDS_AT_ONCE`] with those of pieces before: a peer that sends some with each byte would take all that the process
    /// can have.
    pub fn try_recv(
        &self,
        bytes: &mut [u8],
        fds: &mut Vec<OwnedFd>,
    ) -> Result<Option<usize>, LinkError> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(FDS_AT_ONCE))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let got = match recvmsg(&self.0, &mut [IoSliceMut::new(bytes)], &mut control, flags) {
            Ok(got) => got,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(None),
            Err(errno) => return Err(errno.into()),
        };
        let before = fds.len();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(rights) = message {
                fds.extend(rights);
            }
        }
        if got.flags.contains(ReturnFlags::CTRUNC) || fds.len() > FDS_AT_ONCE {
            fds.truncate(before);
            return Err(LinkError::FdsCut);
        }
        if got.bytes == 0 && !bytes.is_empty() {
            return Err(LinkError::Closed);
        }
        Ok(Some(got.bytes))
    }

    /// Receives exactly `bytes.len()` bytes and appends the descriptors that came along.
    ///
    /// # Errors
    /// The peer is gone or too slow, `wake` became readable ([`LinkError::Woken`]), or descriptors were cut off.
    pub fn recv(
        &self,
        bytes: &mut [u8],
        fds: &mut Vec<OwnedFd>,
        deadline: Instant,
        wake: Option<BorrowedFd<'_>>,
    ) -> Result<(), LinkError> {
        let want = bytes.len();
        let mut got = 0;
        while let Some(rest) = bytes.get_mut(got..).filter(|rest| !rest.is_empty()) {
            match self.try_recv(rest, fds) {
                Ok(Some(n)) => got += n,
                Ok(None) => self.wait(PollFlags::IN, deadline, wake)?,
                Err(LinkError::Closed) if got > 0 => return Err(LinkError::Short { got, want }),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wait(
        &self,
        what: PollFlags,
        deadline: Instant,
        wake: Option<BorrowedFd<'_>>,
    ) -> Result<(), LinkError> {
        let left = deadline.saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Err(LinkError::Deadline);
        }
        let left = Timespec::try_from(left).ok();
        let own = PollFd::new(&self.0, what);
        let woken = match wake {
            Some(wake) => {
                let mut both = [own, PollFd::from_borrowed_fd(wake, PollFlags::IN)];
                poll(&mut both, left.as_ref()).map(|_| !both[1].revents().is_empty())
            }
            None => poll(&mut [own], left.as_ref()).map(|_| false),
        };
        match woken {
            Ok(true) => Err(LinkError::Woken),
            Ok(false) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
