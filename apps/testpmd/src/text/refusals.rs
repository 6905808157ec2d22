//! What testpmd says on standard error: commands refused, and notices of its start.
//!
//! Scripts look for these words, so they stand as DPDK has them; an error of ours beyond these begins with `mpps: `.

use std::fmt;

/// Why a command did nothing. One line (two where DPDK has an empty one in front), without its last newline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A port that isn't there. `show` commands add [`ValidPorts`](super::ValidPorts).
    #[error("Invalid port {0}")]
    NoPort(u16),
    /// `start` while forwarding.
    #[error("Packet forwarding already started")]
    AlreadyStarted,
    /// `stop` while not forwarding.
    #[error("Packet forwarding not started")]
    NotStarted,
    /// `start` while a forwarding port is stopped.
    #[error("Not all ports were started")]
    PortsNotStarted,
    /// An engine can't begin.
    #[error("Packet forwarding is not ready")]
    NotReady,
    /// The command needs forwarding stopped.
    #[error("Please stop forwarding first")]
    StopForwarding,
    /// The command needs all ports stopped.
    #[error("Please stop all ports first")]
    StopAllPorts,
    /// The command needs this port stopped.
    #[error("Please stop port {0} first")]
    StopPort(u16),
    /// `port start` of a port that runs.
    #[error("Port {0} is now not stopped")]
    NotStopped(u16),
    /// `port start` when no port could start, all being up.
    #[error("Please stop the ports first")]
    StopPorts,
    /// `port stop|close|reset` of a port that forwards.
    #[error("Please remove port {0} from forwarding configuration.")]
    Forwarding(u16),
    /// `port stop|close|reset` of a port that a bond owns.
    #[error("Please remove port {0} from bonding device.")]
    Bonded(u16),
    /// `port close` again.
    #[error("Port {0} is already closed")]
    AlreadyClosed(u16),
    /// `port close` of a running port.
    #[error("ETHDEV: Cannot close started device (port {0})")]
    CloseRunning(u16),
    /// `port reset` of a running port.
    #[error("Can not reset port(s), please stop port(s) first.")]
    ResetRunning,
    /// `port reset` failed: port, negative error number.
    #[error("Failed to reset port {0}. diag={1}")]
    ResetFailed(u16, i32),
    /// `port detach` of a running port.
    #[error("Port not stopped")]
    DetachRunning,
    /// `port detach` of an open port; it goes on nevertheless.
    #[error("Port was not closed")]
    DetachOpen,
    /// `port attach`: what could not be attached.
    #[error("testpmd: Failed to attach port {0}")]
    Attach(String),
    /// `port attach` without a name.
    #[error("Invalid parameters are specified")]
    AttachNothing,
    /// A port's tx queues can't be set up.
    #[error("Fail to configure port {0} tx queues")]
    TxQueues(u16),
    /// A port's rx queues can't be set up.
    #[error("Fail to configure port {0} rx queues")]
    RxQueues(u16),
    /// A port can't be configured at all.
    #[error("Fail to configure port {0}")]
    Configure(u16),
    /// A port can't be started: port, why.
    #[error("Fail to start port {0}: {1}")]
    Start(u16, String),
    /// At start-up a port didn't start; fatal unless interactive.
    #[error("Start ports failed")]
    StartPorts,
    /// `set fwd` or `--forward-mode` names no engine.
    #[error("Invalid {0} packet forwarding mode")]
    FwdMode(String),
    /// `set nbcore`: asked, most.
    #[error("nb fwd cores {0} > {1} (max. number of configured lcores) - ignored")]
    TooManyCores(u32, u32),
    /// `set nbport`: asked, most.
    #[error("nb fwd ports {0} > {1} (number of configured ports) - ignored")]
    TooManyPorts(u32, u32),
    /// `set burst`: asked. The two blanks are DPDK's.
    #[error("nb pkt per burst: {0} > 512 (maximum packet per burst)  ignored")]
    BurstTooLong(u32),
    /// A core that isn't enabled.
    #[error("lcore {0} not enabled")]
    NoLcore(u32),
    /// The main core in a list of forwarding cores.
    #[error(
        "lcore {0} cannot be masked on for running packet forwarding, which is the main lcore and reserved for command line parsing only"
    )]
    MainLcore(u32),
    /// An empty mask of cores.
    #[error("Invalid NULL mask of cores")]
    NoCores,
    /// An empty mask of ports.
    #[error("Invalid NULL mask of ports")]
    NoPorts,
    /// `set txpkts`: which segment, its length, the pool's data room.
    #[error("length[{0}]={1} > mbuf_data_size={2} - give up")]
    SegmentTooLong(usize, u32, u32),
    /// `set txpkts`: the sum, and the least that holds the headers.
    #[error("total packet length={0} < {1} - give up")]
    PacketTooShort(u32, u32),
    /// `set promisc`: enabling or disabling, port, why.
    #[error("Error during {does} promiscuous mode for port {1}: {2}", does = doing(*.0))]
    Promiscuous(bool, u16, &'static str),
    /// At start-up: port, why.
    #[error("Error during enabling promiscuous mode for port {0}: {1} - ignore")]
    PromiscuousIgnored(u16, &'static str),
    /// `set allmulti`: enabling or disabling, port, why.
    #[error("Error during {does} all-multicast mode for port {1}: {2}", does = doing(*.0))]
    AllMulticast(bool, u16, &'static str),
    /// `mac_addr`: why.
    #[error("mac_addr_cmd error: ({0})")]
    MacAddr(&'static str),
    /// `set link-up port`.
    #[error("\nSet link up fail.")]
    LinkUp,
    /// `set link-down port`.
    #[error("\nSet link down fail.")]
    LinkDown,
    /// `show port xstats` of a port that has no names yet.
    #[error("Error: Cannot get count of xstats")]
    NoXstats,
    /// `show port {p} rss reta`: a negative error number.
    #[error("Failed to get RSS RETA info, return code = {0}")]
    Reta(i32),
    /// `port config mtu`: asked, least, port.
    #[error("MTU ({0}) < device min MTU ({1}) for port_id {2}")]
    MtuTooSmall(u32, u32, u16),
    /// `port config mtu`: asked, most, port.
    #[error("MTU ({0}) > device max MTU ({1}) for port_id {2}")]
    MtuTooLarge(u32, u32, u16),
    /// A VLAN id out of range.
    #[error("Invalid vlan_id {0} (must be < 4096)")]
    VlanId(u32),
    /// `vlan set strip`: port, on, negative error number.
    #[error("rx_vlan_strip_set(port_pi={0}, on={on}) failed diag={2}", on = u8::from(*.1))]
    VlanStrip(u16, bool, i32),
    /// `vlan set filter`: port, on, negative error number.
    #[error("rx_vlan_filter_set(port_pi={0}, on={on}) failed diag={2}", on = u8::from(*.1))]
    VlanFilter(u16, bool, i32),
    /// `rx_vlan add|rm`: port, id, on, negative error number.
    #[error("rte_eth_dev_vlan_filter(port_pi={0}, vlan_id={1}, on={on}) failed diag={3}", on = u8::from(*.2))]
    VlanMember(u16, u16, bool, i32),
    /// `csum set ... hw`: `IP`, `UDP`, `TCP`, `SCTP`, `Outer IP` or `Outer UDP`; port.
    #[error("{0} checksum offload is not supported by port {1}")]
    Checksum(&'static str, u16),
    /// `flow destroy|query` of a rule that isn't there.
    #[error("Flow rule #{0} not found")]
    NoFlow(u64),
    /// A list with something else than digits and commas.
    #[error("character {0} is not a decimal digit")]
    ListCharacter(char),
    /// A list with a comma that nothing stands in front of.
    #[error("No valid value before comma")]
    ListComma,
    /// A list that is too long: of what, how many, most.
    #[error("Number of {0} = {1} > {2} (maximum items)")]
    ListLong(&'static str, usize, usize),
    /// A list that names something twice: what, which, at which two places.
    #[error("duplicated {0} {1} at index {2} and {3}")]
    ListTwice(&'static str, u32, usize, usize),
    /// `port config {p} rss reta`: an entry beyond the table.
    #[error("Invalid RETA hash index={0}")]
    RetaIndex(u32),
    /// `port config {p} rss reta` of a port without a table.
    #[error("Redirection table size is 0 which is invalid for RSS")]
    RetaEmpty,
    /// `port config {p} rss reta`: no pairs of entry and queue.
    #[error("Invalid RSS Redirection Table config entered")]
    RetaWords,
    /// `port config {p} rss reta` refused by the port: a negative error number.
    #[error("Bad redirection table parameter, return code = {0}")]
    RetaRefused(i32),
    /// `tx_vlan set` with one tag while two are on.
    #[error("Error, as QinQ has been enabled.")]
    QinqOn,
    /// `tx_vlan set` on a port that can't.
    #[error("Error: vlan insert is not supported by port {0}")]
    VlanInsert(u16),
    /// `tx_vlan set` with two tags on a port that can't.
    #[error("Error: qinq insert not supported by port {0}")]
    QinqInsert(u16),
    /// `show port {p} rxq|txq {q} desc ...` of a queue that isn't there: port, queue.
    #[error("Invalid input: port id = {0}, queue id = {1}")]
    NoQueue(u16, u16),
    /// `show port {p} rxq|txq {q} desc {d} status` beyond the ring: queue, descriptor.
    #[error("Invalid input: queue id = {0}, desc id = {1}")]
    NoDescriptor(u16, u32),
    /// `set txonly-flows`.
    #[error("txonly-flows must be >= 1 and <= 64")]
    TxonlyFlows,
    /// `set port {p} gro` while forwarding.
    #[error("Before enable/disable GRO, please stop forwarding first")]
    GroForwarding,
    /// `set port {p} gso on|off` while forwarding.
    #[error("before {does} GSO, please stop forwarding first", does = doing(*.0))]
    GsoForwarding(bool),
    /// `show port {p} rss-hash` of a port that knows no RSS.
    #[error("operation not supported by device")]
    Unsupported,
    /// A device operation failed: a negative error number.
    #[error("operation failed - diag={0}")]
    Failed(i32),
    /// `port config all rss {word}`.
    #[error("Unknown parameter")]
    RssWord,
    /// `show bonding config` of a port that is no bond.
    #[error("\tFailed to get bonding mode for port = {0}")]
    NotABond(u16),
}

fn doing(on: bool) -> &'static str {
    if on { "enabling" } else { "disabling" }
}

/// What start-up says on standard error; no failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice<'a> {
    /// A pool is being made: name, buffers, bytes each with headroom, node.
    Pool {
        /// `mb_pool_0`, or `mb_pool_0_1` for a second size.
        name: &'a str,
        /// Buffers.
        count: u32,
        /// Bytes of data each, headroom included.
        size: u32,
        /// The node.
        socket: u32,
    },
    /// Follows every pool: `ring_mp_mc`.
    PoolOps(&'a str),
    /// No port was found; testpmd goes on.
    NoDevices,
    /// An odd port list with paired topology, when the first layout is made; once in a process's life.
    OddPorts,
    /// `csum` asks for an offload that the port lacks: `IP`, `UDP`, `TCP`, `SCTP`, `outer IP` or `outer UDP`; port.
    HwChecksum(&'a str, u16),
    /// A port does not know its node, and `--port-numa-config` does not say it either.
    NumaByHand,
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::Pool { name, count, size, socket } => {
                write!(f, "testpmd: create a new mbuf pool <{name}>: n={count}, size={size}, socket={socket}")
            }
            Notice::PoolOps(ops) => write!(f, "testpmd: preferred mempool ops selected: {ops}"),
            Notice::NoDevices => f.write_str("testpmd: No probed ethernet devices"),
            Notice::HwChecksum(what, port) => {
                write!(f, "Warning: hardware {what} checksum enabled but not supported by port {port}")
            }
            Notice::OddPorts => f.write_str(
                "\nWarning! port-topology=paired and odd forward ports number, the last port will pair with itself.\n",
            ),
            Notice::NumaByHand => f.write_str(
                "Warning: NUMA should be configured manually by using --port-numa-config and --ring-numa-config parameters along with --numa.",
            ),
        }
    }
}

#[cfg(test)]
#[path = "refusals_tests.rs"]
mod tests;
