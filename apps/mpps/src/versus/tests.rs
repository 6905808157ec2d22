//! Programs that are missing, die, hang, say nothing or move nothing, and one that counts, all of them shell scripts; the
//! words of the command lines; rates between readings.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mpps_os::Signals;

use super::pair::{Memory, Pace, Pair, Reading, Setup, number_after, version};
use super::{Program, Trouble};
use crate::bench::Failure;
use crate::folder::Folder;

/// For a program that answers; generous, the machine may be busy with much else.
const PATIENT: Duration = Duration::from_secs(30);

/// For a program that never does; it has to come as far as that.
const SHORT: Duration = Duration::from_secs(3);

/// What a fake answers to the console's commands; `$1` of each is the counter.
const CONSOLE: &str = r#"
case "$*" in *net_virtio_user0*) socket=${*#*path=}; : > "${socket%%,*}";; esac
echo "EAL: RTE Version: 'FAKE 1.2'"
printf 'testpmd> '
while read line; do
    case "$line" in
        quit) echo "Bye..."; exit 0;;
        "show port info 0") echo "Link status: up";;
        "show port stats 0") stats;;
    esac
    printf 'testpmd> '
done
"#;

/// A script as a program.
fn fake(folder: &Folder, body: &str) -> PathBuf {
    let path = folder.path().join("fake");
    fs::write(&path, format!("#!/bin/sh\n{body}")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn setup(patience: Duration) -> Setup {
    Setup {
        cpus: [0, 0],
        size: 64,
        packed: false,
        memory: Memory::Ordinary,
        patience,
        signals: Signals::install().unwrap(),
    }
}

fn rate(program: &Path, patience: Duration) -> Result<(f64, Option<String>), Failure> {
    let setup = setup(patience);
    let mut pair = Pair::start(program, &[], &setup)?;
    let rate = pair.rate(Duration::from_millis(200), &setup.signals)?;
    let version = pair.version();
    pair.quit();
    Ok((rate, version))
}

/// The one line that a fake ends in.
fn trouble(body: &str, patience: Duration) -> String {
    let folder = Folder::new().unwrap();
    let error = rate(&fake(&folder, body), patience).expect_err("no rate");
    let text = error.downcast::<Trouble>().expect("its fault").to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[test]
fn a_program_that_counts_has_a_rate() {
    let folder = Folder::new().unwrap();
    // A packet a microsecond.
    let stats = "stats() { n=$(date +%s%N); echo \"RX-packets: $((n / 1000)) RX-missed: 0\"; echo \"TX-packets: $((n / 1000)) TX-errors: 0\"; }\n";
    let program = fake(&folder, &format!("{stats}{CONSOLE}"));
    let (rate, version) = rate(&program, PATIENT).unwrap();
    assert!((0.3..3.0).contains(&rate), "{rate}");
    assert_eq!(version.as_deref(), Some("FAKE 1.2"));
}

#[test]
fn a_program_that_moves_nothing_is_named() {
    let stats =
        "stats() { echo 'RX-packets: 7 RX-missed: 0'; echo 'TX-packets: 7 TX-errors: 0'; }\n";
    let text = trouble(&format!("{stats}{CONSOLE}"), PATIENT);
    assert!(text.contains("(vhost) moved no packet in "), "{text}");
}

#[test]
fn ends_that_disagree_void_the_rate() {
    let stats = "stats() { n=$(date +%s%N); echo \"RX-packets: $n RX-missed: 0\"; echo \"TX-packets: $((n / 100)) TX-errors: 0\"; }\n";
    let text = trouble(&format!("{stats}{CONSOLE}"), PATIENT);
    assert!(text.contains("void"), "{text}");
}

#[test]
fn a_program_that_dies_tells_its_last_words() {
    let text = trouble("echo 'EAL: no memory'; exit 3", PATIENT);
    for part in [
        "(virtio-user)",
        "exit status: 3",
        "a socket",
        "its last words: EAL: no memory",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let text = trouble(
        &format!("stats() {{ echo gone; exit 4; }}\n{CONSOLE}"),
        PATIENT,
    );
    for part in [
        "(vhost)",
        "exit status: 4",
        "answer to 'show port stats 0'",
        "gone",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let text = trouble("kill -9 $$", PATIENT);
    assert!(
        text.contains("signal: 9") && text.contains("it said nothing"),
        "{text}"
    );
}

#[test]
fn a_program_that_hangs_is_ended_with_all_it_started() {
    let folder = Folder::new().unwrap();
    let note = folder.path().join("pid");
    let body = format!("sleep 1000 & echo $! > {}; wait", note.display());
    let text = trouble(&body, SHORT);
    assert!(
        text.contains("hangs: no socket within 3s; it said nothing"),
        "{text}"
    );
    let child = fs::read_to_string(&note).unwrap();
    let stat = format!("/proc/{}/stat", child.trim());
    let (begin, mut gone) = (Instant::now(), false);
    while !gone && begin.elapsed() < PATIENT {
        // A zombie waits for whoever inherits it.
        gone = fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(gone, "its child lives on");
    // One that has started well and then says no more.
    let text = trouble(
        &format!("stats() {{ echo wait; sleep 1000; }}\n{CONSOLE}"),
        SHORT,
    );
    assert!(
        text.contains("hangs: no answer to 'show port stats 0'"),
        "{text}"
    );
    // A link that never comes up.
    let text = trouble(&CONSOLE.replace("status: up", "status: down"), SHORT);
    assert!(text.contains("hangs: no link"), "{text}");
}

#[test]
fn a_program_that_talks_without_end_fills_no_memory() {
    let text = trouble("yes 'nonsense and more of it'", SHORT);
    assert!(
        text.contains("hangs: no socket") && text.contains("nonsense"),
        "{text}"
    );
}

#[test]
fn what_is_no_program_is_refused_by_name() {
    let folder = Folder::new().unwrap();
    let path = fake(&folder, "exit 0");
    let name = path.to_str().unwrap();
    assert!(Program::find(name).is_ok() && Program::find("sh").is_ok());
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let said = |word: &str| Program::find(word).unwrap_err().to_string();
    assert!(said(name).contains("isn't a program"), "{}", said(name));
    assert!(said("/").contains("isn't a program"));
    assert!(said("./no/such").contains("'./no/such': No such file"));
    assert!(said("no-such-testpmd").contains("no program 'no-such-testpmd' in PATH"));
    // A file that can be run by its mode and by nothing else.
    fs::write(&path, [0x7f, b'E', b'L', b'F', 0, 0]).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let error = rate(&path, PATIENT).expect_err("no rate");
    assert!(error.to_string().contains("can't be started"), "{error}");
}

#[test]
fn rates_between_readings_know_what_the_clock_leaves_open() {
    let begin = Instant::now();
    let reading = |asked: u64, told: u64, packets| Reading {
        asked: begin + Duration::from_millis(asked),
        told: begin + Duration::from_millis(told),
        packets,
    };
    let pace = Pace::between(reading(0, 100, 1_000_000), reading(1000, 1100, 2_000_000));
    assert!((pace.middle - 1.0).abs() < 1e-9, "{pace:?}");
    assert!(
        pace.least < 1.0 / 1.09 && pace.most > 1.0 / 0.91,
        "{pace:?}"
    );
    let same = Pace::between(reading(0, 1, 0), reading(1000, 1001, 1_000_000));
    let twice = Pace::between(reading(0, 1, 0), reading(1000, 1001, 2_000_000));
    assert!(same.agrees(pace) && !same.agrees(twice) && !twice.agrees(same));
}

#[test]
fn what_consoles_say_is_read() {
    let stats = "  RX-packets: 1234  RX-missed: 0\r\n  TX-packets: 99 TX-errors: 1\r\n";
    assert_eq!(number_after(stats, "RX-packets:"), Some(1234));
    assert_eq!(number_after(stats, "TX-packets:"), Some(99));
    assert_eq!(number_after(stats, "TX-bytes:"), None);
    let versions = [
        ("EAL: RTE Version: 'DPDK 22.11.5'\r\n", Some("DPDK 22.11.5")),
        ("mpps: testpmd 0.1.0\r\n", Some("0.1.0")),
        ("nothing", None),
    ];
    for (text, expected) in versions {
        assert_eq!(version(text).as_deref(), expected);
    }
}
