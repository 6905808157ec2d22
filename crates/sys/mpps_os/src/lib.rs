//! What rustix lacks of the kernel interface, as safe functions: signals, terminals, memory locks.
//!
//! Everything here belongs to the process as a whole (its signal handlers, its terminal, its locked memory), is set up
//! by `main` and lasts to the end. The data path never comes here.
#![expect(
    unsafe_code,
    reason = "signal handlers and terminal settings in them are beyond rustix"
)]

mod errno;
mod memory_lock;
mod poll;
pub mod signals;
pub mod terminal;

#[cfg(test)]
mod child;

pub use errno::errno_text;
pub use memory_lock::{LockError, lock_memory, lock_memory_apart_from};
pub use poll::poll_readable;
pub use signals::{Signal, Signals};
pub use terminal::is_tty;
