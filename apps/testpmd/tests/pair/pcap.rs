//! Captures of Ethernet frames, written and read by the book (draft-ietf-opsawg-pcap).

use std::path::Path;

const HEADER: usize = 24;
const RECORD: usize = 16;

/// Writes frames into a file.
pub(crate) fn write(path: &Path, frames: &[Vec<u8>]) {
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|w| w.to_le_bytes()).collect() };
    let mut file = words(&[0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1]);
    for frame in frames {
        file.extend(words(&[0, 0, frame.len() as u32, frame.len() as u32]));
        file.extend(frame);
    }
    std::fs::write(path, file).unwrap();
}

/// The frames of a file that our port wrote.
pub(crate) fn read(path: &Path) -> Vec<Vec<u8>> {
    let file = std::fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize;
    let mut frames = Vec::new();
    let mut at = HEADER;
    while at < file.len() {
        let (kept, whole) = (word(at + 8), word(at + 12));
        assert_eq!(kept, whole, "a frame was cut off");
        at += RECORD;
        frames.push(file[at..at + kept].to_vec());
        at += kept;
    }
    frames
}
