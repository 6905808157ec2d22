//! Event counters of the kernel (`eventfd(2)`): how a ring's driver is told, and how a sleeping thread is woken.
//!
//! An [`EventFd`] is owned by whoever made or received it, and shared with another process; a [`Waker`] is shared between a
//! thread that sleeps in poll(2) and those that wake it, and lasts as long as any of them.
//!
//! Whether a counter blocks is a property of the open file, which all processes that have it share: one that two processes
//! have may be made blocking, and filled, by either of them at any time, also between a look and a write of the other. So
//! nothing is ever written to an [`EventFd`]: the kernel adds to it, when a request of asynchronous I/O completes
//! ([`completion`]).

mod completion;

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

pub use completion::signalling_trouble;

fn counter() -> io::Result<OwnedFd> {
    Ok(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)
}

/// An event counter that another process has, too, or is about to get.
#[derive(Debug)]
pub struct EventFd(OwnedFd);

impl EventFd {
    /// A new one, at zero, non-blocking.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        counter().map(Self)
    }

    /// One that another process sent.
    ///
    /// # Errors
    /// It is something else than an event counter.
    pub fn from_peer(fd: OwnedFd) -> io::Result<Self> {
        let link = Path::new("/proc/self/fd").join(fd.as_raw_fd().to_string());
        // Without /proc nobody can tell what it is; then it is taken for what it should be.
        if let Ok(target) = fs::read_link(link)
            && target != Path::new("anon_inode:[eventfd]")
        {
            let what = format!("a descriptor of {}, no eventfd", target.display());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
        }
        Ok(Self(fd))
    }

    /// Adds one, and never waits, whatever another process does to the counter. Returns whether that could be done; a counter
    /// at its limit is signalled already and counts as done.
    ///
    /// Where the kernel has no asynchronous I/O ([`signalling_trouble`]), the counter is made non-blocking and written; a
    /// process that makes it blocking again and fills it in between stops the caller.
    pub fn signal(&self) -> bool {
        match completion::context() {
            Some(context) => context.add_one(self.0.as_fd()).is_ok(),
            None => self.unblock().is_ok() && write_one(&self.0),
        }
    }

    fn unblock(&self) -> Result<(), Errno> {
        let flags = fcntl_getfl(&self.0)?;
        if flags.contains(OFlags::NONBLOCK) {
            return Ok(());
        }
        fcntl_setfl(&self.0, flags | OFlags::NONBLOCK)
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Adds one to a counter that doesn't block; one at its limit is signalled already.
fn write_one(fd: &OwnedFd) -> bool {
    loop {
        match rustix::io::write(fd, &1_u64.to_ne_bytes()) {
            Ok(_) | Err(Errno::AGAIN) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// Wakes a thread that sleeps in poll(2) on this descriptor. What is woken stays awake until [`Waker::reset`]. No other
/// process has it.
#[derive(Clone, Debug)]
pub struct Waker(Arc<OwnedFd>);

impl Waker {
    /// A new one, not woken.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        counter().map(|fd| Self(Arc::new(fd)))
    }

    /// Wakes whoever sleeps, now or when it next does.
    pub fn wake(&self) {
        write_one(&self.0);
    }

    /// Lets the thread sleep again; whether it had been woken.
    pub fn reset(&self) -> bool {
        let mut count = [0; 8];
        loop {
            match rustix::io::read(&self.0, &mut count) {
                Ok(n) => return n > 0,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests;
