//! Waits for input or for the word to stop, whichever is first. Keeps nothing; the descriptors are the caller's.

use std::io;
use std::os::fd::AsFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::session::Host;

/// Waits until `input` can be read, without one not at all. True where the wake descriptor or the host says to stop.
pub(super) fn woken<I: AsFd>(
    wake: Option<&impl AsFd>,
    input: Option<&I>,
    host: &dyn Host,
) -> io::Result<bool> {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    loop {
        if host.interrupted() {
            return Ok(true);
        }
        let mut fds = Vec::with_capacity(2);
        fds.extend(wake.map(|wake| PollFd::new(wake, PollFlags::IN)));
        fds.extend(input.map(|input| PollFd::new(input, PollFlags::IN)));
        if fds.is_empty() {
            return Ok(false);
        }
        match poll(&mut fds, input.is_none().then_some(&now)) {
            Ok(_) => return Ok(wake.is_some() && !fds[0].revents().is_empty()),
            // A signal whose handler set the host's flag, or none of ours.
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
