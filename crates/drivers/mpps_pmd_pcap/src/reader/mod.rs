//! Reading capture files: classic pcap and pcapng, from bytes to frames.
//!
//! [`Reader`] owns the source of the bytes and a window over them, and asks the parsers (`classic`, `ng`), which see nothing but
//! that window, for one step at a time. No parser keeps a pointer, allocates by a length it read, or trusts one: any
//! bytes at all give frames, an end, or a [`Fault`] with its place. A receive queue makes a reader when the port starts
//! and drops it at the end of the file.
//!
//! Formats: draft-ietf-opsawg-pcap (classic), draft-ietf-opsawg-pcapng.

mod blocks;
mod classic;
mod fault;
mod ng;

pub use blocks::{Event, Frame, Reader};
pub use fault::{Fault, FaultKind, ReadError};

use classic::Classic;
use ng::Ng;

/// The longest frame that is read, as libpcap has it. A record that claims more is a fault.
pub const MAX_FRAME: u32 = 262_144;

/// The longest pcapng block that is looked into: the longest frame and as much again for its options.
pub const MAX_BLOCK: u32 = 2 * MAX_FRAME;

/// Hands every frame of a file in memory to `each`, in order; returns how many there were before the end.
///
/// ```
/// let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0];
/// file.extend([9, 0, 0, 0, 5, 0, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 0xaa, 0xbb, 0xcc]);
/// let frames = mpps_pmd_pcap::reader::frames(&file, |frame| {
///     assert_eq!((frame.data, frame.original), (&[0xaa, 0xbb, 0xcc][..], 60));
///     assert_eq!(frame.time, Some(9_000_005_000));
/// });
/// assert_eq!(frames.unwrap(), 1);
/// ```
///
/// # Errors
/// What is wrong with the file, once its frames up to there have been handed out.
pub fn frames(file: &[u8], mut each: impl FnMut(Frame<'_>)) -> Result<u64, ReadError> {
    let mut reader = Reader::new(file);
    loop {
        match reader.next()? {
            Event::Frame(frame) => each(frame),
            Event::Pause => {}
            Event::End => return Ok(reader.frames()),
        }
    }
}

/// A frame's place in the window.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Where its bytes begin.
    start: usize,
    /// How many there are.
    len: usize,
    /// Bytes of the window that it takes up with all that belongs to it.
    used: usize,
    original: u32,
    time: Option<u64>,
}

/// What a parser makes of the window.
enum Step {
    /// Nothing yet: it must begin with this many bytes, which make up this part of the file.
    Need(usize, &'static str),
    /// Nothing in this many bytes, which may be more than the window holds.
    Skip(u64),
    /// A frame.
    Frame(Record),
}

/// The parser that the file's first bytes ask for.
enum Parser {
    Start,
    Classic(Classic),
    Ng(Ng),
}

impl Parser {
    #[inline]
    fn step(&mut self, window: &[u8]) -> Result<Step, FaultKind> {
        match self {
            Self::Classic(classic) => classic.step(window),
            Self::Ng(ng) => ng.step(window),
            Self::Start => self.begin(window),
        }
    }

    fn begin(&mut self, window: &[u8]) -> Result<Step, FaultKind> {
        let Some(magic) = window.first_chunk::<4>() else {
            return Ok(Step::Need(4, "the magic number of the file"));
        };
        if *magic == ng::SECTION.to_be_bytes() {
            *self = Self::Ng(Ng::default());
            return Ok(Step::Skip(0));
        }
        let format = classic::Format::of(*magic).ok_or(FaultKind::NotCapture(*magic))?;
        let Some(header) = window.first_chunk() else {
            return Ok(Step::Need(classic::HEADER, "the header of the file"));
        };
        *self = Self::Classic(Classic::new(format, header)?);
        Ok(Step::Skip(classic::HEADER as u64))
    }

    /// Whether the link type of the file's frames is known.
    fn header_read(&self) -> bool {
        match self {
            Self::Start => false,
            Self::Classic(_) => true,
            Self::Ng(ng) => ng.header_read(),
        }
    }

    /// Whether the file may end here.
    fn may_end(&self) -> bool {
        match self {
            Self::Start => false,
            Self::Classic(_) => true,
            Self::Ng(ng) => ng.may_end(),
        }
    }
}

/// Byte order of a file or section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

impl Order {
    /// The 16-bit number at `at`; zero beyond the end, where no caller looks.
    #[inline(always)]
    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let raw = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or_default();
        match self {
            Self::Little => u16::from_le_bytes(raw),
            Self::Big => u16::from_be_bytes(raw),
        }
    }

    /// The 32-bit number at `at`; zero beyond the end, where no caller looks.
    #[inline(always)]
    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let raw = bytes
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or_default();
        match self {
            Self::Little => u32::from_le_bytes(raw),
            Self::Big => u32::from_be_bytes(raw),
        }
    }
}

#[cfg(test)]
mod proptests;
#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
