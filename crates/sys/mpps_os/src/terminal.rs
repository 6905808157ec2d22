//! The terminal's settings, and how they come back when the program doesn't end in the ordinary way.
//!
//! Whoever reads lines with a raw terminal restores it itself. [`remember`] is for the ends it doesn't see: the second
//! SIGINT (the handler in [`signals`](crate::signals) calls [`restore`]) and a panic (`main`'s panic hook does).

use std::io::{self, IsTerminal};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::sync::OnceLock;

static REMEMBERED: OnceLock<(RawFd, libc::termios)> = OnceLock::new();

/// Whether the descriptor is a terminal.
#[must_use]
pub fn is_tty(fd: impl AsFd) -> bool {
    fd.as_fd().is_terminal()
}

/// Keeps the settings that the terminal has now, for [`restore`]. To be called once, before anything makes it raw and
/// before the signal handlers are likely to run; the first call counts. Does nothing for what isn't a terminal. The
/// descriptor should stay open to the end, as standard input does.
///
/// # Errors
/// When the terminal doesn't tell its settings.
pub fn remember(fd: impl AsFd) -> io::Result<()> {
    if !is_tty(&fd) {
        return Ok(());
    }
    let fd = fd.as_fd().as_raw_fd();
    let mut settings = MaybeUninit::uninit();
    // SAFETY: the descriptor is open, and the kernel fills the settings or reports an error.
    if unsafe { libc::tcgetattr(fd, settings.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: filled, as no error was reported.
    REMEMBERED.get_or_init(|| (fd, unsafe { settings.assume_init() }));
    Ok(())
}

/// Gives the terminal the remembered settings back, if there are any. Async-signal-safe: nothing is locked or
/// allocated. From a background process without SIGTTOU blocked it would stop the process; the signal handler blocks it.
pub fn restore() {
    // A look at a OnceLock is one atomic load.
    if let Some((fd, settings)) = REMEMBERED.get() {
        // SAFETY: reads the settings, which are never changed again; a closed descriptor is merely refused. There is
        // nobody to tell of a refusal.
        unsafe { libc::tcsetattr(*fd, libc::TCSANOW, settings) };
    }
}

#[cfg(test)]
mod tests;
