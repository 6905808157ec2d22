//! What rustix lacks of the kernel interface, as safe functions: signals, terminals, memory locks, sockets that carry
//! descriptors.
//!
//! Signal handlers, terminal and locked memory belong to the process as a whole, are set up by `main` and last to the
//! end; [`unix_socket`] and event descriptors belong to the control threads of ports that have a peer. The data path comes
//! here only to signal an [`EventFd`].
#![expect(
    unsafe_code,
    reason = "signal handlers, terminal settings in them and asynchronous I/O are beyond rustix"
)]

mod errno;
mod eventfd;
mod memory_lock;
mod poll;
pub mod signals;
pub mod terminal;
pub mod unix_socket;

#[cfg(test)]
mod child;

pub use errno::errno_text;
pub use eventfd::{EventFd, Waker, signalling_trouble};
pub use memory_lock::{LockError, lock_memory, lock_memory_apart_from};
pub use poll::poll_readable;
pub use signals::{Signal, Signals};
pub use terminal::is_tty;
