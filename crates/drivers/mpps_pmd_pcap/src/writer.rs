//! Writing classic pcap with nanoseconds, buffered, exact about what was lost.
//!
//! A transmit queue owns a [`Writer`]. A frame counts as sent once it is in the buffer. The buffer goes out when it has
//! grown to 256 KiB, when a burst wasn't full (so nothing of a quiet port waits here), every 100 ms, and at the end. When the system
//! refuses to take more, the frames of the burst at hand that are not yet in the file count as errors; older ones stay in the buffer
//! until the file can be written again.

use std::io::{self, ErrorKind, Write};

use mpps_mbuf::Mbuf;

use crate::linktype::LinkType;
use crate::reader::MAX_FRAME;

/// Bytes at which the buffer goes out.
const BLOCK: usize = 256 * 1024;
/// Bytes of a record's header.
const RECORD: usize = 16;
/// Nanoseconds after which the buffer goes out with the next burst.
const LINGER: u64 = 100_000_000;

/// The header of a file: nanosecond magic, version 2.4, little-endian.
pub(crate) fn header(snaplen: u32) -> [u8; 24] {
    let mut header = [0; 24];
    header[..4].copy_from_slice(&0xa1b2_3c4d_u32.to_le_bytes());
    header[4..6].copy_from_slice(&2u16.to_le_bytes());
    header[6..8].copy_from_slice(&4u16.to_le_bytes());
    header[16..20].copy_from_slice(&snaplen.to_le_bytes());
    header[20..].copy_from_slice(&LinkType::ETHERNET.0.to_le_bytes());
    header
}

/// What became of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) packets: u64,
    /// Bytes of these, whole, also where fewer were written.
    pub(crate) bytes: u64,
    pub(crate) errors: u64,
}

/// Appends frames to a file that has its header.
pub(crate) struct Writer<W: Write> {
    sink: W,
    buffer: Vec<u8>,
    /// So much of the buffer has been written; more than zero only after a failure.
    done: usize,
    snaplen: u32,
    /// When the buffer last went out or was last tried, in nanoseconds since 1970.
    tried: u64,
    /// Why the last try failed.
    failure: Option<io::Error>,
}

impl<W: Write> Writer<W> {
    /// A writer that cuts frames to `snaplen`, at most [`MAX_FRAME`]; `rest` is what another one left.
    pub(crate) fn new(sink: W, snaplen: u32, rest: Vec<u8>) -> Self {
        let mut buffer = rest;
        buffer.reserve(BLOCK + RECORD + MAX_FRAME as usize);
        Self {
            sink,
            buffer,
            done: 0,
            snaplen: snaplen.min(MAX_FRAME),
            tried: 0,
            failure: None,
        }
    }

    /// Why the last try to write failed, if it did.
    pub(crate) fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    /// Appends all packets with the time `now` (nanoseconds since 1970); lets the buffer go out if it is due, or with `flush`.
    pub(crate) fn burst(&mut self, packets: &[Mbuf], now: u64, flush: bool) -> Sent {
        let mut sent = Sent::default();
        let due = now.abs_diff(self.tried) >= LINGER;
        if self.failure.is_some() && !(due && self.write_out(now)) {
            sent.errors = packets.len() as u64;
            return sent;
        }
        let mut burst_start = self.buffer.len();
        for (n, packet) in packets.iter().enumerate() {
            self.append(packet, now);
            sent.packets += 1;
            sent.bytes += u64::from(packet.pkt_len());
            if self.buffer.len() >= BLOCK {
                if !self.write_out(now) {
                    self.roll_back(burst_start, &mut sent);
                    sent.errors += (packets.len() - n - 1) as u64;
                    return sent;
                }
                burst_start = 0;
            }
        }
        if (flush || due) && !self.write_out(now) {
            self.roll_back(burst_start, &mut sent);
        }
        sent
    }

    /// Appends a record: the header and as much of the frame as the snap length allows.
    #[inline]
    fn append(&mut self, packet: &Mbuf, now: u64) {
        let original = packet.pkt_len();
        let captured = original.min(self.snaplen);
        let mut header = [0; RECORD];
        // The format has 32 bits for seconds and starts over in 2106.
        header[..4].copy_from_slice(&((now / 1_000_000_000) as u32).to_le_bytes());
        header[4..8].copy_from_slice(&((now % 1_000_000_000) as u32).to_le_bytes());
        header[8..12].copy_from_slice(&captured.to_le_bytes());
        header[12..].copy_from_slice(&original.to_le_bytes());
        self.buffer.extend_from_slice(&header);
        let mut left = captured as usize;
        for segment in packet.segments_data() {
            let n = segment.len().min(left);
            self.buffer.extend_from_slice(&segment[..n]);
            left -= n;
            if left == 0 {
                break;
            }
        }
    }

    /// Writes the buffer; false, with the reason kept, when the system doesn't take all of it.
    pub(crate) fn write_out(&mut self, now: u64) -> bool {
        self.tried = now;
        self.failure = None;
        while self.done < self.buffer.len() {
            match self.sink.write(&self.buffer[self.done..]) {
                Ok(0) => self.failure = Some(ErrorKind::WriteZero.into()),
                Ok(n) => self.done += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => self.failure = Some(error),
            }
            if self.failure.is_some() {
                return false;
            }
        }
        self.buffer.clear();
        self.done = 0;
        true
    }

    /// Takes the frames from `burst_start` on of which nothing was written out of the buffer, and counts them as errors.
    fn roll_back(&mut self, burst_start: usize, sent: &mut Sent) {
        let (mut at, mut keep) = (burst_start, None);
        while at < self.buffer.len() {
            if at >= self.done && keep.is_none() {
                keep = Some(at);
            }
            let field = |from: usize| {
                let bytes = self.buffer[at + from..].first_chunk();
                u32::from_le_bytes(bytes.copied().unwrap_or_default())
            };
            let (captured, original) = (field(8), field(12));
            if keep.is_some() {
                sent.packets -= 1;
                sent.bytes -= u64::from(original);
                sent.errors += 1;
            }
            at += RECORD + captured as usize;
        }
        if let Some(keep) = keep {
            self.buffer.truncate(keep);
        }
    }

    /// Writes what is left, as far as that goes, and returns the rest.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        let now = self.tried;
        self.write_out(now);
        let mut rest = std::mem::take(&mut self.buffer);
        rest.drain(..std::mem::take(&mut self.done));
        rest
    }
}

#[cfg(test)]
mod tests;
