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
    assert!(errors.contains("Mpps"), "no live line: {errors}");
    assert_eq!(left_behind(folder.path()), 0);
}

#[test]
fn ctrl_c_ends_it_in_one_line_and_leaves_nothing_behind() {
    let folder = Folder::new();
    let child = lab(folder.path(), &["--seconds", "60"])
        .spawn()
        .expect("it starts");
    let (begin, patience) = (Instant::now(), Duration::from_secs(20));
    while left_behind(folder.path()) == 0 && begin.elapsed() < patience {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(left_behind(folder.path()), 1, "its folder");
    let kill = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(kill.is_ok_and(|status| status.success()));
    let output = finish(child);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let own: Vec<&str> = errors
        .lines()
        .filter(|line| line.contains("mpps: "))
        .collect();
    assert!(own.len() == 1 && own[0].contains("SIGINT"), "{errors}");
    assert_eq!(left_behind(folder.path()), 0);
}
