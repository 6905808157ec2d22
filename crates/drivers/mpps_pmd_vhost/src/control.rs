//! The control thread of a port: one front end after another, one message after another.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use mpps_dev::{Events, PortId};
use mpps_os::unix_socket::{Endpoint, Link, LinkError};
use mpps_os::{Waker, poll_readable, signalling_trouble};

use crate::core::{Core, Outcome};
use crate::inbox::{Inbox, InboxError};
use crate::said::Said;

/// How long a front end may take to make room for an answer.
const SEND: Duration = Duration::from_secs(1);

/// How often to look whether the front end's memory is still there, for losses that no poller has come across.
const LOOK: Duration = Duration::from_millis(100);

/// A pause after a connection that ended badly, or that this side made, so that a front end that keeps failing costs no CPU.
const PAUSE: Duration = Duration::from_millis(20);

/// What the main thread and the control thread hold together.
pub(crate) struct Shared {
    pub(crate) core: Mutex<Core>,
    pub(crate) waker: Waker,
    pub(crate) stop: AtomicBool,
    /// A poller found a ring that moves nothing any more.
    pub(crate) trouble: Arc<AtomicBool>,
    /// It was told that signalling has its dangers here.
    pub(crate) warned: AtomicBool,
    pub(crate) port: PortId,
    pub(crate) events: Events,
}

impl Shared {
    /// The core. A thread that panicked with it ends the process anyway.
    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        self.core.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells what is to be told; must not be called with the core locked.
    pub(crate) fn tell(&self, out: &Outcome, said: &mut Said) {
        for note in &out.notes {
            if let Some(line) = said.admit(note, Instant::now()) {
                self.events.note(self.port, line);
            }
        }
        for event in &out.events {
            self.events.tell(self.port, *event);
        }
    }

    /// Once, when a peer's counter had to be written to.
    fn warn(&self) {
        // Relaxed: a lone flag.
        if let Some(error) = signalling_trouble()
            && !self.warned.swap(true, Ordering::Relaxed)
        {
            let line = format!(
                "no asynchronous I/O ({error}): a front end that makes its call descriptor block can stop a core; \
                 a kernel with CONFIG_AIO and a larger fs.aio-max-nr would be right"
            );
            self.events.note(self.port, line);
        }
    }

    fn stopped(&self) -> bool {
        // Acquire: pairs with the release in `VhostDev`'s drop.
        self.stop.load(Ordering::Acquire)
    }
}

/// How a connection ended.
enum End {
    /// The port is going.
    Stop,
    /// The front end left.
    Left,
    /// One of the two gave up.
    Broken,
}

/// The thread's body.
pub(crate) fn run(shared: &Shared, mut endpoint: Endpoint) {
    let mut said = Said::default();
    loop {
        let link = endpoint.next(&shared.waker, &mut |trouble| {
            shared.events.note(shared.port, trouble);
        });
        let Some(link) = link else {
            if woken(shared) {
                return;
            }
            continue;
        };
        shared.core().connect();
        let end = serve(shared, &link, &mut said);
        drop(link);
        let gone = shared.core().disconnect();
        shared.tell(&gone, &mut said);
        match end {
            End::Stop => return,
            End::Left if endpoint.listens() => {}
            End::Left | End::Broken => {
                // A failure to wait is the next wait's trouble.
                let _ = poll_readable([shared.waker.as_fd()], Some(PAUSE));
            }
        }
    }
}

/// Goes back to sleep after a wake; whether the thread is to end.
fn woken(shared: &Shared) -> bool {
    shared.waker.reset();
    shared.stopped()
}

fn serve(shared: &Shared, link: &Link, said: &mut Said) -> End {
    let mut inbox = Inbox::default();
    loop {
        let patience = inbox.patience().map_or(LOOK, |left| left.min(LOOK));
        let waited = poll_readable([shared.waker.as_fd(), link.as_fd()], Some(patience));
        let Ok([wake, readable]) = waited else {
            return End::Broken;
        };
        if wake && woken(shared) {
            return End::Stop;
        }
        if (readable || !wake)
            && let Err(end) = messages(shared, link, &mut inbox, said)
        {
            return end;
        }
        shared.warn();
        // Relaxed: pairs with nothing; what is wrong is found through the gates.
        if shared.trouble.swap(false, Ordering::Relaxed) || shared.core().is_lost() {
            let out = shared.core().look_after();
            shared.tell(&out, said);
            if out.hang_up {
                return End::Broken;
            }
        }
    }
}

/// Handles the next message, if it is whole.
fn messages(shared: &Shared, link: &Link, inbox: &mut Inbox, said: &mut Said) -> Result<(), End> {
    let envelope = match inbox.pump(link) {
        Ok(Some(envelope)) => envelope,
        Ok(None) => return Ok(()),
        Err(InboxError::Link(LinkError::Closed)) => return Err(End::Left),
        Err(error) => return Err(broken(shared, &error.to_string(), said)),
    };
    let out = shared.core().handle(envelope);
    let sent = match &out.reply {
        Some(reply) => link.send(reply, &[], Instant::now() + SEND),
        None => Ok(()),
    };
    shared.tell(&out, said);
    match sent {
        Err(LinkError::Closed) => Err(End::Left),
        Err(error) => Err(broken(shared, &error.to_string(), said)),
        Ok(()) if out.hang_up => Err(End::Broken),
        Ok(()) => Ok(()),
    }
}

fn broken(shared: &Shared, what: &str, said: &mut Said) -> End {
    let out = Outcome {
        notes: vec![format!("front end dropped: {what}")],
        ..Outcome::default()
    };
    shared.tell(&out, said);
    End::Broken
}
