//! The file of peer addresses, `--eth-peers-configfile`.

use mpps_wire::MacAddr;

use super::port_table::MAX_PORTS;

/// A line of the file that is no Ethernet address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: `{}` is not an Ethernet address; write one such as 02:00:00:00:00:01 a line", .text.escape_default())]
pub struct PeersError {
    /// Counted from 1.
    pub line: usize,
    /// What stands there.
    pub text: String,
}

/// Reads the text of the file: the peer of port 0 on the first line, and so on, at most 32.
///
/// # Errors
/// The first line that isn't an address.
pub fn parse_peers(text: &str) -> Result<Vec<MacAddr>, PeersError> {
    let lines = text.lines().take(usize::from(MAX_PORTS)).enumerate();
    lines
        .map(|(at, line)| {
            line.trim().parse().map_err(|_| PeersError {
                line: at + 1,
                text: line.to_owned(),
            })
        })
        .collect()
}
