//! The balance of a loop, drawn when it was emptied by whoever owns it: what was made, found, dropped, sent and received.

use crate::bench::Failure;

/// What came to light when the loop was emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Balance {
    /// Packets that were made.
    pub(crate) made: u64,
    /// Those that were found at the end, each whole and each once.
    pub(crate) found: u64,
    /// Those that a full ring didn't take.
    pub(crate) dropped: u64,
    /// Packets that the sides sent to each other, and received from each other.
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Balance {
    /// Whether it closes.
    pub(crate) fn verdict(self) -> Result<Self, Failure> {
        if self.sent != self.received {
            return Err(format!(
                "{} packets were sent and {} received; the measurement is void",
                self.sent, self.received
            )
            .into());
        }
        if self.made != self.found + self.dropped {
            return Err(format!(
                "{} packets were made, {} found at the end and {} dropped; the measurement is void",
                self.made, self.found, self.dropped
            )
            .into());
        }
        Ok(self)
    }
}
