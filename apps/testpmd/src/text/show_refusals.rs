//! What the commands that show something say on standard error when there is nothing to show.
//!
//! Apart from `refusals`, because none of these is about a change that was refused. Two spellings of one mistake (`Invalid
//! port 9`, `ETHDEV: Invalid port_id=9`) are DPDK's: which one comes depends on the command, and scripts look for both.

/// Why nothing is shown; a line or two without the last newline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShowRefusal {
    /// Commands that ask the device layer about a port that isn't there.
    #[error("ETHDEV: Invalid port_id={0}")]
    NoPort(u16),
    /// A queue that isn't there: `Rx` or `Tx`, queue.
    #[error("ETHDEV: Invalid {0} queue_id={1}")]
    NoQueue(&'static str, u16),
    /// Capabilities of a port that isn't there.
    #[error(
        "ETHDEV: Invalid port_id={0}\nError during getting device (port {0}) info: No such device"
    )]
    DeviceInfo(u16),
    /// Configuration of a port that isn't there.
    #[error(
        "ETHDEV: Invalid port_id={0}\nError during getting device configuration (port {0}): No such device"
    )]
    DeviceConfig(u16),
    /// `rss reta` with another number of masks than entries ask for: masks needed.
    #[error("The bits of masks do not match the number of reta entries: {0}")]
    RetaMaskCount(usize),
    /// `rss reta` with something else than masks in parentheses.
    #[error("Invalid string: {0} for reta masks")]
    RetaMasks(String),
    /// `rss reta` of another size than there can be: asked, most.
    #[error("Invalid redirection table size: {0} (1-{1})")]
    RetaSize(u16, u16),
    /// `rss-hash` of a port that names no key size.
    #[error("dev_info did not provide a valid hash key size")]
    NoHashKey,
    /// `rss-hash` of a port that has no hash.
    #[error("operation not supported by device")]
    NotByDevice,
    /// `desc {d} status` where there is no such descriptor, or the port can't tell: queue, descriptor.
    #[error("Invalid input: queue id = {0}, desc id = {1}")]
    Descriptor(u16, u16),
    /// `desc used count` where there is no such queue, or the port can't tell.
    #[error("Invalid queueid = {0}")]
    UsedQueue(u16),
    /// `desc` and `gso` of a port that isn't there.
    #[error("invalid port id {0}")]
    PortId(u16),
    /// `csum show` of a port that isn't there, after the usual line.
    #[error("invalid port {0}")]
    ChecksumPort(u16),
    /// `gro` of a port that isn't there.
    #[error("Invalid port id {0}.")]
    GroPort(u16),
    /// `show device info` of a device that isn't there.
    #[error("EAL: failed to parse device \"{0}\"\ncannot parse identifier")]
    NoDevice(String),
    /// `show port info {p} representor`.
    #[error(
        "Failed to get the number of representor info ranges for port {0}: Operation not supported"
    )]
    NoRepresentor(u16),
    /// `show port {p} flow_ctrl`: a negative error number.
    #[error("Failed to get current flow ctrl information: err = {0}")]
    FlowControl(i32),
    /// `show port dcb_tc`.
    #[error("\n Failed to get dcb infos on port {0} ")]
    Dcb(u16),
    /// Functions that only hardware has.
    #[error("Function not implemented")]
    NotImplemented,
    /// `show|clear vf stats`.
    #[error("function not implemented")]
    NoVf,
    /// `show port {p} flow transfer proxy`.
    #[error("Failed to pick transfer proxy: Function not implemented")]
    NoProxy,
    /// `flow dump`, after the port's complaint.
    #[error("Failed to dump flow: Function not implemented")]
    NoFlowDump,
    /// `show bonding config` of a port that is no bond.
    #[error("\tFailed to get bonding mode for port = {0}")]
    NoBond(u16),
    /// `show bonding lacp info` of a port that is no bond.
    #[error("\tBonding mode is not mode 4")]
    NoLacp,
    /// `dump mempool` by a name that no pool has.
    #[error("Cannot find mempool")]
    NoPool,
    /// `dump ring` by a name that no ring has.
    #[error("Cannot find ring")]
    NoRing,
}

#[cfg(test)]
mod tests {
    //! The texts as recorded.

    use super::ShowRefusal;

    #[test]
    fn as_recorded() {
        let same = [
            (
                ShowRefusal::NoQueue("Rx", 9),
                "ETHDEV: Invalid Rx queue_id=9",
            ),
            (
                ShowRefusal::DeviceInfo(9),
                "ETHDEV: Invalid port_id=9\nError during getting device (port 9) info: No such device",
            ),
            (
                ShowRefusal::RetaSize(0, 128),
                "Invalid redirection table size: 0 (1-128)",
            ),
            (
                ShowRefusal::Descriptor(0, 9999),
                "Invalid input: queue id = 0, desc id = 9999",
            ),
            (
                ShowRefusal::NoBond(0),
                "\tFailed to get bonding mode for port = 0",
            ),
            (ShowRefusal::GroPort(9), "Invalid port id 9."),
            (ShowRefusal::Dcb(0), "\n Failed to get dcb infos on port 0 "),
        ];
        for (refusal, text) in same {
            assert_eq!(refusal.to_string(), text);
        }
    }
}
