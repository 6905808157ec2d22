//! Settings that commands change while the program runs, with their checks.

use super::App;
use crate::text::Refusal;

/// Bytes of the headers of a generated packet.
const HEADERS: u32 = 42;

impl App {
    /// `set txpkts`: lengths of the segments of generated packets; all or none.
    ///
    /// # Errors
    /// A segment longer than an mbuf's buffer, or a packet too short for its headers.
    pub fn set_txpkts(&mut self, lengths: &[u32]) -> Result<(), Refusal> {
        let room = u32::from(self.args.pools.mbuf_sizes.first().copied().unwrap_or(u16::MAX));
        if let Some((n, length)) = lengths.iter().enumerate().find(|(_, length)| **length > room) {
            return Err(Refusal::SegmentTooLong(n, *length, room));
        }
        let total: u32 = lengths.iter().sum();
        if total < HEADERS {
            return Err(Refusal::PacketTooShort(total, HEADERS));
        }
        self.engines.txonly.lengths = lengths.iter().map(|length| *length as u16).collect();
        Ok(())
    }
}
