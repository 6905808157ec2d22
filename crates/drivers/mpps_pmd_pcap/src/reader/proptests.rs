//! Any bytes at all: frames, an end or a fault, never a panic, never more than the file holds.

use proptest::collection::vec;
use proptest::prelude::*;

use super::samples::{Got, Pen, read};

#[derive(Clone, Debug)]
struct Plan {
    big: bool,
    nanos: bool,
    frames: Vec<(u32, u32, Vec<u8>)>,
}

fn plan() -> impl Strategy<Value = Plan> {
    let frame = (any::<u32>(), 0..1_000_000u32, vec(any::<u8>(), 0..300));
    (any::<bool>(), any::<bool>(), vec(frame, 0..20)).prop_map(|(big, nanos, frames)| Plan {
        big,
        nanos,
        frames,
    })
}

impl Plan {
    fn classic(&self) -> Vec<u8> {
        let pen = Pen { big: self.big };
        let magic = if self.nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
        let mut file = pen.classic(magic, (2, 4), 0, 1);
        for (seconds, fraction, data) in &self.frames {
            file.extend(pen.record(*seconds, *fraction, data.len() as u32, data));
        }
        file
    }

    /// Sections of up to seven frames, in alternating byte orders, with blocks of other types between.
    fn ng(&self) -> Vec<u8> {
        let resolution = if self.nanos { 9 } else { 6 };
        let mut file = Vec::new();
        let mut pen = Pen { big: self.big };
        for frames in self.frames.chunks(7) {
            file.extend(pen.section());
            file.extend(pen.interface(1, 0, &[(9, &[resolution])]));
            for (seconds, fraction, data) in frames {
                let unit = if self.nanos { 1_000_000_000 } else { 1_000_000 };
                let ticks = u64::from(*seconds) * unit + u64::from(*fraction);
                file.extend(pen.enhanced(0, ticks, data.len() as u32, data));
                file.extend(pen.block(0x0bad, data));
            }
            pen.big = !pen.big;
        }
        file
    }

    fn expected(&self) -> Vec<Got> {
        let unit = if self.nanos { 1 } else { 1000 };
        self.frames
            .iter()
            .map(|(seconds, fraction, data)| Got {
                data: data.clone(),
                original: data.len() as u32,
                time: Some(u64::from(*seconds) * 1_000_000_000 + u64::from(*fraction) * unit),
            })
            .collect()
    }
}

/// The frames before the first that differs, where `frames` must be `expected` up to there.
fn agree(frames: &[Got], expected: &[Got]) -> usize {
    frames
        .iter()
        .zip(expected)
        .take_while(|(a, b)| a == b)
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn what_was_written_is_read(plan in plan()) {
        prop_assert_eq!(read(&plan.classic()), (plan.expected(), Ok(plan.frames.len() as u64)));
        if !plan.frames.is_empty() {
            prop_assert_eq!(read(&plan.ng()), (plan.expected(), Ok(plan.frames.len() as u64)));
        }
    }

    #[test]
    fn a_file_cut_anywhere_gives_the_frames_before(plan in plan(), cut in any::<prop::sample::Index>()) {
        for file in [plan.classic(), plan.ng()] {
            if file.is_empty() {
                continue;
            }
            let cut = cut.index(file.len());
            let (frames, end) = read(&file[..cut]);
            prop_assert_eq!(agree(&frames, &plan.expected()), frames.len());
            if let Err(message) = end {
                let place: usize = message["at byte ".len()..].split(':').next().unwrap().parse().unwrap();
                prop_assert!(place <= cut);
            }
        }
    }

    #[test]
    fn a_file_changed_anywhere_never_harms(plan in plan(), ng in any::<bool>(), changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..10)) {
        let mut file = if ng { plan.ng() } else { plan.classic() };
        if file.is_empty() {
            return Ok(());
        }
        for (at, byte) in changes {
            let at = at.index(file.len());
            file[at] = byte;
        }
        let (frames, _) = read(&file);
        prop_assert!(frames.iter().map(|frame| frame.data.len()).sum::<usize>() <= file.len());
    }

    #[test]
    fn any_bytes_never_harm(magic in 0..5usize, tail in vec(any::<u8>(), 0..400)) {
        let mut file = [&b""[..], b"\xd4\xc3\xb2\xa1\x02\0\x04\0", b"\xa1\xb2\x3c\x4d\0\x02\0\x04", b"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\x01\0\0\0", b"\x0a\x0d\x0d\x0a\0\0\0\x1c\x1a\x2b\x3c\x4d\0\x01\0\0"][magic].to_vec();
        file.extend(tail);
        let (frames, _) = read(&file);
        prop_assert!(frames.iter().map(|frame| frame.data.len()).sum::<usize>() <= file.len());
    }
}
