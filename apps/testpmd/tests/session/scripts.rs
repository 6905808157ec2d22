//! Sessions as scripts and people hold them: pipes that end, signals, streams that close, no ports.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use super::rig::{EAL, OURS, Run, alone, two_cpus};

const NULLS: &[&str] = &[
    "--vdev",
    "net_null0",
    "--vdev",
    "net_null1",
    "--",
    "--total-num-mbufs=8192",
];

fn nulls(more: &[&str]) -> Run {
    Run::ours(&[NULLS, more].concat())
}

/// The last words of every orderly end.
fn ended_well(text: &str) {
    for words in [
        "Stopping port 0...",
        "Shutting down port 1...",
        "Port 1 is closed",
        "\nBye...\n",
    ] {
        assert!(text.contains(words), "no {words:?} in:\n{text}");
    }
    assert_eq!(text.matches("Bye...").count(), 1, "{text}");
}

#[test]
fn the_smoke_test_of_dpdk() {
    if !two_cpus("session_smoke") {
        return;
    }
    let _turn = alone();
    // (sleep 1 && echo stop) | testpmd ... -ia: the end of the input comes right behind the command.
    let mut run = nulls(&["-ia"]);
    run.wait_for("testpmd> ", 1);
    std::thread::sleep(Duration::from_millis(300));
    run.send("stop\n");
    run.close();
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    for words in [
        "io packet forwarding - ports=2 - cores=1 - streams=2 - NUMA support enabled, MP allocation mode: native",
        "testpmd> stop",
        "Telling cores to stop...\nWaiting for lcores to finish...\n",
        "  ---------------------- Forward statistics for port 0  ----------------------\n",
        "  +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++\n",
        "\nDone.\n",
    ] {
        assert!(
            ended.text.replace('\r', "").contains(words),
            "no {words:?} in:\n{}",
            ended.text
        );
    }
    let total = ended
        .text
        .lines()
        .rev()
        .find(|line| line.starts_with("  RX-packets: "))
        .unwrap();
    let fields: Vec<&str> = total.split_ascii_whitespace().collect();
    assert_eq!(fields.len(), 6, "{total}");
    assert!(fields[1].parse::<u64>().unwrap() > 0, "{total}");
    ended_well(&ended.text);
}

#[test]
fn an_input_that_ends() {
    if !two_cpus("session_end_of_input") {
        return;
    }
    let _turn = alone();
    // Nothing at all; a last line without its newline; a last line after a quit.
    for (input, seen, unseen) in [
        ("", "testpmd> ", "Bad arguments"),
        (
            "show config cores",
            "List of forwarding lcores:  1",
            "Command not found",
        ),
        (
            "\n# a comment\n\tstart \r\nstop # and another\nquit",
            "Done.",
            "Command not found",
        ),
        (
            "quit\nshow config cores\n",
            "testpmd> quit",
            "List of forwarding lcores",
        ),
    ] {
        let mut run = nulls(&["-i"]);
        run.send(input);
        run.close();
        let ended = run.end();
        assert!(ended.status.success(), "{input:?}: {}", ended.text);
        assert!(
            ended.text.contains(seen),
            "{input:?}: no {seen:?} in:\n{}",
            ended.text
        );
        assert!(
            !ended.text.contains(unseen),
            "{input:?}: {unseen:?} in:\n{}",
            ended.text
        );
        ended_well(&ended.text);
    }
}

#[test]
fn signals_end_it_in_good_order() {
    if !two_cpus("session_signals") {
        return;
    }
    let _turn = alone();
    for (signal, arguments) in [
        ("INT", &["-ia"][..]),
        ("TERM", &["-ia"]),
        ("INT", &[]),
        ("TERM", &["--stats-period=1"]),
    ] {
        let mut run = nulls(arguments);
        run.wait_for("TX offloads=0x0", 2);
        std::thread::sleep(Duration::from_millis(100));
        run.signal(signal);
        let ended = run.end();
        assert!(
            ended.status.success(),
            "{signal} {arguments:?}: {:?}\n{}",
            ended.status,
            ended.text
        );
        assert!(
            ended.text.contains("Accumulated forward statistics"),
            "{signal} {arguments:?}\n{}",
            ended.text
        );
        ended_well(&ended.text);
    }
}

#[test]
fn a_second_interrupt_is_obeyed_at_once() {
    if !two_cpus("session_second_interrupt") {
        return;
    }
    let _turn = alone();
    let mut child = Command::new(OURS)
        .args(EAL)
        .args(NULLS)
        .arg("-i")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // Nobody reads its output, so that it hangs in the middle of it, and the good order of the first interrupt with it.
    let mut stdin = child.stdin.take().unwrap();
    let many = "show port info all\n".repeat(100);
    std::io::Write::write_all(&mut stdin, many.as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(800));
    let interrupt = format!("kill -INT {}", child.id());
    for last in [false, true] {
        assert!(child.try_wait().unwrap().is_none(), "last: {last}");
        assert!(
            Command::new("sh")
                .args(["-c", &interrupt])
                .status()
                .unwrap()
                .success()
        );
        std::thread::sleep(Duration::from_millis(300));
    }
    let ended = child.try_wait().unwrap();
    if ended.is_none() {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}

#[test]
fn without_a_prompt_an_input_ends_it() {
    if !two_cpus("session_press_enter") {
        return;
    }
    let _turn = alone();
    let mut run = nulls(&[]);
    run.wait_for("Press enter to exit\n", 1);
    run.send("\n");
    let ended = run.end();
    assert!(ended.status.success());
    for words in [
        "No commandline core given, start packet forwarding\n",
        "Telling cores to stop...\n",
    ] {
        assert!(
            ended.text.contains(words),
            "no {words:?} in:\n{}",
            ended.text
        );
    }
    ended_well(&ended.text);
}

#[test]
fn nobody_reads_on() {
    if !two_cpus("session_closed_output") {
        return;
    }
    let _turn = alone();
    let mut child = Command::new(OURS)
        .args(EAL)
        .args(NULLS)
        .arg("-i")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut stdin = child.stdin.take().unwrap();
    let _ = std::io::Write::write_all(&mut stdin, b"show port info all\nshow port stats all\n");
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("panicked"), "{said}");
    assert!(output.status.success(), "{said}");
    drop(stdin);
}

#[test]
fn no_ports() {
    if !two_cpus("session_no_ports") {
        return;
    }
    let _turn = alone();
    let mut run = Run::ours(&["--", "-i", "--total-num-mbufs=8192"]);
    run.wait_for("testpmd> ", 1);
    for line in [
        "show port info all",
        "show port summary all",
        "show port stats all",
        "show port info 0",
        "show config fwd",
    ] {
        run.command(line);
    }
    run.send("quit\n");
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    for words in [
        "testpmd: No probed ethernet devices",
        "Number of available ports: 0",
        "Invalid port 0\nThe valid ports array is [ ]",
        "Bye...",
    ] {
        assert!(
            ended.text.replace('\r', "").contains(words),
            "no {words:?} in:\n{}",
            ended.text
        );
    }
    // Without a prompt there is nothing to do, and that is said.
    let args: Vec<&str> = EAL
        .iter()
        .chain(&["--", "--total-num-mbufs=8192"])
        .copied()
        .collect();
    let mut run = Run::start(Path::new(OURS), &args);
    run.close();
    let ended = run.end();
    assert!(
        ended.text.contains("testpmd: No probed ethernet devices"),
        "{}",
        ended.text
    );
}

#[test]
fn files_of_commands() {
    if !two_cpus("session_command_files") {
        return;
    }
    let _turn = alone();
    let folder = std::env::temp_dir().join(format!("mpps-session-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("commands");
    std::fs::write(&file, "show config cores\nnonsense\nshow config txpkts").unwrap();
    let path = file.to_str().unwrap();
    let mut run = nulls(&["-i", &format!("--cmdline-file={path}")]);
    run.wait_for("testpmd> ", 1);
    run.command(&format!("load {path}"));
    run.command(&format!("load_echo {path}"));
    run.command("load /nosuch/file");
    run.send("quit\n");
    let ended = run.end();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(ended.status.success());
    let text = ended.text.replace('\r', "");
    assert_eq!(
        text.matches("Segment sizes: 64").count(),
        3,
        "the last line has no newline: {text}"
    );
    assert_eq!(
        text.matches("[commands] show config cores").count(),
        2,
        "{text}"
    );
    assert!(
        text.contains(&format!("Finished reading CLI commands from {path}")),
        "{text}"
    );
    assert!(text.contains("/nosuch/file"), "{text}");
    assert!(text.contains("nonsense"), "{text}");
}

#[test]
fn counters_that_are_cleared_start_from_zero() {
    if !two_cpus("session_clear") {
        return;
    }
    let _turn = alone();
    let mut run = nulls(&["-i"]);
    run.wait_for("testpmd> ", 1);
    for line in [
        "start",
        "clear port stats all",
        "clear fwd stats all",
        "clear port xstats all",
        "stop",
    ] {
        run.command(line);
        std::thread::sleep(Duration::from_millis(20));
    }
    run.send("quit\n");
    let ended = run.end();
    assert!(ended.status.success());
    let mut numbers = ended.text.split(|c: char| !c.is_ascii_digit());
    let absurd = numbers.find(|word| word.len() > 15);
    assert_eq!(
        absurd, None,
        "no count of so short a session:\n{}",
        ended.text
    );
}
