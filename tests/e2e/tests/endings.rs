//! How a session ends: signals, the end of input, a reader that goes away.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mpps_e2e::program;
use mpps_e2e::report::{accumulated, nics};
use mpps_e2e::session::{Ended, PATIENCE, Session, words};
use rustix::process::Signal;

const NULLS: [&str; 2] = ["net_null0", "net_null1"];

/// Stopped with statistics, and in order to the last line.
fn check_end(ended: Ended) {
    let ended = ended.well();
    let sum = accumulated(&ended.stdout);
    assert!(sum.rx[0] > 0 && sum.rx[0] == sum.tx[2], "{sum:?}");
    let end = ended
        .stdout
        .rfind("Telling cores to stop...")
        .expect("it stops");
    for words in [
        "Waiting for lcores to finish...",
        "Stopping port 0...",
        "Shutting down port 1...",
        "Bye...",
    ] {
        assert!(
            ended.stdout[end..].contains(words),
            "no {words}: {}",
            ended.stdout
        );
    }
    assert!(
        ended.stdout.trim_end().ends_with("Bye..."),
        "{}",
        ended.stdout
    );
}

fn command(application: &[&str], input: Stdio) -> Command {
    let mut command = Command::new(program::testpmd());
    command.args(words(2, &NULLS, application)).stdin(input);
    command
}

#[test]
fn one_signal_stops_the_console_with_statistics() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut session = Session::start(&words(2, &NULLS, &["-i"]));
        session.ask("start");
        thread::sleep(Duration::from_millis(100));
        session.signal(signal);
        check_end(session.wait_for_end());
    }
}

#[test]
fn one_signal_stops_headless_forwarding_with_statistics() {
    for (signal, option) in [(Signal::INT, "-a"), (Signal::TERM, "--stats-period=1")] {
        let mut session = Session::start(&words(2, &NULLS, &[option]));
        let running = if option == "-a" {
            "Press enter to exit"
        } else {
            "Port statistics"
        };
        session.wait_for_output(running);
        thread::sleep(Duration::from_millis(100));
        session.signal(signal);
        check_end(session.wait_for_end());
    }
}

/// A signal before anything was started is an orderly end, too.
#[test]
fn a_signal_at_the_idle_prompt_ends() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    session.wait_for_prompt();
    session.signal(Signal::INT);
    let ended = session.wait_for_end().well();
    assert!(
        ended.stdout.trim_end().ends_with("Bye..."),
        "{}",
        ended.stdout
    );
}

/// The program hangs in a write that nobody reads: the first signal can't be acted on, the second needs nobody.
#[test]
fn the_second_signal_ends_at_once() {
    let mut child = command(&["-i"], Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    // Far more answers than a pipe holds.
    let asked = input.write_all("show port stats all\n".repeat(500).as_bytes());
    assert!(asked.is_ok());
    thread::sleep(Duration::from_millis(500));
    assert!(
        matches!(child.try_wait(), Ok(None)),
        "it hangs in its output"
    );
    let pid = rustix::process::Pid::from_child(&child);
    for _ in 0..2 {
        rustix::process::kill_process(pid, Signal::INT).expect("it runs");
        // Closer together they would count as one.
        thread::sleep(Duration::from_millis(150));
    }
    let end = Instant::now() + Duration::from_secs(2);
    let status = loop {
        if let Ok(Some(status)) = child.try_wait() {
            break status;
        }
        if Instant::now() > end {
            let _ = child.kill().and_then(|()| child.wait());
            panic!("two signals don't end it");
        }
        thread::sleep(Duration::from_millis(5));
    };
    assert!(!status.success(), "{status}");
}

/// `(sleep 1 && echo stop) | testpmd ...`: what was typed before the end is done, then it ends.
#[test]
fn pending_commands_are_done_before_the_end_of_input() {
    let ended = Ended::of(
        &words(2, &NULLS, &["-i"]),
        "start\nshow port stats all\nset fwd macswap\nstop",
    )
    .well();
    assert!(
        ended.stdout.contains("Set macswap packet forwarding mode"),
        "{}",
        ended.stdout
    );
    assert_eq!(nics(&ended.stdout).len(), 2);
    assert_eq!(accumulated(&ended.stdout).rx[1], 0);
    assert!(
        ended.stdout.trim_end().ends_with("Bye..."),
        "{}",
        ended.stdout
    );
}

#[test]
fn the_end_of_input_stops_what_runs() {
    let mut session = Session::start(&words(2, &NULLS, &["-i", "-a"]));
    session.wait_for_prompt();
    thread::sleep(Duration::from_millis(100));
    session.end_input();
    check_end(session.wait_for_end());
}

#[test]
fn headless_without_input_ends_after_its_start() {
    let ended = Session::spawn_with_input(&mut command(&["-a"], Stdio::null()))
        .wait_for_end()
        .well();
    for words in [
        "No commandline core given, start packet forwarding",
        "Press enter to exit",
        "Bye...",
    ] {
        assert!(ended.stdout.contains(words), "no {words}: {}", ended.stdout);
    }
    accumulated(&ended.stdout);
}

#[test]
fn enter_ends_headless_forwarding() {
    let mut session = Session::start(&words(2, &NULLS, &[]));
    session.wait_for_output("Press enter to exit");
    thread::sleep(Duration::from_millis(100));
    session.say("");
    check_end(session.wait_for_end());
}

/// `tail -f /dev/null | testpmd ... -a &`: an input that stays open and silent keeps it running.
#[test]
fn a_silent_input_keeps_it_running() {
    let mut session = Session::start(&words(2, &NULLS, &["-a"]));
    session.wait_for_output("Press enter to exit");
    thread::sleep(Duration::from_secs(1));
    assert!(!session.is_over(), "{}", session.stderr());
    session.signal(Signal::TERM);
    check_end(session.wait_for_end());
}

/// The statistics come with the first display at once, then each second, whatever standard input is.
#[test]
fn statistics_by_time_ignore_the_input() {
    let mut session = Session::spawn_with_input(&mut command(&["--stats-period=1"], Stdio::null()));
    thread::sleep(Duration::from_millis(2400));
    assert!(!session.is_over(), "{}", session.stderr());
    session.signal(Signal::INT);
    let ended = session.wait_for_end().well();
    let displays = ended
        .stdout
        .matches("Port statistics ====================================")
        .count();
    assert!((2..=4).contains(&displays), "{displays} displays");
    assert!(ended.stdout.contains("\u{1b}[2J"), "the screen is cleared");
    assert_eq!(nics(&ended.stdout).len(), 2 * displays);
    assert!(accumulated(&ended.stdout).rx[0] > 0);
}

/// `testpmd ... | head -1`: an orderly end, not a crash, whatever was being written.
#[test]
fn a_reader_that_goes_away_is_an_orderly_end() {
    let cases: [&[&str]; 4] = [
        &["-i"],
        &["-a"],
        &["--stats-period=1"],
        &["-i", "--portmask=1"],
    ];
    for application in cases {
        let mut child = command(application, Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().expect("a pipe"));
        let first = reader.read_line(&mut line);
        drop(reader);
        assert!(
            first.is_ok() && !line.is_empty(),
            "{application:?} says something"
        );
        let mut input = child.stdin.take().expect("a pipe");
        // Enough to make it write; it may have ended by now.
        let _ = input.write_all(b"show port stats all\nshow port stats all\n");
        drop(input);
        let end = Instant::now() + PATIENCE;
        while matches!(child.try_wait(), Ok(None)) && Instant::now() < end {
            thread::sleep(Duration::from_millis(5));
        }
        let _ = child.kill();
        let status = child.wait().expect("it is our child");
        let mut said = String::new();
        let _ = child
            .stderr
            .take()
            .map(|mut pipe| pipe.read_to_string(&mut said));
        assert!(status.code().is_some(), "{application:?}: {status}: {said}");
        assert!(
            !said.contains("panicked") && !said.contains("still in use"),
            "{application:?}: {said}"
        );
    }
}
