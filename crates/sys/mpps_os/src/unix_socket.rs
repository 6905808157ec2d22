//! UNIX stream sockets that carry messages with file descriptors, never blocking for longer than a deadline.
//!
//! A port that has a peer owns an [`Endpoint`], which listens at a path or connects to it and gives one connected [`Link`]
//! after another to the port's control thread. A [`Listener`] owns its socket file: a file that nobody answers at is
//! replaced, and the file is removed with the listener unless another process has replaced it.

mod endpoint;
mod link;
mod listener;

use std::io;
use std::path::{Path, PathBuf};

use rustix::net::SocketAddrUnix;

pub use endpoint::Endpoint;
pub use link::{FDS_AT_ONCE, Link, LinkError};
pub use listener::Listener;

/// The longest path of a socket, in bytes.
pub const PATH_MAX: usize = 107;

/// Why a socket can't be had at a path.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// The address of a socket holds no more.
    #[error(
        "socket path \"{}\" has {} bytes; at most {PATH_MAX} would be right",
        .path.display(),
        .path.as_os_str().len()
    )]
    TooLong {
        /// The path.
        path: PathBuf,
    },
    /// Somebody listens there.
    #[error("socket \"{}\" is in use: another process listens at it", .path.display())]
    InUse {
        /// The path.
        path: PathBuf,
    },
    /// There is a file that isn't a socket.
    #[error("\"{}\" is there and is no socket; it is left alone", .path.display())]
    NotASocket {
        /// The path.
        path: PathBuf,
    },
    /// The system refuses.
    #[error("socket \"{}\": {what}: {source}", .path.display())]
    System {
        /// The path.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// Why not.
        source: io::Error,
    },
}

impl SocketError {
    fn system(path: &Path, what: &'static str, source: impl Into<io::Error>) -> Self {
        Self::System {
            path: path.to_owned(),
            what,
            source: source.into(),
        }
    }

    /// Whether nobody is at the path now but somebody may come.
    pub fn is_nobody_there(&self) -> bool {
        let Self::System { source, .. } = self else {
            return false;
        };
        matches!(
            source.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::WouldBlock
        )
    }
}

fn address(path: &Path) -> Result<SocketAddrUnix, SocketError> {
    if path.as_os_str().len() > PATH_MAX {
        return Err(SocketError::TooLong {
            path: path.to_owned(),
        });
    }
    SocketAddrUnix::new(path).map_err(|errno| SocketError::system(path, "bad path", errno))
}

#[cfg(test)]
mod tests;
