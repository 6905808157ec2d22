//! Capture files, read by the book: classic pcap (draft-ietf-opsawg-pcap) and pcapng (draft-ietf-opsawg-pcapng).
//!
//! A whole file at a time, bytes sliced from memory: nothing is shared with the reader under test, nor is its way of
//! working. What comes after the first thing that can't be right isn't looked at.

use std::fs;
use std::path::Path;

/// The largest frame that is believed, as in libpcap.
const MAX_FRAME: u32 = 262_144;

/// A capture file's contents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capture {
    /// Link type of the file, of the first interface in pcapng; none when the file isn't a capture.
    pub link: Option<u32>,
    /// Frames up to the end, or up to the first fault.
    pub frames: Vec<Vec<u8>>,
    /// Why the frames end before the file.
    pub fault: Option<&'static str>,
}

/// Link type of Ethernet.
pub const ETHERNET: u32 = 1;

/// Reads a file.
///
/// # Panics
/// When it can't be opened.
pub fn read(path: &Path) -> Capture {
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse(&bytes)
}

/// Reads a file's bytes.
pub fn parse(bytes: &[u8]) -> Capture {
    let magic = u32_at(bytes, 0, Order::Little).unwrap_or(0);
    match magic {
        0xa1b2_c3d4 | 0xa1b2_3c4d => classic(bytes, Order::Little, 16),
        0xd4c3_b2a1 | 0x4d3c_b2a1 => classic(bytes, Order::Big, 16),
        // Kuznetzov's variant has 8 bytes more for each frame.
        0xa1b2_cd34 => classic(bytes, Order::Little, 24),
        0x34cd_b2a1 => classic(bytes, Order::Big, 24),
        0x0a0d_0d0a => ng(bytes),
        _ => Capture {
            fault: Some("not a capture"),
            ..Capture::default()
        },
    }
}

/// Writes frames into a classic capture of link type Ethernet.
///
/// # Panics
/// When the file can't be written.
pub fn write(path: &Path, frames: &[Vec<u8>]) {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, MAX_FRAME, ETHERNET] {
        file.extend(word.to_le_bytes());
    }
    for frame in frames {
        let length = frame.len() as u32;
        for word in [0, 0, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    fs::write(path, file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

fn u32_at(bytes: &[u8], at: usize, order: Order) -> Option<u32> {
    let four = *bytes.get(at..)?.first_chunk()?;
    Some(match order {
        Order::Little => u32::from_le_bytes(four),
        Order::Big => u32::from_be_bytes(four),
    })
}

fn u16_at(bytes: &[u8], at: usize, order: Order) -> Option<u16> {
    let two = *bytes.get(at..)?.first_chunk()?;
    Some(match order {
        Order::Little => u16::from_le_bytes(two),
        Order::Big => u16::from_be_bytes(two),
    })
}

fn classic(bytes: &[u8], order: Order, header: usize) -> Capture {
    let mut capture = Capture::default();
    let (version, link) = (u16_at(bytes, 4, order), u32_at(bytes, 20, order));
    let (Some(2), Some(link)) = (version, link) else {
        capture.fault = Some("no file header of version 2");
        return capture;
    };
    capture.link = Some(link & 0x03ff_ffff);
    // A frame of more bytes than the file's snap length is cut to it, as libpcap does; no snap length is none.
    let snap = match u32_at(bytes, 16, order) {
        Some(snap @ 1..=0x7fff_ffff) => snap as usize,
        _ => usize::MAX,
    };
    let mut at = 24;
    while at < bytes.len() {
        let Some(length) = u32_at(bytes, at + 8, order).filter(|_| at + header <= bytes.len())
        else {
            capture.fault = Some("cut in a record header");
            break;
        };
        if length > MAX_FRAME {
            capture.fault = Some("a record is too long");
            break;
        }
        let Some(frame) = bytes.get(at + header..at + header + length as usize) else {
            capture.fault = Some("cut in a frame");
            break;
        };
        capture.frames.push(frame[..frame.len().min(snap)].to_vec());
        at += header + length as usize;
    }
    capture
}

/// State of a pcapng section.
struct Section {
    order: Order,
    /// Link type and snap length of each interface.
    interfaces: Vec<(u32, u32)>,
}

fn ng(bytes: &[u8]) -> Capture {
    let mut capture = Capture::default();
    let mut section = Section {
        order: Order::Little,
        interfaces: Vec::new(),
    };
    let mut at = 0;
    while at < bytes.len() {
        match block(bytes, at, &mut section, &mut capture) {
            Ok(length) => at += length,
            Err(fault) => {
                capture.fault = Some(fault);
                break;
            }
        }
    }
    capture
}

/// Reads one block; returns its length.
fn block(
    bytes: &[u8],
    at: usize,
    section: &mut Section,
    capture: &mut Capture,
) -> Result<usize, &'static str> {
    const CUT: &str = "cut in a block";
    let kind = u32_at(bytes, at, section.order).ok_or(CUT)?;
    if kind == 0x0a0d_0d0a {
        section.order = match u32_at(bytes, at + 8, Order::Little).ok_or(CUT)? {
            0x1a2b_3c4d => Order::Little,
            0x4d3c_2b1a => Order::Big,
            _ => return Err("no byte order"),
        };
        // 1.2 was written by some and is read as 1.0.
        let version = [12, 14].map(|field| u16_at(bytes, at + field, section.order));
        if !matches!(version, [Some(1), Some(0 | 2)]) {
            return Err("no version that is known");
        }
        section.interfaces.clear();
    }
    let order = section.order;
    let length = u32_at(bytes, at + 4, order).ok_or(CUT)? as usize;
    if length < 12 || !length.is_multiple_of(4) {
        return Err("a block's length is impossible");
    }
    let whole = bytes.get(at..at + length).ok_or(CUT)?;
    if u32_at(whole, length - 4, order) != Some(length as u32) {
        return Err("a block's two lengths differ");
    }
    let body = &whole[8..length - 4];
    match kind {
        1 => {
            let link = u32::from(u16_at(body, 0, order).ok_or(CUT)?);
            section
                .interfaces
                .push((link, u32_at(body, 4, order).ok_or(CUT)?));
            if *capture.link.get_or_insert(link) != link {
                return Err("interfaces of several link types");
            }
        }
        // Enhanced packet block, and the packet block that came before it: both have 20 bytes in front of the frame.
        6 | 2 => {
            let interface = match kind {
                6 => u32_at(body, 0, order).ok_or(CUT)? as usize,
                _ => usize::from(u16_at(body, 0, order).ok_or(CUT)?),
            };
            section
                .interfaces
                .get(interface)
                .ok_or("no such interface")?;
            let length = u32_at(body, 12, order).ok_or(CUT)?;
            push(capture, body, 20, length)?;
        }
        3 => {
            let (_, snap) = *section.interfaces.first().ok_or("no interface")?;
            let length = u32_at(body, 0, order).ok_or(CUT)?;
            push(
                capture,
                body,
                4,
                if snap == 0 { length } else { length.min(snap) },
            )?;
        }
        _ => {}
    }
    Ok(length)
}

fn push(capture: &mut Capture, body: &[u8], at: usize, length: u32) -> Result<(), &'static str> {
    let frame = body
        .get(at..at + length as usize)
        .filter(|_| length <= MAX_FRAME);
    capture
        .frames
        .push(frame.ok_or("a packet is longer than its block")?.to_vec());
    Ok(())
}

#[cfg(test)]
mod tests;
