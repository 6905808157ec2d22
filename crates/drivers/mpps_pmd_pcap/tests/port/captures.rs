//! Real captures, judged by libpcap: `tcpdump -r FILE -w -` says what is in each, whatever its format, as a classic file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use mpps_dev::RxOffloads;

use crate::rig::{Folder, Rig, parse, pool_of, probe};

/// What libpcap makes of a file.
struct Judged {
    link: u32,
    frames: Vec<(Vec<u8>, u64)>,
    /// Read to its end.
    whole: bool,
}

fn skip(reason: &str, kind: &str) {
    println!(
        "SKIPPED captures: {reason}{}",
        if kind == "package" {
            " [package]"
        } else {
            " [data]"
        }
    );
    if let Ok(log) = std::env::var("MPPS_SKIP_LOG") {
        let mut file = std::fs::File::options()
            .append(true)
            .create(true)
            .open(log)
            .unwrap();
        writeln!(file, "captures\t{reason}\t{kind}").unwrap();
    }
}

/// The files to try; none, and a line that says why, where they or their judge are missing.
fn captures() -> Vec<PathBuf> {
    let Ok(folder) = std::env::var("MPPS_CAPTURES") else {
        skip("MPPS_CAPTURES is not set", "data");
        return Vec::new();
    };
    if Command::new("tcpdump").arg("--version").output().is_err() {
        skip("tcpdump is not installed", "package");
        return Vec::new();
    }
    let mut files: Vec<_> = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{folder}: {error}"))
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} is empty");
    files
}

/// `None` where libpcap refuses the file.
fn judge(file: &Path) -> Option<Judged> {
    let output = Command::new("tcpdump")
        .args(["--nano", "-w", "-", "-r"])
        .arg(file)
        .stderr(Stdio::null())
        .output()
        .unwrap();
    let mut text = output.stdout;
    if text.len() < 24 {
        return None;
    }
    let link = u32::from_le_bytes(text[20..24].try_into().unwrap()) & 0x03ff_ffff;
    // All of our parser's business is Ethernet; here any will do.
    text[20..24].copy_from_slice(&1u32.to_le_bytes());
    Some(Judged {
        link,
        frames: parse(&text),
        whole: output.status.success(),
    })
}

/// The judge's output has 32 bits for the seconds and as many for the nanoseconds, which a nonsensical fraction overflows.
fn same_time(got: u64, judged: u64) -> bool {
    let wrapped = got % ((1 << 32) * 1_000_000_000);
    wrapped == judged || (wrapped > judged && (wrapped - judged).is_multiple_of(1 << 32))
}

#[test]
fn captures_are_read_as_libpcap_reads_them() {
    let folder = Folder::new("captures");
    let (mut received, mut refused, mut broken) = (0, 0, 0);
    let pool = pool_of(1024, 2176);
    for file in captures() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let out = folder.path("out.pcap");
        let args = format!(
            "net_pcap0,rx_pcap={},tx_pcap={},snaplen=262144",
            file.display(),
            out.display()
        );
        match judge(&file) {
            Some(judged) if judged.link == 1 => {
                let mut rig = Rig::with(&args, 1, pool.clone(), RxOffloads::TIMESTAMP);
                let got = rig.drain(0);
                assert_eq!(got.len(), judged.frames.len(), "{name}");
                for (n, (got, expected)) in got.iter().zip(&judged.frames).enumerate() {
                    assert!(got.0 == expected.0, "{name}: frame {n}");
                    assert!(same_time(got.1.unwrap(), expected.1), "{name}: frame {n}");
                }
                rig.stop();
                rig.start();
                rig.forward(0);
                rig.end();
                let written = parse(&std::fs::read(&out).unwrap());
                let same = written
                    .iter()
                    .map(|f| &f.0)
                    .eq(judged.frames.iter().map(|f| &f.0));
                assert!(same, "{name}");
                received += 1;
                broken += usize::from(!judged.whole);
            }
            Some(judged) => {
                let error = probe(&args)
                    .err()
                    .unwrap_or_else(|| panic!("{name} was taken"));
                let link = format!("({})", judged.link);
                assert!(
                    error.contains("link type ")
                        && (error.contains(&link)
                            || error.contains(&format!("number {}", judged.link))),
                    "{name}: {error}"
                );
                refused += 1;
            }
            None => {
                assert!(probe(&args).is_err(), "{name} was taken");
                refused += 1;
            }
        }
    }
    println!("{received} captures received, {broken} of them broken; {refused} refused");
}
