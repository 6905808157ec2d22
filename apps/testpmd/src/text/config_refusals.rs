//! Why a command that configures did nothing: DPDK's words where it has any, ours (with `mpps: ` in front) elsewhere.
//!
//! What begins with `ETHDEV: ` are lines that DPDK's port layer logs in front of testpmd's own; scripts that look for the
//! reason find it there.

use mpps_wire::MacAddr;

use super::Refusal;

/// Standard error of a refused command, without its last newline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigRefusal {
    /// One that other commands share.
    #[error(transparent)]
    Plain(#[from] Refusal),
    /// Anything that DPDK has no words for.
    #[error("mpps: {0}")]
    Own(String),
    /// DPDK's words, and ours that say what would be right.
    #[error("{0}\nmpps: {1}")]
    With(Refusal, String),
    /// A port that isn't there, where DPDK asks its port layer first.
    #[error("ETHDEV: Invalid port_id={0}\n{1}")]
    NoEthdev(u16, Refusal),
    /// `port detach` of a port that isn't there.
    #[error("ETHDEV: Invalid port_id={0}")]
    NoDevice(u16),
    /// A port that isn't there, where DPDK asks what the port can do.
    #[error(
        "ETHDEV: Invalid port_id={0}\nError during getting device (port {0}) info: No such device"
    )]
    NoInfo(u16),
    /// A port that isn't there, said twice (`csum set`).
    #[error("Invalid port {0}\ninvalid port {0}")]
    NoPortTwice(u16),
    /// A port that isn't there (`set port {p} gro|gso`).
    #[error("invalid port id {0}")]
    NoPortId(u16),
    /// A number that no port can have, in a list.
    #[error("Invalid port {0}")]
    NoPortNumber(u32),
    /// `set eth-peer` of a port that isn't there.
    #[error("Error: Invalid port number {0}")]
    PeerPort(u16),
    /// `set eth-peer` with something else than an address.
    #[error("Error: Invalid ethernet address: {0}")]
    PeerAddress(String),
    /// `port config all rxq|txq`: `rxq` or `txq`, asked, most, port.
    #[error("Fail: input {0} ({1}) can't be greater than max_{dir}_queues ({2}) of port {3}", dir = side(.0))]
    TooManyQueues(&'static str, u16, u16, u16),
    /// Neither direction would have a queue.
    #[error("Warning: Either rx or tx queues should be non zero")]
    NoQueues,
    /// `port config all burst`.
    #[error("burst must be >= 1 && <= 512")]
    Burst,
    /// `port config all max-pkt-len`.
    #[error("max-pkt-len can not be less than 64")]
    MaxPktLen,
    /// A length that a port can't have: MTU, port.
    #[error("Failed to set MTU to {0} for port {1}")]
    Mtu(u32, u16),
    /// The command needs this port started.
    #[error("Please start port {0} first")]
    StartPort(u16),
    /// A queue that isn't there: `RX` or `TX`, queue, `rxq` or `txq`, how many there are.
    #[error("Invalid {0} queue {1} (must be < nb_{2}={3})")]
    NoQueue(&'static str, u16, &'static str, u16),
    /// `port {p} rxq|txq {q} setup` of a queue that isn't there: as above, then `rx` or `tx`.
    #[error("Invalid {0} queue {1} (must be < nb_{2}={3})\nInvalid {side} queue", side = if *.0 == "RX" { "rx" } else { "tx" })]
    NoQueueToSetUp(&'static str, u16, &'static str, u16),
    /// `port {p} rxq|txq {q} setup` of a running port: `RX` or `TX`, what to do.
    #[error("Failed to setup {0} queue\nmpps: {1}")]
    Setup(&'static str, String),
    /// An offload of a running port.
    #[error("Error: Can't config offload when Port {0} is not stopped")]
    OffloadRunning(u16),
    /// An offload of a queue that isn't there: the highest there is.
    #[error("Error: input queue_id should be 0 ... {0}")]
    OffloadQueue(u16),
    /// `port config all rss` with a number that is no type.
    #[error("flowtype_id should be greater than 0 and less than 64.")]
    RssNumber,
    /// RSS types of a port that doesn't spread by hash.
    #[error(
        "ETHDEV: Multi-queue RSS mode isn't enabled.\nConfiguration of RSS hash at ethernet port {0} failed with error (95): Operation not supported."
    )]
    RssOff(u16),
    /// RSS types that a port refuses: port, error number, its text.
    #[error("Configuration of RSS hash at ethernet port {0} failed with error ({1}): {2}.")]
    Rss(u16, i32, &'static str),
    /// The redirection table of a port that doesn't spread by hash.
    #[error("ETHDEV: Multi-queue RSS mode isn't enabled.\n{0}")]
    RetaOff(Refusal),
    /// A redirection to a queue that isn't there: entry, queue, queues there are.
    #[error("ETHDEV: reta_conf[{g}]->reta[{n}]: {1} exceeds the maximum rxq index: {2}\n{r}", g = .0 / 64, n = .0 % 64, r = Refusal::RetaRefused(-22))]
    RetaQueue(usize, u32, u16),
    /// An entry beyond the table.
    #[error("{r}\n{w}", r = Refusal::RetaIndex(*.0), w = Refusal::RetaWords)]
    RetaEntry(u32),
    /// `rss-hash-key` of a port that has none.
    #[error("dev_info did not provide a valid hash key size")]
    NoKey,
    /// `rss-hash-key` of the wrong length: digits given, digits needed.
    #[error("key length: {0} invalid - key must be a string of {1} hexa-decimal numbers")]
    KeyLength(usize, usize),
    /// `rss-hash-key` with something else than hexadecimal digits: which, where.
    #[error("invalid key: character {0} at position {1} is not a valid hexa digit")]
    KeyDigit(char, usize),
    /// A VLAN offload that a port lacks: bits, what it has, then testpmd's line.
    #[error(
        "ETHDEV: Ethdev port_id={port} requested new added VLAN offloads {bits:#x} must be within Rx offloads capabilities {have} in rte_eth_dev_set_vlan_offload()\n{function}(port_pi={port}, on=1) failed diag=-22",
        have = Hex(*.have)
    )]
    Vlan {
        /// The port's number.
        port: u16,
        /// What was asked for.
        bits: u64,
        /// What the port can.
        have: u64,
        /// DPDK's function, whose name is part of the text.
        function: &'static str,
    },
    /// `vlan set stripq`: port, queue, on.
    #[error("rx_vlan_strip_set_on_queue(port_pi={0}, queue_id={1}, on={on}) failed diag=-95", on = u8::from(*.2))]
    VlanQueue(u16, u16, bool),
    /// `vlan set inner|outer tpid`: port, 1 inner or 2 outer, type.
    #[error("tx_vlan_tpid_set(port_pi={0}, vlan_type={1}, tpid={2}) failed diag=-95")]
    VlanType(u16, u8, u16),
    /// `rx_vlan add|rm` on a port that doesn't filter.
    #[error("ETHDEV: Port {0}: VLAN-filtering disabled\n{1}")]
    VlanFilterOff(u16, Refusal),
    /// `mcast_addr` of a port without a list: port, addresses.
    #[error("rte_eth_dev_set_mc_addr_list(port={0}, nb={1}) failed. diag=-95")]
    Multicast(u16, usize),
    /// `mcast_addr` with an address that is for one station.
    #[error("Invalid multicast addr {0}")]
    NotMulticast(MacAddr),
    /// `mcast_addr remove` of an address that isn't in the list.
    #[error("multicast address not filtered by port {0}")]
    NotFiltered(u16),
    /// `tso set` of a port that can't.
    #[error("Error: TSO is not supported by port {0}")]
    Tso(u16),
    /// `tunnel_tso set` of a port that can't.
    #[error("Error: port={0} don't support tunnel TSO offloads.")]
    TunnelTso(u16),
    /// `set port {p} ptype_mask` of a port that sorts no packets.
    #[error("Port {0} doesn't support any ptypes.")]
    Ptypes(u16),
    /// The same of a port that isn't there.
    #[error("ETHDEV: Invalid port_id={0}\nPort {0} doesn't support any ptypes.")]
    NoPtypes(u16),
    /// A rate limit for a queue of a port that has none.
    #[error(
        "rte_eth_set_queue_rate_limit for port_id={0} failed diag=-95\nqueue_rate_limit_cmd error: (Operation not supported)"
    )]
    Rate(u16),
    /// Flow control of a port that has none.
    #[error("cannot get current flow ctrl parameters, return code = -95")]
    FlowControl,
    /// A speed that software ports don't have.
    #[error("Invalid speed/duplex parameters")]
    Speed,
    /// `device detach`: device, why.
    #[error("testpmd: Failed to detach device {0}\nmpps: {1}")]
    Detach(String, String),
    /// `device detach` of a running port.
    #[error("Port {0} not stopped")]
    DetachRunning(u16),
    /// `port attach`: device, why.
    #[error("mpps: {1}\n{r}", r = Refusal::Attach(.0.clone()))]
    Attach(String, String),
}

fn side(queues: &str) -> &'static str {
    if queues == "rxq" { "rx" } else { "tx" }
}

/// Hexadecimal with a prefix, also for 0, as these lines have it.
struct Hex(u64);

impl std::fmt::Display for Hex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

#[cfg(test)]
#[path = "config_refusals_tests.rs"]
mod tests;
