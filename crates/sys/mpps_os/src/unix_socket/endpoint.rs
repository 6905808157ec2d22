//! Where a port meets its peers, one after another.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Link, Listener, SocketError, address};
use crate::{Waker, poll_readable};

/// How long to wait before the next try to connect.
const RETRY: Duration = Duration::from_millis(20);
// A peer that starts is to be met at once.
const _: () = assert!(RETRY.as_millis() <= 50);

/// Listens at a path or connects to it. A second peer that connects while one is served waits in the listener's queue.
#[derive(Debug)]
pub struct Endpoint {
    side: Side,
    /// The last trouble told, so that it is told once.
    told: Option<String>,
}

#[derive(Debug)]
enum Side {
    Listens(Listener),
    Connects(PathBuf),
}

impl Endpoint {
    /// Listens at `path`.
    ///
    /// # Errors
    /// As [`Listener::bind`].
    pub fn listen(path: &Path) -> Result<Self, SocketError> {
        Listener::bind(path).map(|listener| Self::of(Side::Listens(listener)))
    }

    /// Connects to `path`, over and over until somebody listens there.
    ///
    /// # Errors
    /// The path is too long.
    pub fn connect(path: &Path) -> Result<Self, SocketError> {
        address(path)?;
        Ok(Self::of(Side::Connects(path.to_owned())))
    }

    const fn of(side: Side) -> Self {
        Self { side, told: None }
    }

    /// Whether it listens.
    pub const fn listens(&self) -> bool {
        matches!(self.side, Side::Listens(_))
    }

    /// Waits, asleep, for the next peer; none when `waker` was woken, which stays so. What keeps peers from coming, other
    /// than that nobody is there, is handed to `trouble`, each kind once.
    pub fn next(&mut self, waker: &Waker, trouble: &mut dyn FnMut(&SocketError)) -> Option<Link> {
        loop {
            match self.try_next() {
                Ok(Some(link)) => {
                    self.told = None;
                    return Some(link);
                }
                Ok(None) => {}
                Err(error) => self.tell(&error, trouble),
            }
            if self.woken(waker) {
                return None;
            }
        }
    }

    fn try_next(&self) -> Result<Option<Link>, SocketError> {
        match &self.side {
            Side::Listens(listener) => listener
                .accept()
                .map_err(|error| SocketError::system(listener.path(), "can't accept", error)),
            Side::Connects(path) => match Link::connect(path) {
                Ok(link) => Ok(Some(link)),
                Err(error) if error.is_nobody_there() => Ok(None),
                Err(error) => Err(error),
            },
        }
    }

    fn tell(&mut self, error: &SocketError, trouble: &mut dyn FnMut(&SocketError)) {
        let line = error.to_string();
        if self.told.as_ref() != Some(&line) {
            trouble(error);
            self.told = Some(line);
        }
    }

    fn woken(&self, waker: &Waker) -> bool {
        let answer = match &self.side {
            // After trouble with accepting, the connection that waits must not make this a busy loop.
            Side::Listens(listener) if self.told.is_none() => {
                poll_readable([waker.as_fd(), listener.as_fd()], None).map(|[woken, _]| woken)
            }
            _ => poll_readable([waker.as_fd()], Some(RETRY)).map(|[woken]| woken),
        };
        answer.unwrap_or_else(|_| {
            std::thread::sleep(RETRY);
            false
        })
    }
}
