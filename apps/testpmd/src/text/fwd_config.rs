//! The forwarding layout's printout (`start`, `show config fwd`) and the short `show config` blocks.

use std::fmt;

use mpps_wire::MacAddr;

use super::layout::{CoreStreams, Layout};

/// The engine as the configuration lines name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FwdMode<'a> {
    /// The engine's name.
    pub name: &'a str,
    /// A variant that the engine reports behind a dash (flowgen and shared_rxq have none; noisy names its inner mode).
    pub status: Option<&'a str>,
    /// Unsent packets are tried again.
    pub retry: bool,
}

impl fmt::Display for FwdMode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)?;
        self.status
            .iter()
            .try_for_each(|status| write!(f, "-{status}"))?;
        f.write_str(" packet forwarding")?;
        f.write_str(if self.retry { " with retry" } else { "" })
    }
}

/// `--mp-alloc`: where pools come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MpAlloc {
    /// The engine's own memory.
    #[default]
    Native,
    /// Anonymous memory.
    Anon,
    /// Memory that the app mapped.
    Xmem,
    /// The same, on huge pages.
    XmemHuge,
    /// Buffers apart from their headers.
    Xbuf,
}

impl fmt::Display for MpAlloc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MpAlloc::Native => "native",
            MpAlloc::Anon => "anon",
            MpAlloc::Xmem => "xmem",
            MpAlloc::XmemHuge => "xmemhuge",
            MpAlloc::Xbuf => "xbuf",
        })
    }
}

/// A NUMA node's number, or `any`. DTS parses a number, so ports should know theirs (0 where there is but one node).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SocketId(
    /// The node, or none in particular.
    pub Option<u32>,
);

impl fmt::Display for SocketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(node) => write!(f, "{node}"),
            None => f.write_str("any"),
        }
    }
}

/// `set burst tx delay <delay> retry <retries>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryFigures {
    /// Tries after the first.
    pub retries: u32,
    /// Microseconds between two tries.
    pub delay_us: u32,
}

/// The layout as `start` and `show config fwd` print it. The look-ups are functions, because the app has them in its tables.
pub struct FwdConfig<'a> {
    /// The engine.
    pub mode: FwdMode<'a>,
    /// The assignment to print.
    pub layout: &'a Layout,
    /// `--numa`, which is the default.
    pub numa: bool,
    /// Where pools come from.
    pub mp_alloc: MpAlloc,
    /// Printed when the mode retries.
    pub retry: RetryFigures,
    /// The node of a core, by its id.
    pub core_socket: &'a dyn Fn(u32) -> u32,
    /// The node of a port, by its number.
    pub port_socket: &'a dyn Fn(u16) -> SocketId,
    /// The MAC address of packets sent through a port: `--eth-peer`, else 02:00:00:00:00:{port}.
    pub peer: &'a dyn Fn(u16) -> MacAddr,
}

impl fmt::Display for FwdConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (layout, numa) = (self.layout, if self.numa { "enabled" } else { "disabled" });
        write!(
            f,
            "{} - ports={} - cores={}",
            self.mode,
            layout.ports,
            layout.cores.len()
        )?;
        write!(
            f,
            " - streams={} - NUMA support {numa}",
            layout.streams().count()
        )?;
        writeln!(f, ", MP allocation mode: {}", self.mp_alloc)?;
        if self.mode.retry {
            let RetryFigures { retries, delay_us } = self.retry;
            writeln!(
                f,
                "TX retry num: {retries}, delay between TX retries: {delay_us}us"
            )?;
        }
        layout
            .cores
            .iter()
            .try_for_each(|core| self.core(f, core))?;
        writeln!(f)
    }
}

impl FwdConfig<'_> {
    fn core(&self, f: &mut fmt::Formatter<'_>, core: &CoreStreams) -> fmt::Result {
        let (socket, count) = ((self.core_socket)(core.lcore), core.streams.len());
        write!(
            f,
            "Logical Core {} (socket {socket}) forwards packets on {count} streams:",
            core.lcore
        )?;
        for ends in &core.streams {
            let ((rx, rxq), (tx, txq)) = (ends.rx, ends.tx);
            write!(
                f,
                "\n  RX P={rx}/Q={rxq} (socket {}) -> ",
                (self.port_socket)(rx)
            )?;
            write!(
                f,
                "TX P={tx}/Q={txq} (socket {}) peer={}",
                (self.port_socket)(tx),
                (self.peer)(tx)
            )?;
        }
        writeln!(f)
    }
}

/// `show config cores`: all configured forwarding cores, whether used or not.
#[derive(Debug, Clone, Copy)]
pub struct CoreList<'a>(
    /// Their ids, in order.
    pub &'a [u32],
);

impl fmt::Display for CoreList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("List of forwarding lcores:")?;
        self.0.iter().try_for_each(|id| write!(f, " {id:>2}"))?;
        writeln!(f)
    }
}

/// `show config txpkts`.
#[derive(Debug, Clone, Copy)]
pub struct TxPackets<'a> {
    /// Segment lengths in bytes, at least one.
    pub segments: &'a [u16],
    /// `off`, `on` or `rand`.
    pub split: &'a str,
}

impl fmt::Display for TxPackets<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Number of segments: {}", self.segments.len())?;
        writeln!(f, "Segment sizes: {}", Commas(self.segments))?;
        writeln!(f, "Split packet: {}", self.split)
    }
}

/// `show config txtimes`, in the clock's units.
#[derive(Debug, Clone, Copy)]
pub struct TxTimes {
    /// Between bursts.
    pub inter: u32,
    /// Between packets of a burst.
    pub intra: u32,
}

impl fmt::Display for TxTimes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Interburst gap: {}", self.inter)?;
        writeln!(f, "Intraburst gap: {}", self.intra)
    }
}

/// `show config rxpkts|rxoffs|rxhdrs`: how received packets are split.
#[derive(Debug, Clone, Copy)]
pub enum RxSegments<'a> {
    /// Lengths in bytes.
    Lengths(&'a [u16]),
    /// Offsets in bytes. (DPDK prints the last segment's *length* as the last offset; we print the offset.)
    Offsets(&'a [u16]),
    /// Header names; the rest of the packet follows them.
    Headers(&'a [&'a str]),
}

impl fmt::Display for RxSegments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, count, list) = match self {
            RxSegments::Lengths(list) => ("segments", list.len(), "Segment sizes"),
            RxSegments::Offsets(list) => ("offsets", list.len(), "Segment offsets"),
            // The payload behind the headers is a segment too.
            RxSegments::Headers(list) => (
                "segments",
                list.len() + usize::from(!list.is_empty()),
                "Packet segs",
            ),
        };
        writeln!(f, "Number of {what}: {count}")?;
        match self {
            RxSegments::Lengths([]) | RxSegments::Offsets([]) | RxSegments::Headers([]) => Ok(()),
            RxSegments::Lengths(values) | RxSegments::Offsets(values) => {
                writeln!(f, "{list}: {}", Commas(values))
            }
            RxSegments::Headers(names) => {
                write!(f, "{list}: ")?;
                names.iter().try_for_each(|name| write!(f, "{name}, "))?;
                writeln!(f, "payload")
            }
        }
    }
}

/// Numbers with commas between, no blanks.
struct Commas<'a>(&'a [u16]);

impl fmt::Display for Commas<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(at, n)| write!(f, "{}{n}", if at == 0 { "" } else { "," }))
    }
}

#[cfg(test)]
#[path = "fwd_config_tests.rs"]
mod tests;
