//! What is written, what is cut, and what is counted when the file takes no more.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use mpps_mbuf::{Mbuf, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::reader::frames;

/// A file with so much space.
#[derive(Clone, Default)]
struct Disk(Rc<RefCell<(Vec<u8>, usize)>>);

impl Disk {
    fn with(space: usize) -> Self {
        Self(Rc::new(RefCell::new((header(65535).to_vec(), space))))
    }

    fn content(&self) -> Vec<u8> {
        self.0.borrow().0.clone()
    }

    fn grow(&self, space: usize) {
        self.0.borrow_mut().1 += space;
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut disk = self.0.borrow_mut();
        let n = bytes.len().min(disk.1);
        if n == 0 {
            return Err(ErrorKind::StorageFull.into());
        }
        disk.0.extend(&bytes[..n]);
        disk.1 -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn pool() -> Pool {
    let config = PoolConfig {
        name: "writer".to_owned(),
        size: 600,
        data_room: 2176,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn packet(pool: &Pool, segments: &[&[u8]]) -> Mbuf {
    let mut parts = segments.iter().map(|bytes| {
        let mut part = pool.alloc().unwrap();
        assert!(part.append(bytes));
        part
    });
    let mut head = parts.next().unwrap();
    parts.for_each(|part| head.chain(part).unwrap());
    head
}

fn read(file: &[u8]) -> Vec<(Vec<u8>, u32, u64)> {
    let mut all = Vec::new();
    frames(file, |frame| {
        all.push((frame.data.to_vec(), frame.original, frame.time.unwrap()));
    })
    .unwrap();
    all
}

#[test]
fn the_header_byte_by_byte() {
    #[rustfmt::skip]
    let expected = [
        0x4d, 0x3c, 0xb2, 0xa1,  2, 0, 4, 0,  0, 0, 0, 0,  0, 0, 0, 0,  0xff, 0xff, 0, 0,  1, 0, 0, 0,
    ];
    assert_eq!(header(65535), expected);
}

#[test]
fn all_segments_are_written_and_the_snap_length_cuts() {
    let pool = pool();
    let disk = Disk::with(usize::MAX);
    let mut writer = Writer::new(disk.clone(), 5, Vec::new());
    let packets = [
        packet(&pool, &[b"abc", b"", b"def"]),
        packet(&pool, &[b"xy"]),
        packet(&pool, &[b""]),
    ];
    let now = 1_700_000_000_123_456_789;
    let sent = writer.burst(&packets, now, true);
    let expected = Sent {
        packets: 3,
        bytes: 8,
        errors: 0,
    };
    assert_eq!(sent, expected);
    let frames = read(&disk.content());
    assert_eq!(
        frames,
        [
            (b"abcde".to_vec(), 6, now),
            (b"xy".to_vec(), 2, now),
            (vec![], 0, now)
        ]
    );
}

#[test]
fn full_bursts_gather_and_the_clock_lets_them_go() {
    let pool = pool();
    let disk = Disk::with(usize::MAX);
    let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
    let packets = [packet(&pool, &[b"abc"])];
    let start = 1_000_000_000_000;
    writer.burst(&packets, start, false);
    assert_eq!(read(&disk.content()).len(), 1);
    writer.burst(&packets, start + LINGER - 1, false);
    assert_eq!(read(&disk.content()).len(), 1);
    writer.burst(&packets, start + LINGER, false);
    assert_eq!(read(&disk.content()).len(), 3);
    writer.burst(&packets, start + LINGER, false);
    assert!(writer.finish().is_empty());
    assert_eq!(read(&disk.content()).len(), 4);
}

#[test]
fn a_long_burst_goes_out_in_between() {
    let pool = pool();
    let disk = Disk::with(usize::MAX);
    let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
    let packets: Vec<_> = (0..500)
        .map(|n| packet(&pool, &[&[n as u8; 1484]]))
        .collect();
    writer.burst(&packets[..1], 1, true);
    let sent = writer.burst(&packets, 1, false);
    assert_eq!((sent.packets, sent.errors), (500, 0));
    let there = disk.content().len();
    assert!(
        there > 2 * BLOCK && !(there - 24).is_multiple_of(750_000),
        "{there}"
    );
    writer.finish();
    assert_eq!(read(&disk.content()).len(), 501);
}

#[test]
fn what_a_full_disk_refuses_counts_as_errors_and_nothing_is_torn() {
    let pool = pool();
    // Two records and a half.
    let disk = Disk::with(50);
    let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
    let packets: Vec<_> = (0..5)
        .map(|n: u8| packet(&pool, &[&[n], &[n, n, n]]))
        .collect();
    let sent = writer.burst(&packets, 0, true);
    // The third is torn: its rest stays in the buffer, and it counts as sent.
    let expected = Sent {
        packets: 3,
        bytes: 12,
        errors: 2,
    };
    assert_eq!(sent, expected);
    assert_eq!(
        writer.failure().map(io::Error::kind),
        Some(ErrorKind::StorageFull)
    );
    // No try before its time.
    disk.grow(30);
    assert_eq!(writer.burst(&packets, LINGER - 1, true).errors, 5);
    // Room for the rest and one more.
    let sent = writer.burst(&packets[3..], LINGER, true);
    assert_eq!((sent.packets, sent.errors), (1, 1), "{sent:?}");
    disk.grow(1000);
    let sent = writer.burst(&packets[4..], 2 * LINGER, true);
    assert_eq!((sent.packets, sent.errors), (1, 0));
    assert!(writer.finish().is_empty());
    let data: Vec<_> = read(&disk.content())
        .into_iter()
        .map(|frame| frame.0[0])
        .collect();
    assert_eq!(data, [0, 1, 2, 3, 4]);
}

#[test]
fn older_frames_wait_in_the_buffer_and_go_to_the_next_writer() {
    let pool = pool();
    let disk = Disk::with(0);
    let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
    let packets: Vec<_> = (0..3u8).map(|n| packet(&pool, &[&[n]])).collect();
    writer.tried = 1;
    assert_eq!(writer.burst(&packets[..1], 1, false).packets, 1);
    let sent = writer.burst(&packets[1..], 1, true);
    assert_eq!((sent.packets, sent.errors), (0, 2));
    disk.grow(5);
    let rest = writer.finish();
    assert_eq!(rest.len(), 12);
    disk.grow(1000);
    let mut next = Writer::new(disk.clone(), 65535, rest);
    assert_eq!(next.burst(&packets[2..], 2 * LINGER, true).packets, 1);
    let data: Vec<_> = read(&disk.content())
        .into_iter()
        .map(|frame| frame.0[0])
        .collect();
    assert_eq!(data, [0, 2]);
}

#[test]
fn a_burst_longer_than_the_buffer_on_a_full_disk() {
    let pool = pool();
    let disk = Disk::with(BLOCK + 1000);
    let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
    let packets: Vec<_> = (0..500).map(|_| packet(&pool, &[&[1; 1484]])).collect();
    let sent = writer.burst(&packets, 0, true);
    assert_eq!(sent.packets + sent.errors, 500);
    assert_eq!(sent.bytes, sent.packets * 1484);
    disk.grow(10_000);
    writer.finish();
    assert_eq!(read(&disk.content()).len() as u64, sent.packets);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whenever the disk fills up: in the end it holds the frames that count as sent, whole and in order, and no others.
    #[test]
    fn what_counts_as_sent_is_in_the_file_at_last(
        bursts in vec((vec(0..2000u16, 1..30), any::<bool>(), 0..40_000usize), 1..20),
        space in 0..40_000usize,
    ) {
        let pool = pool();
        let disk = Disk::with(space);
        let mut writer = Writer::new(disk.clone(), 65535, Vec::new());
        let (mut now, mut total, mut sum) = (0, 0, Sent::default());
        for (lengths, flush, grow) in &bursts {
            let packets: Vec<_> = lengths.iter().map(|len| packet(&pool, &[&vec![*len as u8; usize::from(*len)]])).collect();
            now += LINGER / 2;
            let sent = writer.burst(&packets, now, *flush);
            prop_assert_eq!(sent.packets + sent.errors, packets.len() as u64);
            total += packets.len() as u64;
            sum.packets += sent.packets;
            sum.bytes += sent.bytes;
            sum.errors += sent.errors;
            disk.grow(*grow);
        }
        disk.grow(1 << 30);
        prop_assert!(writer.finish().is_empty());
        let written = read(&disk.content());
        prop_assert_eq!(written.len() as u64, sum.packets);
        prop_assert_eq!(written.iter().map(|frame| frame.0.len() as u64).sum::<u64>(), sum.bytes);
        prop_assert!(written.iter().all(|frame| frame.0.iter().all(|byte| *byte == frame.1 as u8)));
        prop_assert!(written.is_sorted_by_key(|frame| frame.2));
        prop_assert_eq!(sum.packets + sum.errors, total);
    }
}
