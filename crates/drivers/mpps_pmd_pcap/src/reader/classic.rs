//! Classic pcap: a header of 24 bytes, then records, each a header of 16 bytes and the frame.
//!
//! ```text
//!  magic major:16 minor:16 zone sigfigs snaplen linktype      then: seconds fraction captured original bytes...
//! ```
//! The magic number tells byte order and unit of the fraction: 0xa1b2c3d4 microseconds, 0xa1b23c4d nanoseconds.

use super::{FaultKind, MAX_FRAME, Order, Record, Step};
use crate::linktype::LinkType;

/// Bytes of the file's header.
pub(super) const HEADER: usize = 24;
/// Bytes of a record's header.
const RECORD: usize = 16;

/// The link type's field also says whether frames carry an FCS; the type is in these bits.
const LINKTYPE_BITS: u32 = 0x03ff_ffff;

/// What the magic number tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Format {
    order: Order,
    /// Nanoseconds in a unit of the fraction.
    unit: u64,
}

impl Format {
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        let (order, unit) = match magic {
            [0xd4, 0xc3, 0xb2, 0xa1] => (Order::Little, 1000),
            [0xa1, 0xb2, 0xc3, 0xd4] => (Order::Big, 1000),
            [0x4d, 0x3c, 0xb2, 0xa1] => (Order::Little, 1),
            [0xa1, 0xb2, 0x3c, 0x4d] => (Order::Big, 1),
            _ => return None,
        };
        Some(Self { order, unit })
    }
}

/// In which order the two lengths of a record come: files before version 2.4 had them the other way round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lengths {
    AsToday,
    Swapped,
    /// Version 2.3 had both; the captured length is the smaller one.
    Smaller,
}

/// The parser.
pub(super) struct Classic {
    format: Format,
    lengths: Lengths,
    /// Frames are cut to this, as by libpcap.
    snaplen: u32,
}

impl Classic {
    pub(super) fn new(format: Format, header: &[u8; HEADER]) -> Result<Self, FaultKind> {
        let order = format.order;
        let (major, minor) = (order.u16(header, 4), order.u16(header, 6));
        let lengths = match (major, minor) {
            (2, 4) => Lengths::AsToday,
            (2, 3) => Lengths::Smaller,
            // 543.0 is what DG/UX wrote.
            (2, 0..=2) | (543, 0) => Lengths::Swapped,
            _ => {
                return Err(FaultKind::Version {
                    format: "pcap",
                    major,
                    minor,
                    known: "2.4",
                });
            }
        };
        let link = LinkType(order.u32(header, 20) & LINKTYPE_BITS);
        if link != LinkType::ETHERNET {
            return Err(FaultKind::LinkType(link));
        }
        let snaplen = match order.u32(header, 16) {
            0 => MAX_FRAME,
            snaplen => snaplen.min(MAX_FRAME),
        };
        Ok(Self {
            format,
            lengths,
            snaplen,
        })
    }

    #[inline]
    pub(super) fn step(&self, window: &[u8]) -> Result<Step, FaultKind> {
        let Some(header) = window.first_chunk::<RECORD>() else {
            return Ok(Step::Need(RECORD, "the header of a record"));
        };
        let order = self.format.order;
        let (seconds, fraction) = (order.u32(header, 0), order.u32(header, 4));
        let (first, second) = (order.u32(header, 8), order.u32(header, 12));
        let (captured, original) = match self.lengths {
            Lengths::AsToday => (first, second),
            Lengths::Swapped => (second, first),
            Lengths::Smaller => (first.min(second), first.max(second)),
        };
        if captured > MAX_FRAME {
            return Err(FaultKind::LongFrame(captured));
        }
        let used = RECORD + captured as usize;
        if window.len() < used {
            return Ok(Step::Need(used, "a record"));
        }
        Ok(Step::Frame(Record {
            start: RECORD,
            len: captured.min(self.snaplen) as usize,
            used,
            original,
            // At most 2^32 seconds and 2^32 microseconds: less than 2^63 nanoseconds.
            time: Some(u64::from(seconds) * 1_000_000_000 + u64::from(fraction) * self.format.unit),
        }))
    }
}
