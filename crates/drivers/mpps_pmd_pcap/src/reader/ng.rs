//! pcapng: sections of blocks, each with its type, its length at both ends, and a body.
//!
//! ```text
//!  type length body... length
//! ```
//! A section header gives the byte order and forgets the interfaces of the section before; interface descriptions give
//! link type and unit of time; enhanced, simple and (obsolete) packet blocks carry frames. Blocks of all other types are skipped without
//! being held in memory, whatever their length.

use super::{FaultKind, MAX_BLOCK, MAX_FRAME, Order, Record, Step};
use crate::linktype::LinkType;

/// Type of a section header, the same in both byte orders; the first four bytes of a file.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 2;
const SIMPLE: u32 = 3;
const ENHANCED: u32 = 6;

/// In the byte order of its section.
const BYTE_ORDER_MAGIC: u32 = 0x1a2b_3c4d;
/// Type and length before the body.
const HEAD: usize = 8;
/// The length behind it.
const TAIL: usize = 4;
/// Interfaces of a section.
const MAX_INTERFACES: usize = 65_536;

const OPTION_END: u16 = 0;
const OPTION_TSRESOL: u16 = 9;
const OPTION_TSOFFSET: u16 = 14;

/// Unit of an interface's timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// 10 to this negative power of a second.
    Decimal(u32),
    /// 2 to this negative power of a second.
    Binary(u32),
}

#[derive(Clone, Copy, Debug)]
struct Interface {
    snaplen: u32,
    unit: Unit,
    /// Seconds to add to its timestamps.
    offset: i64,
}

/// The parser.
pub(super) struct Ng {
    order: Order,
    interfaces: Vec<Interface>,
    described: bool,
    /// Length of a block whose body has been skipped and whose end has yet to be seen.
    skipped: Option<u32>,
}

impl Default for Ng {
    fn default() -> Self {
        Self {
            order: Order::Little,
            interfaces: Vec::new(),
            described: false,
            skipped: None,
        }
    }
}

impl Ng {
    pub(super) fn header_read(&self) -> bool {
        self.described
    }

    pub(super) fn may_end(&self) -> bool {
        self.skipped.is_none()
    }

    pub(super) fn step(&mut self, window: &[u8]) -> Result<Step, FaultKind> {
        if let Some(head) = self.skipped {
            if window.len() < TAIL {
                return Ok(Step::Need(TAIL, "the end of a block"));
            }
            self.check_end(head, window)?;
            self.skipped = None;
            return Ok(Step::Skip(TAIL as u64));
        }
        if window.len() < HEAD {
            return Ok(Step::Need(HEAD, "the head of a block"));
        }
        // A section's type reads alike in both orders, so the order of the section before is as good as any.
        let kind = self.order.u32(window, 0);
        if kind == SECTION && !self.begin_section(window)? {
            return Ok(Step::Need(HEAD + 4, "the head of a section"));
        }
        let length = self.check_length(kind, self.order.u32(window, 4))?;
        if !matches!(kind, SECTION | INTERFACE | PACKET | SIMPLE | ENHANCED) {
            self.skipped = Some(length);
            return Ok(Step::Skip(u64::from(length) - TAIL as u64));
        }
        let length = length as usize;
        let Some(block) = window.get(..length) else {
            return Ok(Step::Need(length, "a block"));
        };
        self.check_end(length as u32, &block[length - TAIL..])?;
        let body = &block[HEAD..length - TAIL];
        match kind {
            SECTION => self.section(body)?,
            INTERFACE => self.interface(body)?,
            PACKET => return self.packet(body, length),
            SIMPLE => return self.simple(body, length),
            _ => return self.enhanced(body, length),
        }
        Ok(Step::Skip(length as u64))
    }

    /// Takes over the byte order of a section; false when there are too few bytes.
    fn begin_section(&mut self, window: &[u8]) -> Result<bool, FaultKind> {
        if window.len() < HEAD + 4 {
            return Ok(false);
        }
        self.order = match Order::Little.u32(window, HEAD) {
            BYTE_ORDER_MAGIC => Order::Little,
            other if other.swap_bytes() == BYTE_ORDER_MAGIC => Order::Big,
            other => return Err(FaultKind::ByteOrder(other)),
        };
        Ok(true)
    }

    fn check_length(&self, kind: u32, length: u32) -> Result<u32, FaultKind> {
        let (min, max, allowed) = match kind {
            SECTION => (28, MAX_BLOCK, "a multiple of 4 from 28 to 524288"),
            INTERFACE => (20, MAX_BLOCK, "a multiple of 4 from 20 to 524288"),
            PACKET | ENHANCED => (32, MAX_BLOCK, "a multiple of 4 from 32 to 524288"),
            SIMPLE => (16, MAX_BLOCK, "a multiple of 4 from 16 to 524288"),
            _ => (12, u32::MAX, "a multiple of 4 from 12 on"),
        };
        if length < min || length > max || !length.is_multiple_of(4) {
            return Err(FaultKind::BlockLength {
                kind,
                length,
                allowed,
            });
        }
        Ok(length)
    }

    fn check_end(&self, head: u32, end: &[u8]) -> Result<(), FaultKind> {
        let tail = self.order.u32(end, 0);
        if head == tail {
            Ok(())
        } else {
            Err(FaultKind::BlockEnd { head, tail })
        }
    }

    fn section(&mut self, body: &[u8]) -> Result<(), FaultKind> {
        let (major, minor) = (self.order.u16(body, 4), self.order.u16(body, 6));
        // 1.2 was written by mistake for what is 1.0.
        if major != 1 || !matches!(minor, 0 | 2) {
            return Err(FaultKind::Version {
                format: "pcapng",
                major,
                minor,
                known: "1.0",
            });
        }
        self.interfaces.clear();
        Ok(())
    }

    fn interface(&mut self, body: &[u8]) -> Result<(), FaultKind> {
        let link = LinkType(u32::from(self.order.u16(body, 0)));
        if link != LinkType::ETHERNET {
            return Err(FaultKind::LinkType(link));
        }
        if self.interfaces.len() == MAX_INTERFACES {
            return Err(FaultKind::ManyInterfaces(MAX_INTERFACES));
        }
        let mut interface = Interface {
            snaplen: match self.order.u32(body, 4) {
                0 => MAX_FRAME,
                snaplen => snaplen.min(MAX_FRAME),
            },
            unit: Unit::Decimal(6),
            offset: 0,
        };
        let mut options = &body[8..];
        while options.len() >= 4 {
            let (code, len) = (self.order.u16(options, 0), self.order.u16(options, 2));
            let len = usize::from(len);
            let Some(value) = options.get(4..4 + len) else {
                break;
            };
            match (code, value) {
                (OPTION_END, _) => break,
                (OPTION_TSRESOL, [resolution]) => interface.unit = unit(*resolution),
                (OPTION_TSOFFSET, value) if len == 8 => interface.offset = self.i64(value),
                _ => {}
            }
            options = options.get(4 + len.next_multiple_of(4)..).unwrap_or(&[]);
        }
        self.interfaces.push(interface);
        self.described = true;
        Ok(())
    }

    fn i64(&self, value: &[u8]) -> i64 {
        let (first, second) = (self.order.u32(value, 0), self.order.u32(value, 4));
        let (high, low) = match self.order {
            Order::Little => (second, first),
            Order::Big => (first, second),
        };
        (u64::from(high) << 32 | u64::from(low)).cast_signed()
    }

    fn packet(&self, body: &[u8], used: usize) -> Result<Step, FaultKind> {
        self.stamped(u32::from(self.order.u16(body, 0)), body, used)
    }

    fn enhanced(&self, body: &[u8], used: usize) -> Result<Step, FaultKind> {
        self.stamped(self.order.u32(body, 0), body, used)
    }

    /// Enhanced and obsolete packet blocks are alike from the timestamp on.
    fn stamped(&self, interface: u32, body: &[u8], used: usize) -> Result<Step, FaultKind> {
        const FIXED: usize = 20;
        let from = self.find(interface)?;
        let field = |at| self.order.u32(body, at);
        let ticks = u64::from(field(4)) << 32 | u64::from(field(8));
        let (captured, original) = (field(12), field(16));
        let holds = (body.len() - FIXED) as u32;
        if captured > MAX_FRAME {
            return Err(FaultKind::LongFrame(captured));
        }
        if captured > holds {
            return Err(FaultKind::FrameInBlock {
                claimed: captured,
                holds,
            });
        }
        Ok(Step::Frame(Record {
            start: HEAD + FIXED,
            len: captured.min(from.snaplen) as usize,
            used,
            original,
            time: Some(nanoseconds(ticks, from)),
        }))
    }

    fn simple(&self, body: &[u8], used: usize) -> Result<Step, FaultKind> {
        const FIXED: usize = 4;
        let from = self.find(0)?;
        let original = self.order.u32(body, 0);
        let holds = (body.len() - FIXED) as u32;
        let captured = original.min(from.snaplen);
        if captured > holds {
            return Err(FaultKind::FrameInBlock {
                claimed: captured,
                holds,
            });
        }
        Ok(Step::Frame(Record {
            start: HEAD + FIXED,
            len: captured as usize,
            used,
            original,
            time: None,
        }))
    }

    fn find(&self, interface: u32) -> Result<&Interface, FaultKind> {
        self.interfaces
            .get(interface as usize)
            .ok_or(FaultKind::Interface {
                interface,
                have: self.interfaces.len(),
            })
    }
}

/// The high bit chooses the base, the others are the exponent.
fn unit(resolution: u8) -> Unit {
    let exponent = u32::from(resolution & 0x7f);
    if resolution & 0x80 == 0 {
        Unit::Decimal(exponent)
    } else {
        Unit::Binary(exponent)
    }
}

/// Time since 1970 in nanoseconds, kept within 0 and `u64::MAX`.
fn nanoseconds(ticks: u64, from: &Interface) -> u64 {
    let ticks = u128::from(ticks);
    let nanos = match from.unit {
        Unit::Decimal(exponent @ 0..=9) => ticks * 10u128.pow(9 - exponent),
        // 2^64 ticks are less than 10^20.
        Unit::Decimal(exponent @ 10..=29) => ticks / 10u128.pow(exponent - 9),
        Unit::Decimal(_) => 0,
        Unit::Binary(exponent) => (ticks * 1_000_000_000) >> exponent,
    };
    // Less than 2^64 * 10^9, far from the sign.
    let nanos = nanos.cast_signed() + i128::from(from.offset) * 1_000_000_000;
    u64::try_from(nanos.max(0)).unwrap_or(u64::MAX)
}
