//! Which streams there are and which core runs them: testpmd's assignment of queues to forwarding cores, as a pure function.
//!
//! The app calls [`lay_out`] at init, at every start and after commands that change ports, cores or queues, and keeps the
//! [`Layout`] for `show config fwd`. The worker crate gets a core's streams in this order and polls them in this order.

use std::fmt;
use std::str::FromStr;

/// Where a port's packets go: `--port-topology`, over the *index in the port list*, not the port's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Topology {
    /// Even index to the next, odd to the one before; the last of an odd list to itself.
    #[default]
    Paired,
    /// To the next index, the last to the first.
    Chained,
    /// To itself.
    Loop,
}

impl Topology {
    /// The index that index `at` of a list of `ports` sends to.
    pub fn peer(self, at: usize, ports: usize) -> usize {
        match self {
            Topology::Paired if at % 2 == 1 => at - 1,
            Topology::Paired if at + 1 < ports => at + 1,
            Topology::Chained if ports > 0 => (at + 1) % ports,
            Topology::Paired | Topology::Chained | Topology::Loop => at,
        }
    }
}

/// A word that is no topology.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("port-topology {0} invalid - must be: paired, chained or loop")]
pub struct UnknownTopology(
    /// The word.
    pub String,
);

impl FromStr for Topology {
    type Err = UnknownTopology;

    fn from_str(word: &str) -> Result<Topology, UnknownTopology> {
        match word {
            "paired" => Ok(Topology::Paired),
            "chained" => Ok(Topology::Chained),
            "loop" => Ok(Topology::Loop),
            other => Err(UnknownTopology(other.to_owned())),
        }
    }
}

/// One stream: a queue to poll and a queue to send to. The peer's MAC address is that of the tx port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamEnds {
    /// Port and queue polled.
    pub rx: (u16, u16),
    /// Port and queue sent to.
    pub tx: (u16, u16),
}

/// What the assignment depends on.
#[derive(Debug, Clone, Copy)]
pub struct LayoutInput<'a> {
    /// The port list, in its order (`--portlist`, `set portlist`), cut to `nb-ports`.
    pub ports: &'a [u16],
    /// Rx queues of every port.
    pub rxq: u16,
    /// Tx queues of every port.
    pub txq: u16,
    /// The forwarding cores' ids in order, cut to `nb-cores`.
    pub lcores: &'a [u32],
    /// Who sends to whom.
    pub topology: Topology,
    /// The engine answers where it received (icmpecho): all rx queues, each sending to its own port and queue.
    pub echo: bool,
    /// Number of processes that share the queues (`--num-procs`), at least 1.
    pub num_procs: u16,
    /// Which of them this is (`--proc-id`), from 0.
    pub proc_id: u16,
}

/// A core and its block of streams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreStreams {
    /// The core's id.
    pub lcore: u32,
    /// What it polls, in order.
    pub streams: Vec<StreamEnds>,
}

/// The assignment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layout {
    /// Number of forwarding ports.
    pub ports: usize,
    /// The cores that have streams; fewer than were offered when there are fewer streams.
    pub cores: Vec<CoreStreams>,
    /// The list is paired and odd, so the last port sends to itself. The first layout that says so is the moment for
    /// [`Notice::OddPorts`](super::Notice::OddPorts), once in a process's life.
    pub odd: bool,
}

impl Layout {
    /// All streams, in the order of the cores.
    pub fn streams(&self) -> impl Iterator<Item = &StreamEnds> {
        self.cores.iter().flat_map(|core| &core.streams)
    }
}

/// Assigns streams to cores: consecutive blocks of equal size, the remainder going to the *last* cores, one more each.
pub fn lay_out(input: &LayoutInput<'_>) -> Layout {
    let streams = streams(input);
    let cores = input.lcores.len().min(streams.len());
    let odd = input.topology == Topology::Paired && input.ports.len() % 2 == 1 && !input.echo;
    Layout {
        ports: input.ports.len(),
        cores: share(&input.lcores[..cores], &streams),
        odd,
    }
}

fn share(lcores: &[u32], streams: &[StreamEnds]) -> Vec<CoreStreams> {
    if lcores.is_empty() {
        return Vec::new();
    }
    let (each, extra) = (streams.len() / lcores.len(), streams.len() % lcores.len());
    let mut rest = streams;
    let block = |(at, &lcore): (usize, &u32)| {
        let more = usize::from(at >= lcores.len() - extra);
        let (mine, others) = rest.split_at(each + more);
        rest = others;
        CoreStreams {
            lcore,
            streams: mine.to_vec(),
        }
    };
    lcores.iter().enumerate().map(block).collect()
}

/// Port-major for the echo engine, queue-major otherwise; more than queue 0 only when both directions have several.
fn streams(input: &LayoutInput<'_>) -> Vec<StreamEnds> {
    if input.echo {
        let queues = |&port: &u16| {
            (0..input.rxq).map(move |queue| StreamEnds {
                rx: (port, queue),
                tx: (port, queue),
            })
        };
        return input.ports.iter().flat_map(queues).collect();
    }
    let (first, queues) = my_queues(input);
    let count = input.ports.len();
    let ends = |queue, at: usize| StreamEnds {
        rx: (input.ports[at], queue),
        tx: (input.ports[input.topology.peer(at, count)], queue),
    };
    (first..first + queues)
        .flat_map(|queue| (0..count).map(move |at| ends(queue, at)))
        .collect()
}

/// The first queue and the number of queues that this process polls.
fn my_queues(input: &LayoutInput<'_>) -> (u16, u16) {
    if input.rxq <= 1 || input.txq <= 1 {
        return (0, 1);
    }
    let (queues, procs) = (input.rxq.min(input.txq), input.num_procs.max(1));
    let first = u32::from(input.proc_id) * u32::from(queues) / u32::from(procs);
    (
        u16::try_from(first).unwrap_or(u16::MAX - queues),
        queues / procs,
    )
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Topology::Paired => "paired",
            Topology::Chained => "chained",
            Topology::Loop => "loop",
        })
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
