//! A socket file that others connect to.

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, accept_with, bind, listen, socket_with};

use super::{Link, SocketError, address};

/// Connections that wait to be accepted.
const BACKLOG: i32 = 8;

/// Listens at a path. Dropping it removes the socket file if it is still the one that was made.
#[derive(Debug)]
pub struct Listener {
    fd: OwnedFd,
    path: PathBuf,
    /// Device and inode of the socket file.
    file: Option<(u64, u64)>,
}

impl Listener {
    /// Listens at `path`; a socket file that nobody answers at is replaced.
    ///
    /// # Errors
    /// Somebody listens there, the file is no socket, the path is too long, or what the system says.
    pub fn bind(path: &Path) -> Result<Self, SocketError> {
        let at = address(path)?;
        remove_stale(path)?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let fd = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
            .map_err(|errno| SocketError::system(path, "no socket", errno))?;
        bind(&fd, &at).map_err(|errno| match errno {
            Errno::ADDRINUSE => SocketError::InUse {
                path: path.to_owned(),
            },
            errno => SocketError::system(path, "can't be made", errno),
        })?;
        let listener = Self {
            fd,
            file: identity(path),
            path: path.to_owned(),
        };
        listen(&listener.fd, BACKLOG)
            .map_err(|errno| SocketError::system(path, "can't listen", errno))?;
        Ok(listener)
    }

    /// The next connection that waits, if one does.
    ///
    /// # Errors
    /// What the system says; no descriptors left, for one. The listener goes on.
    pub fn accept(&self) -> io::Result<Option<Link>> {
        match accept_with(&self.fd, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
            Ok(fd) => Ok(Some(Link::of(fd))),
            Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where it listens.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if self.file.is_some() && identity(&self.path) == self.file {
            // Whoever removed it first did what was wanted.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let file = fs::symlink_metadata(path).ok()?;
    Some((file.dev(), file.ino()))
}

/// Removes a socket file whose process is gone.
fn remove_stale(path: &Path) -> Result<(), SocketError> {
    let Ok(file) = fs::symlink_metadata(path) else {
        // Either nothing is there or binding will say what is wrong.
        return Ok(());
    };
    if !file.file_type().is_socket() {
        return Err(SocketError::NotASocket {
            path: path.to_owned(),
        });
    }
    match Link::connect(path) {
        Err(SocketError::System { source, .. })
            if source.kind() == io::ErrorKind::ConnectionRefused =>
        {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SocketError::system(
                    path,
                    "a stale file that can't be removed",
                    error,
                )),
                _ => Ok(()),
            }
        }
        Err(SocketError::System { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(())
        }
        Ok(_) => Err(SocketError::InUse {
            path: path.to_owned(),
        }),
        Err(SocketError::System { source, .. }) if source.kind() == io::ErrorKind::WouldBlock => {
            Err(SocketError::InUse {
                path: path.to_owned(),
            })
        }
        Err(other) => Err(other),
    }
}
