//! What is told on standard error: this program runs itself as a child and reads its lines.

use std::process::Command;

use crate::rig::{Folder, Rig, capture};

const CHILD: &str = "MPPS_PCAP_TEST_CHILD";

/// Runs `child` of this program with the device arguments; its lines that are ours.
fn lines(device: &str) -> Vec<String> {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "lines::child", "--nocapture"])
        .env(CHILD, device)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    text.lines()
        .filter(|line| line.starts_with("mpps: "))
        .map(str::to_owned)
        .collect()
}

#[test]
fn child() {
    if let Ok(device) = std::env::var(CHILD) {
        let mut rig = Rig::new(&device);
        rig.forward(0);
        for _ in 0..100 {
            assert_eq!(rig.rx(0), 0);
        }
        rig.end();
    }
}

#[test]
fn the_end_is_told_once() {
    let folder = Folder::new("told");
    let rx = folder.file("a.pcap", &capture(&vec![vec![1; 60]; 70]));
    let path = rx.display();
    let expected = format!("mpps: net_pcap0: end of {path}, 70 frames");
    assert_eq!(lines(&format!("net_pcap0,rx_pcap={path}")), [expected]);
}

#[test]
fn cut_frames_are_told_with_the_end() {
    let folder = Folder::new("cut");
    let mut file = capture(&[[1; 60], [2; 60]]);
    file[36] = 200;
    let rx = folder.file("a.pcap", &file);
    let path = rx.display();
    let expected =
        format!("mpps: net_pcap0: end of {path}, 2 frames, 1 of them cut when they were captured");
    assert_eq!(lines(&format!("net_pcap0,rx_pcap={path}")), [expected]);
}

#[test]
fn a_broken_file_is_told_with_the_place() {
    let folder = Folder::new("broken");
    let mut file = capture(&vec![vec![1; 60]; 70]);
    file.truncate(file.len() - 7);
    let rx = folder.file("a.pcap", &file);
    let path = rx.display();
    let at = 24 + 69 * 76;
    let expected = format!(
        "mpps: net_pcap0: {path}: at byte {at}: the file ends inside a record, after 69 of 76 bytes; 69 frames came before"
    );
    assert_eq!(lines(&format!("net_pcap0,rx_pcap={path}")), [expected]);
}

#[test]
fn files_without_a_queue_are_told() {
    let folder = Folder::new("unused");
    let (a, b) = (
        folder.file("a", &capture(&[[1; 60]])),
        folder.file("b", &capture(&[[1; 60]])),
    );
    let (a, b) = (a.display(), b.display());
    let lines = lines(&format!("net_pcap0,rx_pcap={a},rx_pcap={b}"));
    let unused = format!(
        "mpps: net_pcap0: rx_pcap={b} has no queue and is not used; --rxq=2 gives each file one"
    );
    assert_eq!(
        lines,
        [unused, format!("mpps: net_pcap0: end of {a}, 1 frames")]
    );
}
