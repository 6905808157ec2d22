//! `set verbose 3` on a capture, with the installed testpmd of DPDK 22.11 and with ours: the same lines for every packet.

use std::path::Path;

use super::differential::{installed, path_of};
use super::golden::capture;
use super::rig::{EAL, OURS, Run, alone, two_cpus};

/// What 22.11 says otherwise: it stamps packets of a file with a time by default, names no TCP port of IPv6, and takes echo
/// requests for no more than they are.
fn plain(line: &str) -> String {
    let mut line = line
        .replace(" INNER_L4_FRAG", "")
        .replace(" - inner_l4_len=0", "");
    for part in [" - timestamp ", " - Destination TCP port=", "mbuf=0x"] {
        if let Some(at) = line.find(part) {
            let rest = &line[at + part.len()..];
            let end = rest
                .find(|c: char| !c.is_ascii_hexdigit())
                .unwrap_or(rest.len());
            line = format!("{}{}", &line[..at], rest[end..].trim_start());
        }
    }
    line.replace(' ', "")
}

/// The dump of a whole session, from the start to the last packet. There is no prompt, whose letters would come in between.
fn dump(mut run: Run) -> Vec<String> {
    run.wait_for("sent 19 packets", 1);
    std::thread::sleep(std::time::Duration::from_millis(100));
    run.send("\n");
    let text = run.end().text.replace('\r', "");
    let begin = text.find("port 0/queue 0: received").unwrap();
    let end = text.find("Telling cores to stop...").unwrap();
    let of_packet = |line: &&str| {
        !line.starts_with("mpps: ") && !line.is_empty() && *line != "Press enter to exit"
    };
    text[begin..end]
        .lines()
        .filter(of_packet)
        .map(plain)
        .collect()
}

#[test]
fn the_installed_testpmd_dumps_the_same() {
    if !two_cpus("session_dumps") {
        return;
    }
    let Some(capture) = capture("session_dumps") else {
        return;
    };
    let Some((program, before)) = installed("session_dumps") else {
        return;
    };
    let _turn = alone();
    let device = format!("net_pcap0,rx_pcap={capture},tx_pcap=/dev/null");
    let file = std::env::temp_dir().join(format!("mpps-dumps-{}", std::process::id()));
    std::fs::write(&file, "set verbose 3\n").unwrap();
    let commands = format!("--cmdline-file={}", file.to_str().unwrap());
    let ports = [
        "--vdev",
        device.as_str(),
        "--",
        "--total-num-mbufs=8192",
        "--port-topology=chained",
        "--no-flush-rx",
    ];
    for engine in ["--forward-mode=macswap", "--forward-mode=csum"] {
        let more = [commands.as_str(), engine];
        let theirs = dump(Run::start(
            &path_of(program),
            &[&before, EAL, &ports, &more].concat(),
        ));
        let ours = dump(Run::start(Path::new(OURS), &[EAL, &ports, &more].concat()));
        assert!(theirs.len() > 179 * 4, "{theirs:?}");
        for (their, our) in theirs.iter().zip(&ours) {
            assert_eq!(their, our, "{engine}");
        }
        assert_eq!(theirs.len(), ours.len(), "{engine}");
    }
    std::fs::remove_file(&file).unwrap();
}
