//! PC-06: a port that ends gives back its file descriptors.

use std::path::Path;

use crate::rig::{Folder, Rig, capture, device, probe};

/// How many descriptors lead into a folder; other tests run at the same time and open files elsewhere.
fn open_files(folder: &Path) -> usize {
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|target| target.starts_with(folder))
        .count()
}

#[test]
fn closing_gives_back_all_files() {
    let folder = Folder::new("fds");
    let rx = folder.file("a.pcap", &capture(&vec![vec![1; 60]; 100]));
    let tx = folder.path("b.pcap");
    for more in ["", ",infinite_rx=1"] {
        let mut rig = Rig::new(&format!("{}{more}", device(&rx, &tx)));
        rig.rx(0);
        rig.tx(0);
        assert!(open_files(&folder.path("")) > 0);
        rig.stop();
        rig.start();
        rig.rx(0);
        rig.end();
        assert_eq!(open_files(&folder.path("")), 0, "{more}");
    }
    let nowhere = folder.path("no/b.pcap");
    assert!(probe(&device(&rx, &nowhere)).is_err());
    assert!(
        probe(&format!(
            "{},tx_pcap={}",
            device(&rx, &tx),
            nowhere.display()
        ))
        .is_err()
    );
    assert_eq!(open_files(&folder.path("")), 0);
}

#[test]
fn a_file_is_closed_at_its_end() {
    let folder = Folder::new("closed");
    let rx = folder.file("a.pcap", &capture(&[[1; 60]]));
    let mut rig = Rig::new(&format!("net_pcap0,rx_pcap={}", rx.display()));
    assert_eq!(open_files(&folder.path("")), 1);
    rig.drain(0);
    assert_eq!(open_files(&folder.path("")), 0);
    rig.end();
}
