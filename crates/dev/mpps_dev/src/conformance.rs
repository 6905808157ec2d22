//! One set of tests for every kind of port.
//!
//! A driver's tests describe it once, as a [`Subject`]: how to make a port of it (or two that are linked) and what is true
//! of it ([`Facts`]). [`run`] then plays every scenario of [`SCENARIOS`] that applies, each with ports and pools of its own,
//! and says which ones it left out and why. What must hold is what the traits promise: order, leftovers, counters, and
//! that every mbuf comes home.
//!
//! The kit belongs to tests. It is an ordinary public module so that drivers outside this workspace can be held to the
//! same promises; nothing on the data path leads here.
//!
//! ```text
//!  Subject ── Driver::probe ──> port, or port + peer        made anew for each scenario, ended with it
//!                │                  ^      │
//!  rig::Rig ─────┴── send ──────────┘      └── receive ──>  every call checked: counts, order, room
//! ```
//!
//! A driver's test is short, and names what was left out so that nothing is left out in silence:
//!
//! ```
//! use mpps_dev::Driver;
//! use mpps_dev::conformance::{Facts, Source, Subject, run};
//!
//! fn loops_back(driver: &dyn Driver) {
//!     let subject = Subject {
//!         driver,
//!         peer: None,
//!         devices: &|| vec!["net_ring0".to_owned()],
//!         facts: Facts { source: Source::Sent, holds: Some(1024), ..Facts::SINK },
//!     };
//!     let skipped = run(&subject).unwrap();
//!     assert_eq!(skipped.len(), 1);
//!     assert_eq!(skipped[0].scenario, "the peer vanishes");
//! }
//! ```

mod control;
mod counts;
mod flow;
mod identity;
mod life;
mod polled;
mod rig;

use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::Driver;

/// What a port's receive queues give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// What is sent on the queue of the same number: of the peer where there is one, else of the port itself.
    Sent,
    /// Packets made up by the port, for ever.
    Made,
    /// So many packets a queue after each start, then none (a file).
    Given(u64),
    /// Nothing.
    Nothing,
}

/// What is true of a port under test. Limits that [`crate::DevInfo`] states are read there.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// What its receive queues give.
    pub source: Source,
    /// Queues to test in each direction.
    pub queues: u16,
    /// Packets that a transmit queue takes while nobody receives; `None` when it always takes all of them.
    pub holds: Option<usize>,
    /// Whether byte counters count (a ring passes handles and looks at nothing).
    pub counts_bytes: bool,
    /// Whether the MTU of one of its ports is the other side's to say: it may refuse to change it.
    pub given_mtu: bool,
    /// How long a packet may be under way from a transmit to a receive queue, and a link may take to come up.
    pub patience: Duration,
}

impl Facts {
    /// A port of one queue that receives nothing, takes everything, counts bytes, and needs no time for it.
    pub const SINK: Self = Self {
        source: Source::Nothing,
        queues: 1,
        holds: None,
        counts_bytes: true,
        given_mtu: false,
        patience: Duration::from_secs(2),
    };
}

/// A kind of port under test.
pub struct Subject<'a> {
    /// Its driver.
    pub driver: &'a dyn Driver,
    /// The driver of its peer, where that is another (the two ends of a protocol).
    pub peer: Option<&'a dyn Driver>,
    /// Device strings (`net_ring0,...`) of a port, or of a port and a peer that is linked to it; called for each scenario,
    /// so that files and names can be fresh.
    pub devices: &'a dyn Fn() -> Vec<String>,
    /// What is true of it.
    pub facts: Facts,
}

impl Subject<'_> {
    /// The driver of device `n`.
    pub(crate) fn driver_of(&self, n: usize) -> &dyn Driver {
        self.peer.filter(|_| n > 0).unwrap_or(self.driver)
    }
}

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which scenario found it; empty while the scenario is under way.
    pub scenario: &'static str,
    /// What happened and what should have, in one line.
    pub what: String,
}

impl Violation {
    /// A violation to be given its scenario's name by [`run`].
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self {
            scenario: "",
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.scenario, self.what)
    }
}

impl std::error::Error for Violation {}

/// All promises that were broken, a line each.
#[derive(Clone, PartialEq, Eq)]
pub struct Violations(pub Vec<Violation>);

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for violation in &self.0 {
            writeln!(f, "{violation}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n{self}")
    }
}

impl std::error::Error for Violations {}

/// A scenario that doesn't apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub scenario: &'static str,
    /// Why it was left out.
    pub why: &'static str,
}

/// One thing that is tried.
pub struct Scenario {
    /// Its name.
    pub name: &'static str,
    /// Why it doesn't apply to a subject with these facts and so many ports; `None` when it does.
    pub skip: fn(&Facts, usize) -> Option<&'static str>,
    /// Plays it.
    pub play: fn(&Subject<'_>) -> Result<(), Violation>,
}

fn always(_: &Facts, _: usize) -> Option<&'static str> {
    None
}

fn if_sent_comes_in(facts: &Facts, _: usize) -> Option<&'static str> {
    (facts.source != Source::Sent).then_some("what is sent doesn't come in again")
}

fn if_it_holds(facts: &Facts, _: usize) -> Option<&'static str> {
    facts
        .holds
        .is_none()
        .then_some("its transmit queues always take everything")
}

fn if_it_receives(facts: &Facts, _: usize) -> Option<&'static str> {
    (facts.source == Source::Nothing).then_some("it receives nothing")
}

fn if_peer(_: &Facts, ports: usize) -> Option<&'static str> {
    (ports < 2).then_some("it has no peer")
}

macro_rules! scenarios {
    ($($name:literal, $skip:path, $play:path;)*) => {
        /// All scenarios, in the order in which they are played.
        pub const SCENARIOS: &[Scenario] = &[$(Scenario { name: $name, skip: $skip, play: $play }),*];
    };
}

scenarios! {
    "order is kept", if_sent_comes_in, flow::order;
    "no room, no packets", always, flow::no_room;
    "bursts of 1 and 512", always, flow::burst_sizes;
    "leftovers stay the caller's, in order", if_it_holds, flow::leftovers;
    "zero length", always, flow::zero_length;
    "oversize", always, flow::oversize;
    "many segments", always, flow::many_segments;
    "clones", always, flow::clones;
    "counters add up", always, counts::add_up;
    "clearing takes a new baseline", always, counts::clear;
    "names of extended statistics", always, counts::xstat_names;
    "a dry pool loses nothing", if_it_receives, counts::dry_pool;
    "stop and start", always, life::stop_and_start;
    "stop with packets under way", always, life::stop_under_way;
    "a stopped queue moves nothing", always, control::stopped_queue;
    "deferred start", always, control::deferred_start;
    "MTU while running", always, control::mtu;
    "control while a worker polls", always, polled::control_while_polled;
    "a refused configuration changes nothing", always, control::refused_configuration;
    "start without a configuration", always, control::unconfigured;
    "information", always, identity::information;
    "unknown arguments are refused", always, identity::unknown_arguments;
    "wrong values are refused", always, identity::wrong_values;
    "queues lie on cache lines of their own", always, life::lines_apart;
    "the peer vanishes", if_peer, life::peer_vanishes;
    "made and ended 100 times", always, life::repeated;
}

/// One run at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// Plays every scenario that applies and returns those that don't, with the reason.
///
/// Runs of one process wait for each other, as file descriptors and pools are counted for the whole process.
///
/// # Errors
/// All broken promises.
pub fn run(subject: &Subject<'_>) -> Result<Vec<Skipped>, Violations> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let ports = (subject.devices)().len();
    let (mut skipped, mut broken) = (Vec::new(), Vec::new());
    for scenario in SCENARIOS {
        if let Some(why) = (scenario.skip)(&subject.facts, ports) {
            skipped.push(Skipped {
                scenario: scenario.name,
                why,
            });
        } else if let Err(violation) = (scenario.play)(subject) {
            broken.push(Violation {
                scenario: scenario.name,
                ..violation
            });
        }
    }
    if broken.is_empty() {
        Ok(skipped)
    } else {
        Err(Violations(broken))
    }
}

#[cfg(test)]
mod tests;
