//! What commands answer on standard output, where the answer is a line or a few.
//!
//! Each is text without its last newline. What commands answer on standard error is in `refusals`.

use std::fmt;

use super::on_off;

/// An answer of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply<'a> {
    /// `set fwd {mode} [retry]`; the flag says retry.
    FwdMode(&'a str, bool),
    /// `set nbcore`.
    Cores(u32),
    /// `set nbport`.
    Ports(u32),
    /// `set burst`.
    Burst(u32),
    /// `set verbose`: from, to.
    Verbose(u16, u16),
    /// A core list or mask changed the number of forwarding cores: before, now.
    CoresChanged(u32, u32),
    /// A port list or mask changed the number of forwarding ports: before, now.
    PortsChanged(u32, u32),
    /// `port config all rss`, when all ports took it: the bits.
    RssTypes(u64),
    /// In front of the table: port, size.
    RetaSize(u16, u16),
    /// `tso set|show`: bytes, 0 for disabled.
    Tso(u32),
    /// `tunnel_tso set|show`: bytes, 0 for disabled.
    TunnelTso(u32),
    /// `flow validate`.
    FlowValidated,
    /// `flow create`: the rule's number.
    FlowCreated(u64),
    /// `flow destroy`, `flow flush`: the rule's number.
    FlowDestroyed(u64),
    /// `show port {p} rxq|txq {q} desc used count`: `Rx` or `Tx`, queue, count.
    UsedDescriptors(&'a str, u16, u32),
    /// `show port {p} rxq|txq {q} desc {d} status`: AVAILABLE, DONE, FULL or UNAVAILABLE.
    DescriptorStatus(&'a str),
    /// `show port {p} gro` when off.
    GroOff(u16),
    /// `show port {p} gso` when off.
    GsoOff(u16),
    /// `start` of flowgen: port, flows.
    Flows(u16, u32),
    /// `load {file}` came to the file's end.
    Loaded(&'a str),
    /// `set default`.
    Default,
    /// `port config all burst 0`: no port recommends a burst.
    NoBurst,
}

impl fmt::Display for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Reply::FwdMode(mode, retry) => {
                write!(
                    f,
                    "Set {mode} packet forwarding mode{}",
                    if retry { " with retry" } else { "" }
                )
            }
            Reply::Cores(n) => write!(f, "Number of forwarding cores set to {n}"),
            Reply::Ports(n) => write!(f, "Number of forwarding ports set to {n}"),
            Reply::Burst(n) => write!(f, "Number of packets per burst set to {n}"),
            Reply::Verbose(from, to) => write!(f, "Change verbose level from {from} to {to}"),
            Reply::CoresChanged(before, now) => changed(f, "cores", before, now),
            Reply::PortsChanged(before, now) => changed(f, "ports", before, now),
            // C's `%#x` leaves the prefix off a 0.
            Reply::RssTypes(0) => f.write_str("rss_hf 0"),
            Reply::RssTypes(bits) => write!(f, "rss_hf {bits:#x}"),
            Reply::RetaSize(port, size) => write!(f, "The reta size of port {port} is {size}"),
            Reply::Tso(0) => f.write_str("TSO and UFO for non-tunneled packets is disabled"),
            Reply::Tso(bytes) => write!(f, "segment size for non-tunneled packets is {bytes}"),
            Reply::TunnelTso(0) => f.write_str("TSO for tunneled packets is disabled"),
            Reply::TunnelTso(bytes) => {
                write!(f, "TSO segment size for tunneled packets is {bytes}")
            }
            Reply::FlowValidated => f.write_str("Flow rule validated"),
            Reply::FlowCreated(id) => write!(f, "Flow rule #{id} created"),
            Reply::FlowDestroyed(id) => write!(f, "Flow rule #{id} destroyed"),
            Reply::UsedDescriptors(side, queue, count) => {
                write!(f, "{side}Q {queue} used desc count = {count}")
            }
            Reply::DescriptorStatus(status) => write!(f, "Desc status = {status}"),
            Reply::GroOff(port) => write!(f, "Port {port} doesn't enable GRO."),
            Reply::GsoOff(port) => write!(f, "GSO is not enabled on Port {port}"),
            Reply::Default => f.write_str("Reset to default forwarding configuration..."),
            Reply::NoBurst => {
                f.write_str("PMD does not recommend a burst size.\nUser provided value must be between 1 and 512")
            }
            Reply::Flows(port, flows) => write!(f, "  number of flows for port {port}: {flows}"),
            Reply::Loaded(file) => write!(f, "Finished reading CLI commands from {file}"),
        }
    }
}

fn changed(f: &mut fmt::Formatter<'_>, what: &str, before: u32, now: u32) -> fmt::Result {
    write!(
        f,
        "previous number of forwarding {what} {before} - changed to number of configured {what} {now}"
    )
}

/// Behind [`Refusal::NoPort`](super::Refusal::NoPort) where a `show` command was asked, on standard *output*.
#[derive(Debug, Clone, Copy)]
pub struct ValidPorts<'a>(
    /// The ports there are.
    pub &'a [u16],
);

impl fmt::Display for ValidPorts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The valid ports array is [")?;
        self.0.iter().try_for_each(|port| write!(f, " {port}"))?;
        f.write_str(" ]")
    }
}

/// `port config all rss` on a port that can't do all that was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RssChanged {
    /// The port's number.
    pub port: u16,
    /// What was asked.
    pub requested: u64,
    /// What it does.
    pub configured: u64,
}

impl fmt::Display for RssChanged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |bits: u64| {
            if bits == 0 {
                "0".to_owned()
            } else {
                format!("{bits:#x}")
            }
        };
        let (requested, configured) = (hex(self.requested), hex(self.configured));
        write!(
            f,
            "Port {} modified RSS hash function based on hardware support,",
            self.port
        )?;
        write!(f, "requested:{requested} configured:{configured}")
    }
}

/// `csum show {p}`, and what `csum set` prints after a change; ends with its newline. Warnings about what the port can't do
/// follow on standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CsumShow {
    /// `csum parse-tunnel`.
    pub parse_tunnel: bool,
    /// Done by the port: ip, udp, tcp, sctp, outer ip, outer udp.
    pub hw: [bool; 6],
}

impl CsumShow {
    const NAMES: [&'static str; 6] = ["IP", "UDP", "TCP", "SCTP", "Outer-Ip", "Outer-Udp"];
}

impl fmt::Display for CsumShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Parse tunnel is {}", on_off(self.parse_tunnel))?;
        Self::NAMES.iter().zip(self.hw).try_for_each(|(name, hw)| {
            writeln!(
                f,
                "{name} checksum offload is {}",
                if hw { "hw" } else { "sw" }
            )
        })
    }
}

/// `show port {p} gro` when on; ends with its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroShow {
    /// Most packets that are merged.
    pub packets: u32,
    /// `set gro flush`.
    pub flush_cycles: u32,
}

impl fmt::Display for GroShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "GRO type: TCP/IPv4\nMax number of packets to perform GRO: {}",
            self.packets
        )?;
        writeln!(f, "Flushing cycles: {}", self.flush_cycles)
    }
}

/// `show port {p} gso` when on; ends with its newline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GsoShow {
    /// `set gso segsz`, in bytes.
    pub segment: u16,
}

impl fmt::Display for GsoShow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Max GSO'd packet size: {}B", self.segment)?;
        writeln!(
            f,
            "Supported GSO types: TCP/IPv4, UDP/IPv4, VxLAN with inner TCP/IPv4 packet, GRE with inner TCP/IPv4 packet"
        )
    }
}

#[cfg(test)]
#[path = "replies_tests.rs"]
mod tests;
