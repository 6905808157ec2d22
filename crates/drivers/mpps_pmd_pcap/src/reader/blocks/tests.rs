//! The window: frames are the same however the bytes come, and a call ends in time.

use std::io::{self, Read};

use crate::reader::samples::{Pen, read};
use crate::reader::{Event, Frame, MAX_FRAME, Reader};

const LITTLE: Pen = Pen { big: false };

/// Gives out its bytes in small, uneven pieces, with an interruption now and then.
struct Dribble<'a>(&'a [u8], usize);

impl Read for Dribble<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = self.1 * 7 % 1009 + 1;
        if self.1.is_multiple_of(5) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = self.1.min(self.0.len()).min(buffer.len());
        let (now, later) = self.0.split_at(n);
        buffer[..n].copy_from_slice(now);
        self.0 = later;
        Ok(n)
    }
}

#[test]
fn frames_are_the_same_however_the_bytes_come() {
    let long = vec![7; MAX_FRAME as usize];
    let mut file = LITTLE.section();
    file.extend(LITTLE.interface(1, 0, &[]));
    for n in 0..40 {
        file.extend(LITTLE.enhanced(0, n, 3, &vec![n as u8; n as usize * 50]));
        // Longer than the window: skipped without being held.
        if n == 20 {
            file.extend(LITTLE.block(0xbad, &vec![1; 1_000_000]));
            file.extend(LITTLE.enhanced(0, n, MAX_FRAME, &long));
        }
    }
    let expected = read(&file).0;
    assert_eq!(expected.len(), 41);
    let mut reader = Reader::new(Dribble(&file, 1));
    let mut frames = Vec::new();
    loop {
        match reader.next().unwrap() {
            Event::Frame(frame) => frames.push(frame.data.to_vec()),
            Event::Pause => {}
            Event::End => break,
        }
        // Every third frame is given back once.
        if frames.len() % 3 == 2 {
            let (count, cut) = (reader.frames(), reader.cut());
            reader.unread();
            if reader.frames() < count {
                assert_eq!(
                    reader.next().unwrap(),
                    Event::Frame(Frame {
                        data: frames.last().unwrap(),
                        original: expected[frames.len() - 1].original,
                        time: expected[frames.len() - 1].time,
                    })
                );
                assert_eq!((reader.frames(), reader.cut()), (count, cut));
            }
        }
    }
    assert!(frames.iter().eq(expected.iter().map(|got| &got.data)));
}

#[test]
fn one_call_reads_a_bounded_number_of_blocks() {
    let mut file = LITTLE.section();
    file.extend(LITTLE.interface(1, 0, &[]));
    file.extend(LITTLE.block(0xbad, &vec![0; 8_000_000]));
    file.extend(LITTLE.enhanced(0, 0, 1, b"x"));
    let mut reader = Reader::new(&file[..]);
    let mut pauses = 0;
    while let Event::Pause = reader.next().unwrap() {
        pauses += 1;
    }
    assert!((6..10).contains(&pauses), "{pauses}");
    assert_eq!(reader.next().unwrap(), Event::End);
}

#[test]
fn reading_errors_have_their_place() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("disk on fire"))
        }
    }
    let header = LITTLE.classic(0xa1b2_c3d4, (2, 4), 0, 1);
    let mut reader = Reader::new(header.chain(Broken));
    assert_eq!(
        reader.next().unwrap_err().to_string(),
        "at byte 24: disk on fire"
    );
}
