//! Capture files, classic and pcapng.

use std::io::{self, Read};

use mpps_pmd_pcap::reader::{Event, MAX_FRAME, ReadError, Reader, frames};

/// Any bytes as a capture: no more comes out than went in, a fault is one line with a place inside the file, and a file
/// that arrives in small pieces reads as one that is there at once.
pub fn pcap_reader(data: &[u8]) {
    let (mut lengths, mut total) = (Vec::new(), 0);
    let end = frames(data, |frame| {
        assert!(
            frame.data.len() <= MAX_FRAME as usize,
            "a frame of {} bytes",
            frame.data.len()
        );
        total += frame.data.len();
        lengths.push(frame.data.to_vec());
    });
    assert!(
        total <= data.len(),
        "{total} bytes of frames in a file of {}",
        data.len()
    );
    assert!(
        lengths.len() <= data.len() / 12,
        "{} frames in {} bytes",
        lengths.len(),
        data.len()
    );
    match &end {
        Ok(count) => assert_eq!(*count, lengths.len() as u64),
        Err(ReadError::Fault(fault)) => assert!(
            fault.offset <= data.len() as u64,
            "{fault} of {}",
            data.len()
        ),
        Err(error) => panic!("memory can be read: {error}"),
    }
    let said = end.err().map(|error| error.to_string());
    assert!(
        said.as_ref()
            .is_none_or(|line| !line.contains(['\n', '\r'])),
        "{said:?}"
    );
    assert_eq!(in_pieces(data), (lengths, said));
}

/// Frames, and the fault at the end if there is one, of a file that comes in pieces of up to 7 bytes.
fn in_pieces(data: &[u8]) -> (Vec<Vec<u8>>, Option<String>) {
    let mut reader = Reader::new(Pieces(data));
    let (mut found, mut again) = (Vec::new(), false);
    loop {
        match reader.next() {
            Ok(Event::Frame(frame)) => {
                found.push(frame.data.to_vec());
                // Each third one is given back once, and has to come again.
                if found.len() % 3 == 0 && !again {
                    again = true;
                    found.pop();
                    reader.unread();
                } else {
                    again = false;
                }
            }
            Ok(Event::Pause) => {}
            Ok(Event::End) => return (found, None),
            Err(error) => return (found, Some(error.to_string())),
        }
    }
}

struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(self.0.len()).min(self.0.len() % 7 + 1);
        let (piece, rest) = self.0.split_at(length);
        buffer[..length].copy_from_slice(piece);
        self.0 = rest;
        Ok(length)
    }
}
