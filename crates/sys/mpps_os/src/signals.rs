//! SIGINT and SIGTERM as something to look at and to poll.
//!
//! The first one is noted and makes [`Signals::fd`] readable; whoever waits there ends the program in good order. The
//! second one ends it at once, with the terminal restored and the exit status a shell expects (128 + number), for the
//! case that the good order hangs. Signals within a tenth of a second are one: timeout(1) and some shells send theirs to the
//! process and then to its group. System calls are not restarted, so that waiting ones return. SIGPIPE is ignored: a
//! closed pipe is an error of the write.
//!
//! The kernel gives a signal to the main thread unless that one blocks it; a thread that waits elsewhere is woken by the
//! descriptor alone.
//!
//! ```no_run
//! use std::os::fd::AsFd;
//!
//! let signals = mpps_os::Signals::install()?;
//! let stdin = std::io::stdin();
//! let [input, _] = mpps_os::poll_readable([stdin.as_fd(), signals.fd()], None)?;
//! if let Some(signal) = signals.pending() {
//!     eprintln!("{signal}");
//! } else if input {
//!     // Read a line.
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Installed once by `main`, before it starts threads; the handlers and the descriptor stay until the process ends.

use crate::terminal;
use rustix::event::{EventfdFlags, eventfd};
use std::fmt;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// The number of the first signal, or 0.
static PENDING: AtomicI32 = AtomicI32::new(0);
/// When the first signal came, in milliseconds of the monotonic clock; 0 until then.
static FIRST_AT: AtomicU64 = AtomicU64::new(0);
/// Milliseconds within which a further signal counts as the same one.
const SAME: u64 = 100;
/// What the handler writes to. Set before the handler is installed.
static EVENT: OnceLock<OwnedFd> = OnceLock::new();

/// A signal that asks the program to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// SIGINT: Ctrl-C.
    Interrupt,
    /// SIGTERM: kill(1), a service manager.
    Terminate,
}

impl Signal {
    const ALL: [Self; 2] = [Self::Interrupt, Self::Terminate];

    /// The kernel's number.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
        }
    }
}

/// `SIGINT` or `SIGTERM`.
impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupt => "SIGINT",
            Self::Terminate => "SIGTERM",
        })
    }
}

/// The first SIGINT or SIGTERM since [`Signals::install`], from any thread.
#[must_use]
pub fn pending() -> Option<Signal> {
    // Relaxed, no partner: the number stands for itself.
    let number = PENDING.load(Ordering::Relaxed);
    Signal::ALL
        .into_iter()
        .find(|signal| signal.number() == number)
}

/// Proof that the handlers are installed.
#[derive(Debug, Clone, Copy)]
pub struct Signals {
    event: &'static OwnedFd,
}

impl Signals {
    /// Installs the handlers. Doing it again changes nothing.
    ///
    /// # Errors
    /// When the process can't have another descriptor.
    pub fn install() -> io::Result<Self> {
        if EVENT.get().is_none() {
            let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
            // Two threads at once: one descriptor stays, the other is closed.
            let _ = EVENT.set(event);
        }
        let event = EVENT
            .get()
            .ok_or_else(|| io::Error::other("no event descriptor for signals"))?;
        let handler = on_signal as extern "C" fn(libc::c_int);
        for signal in Signal::ALL {
            set_action(signal.number(), handler as libc::sighandler_t)?;
        }
        set_action(libc::SIGPIPE, libc::SIG_IGN)?;
        Ok(Self { event })
    }

    /// The first signal, if one has come.
    #[must_use]
    pub fn pending(&self) -> Option<Signal> {
        pending()
    }

    /// Readable from the first signal on, and for ever; for poll(2), not for reading.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'static> {
        self.event.as_fd()
    }
}

/// All other signals are blocked in the handler, without SA_RESTART.
fn set_action(number: i32, handler: libc::sighandler_t) -> io::Result<()> {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all zero is a valid sigaction (default handler, no flags), and sigfillset fills the mask inside it.
    let action = unsafe {
        libc::sigfillset(&raw mut (*action.as_mut_ptr()).sa_mask);
        action.assume_init_mut()
    };
    action.sa_sigaction = handler;
    // SAFETY: the handler is `on_signal`, which is async-signal-safe, or SIG_IGN.
    if unsafe { libc::sigaction(number, action, std::ptr::null_mut()) } == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Milliseconds of the monotonic clock; clock_gettime(2) is async-signal-safe.
fn now() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: writes to a local; this clock always exists.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1000 + time.tv_nsec as u64 / 1_000_000
}

/// Async-signal-safe: atomics, clock_gettime(2), write(2), tcsetattr(3), _exit(2); errno is left as the interrupted code
/// had it.
extern "C" fn on_signal(number: libc::c_int) {
    // Relaxed, no partner: the exchange alone decides which signal was first.
    if PENDING
        .compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed)
        .is_err()
    {
        // Relaxed, no partner: zero means that another thread is between its exchange and its store, so just now.
        let first = FIRST_AT.load(Ordering::Relaxed);
        if first == 0 || now().saturating_sub(first) < SAME {
            return;
        }
        terminal::restore();
        // SAFETY: ends the process without running anything of it.
        unsafe { libc::_exit(128 + number) };
    }
    // Relaxed, no partner: a lone number.
    FIRST_AT.store(now(), Ordering::Relaxed);
    if let Some(event) = EVENT.get() {
        let one = 1_u64;
        // SAFETY: eight bytes from a local to a descriptor that is never closed; errno belongs to this thread. The write
        // can't fail: nobody else writes, so the count is far from its end.
        unsafe {
            let errno = *libc::__errno_location();
            libc::write(
                event.as_raw_fd(),
                (&raw const one).cast(),
                size_of_val(&one),
            );
            *libc::__errno_location() = errno;
        }
    }
}

#[cfg(test)]
mod tests;
