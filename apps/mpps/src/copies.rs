//! `mpps copies`: which kind of copy is fastest on this machine in a vhost <-> virtio-user loop, by packet size.
//!
//! Only vhost copies: virtio-user lends its buffers. So each kind is tried round the loop, in the way from virtio-user to
//! vhost (dequeue) and in the way from vhost to virtio-user (enqueue), each time with ports, rings and memory of their own.
//! The kinds take turns at every size and in every round. Round the loop packets are numbered and looked at when they come
//! out; a copy that damages one is an error and not a rate.

use std::time::Duration;

use mpps_kernels::{Copier, CopyKind};
use mpps_os::Signals;

use crate::bench::{Broken, Failure, Machine};
use crate::job::{self, nap};
use crate::live::Line;
use crate::ring_loop::{Loop, Shape, Way};

mod table;
use table::Table;

/// Packet sizes unless others are named: those of the usual tables, and a jumbo frame in one buffer.
pub(crate) const SIZES: [u16; 7] = [64, 128, 256, 512, 1024, 1518, 9000];

/// How long packets are counted for one rate, and how long they run before. Short, so that the kinds of a round meet the
/// machine in one mood, and many rounds fit in.
const SLICE: Duration = Duration::from_millis(50);
const SETTLE: Duration = Duration::from_millis(20);

/// The ways in the order of the tables, with what is said of them, and the name in JSON.
const WAYS: [(Way, &str, &str); 3] = [
    (
        Way::Round,
        "round the loop: vhost copies every packet out and in again",
        "round",
    ),
    (
        Way::FromVirtioUser,
        "from virtio-user to vhost: vhost copies out (dequeue)",
        "dequeue",
    ),
    (
        Way::FromVhost,
        "from vhost to virtio-user: vhost copies in (enqueue)",
        "enqueue",
    ),
];

/// What is asked for.
pub(crate) struct Wish {
    pub(crate) sizes: Vec<u16>,
    pub(crate) rounds: u64,
    pub(crate) packed: bool,
    pub(crate) json: bool,
}

/// Measures all kinds that this CPU has and prints tables; after a signal, those of the rounds that are complete.
pub(crate) fn run(wish: &Wish) -> Result<(), Failure> {
    let signals = Signals::install()?;
    let machine = Machine::read()?;
    let kinds = kinds();
    let mut table = Table::new(&kinds, &wish.sizes);
    let auto = Copier::choose(CopyKind::Auto).map_err(|error| error.to_string())?;
    if !wish.json {
        println!("{}", title(wish, &machine, auto.name()));
    }
    let mut line = Line::new();
    let mut done = Ok(());
    for round in 0..wish.rounds {
        done = measure(
            wish, &machine, &kinds, round, &mut table, &mut line, &signals,
        );
        match &done {
            Ok(()) => table.close_round(),
            Err(_) => break,
        }
    }
    line.end();
    match &done {
        Err(error) if !error.is::<Broken>() => return done,
        _ if wish.json => println!("{:#}", table.json(ring(wish.packed), auto.name())),
        _ => print!("{}", table.text()),
    }
    done
}

fn ring(packed: bool) -> &'static str {
    if packed { "packed" } else { "split" }
}

fn title(wish: &Wish, machine: &Machine, auto: &str) -> String {
    format!(
        "mpps {}: kinds of copy in vhost, {} ring, {} rounds in turn\n  \
         virtio-user on CPU {}, vhost on CPU {}, clock {:.2} GHz; auto is {auto}\n  \
         Mpps, and the share of the best kind; spread is the widest of the row",
        env!("CARGO_PKG_VERSION"),
        ring(wish.packed),
        wish.rounds,
        machine.pair[0],
        machine.pair[1],
        machine.clock.hz() as f64 / 1e9
    )
}

/// All kinds but `auto`, which is one of the others; those that this CPU lacks are told.
fn kinds() -> Vec<(&'static str, Copier)> {
    let named = CopyKind::NAMES
        .iter()
        .filter(|(_, kind)| *kind != CopyKind::Auto);
    let chosen = named.filter_map(|(name, kind)| match Copier::choose(*kind) {
        Ok(copier) => Some((*name, copier)),
        Err(lacks) => {
            eprintln!("mpps: {name} is left out: {lacks}");
            None
        }
    });
    chosen.collect()
}

/// One round: every size, every kind, every way.
fn measure(
    wish: &Wish,
    machine: &Machine,
    kinds: &[(&'static str, Copier)],
    round: u64,
    table: &mut Table,
    line: &mut Line,
    signals: &Signals,
) -> Result<(), Failure> {
    for (row, size) in wish.sizes.iter().enumerate() {
        for turn in 0..kinds.len() {
            // Each round begins with another kind, and every second one goes backwards.
            let turn = (turn + round as usize) % kinds.len();
            let column = if round.is_multiple_of(2) {
                turn
            } else {
                kinds.len() - 1 - turn
            };
            let Some((name, copier)) = kinds.get(column) else {
                continue;
            };
            let shape = Shape {
                cpus: machine.pair,
                clock: machine.clock,
                size: usize::from(*size),
                packed: wish.packed,
                copiers: [*copier; 2],
            };
            let rates = rates(shape, signals)?;
            table.add(row, column, rates);
            let left = format!("round {} of {}", round + 1, wish.rounds);
            let most = table.most(row);
            line.show(
                &format!("{name}, {size} bytes"),
                rates[0],
                rates[0] / most,
                &left,
            );
        }
    }
    Ok(())
}

/// The rates of one kind and size, by way, in Mpps.
fn rates(shape: Shape, signals: &Signals) -> Result<[f64; WAYS.len()], Failure> {
    let mut both = Loop::new(shape)?;
    let mut rates = [0.0; WAYS.len()];
    for ((way, ..), rate) in WAYS.iter().zip(&mut rates) {
        both.set_way(*way)?;
        if *way == Way::Round {
            both.charge();
        }
        both.run(true, false)?;
        nap(SETTLE, signals)?;
        *rate = job::rate(&both, SLICE, signals)?;
        both.pause()?;
        match way {
            Way::Round => {
                both.drain()?;
            }
            Way::FromVirtioUser | Way::FromVhost => both.empty()?,
        }
    }
    // What a source still has in hand goes home with it.
    both.set_way(Way::Round)?;
    both.finish()?;
    Ok(rates)
}

#[cfg(test)]
mod tests;
