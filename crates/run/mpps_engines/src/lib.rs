//! The forwarding engines, a file each.
//!
//! An engine says what happens to the packets of one stream: a receive queue, a transmit queue and the settings of the
//! ports at both ends. The program makes one engine a stream from the table [`ENGINES`]; the worker that owns the stream
//! calls [`Engine::step`] turn by turn. What all engines share — receiving, sending with retries, counting, freeing what
//! was not sent — is in [`StreamIo`].
//!
//! A packet is changed only where its frame is as long as the engine needs; a shorter one passes unchanged. Data that
//! clones share is copied first (module `private`), or the packet is dropped and counted when there is no mbuf to copy into.
#![forbid(unsafe_code)]

mod csum;
#[cfg(test)]
mod debt_tests;
mod five_tuple_swap;
mod flowgen;
#[cfg(test)]
#[path = "../../../packet/mpps_wire/src/frames.rs"]
mod frames;
#[cfg(test)]
mod hostile_tests;
mod icmpecho;
mod ieee1588;
mod io;
mod mac;
mod macswap;
mod noisy;
mod private;
mod random;
mod recycle_mbufs;
mod rxonly;
mod settings;
mod shared_rxq;
mod stream;
mod template;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod txonly;

use mpps_dev::Lcore;

pub use settings::{
    ChecksumSettings, EngineSettings, FlowgenSettings, NoisyMode, NoisySettings, PortEnd,
    StreamSetup, TxSplit, TxonlySettings,
};
pub use stream::{BurstHistogram, Direction, Retry, Seen, StreamIo, StreamStats, Watch};

/// What happens to the packets of one stream. Owned by the worker while it runs.
pub trait Engine: Send {
    /// One visit: receives, works, sends. True when there was anything to do.
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool;
}

/// Which queues an engine needs at its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Receive and transmit queues.
    Both,
    /// Receive queues only.
    Rx,
    /// Transmit queues only.
    Tx,
}

/// A kind of engine.
pub struct EngineSpec {
    /// Its name (`--forward-mode`).
    pub name: &'static str,
    /// Which queues it needs.
    pub needs: Needs,
    /// Shortest frame it changes; shorter ones pass unchanged.
    pub min_frame: usize,
    /// Whether packets go back to the port and queue they came from, whatever the topology.
    pub answers: bool,
    /// What it does, one line.
    pub help: &'static str,
    /// A line to print when it is chosen, where it does less than its name says.
    pub notice: Option<&'static str>,
    /// Makes an engine for one stream; an error is one line.
    pub make: fn(&StreamSetup) -> Result<Box<dyn Engine>, String>,
}

/// All engines, in the order in which testpmd names them.
pub const ENGINES: &[EngineSpec] = &[
    io::SPEC,
    mac::SPEC,
    macswap::SPEC,
    flowgen::SPEC,
    rxonly::SPEC,
    txonly::SPEC,
    csum::SPEC,
    icmpecho::SPEC,
    noisy::SPEC,
    five_tuple_swap::SPEC,
    recycle_mbufs::SPEC,
    ieee1588::SPEC,
    shared_rxq::SPEC,
];

/// The engine of this name.
pub fn find(name: &str) -> Option<&'static EngineSpec> {
    ENGINES.iter().find(|engine| engine.name == name)
}
