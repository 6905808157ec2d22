//! Event counters of the kernel (`eventfd(2)`): how a ring's driver is told, and how a sleeping thread is woken.
//!
//! An [`EventFd`] is owned by whoever made or received it; a [`Waker`] is shared between a thread that sleeps in poll(2) and
//! those that wake it, and lasts as long as any of them.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::sync::Arc;

use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// An event counter, non-blocking.
#[derive(Debug)]
pub struct EventFd {
    fd: OwnedFd,
    /// Another process has it too, and with it the say whether it blocks.
    foreign: bool,
}

impl EventFd {
    /// A new one, at zero.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            fd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?,
            foreign: false,
        })
    }

    /// One that another process sent. It is made non-blocking, also for that process, since a counter at its limit would
    /// else stop whoever signals.
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
        let event = Self { fd, foreign: true };
        event.unblock()?;
        Ok(event)
    }

    fn unblock(&self) -> Result<(), Errno> {
        let flags = fcntl_getfl(&self.fd)?;
        if flags.contains(OFlags::NONBLOCK) {
            return Ok(());
        }
        fcntl_setfl(&self.fd, flags | OFlags::NONBLOCK)
    }

    /// Adds one. Returns whether it could be written; a counter at its limit is signalled already and counts as written.
    ///
    /// Another process may have made its counter blocking again and filled it; so that is looked at each time. One that does so
    /// between the look and the write still stops the caller, until it drains the counter or makes it non-blocking.
    pub fn signal(&self) -> bool {
        if self.foreign && self.unblock().is_err() {
            return false;
        }
        loop {
            match rustix::io::write(&self.fd, &1_u64.to_ne_bytes()) {
                Ok(_) | Err(Errno::AGAIN) => return true,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Takes all that was added back to zero; whether there was anything.
    pub fn drain(&self) -> bool {
        let mut count = [0; 8];
        loop {
            match rustix::io::read(&self.fd, &mut count) {
                Ok(n) => return n > 0,
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Wakes a thread that sleeps in poll(2) on this descriptor. What is woken stays awake until [`Waker::reset`].
#[derive(Clone, Debug)]
pub struct Waker(Arc<EventFd>);

impl Waker {
    /// A new one, not woken.
    ///
    /// # Errors
    /// No descriptor is left.
    pub fn new() -> io::Result<Self> {
        EventFd::new().map(|event| Self(Arc::new(event)))
    }

    /// Wakes whoever sleeps, now or when it next does.
    pub fn wake(&self) {
        self.0.signal();
    }

    /// Lets the thread sleep again; whether it had been woken.
    pub fn reset(&self) -> bool {
        self.0.drain()
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests;
