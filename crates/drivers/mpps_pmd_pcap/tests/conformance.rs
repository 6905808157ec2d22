//! The pcap port against the promises of every port.
#![forbid(unsafe_code)]

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mpps_dev::conformance::{Facts, Source, Subject, run};
use mpps_pmd_pcap::Pcap;

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("mpps-conformance-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// A capture of `n` frames.
    fn capture(&self, name: &str, n: u32) -> PathBuf {
        let mut file = vec![0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0];
        file.extend_from_slice(&[0; 8]);
        file.extend_from_slice(&65_535u32.to_le_bytes());
        file.extend_from_slice(&1u32.to_le_bytes());
        for number in 0..n {
            let frame = vec![number as u8; 60 + number as usize % 900];
            for field in [number, 0, frame.len() as u32, frame.len() as u32] {
                file.extend_from_slice(&field.to_le_bytes());
            }
            file.extend_from_slice(&frame);
        }
        let path = self.0.join(name);
        std::fs::write(&path, file).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Names of the scenarios that don't apply.
fn skipped(devices: &dyn Fn() -> Vec<String>, source: Source, queues: u16) -> Vec<&'static str> {
    let subject = Subject {
        driver: &Pcap,
        peer: None,
        devices,
        facts: Facts {
            source,
            queues,
            ..Facts::SINK
        },
    };
    let skipped = run(&subject).unwrap();
    skipped.iter().map(|skipped| skipped.scenario).collect()
}

/// What is sent goes into a file and doesn't come in again.
const NEVER: [&str; 3] = [
    "order is kept",
    "leftovers stay the caller's, in order",
    "the peer vanishes",
];

fn fresh(folder: &Folder) -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Relaxed: a lone counter.
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    folder
        .path()
        .join(format!("sent{number}.pcap"))
        .display()
        .to_string()
}

#[test]
fn once_through() {
    let folder = Folder::new("once");
    let (a, b) = (
        folder.capture("a.pcap", 2000),
        folder.capture("b.pcap", 2000),
    );
    let devices = || {
        vec![format!(
            "net_pcap0,rx_pcap={},rx_pcap={},tx_pcap={},tx_pcap={}",
            a.display(),
            b.display(),
            fresh(&folder),
            fresh(&folder),
        )]
    };
    assert_eq!(skipped(&devices, Source::Given(2000), 2), NEVER);
}

#[test]
fn over_and_over() {
    let folder = Folder::new("over");
    let a = folder.capture("a.pcap", 7);
    let devices = || vec![format!("net_pcap0,infinite_rx=1,rx_pcap={}", a.display())];
    assert_eq!(skipped(&devices, Source::Made, 1), NEVER);
}

#[test]
fn sending_only() {
    let folder = Folder::new("send");
    let devices = || vec![format!("eth_pcap0,tx_pcap={}", fresh(&folder))];
    assert_eq!(
        skipped(&devices, Source::Nothing, 1),
        [
            "order is kept",
            "leftovers stay the caller's, in order",
            "a dry pool loses nothing",
            "the peer vanishes",
        ]
    );
}
