//! Which stream the current thread is working on, for the last words of a program that dies.

use std::cell::Cell;

/// Port and queue of the stream that a thread is visiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Port of the receive queue.
    pub port: u16,
    /// Its number.
    pub queue: u16,
}

thread_local! {
    static HERE: Cell<Option<Position>> = const { Cell::new(None) };
}

/// The stream that the calling thread is visiting, if it is a worker. A panic hook names it.
pub fn position() -> Option<Position> {
    HERE.get()
}

#[inline(always)]
pub(crate) fn enter(port: u16, queue: u16) {
    HERE.set(Some(Position { port, queue }));
}

pub(crate) fn leave() {
    HERE.set(None);
}
