//! A capture of mixed frames, made here: UDP over IPv4 and IPv6, VLAN tags, ARP and plain Ethernet, of many lengths.
//!
//! The same frames every time, so that two runs measure the same work. Written as classic pcap; read back by a few lines of
//! our own that share nothing with the pcap port, since they judge it.

use std::fs;
use std::io;
use std::path::Path;

/// Frames of the capture.
pub(crate) const FRAMES: usize = 1000;

/// Lengths by weight: many short ones, some in between, some long, as traffic has.
const LENGTHS: [usize; 12] = [60, 60, 60, 64, 64, 90, 128, 300, 570, 594, 1280, 1514];

const MAGIC: u32 = 0xa1b2_c3d4;
const FILE_HEADER: usize = 24;
const RECORD_HEADER: usize = 16;

/// The frames.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    (0..FRAMES).map(frame).collect()
}

fn frame(n: usize) -> Vec<u8> {
    let length = LENGTHS[n * 7 % LENGTHS.len()];
    let mut frame: Vec<u8> = (0..length).map(|at| (at * 31 + n * 17) as u8).collect();
    frame[..6].copy_from_slice(&[2, 0x10, 0, 0, (n >> 8) as u8, n as u8]);
    frame[6..12].copy_from_slice(&[2, 0x20, 0, 0, n as u8, (n >> 8) as u8]);
    match n % 8 {
        0 => put(&mut frame, 12, &[0x08, 0x06, 0, 1, 8, 0, 6, 4, 0, 1]),
        1 => {
            put(
                &mut frame,
                12,
                &[0x81, 0x00, 0x00, (n % 100) as u8, 0x08, 0x00],
            );
            ipv4(&mut frame, 18);
        }
        2 => {
            put(&mut frame, 12, &[0x86, 0xdd, 0x60, 0, 0, 0]);
            let payload = (length - 54) as u16;
            put(&mut frame, 18, &payload.to_be_bytes());
            put(&mut frame, 20, &[17, 64]);
        }
        3 => put(&mut frame, 12, &[0x88, 0xb5]),
        _ => {
            put(&mut frame, 12, &[0x08, 0x00]);
            ipv4(&mut frame, 14);
        }
    }
    frame
}

fn put(frame: &mut [u8], at: usize, bytes: &[u8]) {
    frame[at..at + bytes.len()].copy_from_slice(bytes);
}

/// An IPv4 and a UDP header at `at`, with the right lengths and no checksums.
fn ipv4(frame: &mut [u8], at: usize) {
    let total = (frame.len() - at) as u16;
    put(frame, at, &[0x45, 0]);
    put(frame, at + 2, &total.to_be_bytes());
    put(frame, at + 6, &[0, 0, 64, 17, 0, 0]);
    put(frame, at + 24, &(total - 20).to_be_bytes());
    put(frame, at + 26, &[0, 0]);
}

/// Writes the frames as a pcap file.
pub(crate) fn write(path: &Path, frames: &[Vec<u8>]) -> io::Result<()> {
    let mut file = Vec::new();
    for word in [MAGIC, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for (n, frame) in frames.iter().enumerate() {
        let length = frame.len() as u32;
        for word in [n as u32 / 1000, n as u32 % 1000, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame);
    }
    fs::write(path, file)
}

/// The frames of a pcap file in this machine's byte order.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Vec<u8>>> {
    let file = fs::read(path)?;
    let mut rest = file.get(FILE_HEADER..).unwrap_or_default();
    let mut frames = Vec::new();
    while let Some((header, data)) = rest.split_at_checked(RECORD_HEADER) {
        let length = u32::from_ne_bytes([header[8], header[9], header[10], header[11]]) as usize;
        let Some((frame, later)) = data.split_at_checked(length) else {
            break;
        };
        frames.push(frame.to_vec());
        rest = later;
    }
    Ok(frames)
}

/// How many of the frames that came out are the ones that went in with their addresses swapped.
pub(crate) fn swapped(before: &[Vec<u8>], after: &[Vec<u8>]) -> usize {
    let right = |(before, after): &(&Vec<u8>, &Vec<u8>)| {
        after.len() == before.len()
            && after[..6] == before[6..12]
            && after[6..12] == before[..6]
            && after[12..] == before[12..]
    };
    before.iter().zip(after).filter(right).count()
}

#[cfg(test)]
mod tests {
    //! The judge is itself judged.

    use super::{FRAMES, frames, read, swapped, write};

    #[test]
    fn what_is_written_is_read_and_faults_are_seen() {
        let path =
            std::env::temp_dir().join(format!("mpps-capture-test-{}.pcap", std::process::id()));
        let before = frames();
        write(&path, &before).unwrap();
        let mut after = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(after, before);
        assert_eq!(swapped(&before, &after), 0, "nothing was swapped");
        for frame in &mut after {
            let (to, from) = (frame[..6].to_vec(), frame[6..12].to_vec());
            frame[..6].copy_from_slice(&from);
            frame[6..12].copy_from_slice(&to);
        }
        assert_eq!(swapped(&before, &after), FRAMES);
        after[7][20] ^= 1;
        after[9].pop();
        assert_eq!(swapped(&before, &after), FRAMES - 2);
    }
}
