//! Waiting until something can be read, asleep.

use crate::signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

/// Waits until one of `fds` can be read without blocking, hung up ones included, or the time is over (`None`: for
/// ever); says which. All false: the time is over, or SIGINT or SIGTERM is [pending](signals::pending). A signal that
/// was pending at the call doesn't end the wait by itself: pass [`Signals::fd`](crate::Signals::fd) among the
/// descriptors for that.
///
/// # Errors
/// What the kernel says of the descriptors.
pub fn poll_readable<const N: usize>(
    fds: [BorrowedFd<'_>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polled = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    // A time too long to add is as good as none.
    let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let pending_before = signals::pending();
    loop {
        // A signal that came meanwhile ends the wait, but not before a last look: its descriptor has become readable.
        let left = if signals::pending() == pending_before {
            deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
        } else {
            Some(Duration::ZERO)
        };
        let left = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut polled, left.as_ref()) {
            Ok(_) => return Ok(polled.map(|fd| !fd.revents().is_empty())),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests;
