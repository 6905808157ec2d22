//! The control thread of a port: waits for back ends, speaks with the one that is there, opens and closes the rings.
//!
//! One a port, named `vuser-ctl-N`. Started when the port is probed and joined when it is dropped ([`Handle`]); between
//! that it sleeps in poll(2) unless something happens: a back end comes or goes, the port is started or stopped, a queue
//! finds that its ring has retired. What it has to tell goes to the program's events.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mpps_dev::{Events, PortEvent, PortId};
use mpps_os::unix_socket::Endpoint;
use mpps_os::{Waker, poll_readable};

use crate::enable::{self, EnableError};
use crate::plan::Plan;
use crate::published::{Published, Running};
use crate::queue::Alarm;
use crate::session::{Offer, PATIENCE, Session, Unasked};
use crate::told::Told;

/// Before the next peer is looked for: after one that left, and after one that was refused.
const PAUSE: Duration = Duration::from_millis(20);
const PAUSE_REFUSED: Duration = Duration::from_millis(40);

/// The same after a peer whose rings broke so many times, one soon after the other: each time costs a change of the link
/// up and one down, which the program tells.
const PAUSE_BROKEN: Duration = Duration::from_millis(500);
const MANY: u32 = 3;

/// A connection whose rings ran for so long has lasted: what was said before it may be said again.
const LASTING: Duration = Duration::from_secs(1);

/// How long a start waits for a back end that is connected; a slow one comes later.
const START_PATIENCE: Duration = Duration::from_secs(1);

/// How long a stop waits for the back end, all messages together; one that takes longer is left.
const STOP_PATIENCE: Duration = Duration::from_millis(700);

enum Command {
    Start(Box<Plan>, Instant, Sender<()>),
    Stop(Sender<()>),
    Quit,
}

/// The port's end: commands, and the end of the thread.
pub(crate) struct Handle {
    commands: Sender<Command>,
    waker: Waker,
    /// Ends a wait for an answer of the back end.
    hurry: Waker,
    published: Arc<Published>,
    thread: Option<JoinHandle<()>>,
}

impl Handle {
    /// Starts the thread of port `port`.
    pub(crate) fn spawn(port: PortId, endpoint: Endpoint, events: Events) -> io::Result<Self> {
        let (commands, inbox) = channel();
        let (waker, hurry) = (Waker::new()?, Waker::new()?);
        let published = Arc::new(Published::default());
        let control = Control {
            port,
            events,
            endpoint,
            inbox,
            hurry: hurry.clone(),
            alarm: Alarm {
                published: published.clone(),
                waker: waker.clone(),
            },
            plan: None,
            peer: None,
            told: Told::default(),
            since: None,
            broken: 0,
            ended: false,
        };
        let thread = thread::Builder::new()
            .name(format!("vuser-ctl-{port}"))
            .spawn(move || control.run())?;
        Ok(Self {
            commands,
            waker,
            hurry,
            published,
            thread: Some(thread),
        })
    }

    pub(crate) fn published(&self) -> &Published {
        &self.published
    }

    /// Has the rings enabled, now or when a back end comes. Waits a while for one that is connected.
    pub(crate) fn start(&self, plan: Plan) {
        let (done, wait) = channel();
        self.send(Command::Start(Box::new(plan), Instant::now(), done));
        // Later is early enough for a back end that is slow; the link comes up then.
        let _: Result<(), RecvTimeoutError> = wait.recv_timeout(START_PATIENCE);
    }

    /// Has the rings closed; afterwards nothing is posted. A back end that keeps silent is left after a while.
    pub(crate) fn stop(&self) {
        let (done, wait) = channel();
        self.send(Command::Stop(done));
        if wait.recv_timeout(STOP_PATIENCE) == Err(RecvTimeoutError::Timeout) {
            self.hurry.wake();
            // An error means that the thread has ended, and its rings with it.
            let _ = wait.recv();
            self.hurry.reset();
        }
    }

    fn send(&self, command: Command) {
        // As above: without the thread there is nothing to be done.
        let _ = self.commands.send(command);
        self.waker.wake();
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.hurry.wake();
        self.send(Command::Quit);
        if let Some(thread) = self.thread.take() {
            // A panic there has been reported there.
            let _ = thread.join();
        }
    }
}

struct Control {
    port: PortId,
    events: Events,
    endpoint: Endpoint,
    inbox: Receiver<Command>,
    hurry: Waker,
    alarm: Alarm,
    /// While the port is started.
    plan: Option<Plan>,
    peer: Option<(Session, Offer)>,
    told: Told,
    /// When the rings were enabled, while they are.
    since: Option<Instant>,
    /// How many peers in a row had rings that broke.
    broken: u32,
    ended: bool,
}

impl Control {
    fn run(mut self) {
        while !self.ended {
            match &self.peer {
                None => self.next_peer(),
                Some((session, _)) => {
                    let fds = [self.alarm.waker.as_fd(), session.as_fd()];
                    match poll_readable(fds, None) {
                        Ok([_, true]) => self.hear(),
                        Ok([_, false]) => {}
                        Err(_) => thread::sleep(PAUSE),
                    }
                }
            }
            self.commands();
        }
        self.lose_rings();
    }

    fn commands(&mut self) {
        self.alarm.waker.reset();
        if self.alarm.published.take_alarm() {
            self.find_fault();
        }
        while let Ok(command) = self.inbox.try_recv() {
            match command {
                Command::Start(plan, asked, done) => {
                    self.told.forget();
                    self.plan = Some(*plan);
                    if self.enable() && asked.elapsed() > START_PATIENCE {
                        // Nobody waits for it any more.
                        self.events.tell(self.port, PortEvent::LinkState);
                    }
                    let _ = done.send(());
                }
                Command::Stop(done) => {
                    self.stop();
                    let _ = done.send(());
                }
                Command::Quit => self.ended = true,
            }
        }
    }

    fn next_peer(&mut self) {
        let (port, events) = (self.port, &self.events);
        let mut trouble = |error: &_| events.note(port, error);
        let Some(link) = self.endpoint.next(&self.alarm.waker, &mut trouble) else {
            return;
        };
        let mut session = Session::new(link, self.hurry.clone(), PATIENCE);
        match session.greet() {
            Ok(offer) => {
                self.peer = Some((session, offer));
                if self.enable() {
                    self.events.tell(self.port, PortEvent::LinkState);
                }
            }
            Err(error) => self.dismiss(error.into()),
        }
    }

    /// The back end said something unasked, or left.
    fn hear(&mut self) {
        let Some((session, _)) = &self.peer else {
            return;
        };
        match session.unasked() {
            None => return,
            Some(Unasked::Gone) => {}
            Some(Unasked::Message) => self.say("the back end sent a message unasked".to_owned()),
            Some(Unasked::Error(error)) => self.say(format!("the connection broke: {error}")),
        }
        self.part(PAUSE);
    }

    /// Enables the rings, where the port is started and a back end is there; says whether they are.
    fn enable(&mut self) -> bool {
        let (Some(plan), Some((session, offer))) = (&mut self.plan, &mut self.peer) else {
            return false;
        };
        match enable::enable(session, *offer, plan, &self.alarm) {
            Ok((agreement, rings)) => {
                let path = |at: usize| rings.get(at).map(|ring| ring.path);
                let running = Running {
                    features: agreement.features,
                    rx: path(0),
                    tx: path(1),
                };
                plan.open(rings);
                for line in agreement.without {
                    self.remark(line.to_owned());
                }
                self.note_paths(running);
                self.since = Some(Instant::now());
                self.alarm.published.publish(Some(running));
                true
            }
            Err(error) => {
                self.dismiss(error);
                false
            }
        }
    }

    fn note_paths(&mut self, running: Running) {
        if let (Some(rx), Some(tx)) = (running.rx, running.tx) {
            self.remark(format!("Rx path: {rx}; Tx path: {tx}"));
            for (direction, path) in [("Rx", rx), ("Tx", tx)] {
                if let Some(lacks) = path.lacks {
                    let line = format!("vectorized=1: {direction} takes the scalar path: {lacks}");
                    self.remark(line);
                }
            }
        }
    }

    /// A back end that can't be worked with goes.
    fn dismiss(&mut self, error: EnableError) {
        let pause = match &error {
            EnableError::Session(error) if error.is_departure() => PAUSE,
            _ => {
                self.say(format!("{error}; the connection is closed"));
                PAUSE_REFUSED
            }
        };
        self.part(pause);
    }

    /// Says a line on trouble, once if it comes again and again.
    fn say(&mut self, line: String) {
        self.look_back();
        if let Some(line) = self.told.admit(line) {
            self.events.note(self.port, &line);
        }
    }

    /// Says a line each time, unless the connection is one of a series that all end in trouble.
    fn remark(&mut self, line: String) {
        if self.told.is_empty() {
            self.events.note(self.port, &line);
        } else {
            self.say(line);
        }
    }

    /// Forgets the troubles of before when the connection has lasted.
    fn look_back(&mut self) {
        if self.since.is_some_and(|since| since.elapsed() >= LASTING) {
            self.since = None;
            self.told.forget();
            self.broken = 0;
        }
    }

    /// Closes the connection and waits a little before the next, or until a command comes.
    fn part(&mut self, pause: Duration) {
        if self.lose_rings() {
            self.events.tell(self.port, PortEvent::LinkState);
        }
        self.peer = None;
        if !self.endpoint.listens() || self.broken > MANY {
            // Whatever ends the wait, the next step is the same.
            let _ = poll_readable([self.alarm.waker.as_fd()], Some(pause));
        }
    }

    /// Closes the rings; whether the link went down by that.
    fn lose_rings(&mut self) -> bool {
        if let Some(plan) = &mut self.plan {
            plan.close();
        }
        self.look_back();
        self.since = None;
        self.alarm.published.publish(None)
    }

    /// What the port's owner asks for changes the link without an event.
    fn stop(&mut self) {
        let Some(plan) = &self.plan else {
            return;
        };
        let enabled = self.alarm.published.running().is_some();
        let rings = plan.rings.len();
        let failed = match &mut self.peer {
            Some((session, _)) if enabled => enable::disable(session, rings).err(),
            _ => None,
        };
        self.lose_rings();
        self.plan = None;
        match failed {
            Some(error) if error.is_hurry() => {
                let ms = STOP_PATIENCE.as_millis();
                self.say(format!(
                    "the back end takes more than {ms} ms to stop; the connection is closed"
                ));
                self.part(PAUSE_REFUSED);
            }
            Some(error) => self.dismiss(error.into()),
            None => {}
        }
    }

    fn find_fault(&mut self) {
        let fault = self.plan.as_mut().and_then(Plan::fault);
        if let Some((ring, fault)) = fault {
            self.say(format!("ring {ring}: {fault}; the connection is closed"));
            self.broken += 1;
            let often = self.broken > MANY;
            self.part(if often { PAUSE_BROKEN } else { PAUSE_REFUSED });
        }
    }
}
