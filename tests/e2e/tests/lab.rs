//! The lab's main job as a first visitor runs it, as an ordinary user: figures, a balance that closes, nothing left behind.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use mpps_e2e::machine::{Folder, is_root};
use mpps_e2e::program;

/// The user nobody, who owns nothing anywhere.
const NOBODY: u32 = 65534;

/// The program in a folder that is its TMPDIR, too.
fn lab(folder: &Path, words: &[&str]) -> Command {
    let program = folder.join("mpps");
    fs::copy(program::mpps(), &program).expect("a copy");
    let temporary = folder.join("tmp");
    fs::create_dir(&temporary).expect("our folder");
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("it is ours");
    fs::set_permissions(&temporary, fs::Permissions::from_mode(0o777)).expect("it is ours");
    let mut command = Command::new(&program);
    command
        .args(words)
        .current_dir("/")
        .env("TMPDIR", &temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
}

fn finish(child: Child) -> Output {
    child.wait_with_output().expect("it was started")
}

fn left_behind(folder: &Path) -> usize {
    fs::read_dir(folder.join("tmp"))
        .expect("our folder")
        .count()
}

/// The number in front of a word.
fn number_before(line: &str, word: &str) -> f64 {
    let words: Vec<&str> = line.split_whitespace().collect();
    let at = words.iter().position(|one| *one == word);
    at.and_then(|at| words.get(at.checked_sub(1)?)?.parse().ok())
        .unwrap_or_else(|| panic!("no number before {word:?} in {line:?}"))
}

#[test]
fn the_main_job_tells_figures_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let child = lab(folder.path(), &["--seconds", "2"])
        .spawn()
        .expect("it starts");
    let output = finish(child);
    let (text, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{text}\n{errors}");
    let line = |name: &str| {
        text.lines()
            .find_map(|line| line.trim_start().strip_prefix(name))
            .unwrap_or_else(|| panic!("no line {name:?} in {text}"))
    };
    assert!(number_before(line("rate "), "Mpps") > 0.0);
    assert!(number_before(line("cycles "), "of") > 0.0);
    assert!(line("latency ").contains("p99.9 "));
    line("limit ");
    let balance = line("balance ");
    let sent = number_before(balance, "sent");
    assert!(sent > 0.0 && balance.contains(&format!("= {sent} received")));
    let wide = text.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "wider than a terminal");
    assert!(errors.contains("Mpps"), "no live line: {errors}");
    assert_eq!(left_behind(folder.path()), 0);
}

#[test]
fn ctrl_c_tells_what_was_measured_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let child = lab(folder.path(), &["--seconds", "60"])
        .spawn()
        .expect("it starts");
    let (begin, patience) = (Instant::now(), Duration::from_secs(20));
    while left_behind(folder.path()) == 0 && begin.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left_behind(folder.path()), 1, "its folder");
    // A second or two are measured by then, on a machine that is idle.
    std::thread::sleep(Duration::from_secs(4));
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.is_ok_and(|status| status.success()));
    let output = finish(child);
    let errors = String::from_utf8_lossy(&output.stderr);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{text}\n{errors}");
    // On a busy one there may be none.
    if errors.contains("Mpps") {
        assert!(
            text.contains("  rate ") && text.contains("  balance "),
            "{text}"
        );
    }
    assert!(!text.contains("latency"), "{text}");
    let own: Vec<&str> = errors
        .lines()
        .filter(|line| line.contains("mpps: "))
        .collect();
    assert!(own.len() == 1 && own[0].contains("SIGINT"), "{errors}");
    assert_eq!(left_behind(folder.path()), 0);
}

#[test]
fn another_testpmd_is_measured_in_turn() {
    let folder = Folder::new();
    let rival = folder.path().join("rival");
    fs::copy(program::testpmd(), &rival).expect("a copy");
    fs::copy(program::testpmd(), folder.path().join("testpmd")).expect("a copy");
    let rival = rival.to_str().expect("a plain name");
    let words = [
        "--seconds",
        "2",
        "--versus",
        rival,
        "--rounds",
        "1",
        "--json",
    ];
    let output = finish(lab(folder.path(), &words).spawn().expect("it starts"));
    let (text, errors) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{text}\n{errors}");
    assert!(
        text.starts_with('{') && text.trim_end().ends_with('}'),
        "{text}"
    );
    // The numbers between the brackets behind a name.
    let numbers = |name: &str| -> Vec<f64> {
        let (_, rest) = text.split_once(name).expect(name);
        let (list, _) = rest
            .split_once('[')
            .expect(name)
            .1
            .split_once(']')
            .expect(name);
        list.split(',')
            .map(|word| word.trim().parse().expect(name))
            .collect()
    };
    let (ours, theirs) = (numbers("\"ours_mpps\""), numbers("\"theirs_mpps\""));
    assert!(ours.len() == 1 && ours[0] > 0.0 && theirs.len() == 1 && theirs[0] > 0.0);
    assert!((numbers("\"ratios\"")[0] - ours[0] / theirs[0]).abs() < 1e-9);
    assert_eq!(left_behind(folder.path()), 0);
}

#[test]
fn a_program_that_is_no_testpmd_is_told_in_one_line() {
    for (word, why) in [
        ("no-such-testpmd", "in PATH"),
        ("/etc/passwd", "isn't a program"),
        ("true", "ended"),
    ] {
        let folder = Folder::new();
        let words = ["--seconds", "2", "--versus", word];
        let output = finish(lab(folder.path(), &words).spawn().expect("it starts"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{word}: {errors}");
        assert!(
            errors.lines().count() == 1 && errors.contains(why),
            "{word}: {errors}"
        );
        assert_eq!(left_behind(folder.path()), 0);
    }
}
